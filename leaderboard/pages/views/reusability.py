"""Whether the judgments of a track can be reused: one team left out at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from leaderboard.analysis.reusability import (
    LeftOutTeams,
    TeamLine,
    is_too_large_to_leave_out,
    leave_teams_out,
    pool_depth_of,
    rate_measures,
    teams_of,
)
from leaderboard.boards.disclosure import track_or_404
from leaderboard.display import charts
from leaderboard.display.charts import AxisColumn
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
    drawn = LeftOutCharts(found) if found is not None else None
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "depth": pool_depth_of(board),
        "found": found,
        "drawn": drawn,
        "trusted": rate_measures(board) if found is not None else [],
        "too_large": has_teams and too_large,
        "verdict": wording.reusability_verdict(found) if found is not None else [],
        "for_a_paper": wording.sentence_for_a_paper(found) if found is not None else "",
    }
    return render(request, "judgments/reusability.html", context)


@dataclass(frozen=True)
class DrawnTeam:
    """A team left out, with its cells: the relevant documents as a bar, the ranks as dots."""

    line: TeamLine
    relevant: SafeString
    ranks: SafeString


@dataclass(frozen=True)
class LeftOutCharts:
    """The drawings of the table of teams."""

    found: LeftOutTeams

    @cached_property
    def column(self) -> AxisColumn:
        return charts.rank_column(self.found.num_runs)

    @property
    def head(self) -> SafeString:
        return charts.column_head(self.column)

    @property
    def teams(self) -> list[DrawnTeam]:
        most = max((line.relevant for line in self.found.lines), default=0)
        return [
            DrawnTeam(
                line,
                charts.count_bar(line.relevant, most),
                charts.moved_rank_cell(self.column, line.rank, line.rank_without),
            )
            for line in self.found.lines
        ]
