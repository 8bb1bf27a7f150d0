"""Endpoints for the boards of tracks and benchmarks, and run comparisons."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router

from leaderboard.analysis import RunPair, compare_runs
from leaderboard.analysis.pairs import compute_probability
from leaderboard.analysis.topic_choice import ChosenTopics, choose_topics
from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.benchmark_schemas import BenchmarkBoardOut
from leaderboard.api.errors import field_error
from leaderboard.api.fields import CollectionDate, Label, Region
from leaderboard.api.runs import find_measure, serialise_test
from leaderboard.api.schemas import (
    BoardOut,
    ComparisonOut,
    TopicFieldsIn,
    json_answer,
    response_schemas,
)
from leaderboard.boards.benchmark_boards import (
    BenchmarkBoard,
    BenchmarkChoice,
    find_benchmark_board,
)
from leaderboard.boards.board_files import download
from leaderboard.boards.columns import paper_columns
from leaderboard.boards.deferred_tests import request_missing_tests
from leaderboard.boards.disclosure import benchmark_or_404, track_or_404
from leaderboard.boards.exports import (
    describe_benchmark_board,
    describe_common,
    describe_judgments,
    file_of,
)
from leaderboard.boards.kept_pages import find_or_make
from leaderboard.boards.page_keys import find_seen_benchmark, find_seen_track
from leaderboard.boards.standings import (
    Board,
    BoardChoice,
    Standing,
    find_board,
    find_visible_board,
)
from leaderboard.models import Run
from leaderboard.runs.facts import all_facts

of_tracks = Router(tags=["boards"])
of_benchmarks = Router(tags=["benchmarks"])

Format = Literal["json", "csv", "tsv", "tex", "md"]


@of_tracks.get("/{slug:slug}/leaderboard", auth=PUBLIC, response=response_schemas(BoardOut))
def get_leaderboard(
    request: HttpRequest,
    slug: str,
    measure: Label = "",
    baseline: Label = "",
    judgments: Label = "",
    family: Literal["", "baseline", "all"] = "",
    format: Format = "json",
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
            return send_file(board, format)
        return json_answer(BoardOut, serialise_board(board))

    return find_or_make(request, lambda: find_seen_track(viewer(request), slug), make)


def serialise_board(board: Board) -> dict[str, Any]:
    return {
        **describe_judgments(board),
        "baseline": board.baseline.pk if board.baseline is not None else None,
        "family": board.family,
        "test": board.test,
        "tested": [] if board.lacks_tests else list(board.tests.family.runs),
        "standings": [serialise_standing(board, each) for each in board.standings],
    }


def send_file(board: Board | BenchmarkBoard, format: str) -> HttpResponse:
    """Return a whole board as a file; for papers with the columns of a paper."""
    columns = paper_columns(board) if format in ("md", "tex") else board.columns_of_table
    return download(file_of(board, columns), format)


def board_or_404(board: Board | None, choice: BoardChoice) -> Board:
    if board is None:
        raise Http404("no board to see")
    if choice.baseline and (board.baseline is None or board.baseline.pk != choice.baseline):
        raise field_error("baseline", "is not a run on this board", choice.baseline)
    return board


def serialise_standing(board: Board, standing: Standing) -> dict[str, Any]:
    found = describe_common(standing, board.sight.can_see_scores)
    return {
        **found,
        "run": standing.run.pk,
        "tag": standing.run.tag,
        "late": standing.run.is_late,
        "scores": standing.scores,
        "estimates": [
            {"measure": each.measure, "marked": each.judged, **each.parts}
            for each in board.drawn_by_run.get(standing.run.pk, ())
        ],
        "facts": all_facts(standing.run),
        "judged_at_10": standing.judged_at_10,
        "p_holm": found["p_adjusted"] if board.correction == "Holm" else None,
    }


@of_benchmarks.get("/{slug:slug}/board", auth=PUBLIC, response=response_schemas(BenchmarkBoardOut))
def get_benchmark_board(
    request: HttpRequest,
    slug: str,
    phase: Label | None = None,
    measure: Label = "",
    track: list[Label] = Query([]),  # noqa: B008
    until: CollectionDate = "",
    versions: Literal["", "all"] = "",
    baseline: Label = "",
    family: Literal["", "baseline", "all"] = "",
    format: Format = "json",
) -> HttpResponseBase:
    """Get the systems of a benchmark with their means over tracks, as JSON or as a table.

    `track` names the tracks that count, all by default; with `until`, a date or a place in their
    order, only collections up to it count. `baseline` is the id of a version. Systems
    that lack a track are listed apart, without mean and rank.
    """
    choice = BenchmarkChoice(
        phase=phase,
        measure=measure,
        tracks=tuple(track),
        until=until,
        versions=versions,
        baseline=baseline,
        family=family,
    )

    def make() -> HttpResponse:
        board = find_benchmark_board(benchmark_or_404(viewer(request), slug), choice)
        check_benchmark_choice(board, choice)
        request_missing_tests(board)
        if format != "json":
            return send_file(board, format)
        return json_answer(BenchmarkBoardOut, describe_benchmark_board(board))

    return find_or_make(request, lambda: find_seen_benchmark(viewer(request), slug), make)


def check_benchmark_choice(board: BenchmarkBoard, choice: BenchmarkChoice) -> None:
    """Reject a baseline or a track that the board does not have."""
    baseline = board.baseline
    if choice.baseline and (baseline is None or str(baseline.version.pk) != choice.baseline):
        raise field_error("baseline", "is not a complete system on this board", choice.baseline)
    known = {sight.track.slug for sight in board.choosable}
    for slug in choice.tracks:
        if slug not in known:
            raise field_error("track", "is not a track on this board", slug)


@of_tracks.get(
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
    fields: Query[TopicFieldsIn],
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
    chosen = choose_topics(sight.track.collection, fields.wanted)
    return serialise_pair(board, pair, region, chosen)


def run_on_board(board: Board, name: str, run_id: str) -> Run:
    return standing_on_board(board, name, run_id).run


def standing_on_board(board: Board, name: str, run_id: str) -> Standing:
    standing = board.standing_with(run_id)
    if standing is None:
        raise field_error(name, "is not a run on this board", run_id)
    return standing


def serialise_pair(
    board: Board, pair: RunPair, region: float, chosen: ChosenTopics
) -> dict[str, Any]:
    found = compute_probability(pair, region)
    probability = None if found is None else {"region": region, **asdict(found)}
    return {
        "a": pair.a.pk,
        "b": pair.b.pk,
        "topics": pair.of(chosen).topics,
        "probability": probability,
        **serialise_test(board.sight, pair),
    }
