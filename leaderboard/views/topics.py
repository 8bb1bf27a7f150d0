"""The topics of a track, and what every run made of one."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard import wording
from leaderboard.breakdowns import topic_breakdown, topic_or_404, topic_summaries
from leaderboard.breakdowns.rankings import neighbours
from leaderboard.breakdowns.summaries import ORDERS, in_order
from leaderboard.disclosure import track_or_404
from leaderboard.drawings import answer_lines, grade_lines, summary_table, topic_strip
from leaderboard.models import Topic
from leaderboard.standings import Board, find_board
from leaderboard.views.parts import choice_of, page_of

TOPICS = 100


@require_GET
def topics(request: HttpRequest, slug: str) -> HttpResponse:
    """Every topic: with its judgments and scores where they may be seen, else its title."""
    sight = track_or_404(request.user, slug)
    board = find_board(sight, choice_of(request))
    order = request.GET.get("order", "")
    every = (
        in_order(topic_summaries(board), order)
        if board is not None
        else sight.track.collection.topics.all()
    )
    page = Paginator(every, TOPICS).get_page(page_of(request))
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "order": order if order in ORDERS else "",
        "page": page,
        "table": summary_table(list(page)) if board is not None else None,
    }
    return render(request, "topics.html", context)


@require_GET
def topic(request: HttpRequest, slug: str) -> HttpResponse:
    sight = track_or_404(request.user, slug)
    found = topic_or_404(sight.track.collection, request.GET.get("number", ""))
    board = find_board(sight, choice_of(request))
    previous, following = neighbours(found)
    context = {
        "sight": sight,
        "track": sight.track,
        "topic": found,
        "previous": previous,
        "next": following,
        "board": board,
        **(_broken_down(request, board, found) if board is not None else {}),
    }
    return render(request, "topic.html", context)


def _broken_down(request: HttpRequest, board: Board, topic: Topic) -> dict[str, object]:
    breakdown = topic_breakdown(board, topic, page_of(request))
    top = board.edition.judgment_set.top_grade or 1
    return {
        "breakdown": breakdown,
        "verdict": wording.topic_verdict(breakdown),
        "strip": topic_strip(breakdown),
        "lines": answer_lines(breakdown, top),
        "grades": grade_lines(breakdown.grades, top, board.sight.track.relevance_threshold),
        "top_grade": top,
    }
