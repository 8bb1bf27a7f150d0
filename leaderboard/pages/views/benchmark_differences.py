"""Where the systems of a benchmark differ: by track, in their order, and two side by side."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from leaderboard.analysis.benchmark_differences import (
    FIRST,
    FIRST_OPTIONS,
    MEAN_SYSTEM,
    BenchmarkDifferences,
)
from leaderboard.analysis.benchmark_pairs import SystemPair, find_pair
from leaderboard.boards.benchmark_boards import find_benchmark_board
from leaderboard.boards.deferred_tests import request_missing_tests
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.display.charts.duels import DuelLine, duel_chart
from leaderboard.pages.benchmark_heat_table import BenchmarkHeatTable
from leaderboard.pages.page_urls import carried_parameters
from leaderboard.pages.views.benchmark_boards import (
    CARRIED_BY_BENCHMARKS,
    link_phases,
    list_measures,
)
from leaderboard.pages.views.lookups import requested_benchmark_choice, text_of
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.pages.wording.benchmark_differences import (
    describe_colours,
    describe_pair,
    describe_pair_test,
    describe_turns,
)


@require_GET
def benchmark_differences(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the systems of a benchmark by its tracks, and the tracks on which their order turns."""
    sight = benchmark_or_404(request.user, slug)
    board = find_benchmark_board(sight, requested_benchmark_choice(request))
    against_mean = board.choice.baseline == MEAN_SYSTEM or board.baseline is None
    found = BenchmarkDifferences(board, against_mean, _requested_first(request))
    if wants_csv(request):
        is_turned = text_of(request.GET, "table") == "turned"
        name, table = ("turned", found.turned_table) if is_turned else ("differences", found.table)
        return csv_file(f"{slug}-{name}", *table)
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "board": board,
        "found": found,
        "is_compared": board.columns and found.rows,
        "table": BenchmarkHeatTable(found, request.GET),
        "tests_follow": request_missing_tests(board),
        "phases": link_phases(board),
        "measures": list_measures(board),
        "first_options": FIRST_OPTIONS,
        "kept": carried_parameters(request.GET, CARRIED_BY_BENCHMARKS),
        "colours": describe_colours(found),
        "turns": describe_turns(found),
    }
    return render(request, "benchmark/differences.html", context)


def _requested_first(request: HttpRequest) -> int:
    asked = text_of(request.GET, "first")
    return int(asked) if asked in map(str, FIRST_OPTIONS) else FIRST


@require_GET
def benchmark_compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Show two systems of a benchmark side by side over all its tracks."""
    sight = benchmark_or_404(request.user, slug)
    board = find_benchmark_board(sight, requested_benchmark_choice(request))
    pair = find_pair(board, text_of(request.GET, "a"), text_of(request.GET, "b"))
    if wants_csv(request) and pair is not None:
        return csv_file(f"{slug}-compare", *pair.table)
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "board": board,
        "pair": pair,
        "chart": _draw_pair(pair) if pair is not None else "",
        "tests_follow": request_missing_tests(board),
        "kept": carried_parameters(request.GET, CARRIED_BY_BENCHMARKS),
        "verdict": describe_pair(pair) if pair is not None else [],
        "tested": describe_pair_test(pair) if pair is not None else "",
    }
    return render(request, "benchmark/compare.html", context)


def _draw_pair(pair: SystemPair) -> str:
    """Return the chart of both systems; none where their measures have no common range."""
    lines = [
        DuelLine(
            line.column.name,
            line.a,
            line.b,
            line.side,
            reverse("board", args=[line.column.address]),
        )
        for line in pair.lines
        if line.a is not None and line.b is not None
    ]
    if not lines or not pair.shares_axis:
        return ""
    return duel_chart(lines, pair.a.name, pair.b.name, "Both systems on every track")
