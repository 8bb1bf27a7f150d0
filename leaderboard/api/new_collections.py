"""The endpoint of what a benchmark says about collections that nobody has seen yet."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from leaderboard.analysis.new_collections import NewCollections, describe_new_collections
from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.boards import check_benchmark_choice
from leaderboard.api.fields import Label
from leaderboard.api.schemas import Number, response_schemas
from leaderboard.boards.benchmark_boards import BenchmarkChoice, find_benchmark_board
from leaderboard.boards.deferred_tests import request_missing_tests
from leaderboard.boards.disclosure import benchmark_or_404

router = Router(tags=["benchmarks"])

Rank = int | None


class ComponentsOut(Schema):
    """Standard deviations over systems x collections."""

    systems: float
    collections: float
    both: float = Field(description="Of a system on a single collection, its topics included.")
    dependability: Number = Field(
        description="Share of the variance of the means that is due to the systems."
    )


class OutlookOut(Schema):
    """A complete system with the ranks that it can have."""

    system: int
    name: str
    version: int
    label: str
    team: str
    rank: Rank
    mean: Number
    these_low: Rank = Field(description="By the mean over these tracks, all pairs at once.")
    these_high: Rank
    kind_low: Rank = Field(description="By the mean over collections of their kind.")
    kind_high: Rank
    next_low: Rank = Field(description="On one more collection, for this system alone.")
    next_high: Rank
    without_low: Rank = Field(description="With each collection excluded in turn.")
    without_high: Rank


class LeftOutOut(Schema):
    tracks: list[str] = Field(description="The tracks on the excluded collection.")
    tau: Number = Field(description="tau_b with the order by all.")
    foretold: Number = Field(description="tau_b with the order on the collection itself.")
    first: list[int] = Field(description="IDs of the versions that are first without it.")
    moved: int | None = Field(description="ID of the version that moves most.")
    moved_from: Rank
    moved_to: Rank


class GapOut(Schema):
    """A mean on open collections less that on private ones; limits hold for all systems at once."""

    difference: float
    low: Number
    high: Number
    p: Number


class SystemGapOut(Schema):
    version: int
    open: float = Field(description="Mean over the open collections.")
    private: float = Field(description="Mean over the private collections.")
    gap: GapOut = Field(description="Positive: better on open collections.")
    beyond: GapOut = Field(description="The same of the lead over the mean of the other systems.")


class NewCollectionsOut(Schema):
    benchmark: str
    phase: str
    tracks: list[str]
    measures: list[str]
    collections: int
    private: list[str] = Field(description="The tracks whose collections are private.")
    gaps: list[SystemGapOut] = Field(description="Empty unless both kinds of collections are here.")
    tests_ready: bool
    decided: bool = Field(description="Whether collections of this kind allow a verdict.")
    pairs_apart: int | None
    next_level: Number = Field(description="How probable the ranks on the next one are at least.")
    components: ComponentsOut | None
    systems: list[OutlookOut]
    left_out: list[LeftOutOut]


@router.get(
    "/{slug:slug}/new-collections", auth=PUBLIC, response=response_schemas(NewCollectionsOut)
)
def get_new_collections(
    request: HttpRequest,
    slug: str,
    phase: Label | None = None,
    measure: Label = "",
    track: list[Label] = Query([]),  # noqa: B008
    versions: Literal["", "all"] = "",
) -> dict[str, Any]:
    """Get the ranks that systems may have on other collections, and without each of these.

    Tracks on one collection count as one. Values are null where nothing is known.
    """
    choice = BenchmarkChoice(phase=phase, measure=measure, tracks=tuple(track), versions=versions)
    board = find_benchmark_board(benchmark_or_404(viewer(request), slug), choice)
    check_benchmark_choice(board, choice)
    request_missing_tests(board)
    return describe_new_collections(NewCollections(board))
