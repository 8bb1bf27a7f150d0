"""The pages of judges on a track whose runs are judgments, or rank systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis.entrant_boards import find_entrant_boards
from leaderboard.analysis.entrants import STATISTICS_SHOWN, find_or_request_judges
from leaderboard.analysis.ranked_systems import ORDERS_SHOWN, find_or_request_rankings
from leaderboard.boards.disclosure import Sight, track_at_or_404
from leaderboard.display import charts
from leaderboard.display.csv_tables import CsvTable
from leaderboard.pages import wording
from leaderboard.pages.battle_cells import draw_calibrations, draw_estimates
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.scoring.kinds import kind_of


@require_GET
def judges(request: HttpRequest, address: str) -> HttpResponse:
    """Show how far judges agree with people, for anyone who sees scores by topic."""
    sight = _judged_sight_or_404(request, address)
    if sight.track.ranks_systems:
        return _show_rankings(request, sight)
    found = find_or_request_judges(sight, request.GET.get("statistic", ""))
    if wants_csv(request):
        table = _chosen_table(request, found.tables)
        return csv_file(f"{sight.track.slug}-judges", *table)
    context: dict[str, Any] = {
        "sight": sight,
        "track": sight.track,
        "found": found,
        "statistics": STATISTICS_SHOWN,
    }
    if found.rows:
        column, cells = draw_estimates(found.rows)
        context |= {
            "axis": charts.column_head(column),
            "rows": list(zip(found.rows, cells, strict=True)),
            "topics": shorten(request, "topics", "topic", found.by_topic, carried=("statistic",)),
            "sure": draw_calibrations(found.sure),
            "verdict": wording.describe_entrants(found),
        }
    return render(request, "machine/judges.html", context)


def _show_rankings(request: HttpRequest, sight: Sight) -> HttpResponse:
    """Show how near rankings of systems are to the board of their scores."""
    found = find_or_request_rankings(sight, request.GET.get("statistic", ""))
    if wants_csv(request):
        table = _chosen_table(request, found.tables)
        return csv_file(f"{sight.track.slug}-rankings", *table)
    context: dict[str, Any] = {
        "sight": sight,
        "track": sight.track,
        "found": found,
        "statistics": ORDERS_SHOWN,
    }
    if found.rows:
        column, cells = draw_estimates(found.rows)
        others = {name: words for name, words in ORDERS_SHOWN.items() if name != found.statistic}
        context |= {
            "axis": charts.column_head(column),
            "words": ORDERS_SHOWN[found.statistic],
            "others": others,
            "rows": [
                (row, cell, [row.statistics[name] for name in others])
                for row, cell in zip(found.rows, cells, strict=True)
            ],
            "systems": shorten(request, "systems", "system", found.systems, carried=("statistic",)),
            "verdict": wording.describe_rankings(found),
        }
    return render(request, "machine/ranked_systems.html", context)


@require_GET
def judges_boards(request: HttpRequest, address: str) -> HttpResponse:
    """Show the board of systems that each judge would make, beside that of people."""
    sight = _judged_sight_or_404(request, address)
    if sight.track.ranks_systems:
        raise Http404("rankings of systems are boards already")
    found = find_entrant_boards(sight, request.GET.get("of", ""), request.GET.get("measure", ""))
    if wants_csv(request):
        table = _chosen_table(request, found.tables)
        return csv_file(f"{sight.track.slug}-boards-by-judges", *table)
    context: dict[str, Any] = {
        "sight": sight,
        "track": sight.track,
        "found": found,
        "by_judge": found.by_judge,
        "runs": shorten(request, "systems", "run", found.runs, carried=("of", "measure")),
    }
    if found.rows:
        context["verdict"] = wording.describe_entrant_boards(found)
    return render(request, "machine/judges_boards.html", context)


def _chosen_table(request: HttpRequest, tables: Mapping[str, CsvTable]) -> CsvTable:
    table = tables.get(request.GET.get("table", "judges"))
    if table is None:
        raise Http404("no such table")
    return table


def _judged_sight_or_404(request: HttpRequest, address: str) -> Sight:
    sight = track_at_or_404(request.user, address)
    if not kind_of(sight.track).is_of_judges or not sight.can_see_scores:
        raise Http404("no judges to see")
    return sight
