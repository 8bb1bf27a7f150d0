"""The board of a track, and the pages right behind it."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard import exports, wording
from leaderboard.breakdowns import (
    judged_topics,
    judgment_counts,
    origin_of,
    waiting_runs,
)
from leaderboard.breakdowns.holes import HoleTable, hole_table
from leaderboard.breakdowns.scores import evaluated_topics
from leaderboard.breakdowns.summaries import JudgedTopic
from leaderboard.breakdowns.versions import versions_beside
from leaderboard.columns import shown_columns
from leaderboard.commissioning import commission_tests
from leaderboard.disclosure import Sight, look, track_or_404
from leaderboard.drawings import grade_lines
from leaderboard.judged import HoleDrawing, judged_lines
from leaderboard.models import Run
from leaderboard.standings import Board, find_means
from leaderboard.tabulating import BoardTable
from leaderboard.views.parts import board_of, choice_of, page_of
from leaderboard.views.tables import holes_csv, judged_csv, wants_csv

TOPICS = 100


@require_GET
def board(request: HttpRequest, slug: str) -> HttpResponse:
    sight = _by_judgments(request, slug)
    found = find_means(sight, choice_of(request))
    format = request.GET.get("format", "")
    if found is not None and format in exports.FORMATS:
        return exports.download(found, format, shown_columns(found))
    context = {
        "sight": sight,
        "track": sight.track,
        "board": found,
        "waiting": waiting_runs(sight),
        "num_accepted": sight.runs().accepted().count() if found is None else 0,
        "tests_follow": found is not None
        and found.is_untested
        and commission_tests(found.edition, found.measure, found.baseline),
        **(_said_and_drawn(request, found) if found is not None and found.standings else {}),
    }
    return render(request, "board.html", context)


def _by_judgments(request: HttpRequest, slug: str) -> Sight:
    """The board as it is; as other judgments have it; as somebody sees it who takes no part."""
    sight = track_or_404(request.user, slug)
    if request.GET.get("as") == "everybody":
        return look(sight.track, AnonymousUser())
    return sight.by_judgments(request.GET.get("judgments", ""))


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
def judgments(request: HttpRequest, slug: str) -> HttpResponse:
    """How many documents were judged, and what the others could change."""
    sight = track_or_404(request.user, slug)
    context: dict[str, object] = {"sight": sight, "track": sight.track}
    if sight.edition is None:
        return render(request, "judgments.html", context)
    board = board_of(sight, request)
    topics = judged_topics(board.edition, evaluated_topics(board.edition))
    holes = hole_table(board, request.GET.get("measure", ""))
    if wants_csv(request):
        of_runs = request.GET.get("table") == "runs"
        return holes_csv(slug, holes) if of_runs else judged_csv(slug, board.edition, topics)
    context |= _of_judgments(board, topics, page_of(request)) | _of_holes(board, holes)
    return render(request, "judgments.html", context)


def _of_judgments(board: Board, topics: list[JudgedTopic], number: int) -> dict[str, object]:
    judgment_set, counts = board.edition.judgment_set, judgment_counts(board.edition)
    grades = grade_lines(counts.grades, judgment_set.top_grade or 1, counts.threshold)
    page = Paginator(topics, TOPICS).get_page(number)
    most = max((sum(each.grades.values()) for each in topics), default=0)
    return {
        "edition": board.edition,
        "judgment_set": judgment_set,
        "counts": counts,
        "grades": grades,
        "num_pooled": judgment_set.pooled_runs.count(),
        "versions": versions_beside(board.sight),
        "page": page,
        "lines": judged_lines(list(page.object_list), [each.grade for each in grades], most),
    }


def _of_holes(board: Board, holes: HoleTable) -> dict[str, object]:
    return {
        "board": board,
        "holes": holes,
        "test": wording.describe_test(board.sight.track.test, board.edition.num_evaluated),
        "drawing": HoleDrawing(holes),
        "holes_verdict": wording.holes_verdict(holes, board.baseline),
    }


@require_GET
def computed(request: HttpRequest, slug: str) -> HttpResponse:
    """How a number was computed: a page of its own, which the script shows in a drawer."""
    sight = _by_judgments(request, slug)
    asked = request.GET
    measure = asked.get("measure", sight.track.primary_measure)
    origin = origin_of(sight, measure, asked.get("run", ""), asked.get("number", ""))
    context = {"sight": sight, "track": sight.track, "origin": origin}
    return render(request, "computed.html", context)
