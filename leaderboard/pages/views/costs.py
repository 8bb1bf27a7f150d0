"""Effectiveness against cost of the runs that state their cost."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from leaderboard.analysis.costs import CostBreakdown, CostLine, build_cost_breakdown
from leaderboard.boards.deferred_tests import request_all_pairs
from leaderboard.boards.disclosure import track_or_404
from leaderboard.display.charts.costs import PricedRun, cost_chart
from leaderboard.display.charts.drawing import Kind
from leaderboard.pages import wording
from leaderboard.pages.page_urls import page_url
from leaderboard.pages.views.lookups import board_or_404
from leaderboard.pages.views.tables import csv_file, wants_csv

COLUMNS = (
    "run",
    "tag",
    "team",
    "cost",
    "value",
    "unit",
    "origin",
    "hardware",
    "measure",
    "mean",
    "low",
    "high",
    "difference_from_best",
    "p_adjusted",
    "on_front",
)


@require_GET
def cost(request: HttpRequest, slug: str) -> HttpResponse:
    """Show effectiveness against cost, with tests against the best run."""
    sight = track_or_404(request.user, slug)
    found = build_cost_breakdown(board_or_404(sight, request), request.GET.get("cost", ""))
    if wants_csv(request):
        return csv_file(
            f"{slug}-{found.cost.name}", COLUMNS, [_csv_row(found, each) for each in found.lines]
        )
    context = {
        "sight": sight,
        "track": sight.track,
        "board": found.board,
        "found": found,
        "tests_follow": found.best is not None
        and found.awaits_tests
        and request_all_pairs(found.board),
        "verdict": wording.cost_verdict(found),
        "stating": wording.count_runs_with_cost(found),
        "chart": _draw_costs(found) if found.lines else "",
    }
    return render(request, "cost.html", context)


def _draw_costs(found: CostBreakdown) -> SafeString:
    chosen, factor = found.board.choice.carried, found.cost.units[found.unit]
    runs = [
        PricedRun(
            name=str(each.run),
            cost=each.figure.value / factor,
            cost_text=each.cost_text,
            mean=each.mean,
            low=each.low,
            high=each.high,
            on_front=each.on_front,
            is_measured=each.figure.is_measured,
            is_named=each in (found.best, found.cheapest_good),
            kind=_mark_kind(each),
            href=page_url("run", chosen, each.run.pk),
        )
        for each in found.lines
    ]
    title = f"{found.board.measure} against {found.cost.label.lower()}"
    unit = f"{found.cost.label}, {found.unit}"
    return cost_chart(runs, unit, found.board.measure, title)


def _mark_kind(line: CostLine) -> Kind:
    return "baseline" if line.standing.is_baseline else "own" if line.standing.is_own else "other"


def _csv_row(found: CostBreakdown, line: CostLine) -> list[str | float | None]:
    figure, against = line.figure, line.against
    return [
        line.run.pk,
        line.run.tag,
        line.run.team.name,
        figure.what,
        figure.value,
        figure.unit,
        figure.origin,
        line.run.facts.get("hardware", ""),
        found.board.measure,
        line.mean,
        line.low,
        line.high,
        against.difference if against is not None else None,
        against.p_adjusted if against is not None else None,
        int(line.on_front),
    ]
