"""Snapshots of a benchmark: frozen boards that papers can cite."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import benchmark_snapshots as actions
from leaderboard.actions.submission_rules import ActionError
from leaderboard.boards.benchmark_boards import (
    BenchmarkBoard,
    BenchmarkChoice,
    find_benchmark_board,
)
from leaderboard.boards.board_files import FORMATS
from leaderboard.boards.deferred_tests import request_missing_tests
from leaderboard.boards.disclosure import (
    BenchmarkSight,
    Sight,
    benchmark_or_404,
    shared_benchmark_sight,
)
from leaderboard.infrastructure.downloads import text_file
from leaderboard.models import BenchmarkSnapshot
from leaderboard.pages.forms.desk import BenchmarkSnapshotForm
from leaderboard.pages.views.repeated_forms import submit_once
from leaderboard.pages.views.snapshots import BIBTEX
from leaderboard.sight.visible_rows import visible_benchmark_snapshots


@require_GET
def benchmark_snapshots(request: HttpRequest, slug: str) -> HttpResponse:
    sight = benchmark_or_404(request.user, slug)
    board = (
        find_benchmark_board(shared_benchmark_sight(sight.benchmark))
        if sight.is_organiser
        else None
    )
    context = {
        "sight": sight,
        "benchmark": sight.benchmark,
        "board": board,
        "snapshots": visible_benchmark_snapshots(sight.viewer, sight.benchmark).defer("files"),
        "left_out": _find_left_out(sight, board) if board is not None else [],
        "tests_follow": request_missing_tests(board) if board is not None else "",
        "form": BenchmarkSnapshotForm(phases=board.phases) if board is not None else None,
    }
    return render(request, "benchmark/snapshots.html", context)


def _find_left_out(sight: BenchmarkSight, board: BenchmarkBoard) -> list[Sight]:
    """Return the tracks of which a snapshot made now has nothing."""
    shared = {seen.track.pk for seen in board.sight.sights}
    return [seen for seen in sight.sights if seen.track.pk not in shared]


@require_GET
def benchmark_snapshot(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Show a frozen board of a benchmark, or return one of its files."""
    sight = benchmark_or_404(request.user, slug)
    found = get_object_or_404(
        visible_benchmark_snapshots(sight.viewer, sight.benchmark).select_related("created_by"),
        slug=name,
    )
    found.benchmark = sight.benchmark
    format = request.GET.get("format", "")
    if format:
        return _snapshot_file(request, found, format)
    context = {
        "sight": sight,
        "benchmark": sight.benchmark,
        "snapshot": found,
        "lines": actions.frozen_systems(found),
        "bibtex": actions.cite_benchmark_snapshot(found, request.build_absolute_uri(request.path)),
        "exports": FORMATS,
    }
    return render(request, "benchmark/snapshot.html", context)


def _snapshot_file(request: HttpRequest, found: BenchmarkSnapshot, format: str) -> HttpResponse:
    if format == "bib":
        text = actions.cite_benchmark_snapshot(found, request.build_absolute_uri(request.path))
        return HttpResponse(text, content_type=BIBTEX)
    if format not in found.files:
        raise Http404("no such format")
    filename = f"{found.benchmark.slug}-{found.slug}.{format}"
    return text_file(filename, found.files[format], FORMATS[format].media_type)


@login_required
@require_POST
@submit_once
def freeze_benchmark(request: HttpRequest, slug: str) -> HttpResponse:
    sight = benchmark_or_404(request.user, slug)
    if not sight.is_organiser:
        raise PermissionDenied
    shared = shared_benchmark_sight(sight.benchmark)
    form = BenchmarkSnapshotForm(request.POST, phases=shared.phases)
    if not form.is_valid():
        messages.error(request, "Enter a name.")
        return redirect("benchmark_snapshots", slug=slug)
    board = find_benchmark_board(
        shared, BenchmarkChoice(phase=form.cleaned_data.pop("phase", None))
    )
    request_missing_tests(board)
    try:
        made = actions.freeze_benchmark_board(board, request.user, **form.cleaned_data)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("benchmark_snapshots", slug=slug)
    return redirect("benchmark_snapshot", slug=slug, name=made.slug)
