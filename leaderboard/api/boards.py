"""Endpoints for boards and run comparisons."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Router

from leaderboard.analysis import RunPair, compare_runs
from leaderboard.analysis.pairs import compute_probability
from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.errors import field_error
from leaderboard.api.fields import Label, Region
from leaderboard.api.runs import TEST_FIELDS, find_measure, serialise_test
from leaderboard.api.schemas import BoardOut, ComparisonOut, json_answer, response_schemas
from leaderboard.boards.board_files import download
from leaderboard.boards.columns import columns_of, paper_columns
from leaderboard.boards.deferred_tests import request_missing_tests
from leaderboard.boards.disclosure import track_or_404
from leaderboard.boards.exports import file_of
from leaderboard.boards.kept_pages import find_or_make
from leaderboard.boards.page_keys import find_seen_track
from leaderboard.boards.standings import (
    Board,
    BoardChoice,
    Standing,
    find_board,
    find_visible_board,
)
from leaderboard.models import Run

router = Router(tags=["boards"])


@router.get("/{slug:slug}/leaderboard", auth=PUBLIC, response=response_schemas(BoardOut))
def get_leaderboard(
    request: HttpRequest,
    slug: str,
    measure: Label = "",
    baseline: Label = "",
    judgments: Label = "",
    family: Literal["", "baseline", "all"] = "",
    format: Literal["json", "csv", "tsv", "tex", "md"] = "json",
) -> HttpResponseBase:
    """Get the ranked runs with their test results, as JSON or as a table.

    `family` selects what the tests compare: `baseline` compares every run with the baseline, `all`
    compares all pairs of runs. With `judgments`, get the board of an earlier version and its
    measures.
    """

    def make() -> HttpResponse:
        sight = track_or_404(viewer(request), slug).with_judgments(judgments)
        choice = BoardChoice(measure=find_measure(sight, measure), baseline=baseline, family=family)
        board = board_or_404(find_visible_board(sight, choice), choice)
        request_missing_tests(board)
        if format != "json":
            papers = format in ("md", "tex")
            columns = paper_columns(board) if papers else columns_of(board)
            return download(file_of(board, columns), format)
        return json_answer(BoardOut, serialise_board(board))

    return find_or_make(request, lambda: find_seen_track(viewer(request), slug), make)


def serialise_board(board: Board) -> dict[str, Any]:
    return {
        "measure": board.measure,
        "judgments": board.edition.judgment_set.version,
        "judged_by": board.who_judged.full_text or None,
        "edition": str(board.edition.pk),
        "baseline": board.baseline.pk if board.baseline is not None else None,
        "family": board.family,
        "test": board.test,
        "tested": list(board.tests.family),
        "standings": [serialise_standing(board, each) for each in board.standings],
    }


def board_or_404(board: Board | None, choice: BoardChoice) -> Board:
    if board is None:
        raise Http404("no board to see")
    if choice.baseline and (board.baseline is None or board.baseline.pk != choice.baseline):
        raise field_error("baseline", "is not a run on this board", choice.baseline)
    return board


def serialise_standing(board: Board, standing: Standing) -> dict[str, Any]:
    low, high = standing.interval or (None, None)
    against = asdict(standing.against) if standing.against is not None else {}
    return {
        "rank": standing.rank,
        "rank_low": low,
        "rank_high": high,
        "run": standing.run.pk,
        "tag": standing.run.tag,
        "team": standing.run.team.name,
        "late": standing.run.is_late,
        "scores": standing.scores,
        "judged_at_10": standing.judged_at_10,
        "p_holm": against.get("p_adjusted") if board.correction == "Holm" else None,
        "verdict": standing.verdict or None,
        "unit": against.get("unit"),
        **{name: against.get(name) for name in TEST_FIELDS},
    }


@router.get(
    "/{slug:slug}/compare",
    auth=PUBLIC,
    response=response_schemas(ComparisonOut),
    summary="Compare runs",
)
def compare(
    request: HttpRequest,
    slug: str,
    a: Label,
    b: Label,
    measure: Label = "",
    family: Literal["", "baseline", "all"] = "",
    region: Region = 0.0,
) -> dict[str, Any]:
    """Compare run `b` with run `a`. Differences are b minus a.

    A pair without the baseline is decided by the test of all pairs of runs. The `probability` is
    for a pair named before its results were seen; differences up to `region` count as equivalent.
    """
    sight = track_or_404(viewer(request), slug).with_every_run()
    measure = find_measure(sight, measure)
    choice = BoardChoice(measure=measure, family=family)
    board = board_or_404(find_board(sight, choice), choice)
    pair = compare_runs(board, run_on_board(board, "a", a), run_on_board(board, "b", b))
    return serialise_pair(board, pair, region)


def run_on_board(board: Board, name: str, run_id: str) -> Run:
    return standing_on_board(board, name, run_id).run


def standing_on_board(board: Board, name: str, run_id: str) -> Standing:
    standing = board.standing_with(run_id)
    if standing is None:
        raise field_error(name, "is not a run on this board", run_id)
    return standing


def serialise_pair(board: Board, pair: RunPair, region: float) -> dict[str, Any]:
    found = compute_probability(pair, region)
    probability = None if found is None else {"region": region, **asdict(found)}
    return {
        "a": pair.a.pk,
        "b": pair.b.pk,
        "topics": pair.topics,
        "probability": probability,
        **serialise_test(board.sight, pair),
    }
