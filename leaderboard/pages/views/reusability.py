"""Whether the judgments of a track can be reused: one team left out at a time."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis.reusability import (
    TeamLine,
    is_too_large_to_leave_out,
    leave_teams_out,
    pool_depth_of,
    teams_of,
)
from leaderboard.boards.disclosure import track_or_404
from leaderboard.pages import wording
from leaderboard.pages.views.lookups import board_or_404
from leaderboard.pages.views.tables import csv_file, wants_csv


@require_GET
def reusability(request: HttpRequest, slug: str) -> HttpResponse:
    """Show each team with and without the documents that only it found."""
    sight = track_or_404(request.user, slug)
    if sight.edition is None:
        raise Http404("no judgments to see")
    board = board_or_404(sight, request)
    has_teams, too_large = len(teams_of(board)) > 1, is_too_large_to_leave_out(board)
    found = leave_teams_out(board) if has_teams and not too_large else None
    if wants_csv(request):
        lines = found.lines if found is not None else []
        return csv_file(f"{slug}-reusability", TeamLine.COLUMNS, [line.cells for line in lines])
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "depth": pool_depth_of(board),
        "found": found,
        "too_large": has_teams and too_large,
        "verdict": wording.reusability_verdict(found) if found is not None else [],
    }
    return render(request, "reusability.html", context)
