"""The best mean of a board over time, as a page and as a badge."""

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

from evaluation.badges import draw_badge
from leaderboard.actions import tracks
from leaderboard.analysis.history import History, build_benchmark_history, build_history
from leaderboard.boards.benchmark_boards import EVERY_VERSION, BenchmarkChoice, find_benchmark_board
from leaderboard.boards.disclosure import (
    BenchmarkSight,
    Sight,
    benchmark_or_404,
    benchmark_sight_of,
    track_at_or_404,
)
from leaderboard.boards.standings import find_board
from leaderboard.display.charts.drawing import Link
from leaderboard.display.charts.steps import step_chart
from leaderboard.display.numbers import score
from leaderboard.models import Benchmark, Track
from leaderboard.pages.page_urls import carried_parameters, page_url
from leaderboard.pages.views.lookups import (
    organised_sight_or_403,
    page_number,
    public_sight_or_404,
)
from leaderboard.pages.views.tables import csv_file, wants_csv

# Runs or versions per page of the table.
LINES = 500


@require_GET
def history(request: HttpRequest, address: str) -> HttpResponse:
    sight = track_at_or_404(request.user, address).with_judgments(request.GET.get("judgments", ""))
    found = build_history(sight, request.GET.get("measure", ""))
    if found is None:
        raise Http404("no board to see")
    chosen = carried_parameters(request.GET)
    context = {
        "sight": sight,
        "track": sight.track,
        "measures": sight.measures,
        "has_own": sight.team is not None,
    }
    return _show(
        request, found, sight.track.slug, lambda line: page_url("run", chosen, line.key), context
    )


@require_GET
def benchmark_history(request: HttpRequest, slug: str) -> HttpResponse:
    sight = benchmark_or_404(request.user, slug)
    board = find_benchmark_board(sight, BenchmarkChoice(versions=EVERY_VERSION), tested=False)
    code = sight.benchmark.badge_code
    badge = reverse("benchmark_badge_by_code", args=[code]) if code else ""
    context = {
        "sight": sight,
        "benchmark": sight.benchmark,
        "board": board,
        "has_own": sight.team is not None,
        "badge_address": request.build_absolute_uri(badge) if badge else "",
    }
    found = build_benchmark_history(board)
    return _show(
        request,
        found,
        slug,
        lambda line: reverse("benchmark_system", args=[slug, line.key]),
        context,
    )


def _show(
    request: HttpRequest, found: History, slug: str, link: Link, context: dict[str, object]
) -> HttpResponse:
    """Show a history, or return it as a file."""
    if wants_csv(request):
        return csv_file(f"{slug}-history", *found.table)
    title, chart = f"The best {found.value} over time", ""
    if found.lines:
        chart = step_chart(found.lines, found.changes, title, link, found.noun)
    context |= {
        "history": found,
        "title": title,
        "page": Paginator(found.lines, LINES).get_page(page_number(request)),
        "chart": chart,
    }
    return render(request, "board/history.html", context)


@require_GET
@cache_control(public=True, max_age=300)
def badge(request: HttpRequest, address: str) -> HttpResponse:
    """Return a badge with the best score of a public board, or of one of its teams."""
    return _render_badge(public_sight_or_404(request, address), request.GET.get("team", ""))


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
    of_team = (standing for standing in board.ranked if team in ("", standing.team))
    first = next(of_team, None)
    value = f"{board.measure} {score(first.scores[board.measure], 3)}" if first else "no run yet"
    value = ", ".join(filter(None, [value, board.who_judged.text_with_shares]))
    return _send_badge(f"{sight.track.name}, {team}" if team else sight.track.name, value)


@require_GET
@cache_control(public=True, max_age=300)
def benchmark_badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a badge with the best mean of a public benchmark, or of one of its teams."""
    if any(seen.is_assessing for seen in benchmark_or_404(request.user, slug).sights):
        raise Http404("hidden from assessors")
    sight = benchmark_or_404(AnonymousUser(), slug)
    return _render_benchmark_badge(sight, request.GET.get("team", ""))


@require_GET
@cache_control(public=True, max_age=300)
def benchmark_badge_by_code(request: HttpRequest, code: str) -> HttpResponse:
    """Return the badge of a benchmark that is not public to anyone who has its URL."""
    benchmark = get_object_or_404(Benchmark, badge_code=code)
    sight = benchmark_sight_of(benchmark, AnonymousUser(), by_badge=True)
    return _render_benchmark_badge(sight, request.GET.get("team", ""))


def _render_benchmark_badge(sight: BenchmarkSight, team: str) -> HttpResponse:
    board = find_benchmark_board(sight, tested=False)
    if not board.columns or board.no_mean or (team and team not in board.teams):
        raise Http404("no mean to show")
    first = next((row for row in board.rows if team in ("", row.team)), None)
    measures = {column.measure for column in board.columns}
    name = f"mean {measures.pop()}" if len(measures) == 1 else "mean"
    value = f"{name} {score(first.mean, board.decimals)}" if first else "no system yet"
    return _send_badge(f"{sight.benchmark.name}, {team}" if team else sight.benchmark.name, value)


def _send_badge(words: str, value: str) -> HttpResponse:
    return HttpResponse(draw_badge(words, value), content_type="image/svg+xml")


@login_required
@require_POST
def change_badge(request: HttpRequest, address: str) -> HttpResponse:
    """Create, renew or remove the badge URL of a track that is not public."""
    _change_badge(request, organised_sight_or_403(request, address).track)
    return redirect("manage_section", address=address, section="programs")


@login_required
@require_POST
def change_benchmark_badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Create, renew or remove the badge URL of a benchmark that is not public."""
    sight = benchmark_or_404(request.user, slug)
    if not sight.is_organiser:
        raise PermissionDenied
    _change_badge(request, sight.benchmark)
    return redirect("benchmark_history", slug=slug)


def _change_badge(request: HttpRequest, subject: Track | Benchmark) -> None:
    act = tracks.remove_badge if request.POST.get("act") == "remove" else tracks.renew_badge
    act(subject, request.user)
