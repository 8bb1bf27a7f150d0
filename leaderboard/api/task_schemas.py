"""What the API answers about the board of a task."""

from __future__ import annotations

from typing import Literal

from ninja import Schema
from pydantic import Field

from leaderboard.api.schemas import Number


class TaskOut(Schema):
    slug: str
    name: str
    main_branch: str = Field(description="Versions are compared with it; empty: with the baseline.")
    tracks: list[str]


class TaskColumnOut(Schema):
    track: str
    name: str
    measure: str
    group: str
    judgments: str
    judged_by: Literal["people", "machine", "both"] | None
    edition: str
    topics: int


class SystemStandingOut(Schema):
    rank: int | None = Field(description="By mean, or by Borda points where there is no mean.")
    rank_low: int | None
    rank_high: int | None
    system: int
    name: str
    version: int
    label: str
    commit: str
    branch: str
    team: str
    mean: Number
    group_means: dict[str, Number]
    borda: Number
    borda_rank: int | None
    answered: int
    scores: dict[str, Number] = Field(description="By the slug of the track.")
    runs: dict[str, str] = Field(description="IDs of runs by the slug of the track.")
    difference: Number
    low: Number
    high: Number
    p: Number
    p_adjusted: Number
    verdict: Literal["better", "worse", "not significant"] | None


class TaskBoardOut(Schema):
    task: str
    phase: str
    phases: list[str]
    question: Literal["baseline", "all"]
    test: Literal["all_pairs", "max_t"] | None
    tests_ready: bool
    baseline: int | None = Field(description="ID of the baseline's version.")
    no_mean: str | None = Field(description="Why there is no mean; null if there is one.")
    columns: list[TaskColumnOut]
    groups: list[str]
    hidden: list[str] = Field(description="Tracks whose scores are not shown yet.")
    standings: list[SystemStandingOut]
    incomplete: list[SystemStandingOut]
