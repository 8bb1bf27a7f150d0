"""The mean of a benchmark over time, as a page and as a badge."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import systems
from leaderboard.analysis.benchmark_history import VersionLine, build_benchmark_history
from leaderboard.boards.benchmark_boards import find_benchmark_board
from leaderboard.boards.disclosure import BenchmarkSight, benchmark_or_404, benchmark_sight_of
from leaderboard.display.charts.steps import badge as draw_badge
from leaderboard.display.charts.steps import step_chart
from leaderboard.display.numbers import score
from leaderboard.models import Benchmark
from leaderboard.pages.views.lookups import page_number
from leaderboard.pages.views.tables import csv_file, wants_csv

# Versions per page of the table.
VERSIONS = 200


@require_GET
def benchmark_history(request: HttpRequest, slug: str) -> HttpResponse:
    sight = benchmark_or_404(request.user, slug)
    found = build_benchmark_history(sight)
    if wants_csv(request):
        return csv_file(f"{slug}-history", *found.table)

    def link(line: VersionLine) -> str:
        return reverse("benchmark_system", args=[slug, line.version.system_id])

    code = sight.benchmark.badge_code
    badge = reverse("benchmark_badge_by_code", args=[code]) if code else ""
    chart = step_chart(found.lines, [], "The best mean over time", link) if found.lines else ""
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "history": found,
        "page": Paginator(found.lines, VERSIONS).get_page(page_number(request)),
        "chart": chart,
        "badge_address": request.build_absolute_uri(badge) if badge else "",
    }
    return render(request, "benchmark/history.html", context)


@require_GET
@cache_control(public=True, max_age=300)
def benchmark_badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a badge with the best mean of a benchmark that everyone sees."""
    if any(seen.is_assessing for seen in benchmark_or_404(request.user, slug).sights):
        raise Http404("hidden from assessors")
    return _render_badge(benchmark_or_404(AnonymousUser(), slug))


@require_GET
@cache_control(public=True, max_age=300)
def benchmark_badge_by_code(request: HttpRequest, code: str) -> HttpResponse:
    """Return the badge of a benchmark that is not public to anyone who has its URL."""
    benchmark = get_object_or_404(Benchmark, badge_code=code)
    return _render_badge(benchmark_sight_of(benchmark, AnonymousUser(), by_badge=True))


def _render_badge(sight: BenchmarkSight) -> HttpResponse:
    board = find_benchmark_board(sight, tested=False)
    if not board.columns or board.no_mean:
        raise Http404("no mean to show")
    first = board.rows[0] if board.rows else None
    measures = {column.measure for column in board.columns}
    name = f"mean {measures.pop()}" if len(measures) == 1 else "mean"
    value = "no system yet" if first is None else f"{name} {score(first.mean, board.decimals)}"
    return HttpResponse(draw_badge(sight.benchmark.name, value), content_type="image/svg+xml")


@login_required
@require_POST
def change_benchmark_badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Create, renew or remove the badge URL of a benchmark that is not public."""
    sight = benchmark_or_404(request.user, slug)
    if not sight.is_organiser:
        raise PermissionDenied
    if request.POST.get("act") == "remove":
        systems.remove_badge(sight.benchmark, request.user)
    else:
        systems.renew_badge(sight.benchmark, request.user)
    return redirect("benchmark_history", slug=slug)
