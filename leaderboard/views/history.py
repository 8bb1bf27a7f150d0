"""How a track got better: the best score over time, and a badge that says it elsewhere."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET

from leaderboard.breakdowns.history import History, history_of_track
from leaderboard.charts.badges import badge as draw_badge
from leaderboard.charts.steps import Dated, Turn, step_chart
from leaderboard.disclosure import track_or_404
from leaderboard.standings import find_board
from leaderboard.templatetags.numbers import score
from leaderboard.views.tables import csv_file, wants_csv


@require_GET
def history(request: HttpRequest, slug: str) -> HttpResponse:
    sight = track_or_404(request.user, slug).by_judgments(request.GET.get("judgments", ""))
    found = history_of_track(sight)
    if found is None:
        raise Http404("no board to see")
    if wants_csv(request):
        return _as_csv(f"{slug}-history", found)
    context = {
        "sight": sight,
        "track": sight.track,
        "history": found,
        "chart": _chart(found) if found.lines else "",
    }
    return render(request, "history.html", context)


def _chart(history: History) -> str:
    runs = [
        Dated(
            at=each.run.received_at,
            value=each.mean,
            best=each.best,
            name=str(each.run),
            kind="own" if each.is_own else "other",
            href=reverse("run", args=[each.run.pk]),
        )
        for each in history.lines
    ]
    turns = [Turn(each.at, f"judgments {each.version}") for each in history.changes]
    return step_chart(runs, turns, f"The best {history.measure} over time")


def _as_csv(name: str, history: History) -> HttpResponse:
    """A line for each run: its mean, and the best mean until then."""
    version = history.edition.judgment_set.version
    lines = [
        [
            each.run.received_at.isoformat(),
            each.run.pk,
            each.run.tag,
            each.run.team.name,
            each.mean,
            each.best,
            version,
        ]
        for each in history.lines
    ]
    head = ["received_at", "run", "tag", "team", history.measure, "best", "judgments"]
    return csv_file(name, head, lines)


@require_GET
@cache_control(public=True, max_age=300)
def badge(request: HttpRequest, slug: str) -> HttpResponse:
    """The best score of a public board, or of one of its teams, as everybody may see it."""
    sight = track_or_404(AnonymousUser(), slug)
    board, team = find_board(sight), request.GET.get("team", "")
    if board is None or (team and team not in board.teams):
        raise Http404("no score to show")
    of_team = (each for each in board.ranked if team in ("", each.run.team.name))
    first = next(of_team, None)
    value = f"{board.measure} {score(first.scores[board.measure], 3)}" if first else "no run yet"
    words = f"{sight.track.name}, {team}" if team else sight.track.name
    return HttpResponse(draw_badge(words, value), content_type="image/svg+xml")
