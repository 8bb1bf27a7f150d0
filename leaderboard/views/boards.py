"""The board of a track, and the pages right behind it."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard import exports, wording
from leaderboard.breakdowns import (
    Pair,
    compare_runs,
    judged_topics,
    judgment_counts,
    origin_of,
    waiting_runs,
)
from leaderboard.breakdowns.scores import evaluated_topics
from leaderboard.columns import shown_columns
from leaderboard.disclosure import Sight, track_or_404
from leaderboard.drawings import PairDrawing, grade_lines
from leaderboard.models import Edition, Run
from leaderboard.standings import Board, find_board
from leaderboard.tabulating import BoardTable
from leaderboard.views.parts import board_of, choice_of, page_of, run_seen_or_404

TOPICS = 100


@require_GET
def board(request: HttpRequest, slug: str) -> HttpResponse:
    sight = track_or_404(request.user, slug)
    found = find_board(sight, choice_of(request))
    format = request.GET.get("format", "")
    if found is not None and format in exports.FORMATS:
        return exports.download(found, format, shown_columns(found))
    context = {
        "sight": sight,
        "track": sight.track,
        "board": found,
        "waiting": waiting_runs(sight),
        "num_accepted": sight.runs().accepted().count() if found is None else 0,
        **(_said_and_drawn(request, found) if found is not None and found.standings else {}),
    }
    return render(request, "board.html", context)


def _said_and_drawn(request: HttpRequest, board: Board) -> dict[str, object]:
    """What the page prints of a board: its sentences and its table."""
    return {
        "table": BoardTable(board, request.GET),
        "verdict": wording.board_verdict(board),
        "power": wording.power(board),
        "rule": wording.selection_rule(board),
        "much_unjudged": wording.much_unjudged(board),
        "test": wording.describe_test(board.sight.track.test, board.edition.num_evaluated),
        "kinds": Run.Kind.values,
        "exports": exports.FORMATS,
    }


@require_GET
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Run `b` held to run `a`; without them the best run and the baseline."""
    sight = track_or_404(request.user, slug)
    board = board_of(sight, request)
    order = "topic" if request.GET.get("order") == "topic" else "difference"
    pair = _pair_asked_for(request, sight, board)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "pair": pair,
        "order": order,
        **(_of_pair(pair, order) if pair is not None else {}),
    }
    return render(request, "compare.html", context)


def _pair_asked_for(request: HttpRequest, sight: Sight, board: Board) -> Pair | None:
    """The two runs of the address; None where they are one, or the board has no two."""
    runs = [standing.run for standing in board.ranked]
    a, b = request.GET.get("a", ""), request.GET.get("b", "")
    if (a and a == b) or (not (a or b) and len(runs) < 2):
        return None
    held_to = run_seen_or_404(board, a) if a else _other(runs, board.baseline, b)
    looked_at = run_seen_or_404(board, b) if b else _other(runs, None, held_to.pk)
    return compare_runs(sight, held_to, looked_at, board.measure)


def _other(runs: list[Run], wanted: Run | None, than: str) -> Run:
    """The run that is wanted, or else the best one, if it is another than that one."""
    for run in [wanted, *runs]:
        if run is not None and run.pk != than:
            return run
    raise Http404("no second run")


def _of_pair(pair: Pair, order: str) -> dict[str, object]:
    return {
        "drawing": PairDrawing(pair, order),
        "verdict": wording.pair_verdict(pair),
        "test": wording.pair_test(pair),
    }


@require_GET
def judgments(request: HttpRequest, slug: str) -> HttpResponse:
    sight = track_or_404(request.user, slug)
    edition = sight.edition
    context: dict[str, object] = {"sight": sight, "track": sight.track, "edition": edition}
    if edition is not None:
        edition.track = sight.track
        context |= _of_judgments(edition, page_of(request))
    return render(request, "judgments.html", context)


def _of_judgments(edition: Edition, number: int) -> dict[str, object]:
    judgment_set, counts = edition.judgment_set, judgment_counts(edition)
    page = Paginator(evaluated_topics(edition), TOPICS).get_page(number)
    page.object_list = judged_topics(edition, list(page.object_list))
    return {
        "judgment_set": judgment_set,
        "counts": counts,
        "grades": grade_lines(counts.grades, judgment_set.top_grade or 1, counts.threshold),
        "num_pooled": judgment_set.pooled_runs.count(),
        "page": page,
    }


@require_GET
def computed(request: HttpRequest, slug: str) -> HttpResponse:
    """How a number was computed: a page of its own, which the script shows in a drawer."""
    sight = track_or_404(request.user, slug)
    asked = request.GET
    origin = origin_of(
        sight, asked.get("measure", sight.track.primary_measure), asked.get("run", "")
    )
    context = {"sight": sight, "track": sight.track, "origin": origin}
    return render(request, "computed.html", context)
