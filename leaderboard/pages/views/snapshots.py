"""Snapshots: frozen boards of tracks and benchmarks that papers can cite."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import snapshots as actions
from leaderboard.actions.overviews import suggest_authors
from leaderboard.actions.refusals import ActionError
from leaderboard.archives.citations import build_deposit_members
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
    track_at_or_404,
)
from leaderboard.boards.standings import Board, find_board
from leaderboard.infrastructure.downloads import text_file
from leaderboard.models import BenchmarkSnapshot, Snapshot
from leaderboard.pages.forms.desk import BenchmarkSnapshotForm, SnapshotForm
from leaderboard.pages.views.downloads import zip_file
from leaderboard.pages.views.lookups import organised_sight_or_403
from leaderboard.pages.views.repeated_forms import submit_once
from leaderboard.sight.visible_rows import visible_benchmark_snapshots

BIBTEX = "application/x-bibtex; charset=utf-8"


@require_GET
def snapshots(request: HttpRequest, address: str) -> HttpResponse:
    sight = _sight_with_snapshots_or_404(request, address)
    board = find_board(sight) if sight.is_organiser else None
    authors = {"authors": suggest_authors(sight.track)}
    context = {
        "sight": sight,
        "track": sight.track,
        "snapshots": sight.track.snapshots.select_related("edition__judgment_set").defer("files"),
        "form": SnapshotForm(initial=authors) if board is not None else None,
        **_describe_live(board),
    }
    return render(request, "board/snapshots.html", context)


@require_GET
def benchmark_snapshots(request: HttpRequest, slug: str) -> HttpResponse:
    sight = benchmark_or_404(request.user, slug)
    shared = shared_benchmark_sight(sight.benchmark) if sight.is_organiser else None
    board = find_benchmark_board(shared) if shared is not None else None
    context = {
        "sight": sight,
        "benchmark": sight.benchmark,
        "snapshots": visible_benchmark_snapshots(sight.viewer, sight.benchmark).defer("files"),
        "left_out": _find_left_out(sight, shared) if shared is not None else [],
        "form": BenchmarkSnapshotForm(phases=board.phases) if board is not None else None,
        **_describe_live(board),
    }
    return render(request, "board/snapshots.html", context)


def _describe_live(board: Board | BenchmarkBoard | None) -> dict[str, object]:
    """Return the board that organisers may freeze, and whether its tests are still to be made."""
    return {
        "board": board,
        "tests_follow": request_missing_tests(board) if board is not None else "",
    }


def _find_left_out(sight: BenchmarkSight, shared: BenchmarkSight) -> list[Sight]:
    """Return the tracks of which a snapshot made now has nothing."""
    known = {seen.track.pk for seen in shared.sights}
    return [seen for seen in sight.sights if seen.track.pk not in known]


@require_GET
def snapshot(request: HttpRequest, address: str, name: str) -> HttpResponseBase:
    """Show a frozen board of a track, or return one of its files."""
    sight = _sight_with_snapshots_or_404(request, address)
    known = sight.track.snapshots.select_related("track__benchmark__owner", "edition__judgment_set")
    found = get_object_or_404(known.select_related("created_by"), slug=name)
    return _show(request, found, {"sight": sight, "track": sight.track})


@require_GET
def benchmark_snapshot(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """Show a frozen board of a benchmark, or return one of its files."""
    sight = benchmark_or_404(request.user, slug)
    known = visible_benchmark_snapshots(sight.viewer, sight.benchmark).select_related(
        "benchmark", "created_by"
    )
    found = get_object_or_404(known, slug=name)
    return _show(request, found, {"sight": sight, "benchmark": sight.benchmark})


def _show(
    request: HttpRequest, found: Snapshot | BenchmarkSnapshot, context: dict[str, object]
) -> HttpResponseBase:
    format = request.GET.get("format", "")
    address = request.build_absolute_uri(request.path)
    bibtex = actions.render_bibtex(found, address)
    if format == "bib":
        return HttpResponse(bibtex, content_type=BIBTEX)
    if format == "zip":
        name = f"{found.subject.slug}-{found.slug}.zip"
        return zip_file(name, build_deposit_members(found, address))
    if format:
        return frozen_file(found, format)
    context |= {
        "snapshot": found,
        "heads": actions.snapshot_heads(found),
        "lines": actions.snapshot_lines(found),
        "bibtex": bibtex,
        "exports": FORMATS,
    }
    return render(request, "board/snapshot.html", context)


def frozen_file(found: Snapshot | BenchmarkSnapshot, format: str) -> HttpResponse:
    """Return a file of a snapshot as it was frozen."""
    if format not in found.files:
        raise Http404("no such format")
    filename = f"{found.subject.slug}-{found.slug}.{format}"
    return text_file(filename, found.files[format], FORMATS[format].media_type)


@login_required
@require_POST
@submit_once
def freeze(request: HttpRequest, address: str) -> HttpResponse:
    sight = organised_sight_or_403(request, address)
    form, board = SnapshotForm(request.POST), find_board(sight)
    if board is None or not form.is_valid():
        messages.error(request, "Enter a name. The board needs scores.")
        return redirect("snapshots", address=address)
    make = partial(actions.freeze_board, board, request.user, **form.cleaned_data)
    return _freeze(request, make, "snapshot", address)


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
    phase = form.cleaned_data.pop("phase", None)
    board = find_benchmark_board(shared, BenchmarkChoice(phase=phase))
    request_missing_tests(board)
    make = partial(actions.freeze_benchmark_board, board, request.user, **form.cleaned_data)
    return _freeze(request, make, "benchmark_snapshot", slug)


def _freeze(
    request: HttpRequest, make: Callable[[], Snapshot | BenchmarkSnapshot], page: str, home: str
) -> HttpResponse:
    """Make a snapshot and show it, or say on the page of all snapshots why there is none."""
    try:
        made = make()
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect(f"{page}s", home)
    return redirect(page, home, made.slug)


def _sight_with_snapshots_or_404(request: HttpRequest, address: str) -> Sight:
    sight = track_at_or_404(request.user, address)
    if not sight.can_see_snapshots:
        raise Http404("no snapshots to see")
    return sight
