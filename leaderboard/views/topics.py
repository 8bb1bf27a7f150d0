"""A topic and what every run made of it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.breakdowns import topic_breakdown, topic_or_404
from leaderboard.breakdowns.rankings import neighbours
from leaderboard.disclosure import track_or_404
from leaderboard.standings import find_board
from leaderboard.views.parts import choice_of


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
        "breakdown": topic_breakdown(board, found) if board is not None else None,
    }
    return render(request, "topic.html", context)
