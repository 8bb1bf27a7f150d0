"""The endpoint for the board of a benchmark."""

from __future__ import annotations

from typing import Literal

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router

from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.benchmark_schemas import BenchmarkBoardOut
from leaderboard.api.errors import field_error
from leaderboard.api.fields import Label
from leaderboard.api.schemas import json_answer, response_schemas
from leaderboard.boards.benchmark_boards import (
    BenchmarkBoard,
    BenchmarkChoice,
    find_benchmark_board,
)
from leaderboard.boards.benchmark_columns import columns_of_benchmark, paper_benchmark_columns
from leaderboard.boards.benchmark_exports import describe_benchmark_board, file_of_benchmark
from leaderboard.boards.board_files import download
from leaderboard.boards.deferred_tests import request_contest_tests
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.boards.kept_pages import find_or_make
from leaderboard.boards.page_keys import find_seen_benchmark

router = Router(tags=["benchmarks"])


@router.get("/{slug:slug}/board", auth=PUBLIC, response=response_schemas(BenchmarkBoardOut))
def get_benchmark_board(
    request: HttpRequest,
    slug: str,
    phase: Label | None = None,
    measure: Label = "",
    track: list[Label] = Query([]),  # noqa: B008
    versions: Literal["", "all"] = "",
    baseline: Label = "",
    family: Literal["", "baseline", "all"] = "",
    format: Literal["json", "csv", "tsv", "tex", "md"] = "json",
) -> HttpResponseBase:
    """Get the systems of a benchmark with their means over tracks, as JSON or as a table.

    `track` names the tracks that count, all by default. `baseline` is the id of a version. Systems
    that lack a track are listed apart, without mean and rank.
    """
    choice = BenchmarkChoice(
        phase=phase,
        measure=measure,
        tracks=tuple(track),
        versions=versions,
        baseline=baseline,
        family=family,
    )

    def make() -> HttpResponse:
        board = find_benchmark_board(benchmark_or_404(viewer(request), slug), choice)
        check_choice(board, choice)
        if board.contest is not None and board.awaits_tests:
            request_contest_tests(board.sight.benchmark, board.contest)
        if format != "json":
            papers = format in ("md", "tex")
            columns = paper_benchmark_columns(board) if papers else columns_of_benchmark(board)
            return download(file_of_benchmark(board, columns), format)
        return json_answer(BenchmarkBoardOut, describe_benchmark_board(board))

    return find_or_make(request, lambda: find_seen_benchmark(viewer(request), slug), make)


def check_choice(board: BenchmarkBoard, choice: BenchmarkChoice) -> None:
    """Reject a baseline or a track that the board does not have."""
    baseline = board.baseline
    if choice.baseline and (baseline is None or str(baseline.version.pk) != choice.baseline):
        raise field_error("baseline", "is not a complete system on this board", choice.baseline)
    known = {sight.track.slug for sight in board.choosable}
    for slug in choice.tracks:
        if slug not in known:
            raise field_error("track", "is not a track on this board", slug)
