"""The systems of a benchmark on dates in their order."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis.series import Series, SystemLine, find_series
from leaderboard.boards.deferred_tests import request_tests
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.display.charts.lines import LinePoint, SeriesLine, line_chart
from leaderboard.jobs.calculations import Awaited
from leaderboard.pages.views.benchmark_boards import list_measures
from leaderboard.pages.views.lookups import requested_benchmark_choice, text_of
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.pages.wording.series import describe_losses, explain_changes, explain_silence

# A chart with more lines could not be read; the table has all systems.
MOST_DRAWN = 8


@require_GET
def series(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how each system changes from the first date of a benchmark to later ones."""
    sight = benchmark_or_404(request.user, slug)
    found = find_series(sight, requested_benchmark_choice(request), text_of(request.GET, "to"))
    if wants_csv(request):
        return csv_file(f"{slug}-by-date", *found.table)
    awaits = found.says_something and found.is_untested and found.contest is not None
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "board": found.board,
        "found": found,
        "chart": draw_series(found) if found.says_something else "",
        "tests_follow": request_tests(found.contest) if awaits else Awaited.NOTHING,
        "measures": list_measures(found.board),
        "verdict": describe_losses(found),
        "explained": explain_changes(found),
        "reason": explain_silence(found),
    }
    return render(request, "benchmark/series.html", context)


def draw_series(found: Series) -> str:
    """Return the chart of the pivot, of own systems, and of the first of the others."""
    first = sorted(found.lines, key=lambda line: line.kind == "other")[:MOST_DRAWN]
    lines = [_draw(line) for line in found.lines if line in first]
    labels = [column.sight.track.dated for column in found.columns]
    drawn = [line for line in lines if line.points]
    return line_chart(labels, drawn, "Systems by date") if drawn else ""


def _draw(line: SystemLine) -> SeriesLine:
    points = []
    for place, score in enumerate(line.scores):
        if score.value is None:
            continue
        interval = score.interval
        ends = (interval.low, interval.high) if interval is not None else (score.value,) * 2
        points.append(LinePoint(place, score.value, *ends))
    return SeriesLine(line.row.name, line.kind, points)
