"""Snapshots: frozen boards that papers can cite."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import snapshots as snapshot_actions
from leaderboard.actions.overviews import suggest_authors
from leaderboard.actions.submission_rules import ActionError
from leaderboard.boards.board_files import FORMATS
from leaderboard.boards.deferred_tests import request_missing_tests
from leaderboard.boards.disclosure import Sight, track_or_404
from leaderboard.boards.standings import find_board
from leaderboard.infrastructure.downloads import text_file
from leaderboard.models import Snapshot, Track
from leaderboard.pages.forms.desk import SnapshotForm
from leaderboard.pages.views.lookups import organised_sight_or_403
from leaderboard.pages.views.repeated_forms import submit_once

BIBTEX = "application/x-bibtex; charset=utf-8"


@require_GET
def snapshots(request: HttpRequest, slug: str) -> HttpResponse:
    sight = _sight_with_snapshots_or_404(request, slug)
    board = find_board(sight) if sight.is_organiser else None
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "snapshots": sight.track.snapshots.select_related("edition__judgment_set"),
        "tests_follow": request_missing_tests(board) if board is not None else "",
        "form": _freeze_form(sight.track) if board is not None else None,
    }
    return render(request, "board/snapshots.html", context)


def _freeze_form(track: Track) -> SnapshotForm:
    return SnapshotForm(initial={"authors": suggest_authors(track)})


@require_GET
def snapshot(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Show a frozen board, or return one of its files."""
    sight = _sight_with_snapshots_or_404(request, slug)
    found = get_object_or_404(sight.track.snapshots.select_related("track__owner"), slug=name)
    format = request.GET.get("format", "")
    if format:
        return _snapshot_file(request, found, format)
    context = {
        "sight": sight,
        "track": sight.track,
        "snapshot": found,
        "heads": snapshot_actions.snapshot_heads(found),
        "lines": snapshot_actions.snapshot_lines(found),
        "bibtex": snapshot_actions.render_bibtex(found, request.build_absolute_uri(request.path)),
        "exports": FORMATS,
    }
    return render(request, "board/snapshot.html", context)


def _snapshot_file(request: HttpRequest, found: Snapshot, format: str) -> HttpResponse:
    if format == "bib":
        text = snapshot_actions.render_bibtex(found, request.build_absolute_uri(request.path))
        return HttpResponse(text, content_type=BIBTEX)
    if format not in found.files:
        raise Http404("no such format")
    filename = f"{found.track.slug}-{found.slug}.{format}"
    return text_file(filename, found.files[format], FORMATS[format].media_type)


@login_required
@require_POST
@submit_once
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    sight = organised_sight_or_403(request, slug)
    form = SnapshotForm(request.POST)
    board = find_board(sight)
    if board is None or not form.is_valid():
        messages.error(request, "Enter a name. The board needs scores.")
        return redirect("snapshots", slug=slug)
    try:
        made = snapshot_actions.freeze_board(board, request.user, **form.cleaned_data)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("snapshots", slug=slug)
    return redirect("snapshot", slug=slug, name=made.slug)


def _sight_with_snapshots_or_404(request: HttpRequest, slug: str) -> Sight:
    sight = track_or_404(request.user, slug)
    if not sight.can_see_snapshots:
        raise Http404("no snapshots to see")
    return sight
