"""The endpoint of systems on dates in their order."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from leaderboard.analysis.series import describe_series, find_series
from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.boards import check_benchmark_choice
from leaderboard.api.fields import Label
from leaderboard.api.schemas import Number, response_schemas
from leaderboard.boards.benchmark_boards import BenchmarkChoice
from leaderboard.boards.deferred_tests import request_tests
from leaderboard.boards.disclosure import benchmark_or_404

router = Router(tags=["benchmarks"])


class DatedTrackOut(Schema):
    track: str
    date: str
    measure: str
    topics: int


class DatedScoreOut(Schema):
    """What a system has on a date, and its change since the first; null on the first."""

    track: str
    score: Number
    low: Number = Field(description="95 % interval of the score alone.")
    high: Number
    result_delta: Number = Field(description="First score minus this one.")
    relative_change: Number = Field(description="The result delta as a share of the first score.")
    average: Number = Field(description="Mean of the first score and this one.")
    relative_improvement_delta: Number = Field(
        description="Relative improvement over the pivot on the first date minus that here."
    )
    effect_ratio: Number = Field(description="Lead over the pivot here as a share of the first.")
    loss: Number = Field(description="Lead over the pivot here minus that on the first date.")
    loss_low: Number
    loss_high: Number
    p: Number = Field(description="Adjusted for all systems and later dates.")
    verdict: Literal["better", "worse"] | None


class SeriesSystemOut(Schema):
    system: int
    name: str
    version: int
    label: str
    team: str
    mean: Number = Field(description="Over all dates.")
    scores: list[DatedScoreOut]


class BoardAsOfOut(Schema):
    """The board on the collections up to a date."""

    date: str
    tracks: int
    systems: int = Field(description="Those that answer all of these tracks.")
    first: list[int] = Field(description="IDs of the versions with the best mean.")


class SeriesOut(Schema):
    benchmark: str
    dates: list[DatedTrackOut] = Field(description="In their order.")
    boards: list[BoardAsOfOut] = Field(description="As of each date; see `until` of the board.")
    pivot: int | None = Field(description="ID of the version that the others are compared with.")
    tests_ready: bool
    systems: list[SeriesSystemOut]


@router.get("/{slug:slug}/by-date", auth=PUBLIC, response=response_schemas(SeriesOut))
def get_series(
    request: HttpRequest,
    slug: str,
    phase: Label | None = None,
    measure: Label = "",
    track: list[Label] = Query([]),  # noqa: B008
    versions: Literal["", "all"] = "",
    baseline: Label = "",
) -> dict[str, Any]:
    """Get how each system changes from the first date of a benchmark to later ones.

    `baseline` is the ID of the version that the others are compared with, by default that of the
    benchmark. Systems and tracks are those of the board, of all phases unless one is named.
    """
    choice = BenchmarkChoice(
        phase=phase, measure=measure, tracks=tuple(track), versions=versions, baseline=baseline
    )
    found = find_series(benchmark_or_404(viewer(request), slug), choice)
    check_benchmark_choice(found.board, choice)
    if found.is_untested and found.contest is not None:
        request_tests(found.contest)
    return describe_series(found)
