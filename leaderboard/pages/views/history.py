"""The best score of a track over time, as a page and as a badge."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import tracks
from leaderboard.analysis.history import History, build_history
from leaderboard.boards.disclosure import Sight, track_or_404
from leaderboard.boards.standings import find_board
from leaderboard.display.charts.steps import badge as draw_badge
from leaderboard.display.charts.steps import step_chart
from leaderboard.display.numbers import score
from leaderboard.models import Track
from leaderboard.pages.page_urls import carried_parameters, page_url
from leaderboard.pages.views.lookups import (
    organised_sight_or_403,
    page_number,
    public_sight_or_404,
)
from leaderboard.pages.views.tables import csv_file, wants_csv

# Runs per page of the table.
RUNS = 500


@require_GET
def history(request: HttpRequest, slug: str) -> HttpResponse:
    sight = track_or_404(request.user, slug).with_judgments(request.GET.get("judgments", ""))
    found = build_history(sight, request.GET.get("measure", ""))
    if found is None:
        raise Http404("no board to see")
    if wants_csv(request):
        return csv_file(f"{slug}-history", *found.table)
    context = {
        "sight": sight,
        "track": sight.track,
        "history": found,
        "measures": sight.measures,
        "page": Paginator(found.lines, RUNS).get_page(page_number(request)),
        "chart": _draw_history(found, carried_parameters(request.GET)) if found.lines else "",
    }
    return render(request, "board/history.html", context)


def _draw_history(history: History, chosen: Mapping[str, str]) -> str:
    title = f"The best {history.measure} over time"
    return step_chart(
        history.lines, history.changes, title, lambda line: page_url("run", chosen, line.run.pk)
    )


@require_GET
@cache_control(public=True, max_age=300)
def badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a badge with the best score of a public board, or of one of its teams."""
    return _render_badge(public_sight_or_404(request, slug), request.GET.get("team", ""))


@require_GET
@cache_control(public=True, max_age=300)
def badge_by_code(request: HttpRequest, code: str) -> HttpResponse:
    """Return the badge of a track that is not public to anyone who has its URL."""
    track = get_object_or_404(Track.objects.opened(), badge_code=code)
    return _render_badge(Sight.of_everybody(track), request.GET.get("team", ""))


def _render_badge(sight: Sight, team: str) -> HttpResponse:
    board = find_board(sight)
    if board is None or (team and team not in board.teams):
        raise Http404("no score to show")
    of_team = (standing for standing in board.ranked if team in ("", standing.run.team.name))
    first = next(of_team, None)
    value = f"{board.measure} {score(first.scores[board.measure], 3)}" if first else "no run yet"
    value = ", ".join(filter(None, [value, board.who_judged.text_with_shares]))
    words = f"{sight.track.name}, {team}" if team else sight.track.name
    return HttpResponse(draw_badge(words, value), content_type="image/svg+xml")


@login_required
@require_POST
def change_badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Create, renew or remove the badge URL of a track that is not public."""
    track = organised_sight_or_403(request, slug).track
    if request.POST.get("act") == "remove":
        tracks.remove_badge(track, request.user)
    else:
        tracks.renew_badge(track, request.user)
    return redirect("manage", slug=slug)
