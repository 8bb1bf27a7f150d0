"""The mean of a task over time, as a page and as a badge."""

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
from leaderboard.analysis.task_history import VersionLine, build_task_history
from leaderboard.boards.disclosure import TaskSight, task_or_404, task_sight_of
from leaderboard.boards.task_boards import find_task_board
from leaderboard.display.charts.badges import badge as draw_badge
from leaderboard.display.charts.steps import step_chart
from leaderboard.display.numbers import score
from leaderboard.models import Task
from leaderboard.pages.views.lookups import page_number
from leaderboard.pages.views.tables import csv_file, wants_csv

# Versions per page of the table.
VERSIONS = 200


@require_GET
def task_history(request: HttpRequest, slug: str) -> HttpResponse:
    sight = task_or_404(request.user, slug)
    found = build_task_history(sight)
    if wants_csv(request):
        return csv_file(f"{slug}-history", *found.table)

    def link(line: VersionLine) -> str:
        return reverse("task_system", args=[slug, line.version.system_id])

    code = sight.task.badge_code
    badge = reverse("task_badge_by_code", args=[code]) if code else ""
    chart = step_chart(found.lines, [], "The best mean over time", link) if found.lines else ""
    context = {
        "task": sight.task,
        "sight": sight,
        "history": found,
        "page": Paginator(found.lines, VERSIONS).get_page(page_number(request)),
        "chart": chart,
        "badge_address": request.build_absolute_uri(badge) if badge else "",
    }
    return render(request, "task_history.html", context)


@require_GET
@cache_control(public=True, max_age=300)
def task_badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a badge with the best mean of a task that everyone sees."""
    if any(seen.is_assessing for seen in task_or_404(request.user, slug).sights):
        raise Http404("hidden from assessors")
    return _render_badge(task_or_404(AnonymousUser(), slug))


@require_GET
@cache_control(public=True, max_age=300)
def task_badge_by_code(request: HttpRequest, code: str) -> HttpResponse:
    """Return the badge of a task that is not public to anyone who has its URL."""
    task = get_object_or_404(Task, badge_code=code)
    return _render_badge(task_sight_of(task, AnonymousUser(), by_badge=True))


def _render_badge(sight: TaskSight) -> HttpResponse:
    board = find_task_board(sight, tested=False)
    if not board.columns or board.no_mean:
        raise Http404("no mean to show")
    first = board.rows[0] if board.rows else None
    measures = {column.measure for column in board.columns}
    name = f"mean {measures.pop()}" if len(measures) == 1 else "mean"
    value = "no system yet" if first is None else f"{name} {score(first.mean, board.decimals)}"
    return HttpResponse(draw_badge(sight.task.name, value), content_type="image/svg+xml")


@login_required
@require_POST
def change_task_badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Create, renew or remove the badge URL of a task that is not public."""
    sight = task_or_404(request.user, slug)
    if not sight.is_organiser:
        raise PermissionDenied
    if request.POST.get("act") == "remove":
        systems.remove_badge(sight.task, request.user)
    else:
        systems.renew_badge(sight.task, request.user)
    return redirect("task_history", slug=slug)
