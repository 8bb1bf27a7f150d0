"""Snapshots of a task: frozen boards that papers can cite."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import task_snapshots as actions
from leaderboard.actions.submission_rules import ActionError
from leaderboard.boards.disclosure import (
    Sight,
    TaskSight,
    shared_task_sight,
    task_or_404,
    visible_task_snapshots,
)
from leaderboard.boards.exports import text_file
from leaderboard.boards.task_boards import TaskBoard, TaskChoice, find_task_board
from leaderboard.boards.task_exports import TASK_FORMATS
from leaderboard.models import TaskSnapshot
from leaderboard.pages.forms.desk import TaskSnapshotForm
from leaderboard.pages.views.repeated_forms import submit_once
from leaderboard.pages.views.snapshots import BIBTEX
from leaderboard.pages.views.task_boards import request_task_tests


@require_GET
def task_snapshots(request: HttpRequest, slug: str) -> HttpResponse:
    sight = task_or_404(request.user, slug)
    board = find_task_board(shared_task_sight(sight.task)) if sight.is_organiser else None
    context = {
        "sight": sight,
        "task": sight.task,
        "board": board,
        "snapshots": visible_task_snapshots(sight).defer("files"),
        "left_out": _find_left_out(sight, board) if board is not None else [],
        "tests_follow": board is not None and request_task_tests(board),
        "form": TaskSnapshotForm(phases=board.phases) if board is not None else None,
    }
    return render(request, "task_snapshots.html", context)


def _find_left_out(sight: TaskSight, board: TaskBoard) -> list[Sight]:
    """Return the tracks of which a snapshot made now has nothing."""
    shared = {seen.track.pk for seen in board.sight.sights}
    return [seen for seen in sight.sights if seen.track.pk not in shared]


@require_GET
def task_snapshot(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Show a frozen board of a task, or return one of its files."""
    sight = task_or_404(request.user, slug)
    found = get_object_or_404(visible_task_snapshots(sight).select_related("created_by"), slug=name)
    found.task = sight.task
    format = request.GET.get("format", "")
    if format:
        return _snapshot_file(request, found, format)
    context = {
        "sight": sight,
        "task": sight.task,
        "snapshot": found,
        "lines": actions.frozen_systems(found),
        "bibtex": actions.cite_task_snapshot(found, request.build_absolute_uri(request.path)),
        "exports": TASK_FORMATS,
    }
    return render(request, "task_snapshot.html", context)


def _snapshot_file(request: HttpRequest, found: TaskSnapshot, format: str) -> HttpResponse:
    if format == "bib":
        text = actions.cite_task_snapshot(found, request.build_absolute_uri(request.path))
        return HttpResponse(text, content_type=BIBTEX)
    if format not in found.files:
        raise Http404("no such format")
    filename = f"{found.task.slug}-{found.slug}.{format}"
    return text_file(filename, found.files[format], TASK_FORMATS[format].media_type)


@login_required
@require_POST
@submit_once
def freeze_task(request: HttpRequest, slug: str) -> HttpResponse:
    sight = task_or_404(request.user, slug)
    if not sight.is_organiser:
        raise PermissionDenied
    shared = shared_task_sight(sight.task)
    form = TaskSnapshotForm(request.POST, phases=shared.phases)
    if not form.is_valid():
        messages.error(request, "Enter a name.")
        return redirect("task_snapshots", slug=slug)
    board = find_task_board(shared, TaskChoice(phase=form.cleaned_data.pop("phase", None)))
    request_task_tests(board)
    try:
        made = actions.freeze_task_board(board, request.user, **form.cleaned_data)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("task_snapshots", slug=slug)
    return redirect("task_snapshot", slug=slug, name=made.slug)
