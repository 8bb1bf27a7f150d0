"""The board of a track, and the pages right behind it."""

from __future__ import annotations

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
from leaderboard.breakdowns.scores import evaluated_topics
from leaderboard.columns import shown_columns
from leaderboard.disclosure import track_or_404
from leaderboard.drawings import grade_lines
from leaderboard.models import Edition, Run
from leaderboard.standings import Board, find_board
from leaderboard.tabulating import BoardTable
from leaderboard.views.parts import choice_of, page_of

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
