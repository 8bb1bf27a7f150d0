"""Whether the judgments of a track can be reused: one team left out at a time."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis.reusability import (
    LeftOutTeams,
    is_too_large_to_leave_out,
    leave_teams_out,
    pool_depth_of,
    rate_measures,
    teams_of,
)
from leaderboard.boards.disclosure import track_at_or_404
from leaderboard.display import charts
from leaderboard.pages import wording
from leaderboard.pages.views.lookups import board_of_rankings_or_404
from leaderboard.pages.views.tables import csv_file, wants_csv


@require_GET
def reusability(request: HttpRequest, address: str) -> HttpResponse:
    """Show each team with and without the documents that only it found."""
    sight = track_at_or_404(request.user, address)
    if sight.edition is None:
        raise Http404("no judgments to see")
    board = board_of_rankings_or_404(sight, request)
    has_teams, too_large = len(teams_of(board)) > 1, is_too_large_to_leave_out(board)
    found = leave_teams_out(board) if has_teams and not too_large else None
    if wants_csv(request):
        teams = found or LeftOutTeams(board.measure, pool_depth_of(board), 0, [])
        return csv_file(f"{sight.track.slug}-reusability", *teams.table)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "depth": pool_depth_of(board),
        "found": found,
        **(_draw(found) if found is not None else {}),
        "trusted": rate_measures(board) if found is not None else [],
        "too_large": has_teams and too_large,
        "verdict": wording.reusability_verdict(found) if found is not None else [],
        "for_a_paper": wording.sentence_for_a_paper(found) if found is not None else "",
    }
    return render(request, "judgments/reusability.html", context)


def _draw(found: LeftOutTeams) -> dict[str, object]:
    """Return each team with its relevant documents as a bar and its ranks as dots."""
    column = charts.rank_column(found.num_runs)
    most = max((line.relevant for line in found.lines), default=0)
    teams = [
        (
            line,
            charts.count_bar(line.relevant, most),
            charts.moved_rank_cell(column, line.move.before.rank, line.move.after.rank),
        )
        for line in found.lines
    ]
    return {"teams": teams, "rank_axis": charts.column_head(column)}
