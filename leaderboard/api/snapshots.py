"""Endpoints for the snapshots of tracks and benchmarks: list them, and get the file of one."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router

from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.benchmark_schemas import BenchmarkBoardOut, BenchmarkSnapshotList
from leaderboard.api.boards import Format
from leaderboard.api.listing import Page, page_by_number
from leaderboard.api.schemas import FrozenBoardOut, Paging, SnapshotList, response_schemas
from leaderboard.boards.board_files import FORMATS
from leaderboard.boards.disclosure import (
    benchmark_or_404,
    track_or_404,
)
from leaderboard.infrastructure.downloads import text_file
from leaderboard.models import BenchmarkSnapshot, Snapshot
from leaderboard.models.snapshots import FrozenBoardQuerySet
from leaderboard.sight.visible_rows import visible_benchmark_snapshots

of_tracks = Router(tags=["boards"])
of_benchmarks = Router(tags=["benchmarks"])


@of_tracks.get("/{slug:slug}/snapshots", auth=PUBLIC, response=response_schemas(SnapshotList))
def list_snapshots(request: HttpRequest, slug: str, paging: Query[Paging]) -> Page[Snapshot]:
    """List the frozen boards of a track, the oldest first."""
    known = _snapshots_or_404(request, slug).select_related("edition__judgment_set")
    return page_by_number(known, paging)


@of_tracks.get(
    "/{slug:slug}/snapshots/{slug:name}", auth=PUBLIC, response=response_schemas(FrozenBoardOut)
)
def get_snapshot(
    request: HttpRequest, slug: str, name: str, format: Format = "json"
) -> HttpResponse:
    """Get a frozen board of a track, as it was when it was frozen."""
    found = get_object_or_404(_snapshots_or_404(request, slug), slug=name)
    return _send(found, f"{slug}-{name}", format)


def _snapshots_or_404(request: HttpRequest, slug: str) -> FrozenBoardQuerySet:
    sight = track_or_404(viewer(request), slug)
    if not sight.can_see_snapshots:
        raise Http404("no snapshots to see")
    return sight.track.snapshots.all()


@of_benchmarks.get(
    "/{slug:slug}/snapshots", auth=PUBLIC, response=response_schemas(BenchmarkSnapshotList)
)
def list_benchmark_snapshots(
    request: HttpRequest, slug: str, paging: Query[Paging]
) -> Page[BenchmarkSnapshot]:
    """List the frozen boards of a benchmark, the oldest first.

    One with a track that hides something from you is not listed.
    """
    sight = benchmark_or_404(viewer(request), slug)
    return page_by_number(visible_benchmark_snapshots(sight.viewer, sight.benchmark), paging)


@of_benchmarks.get(
    "/{slug:slug}/snapshots/{slug:name}", auth=PUBLIC, response=response_schemas(BenchmarkBoardOut)
)
def get_benchmark_snapshot(
    request: HttpRequest, slug: str, name: str, format: Format = "json"
) -> HttpResponse:
    """Get a frozen board of a benchmark, as it was when it was frozen."""
    sight = benchmark_or_404(viewer(request), slug)
    found = get_object_or_404(visible_benchmark_snapshots(sight.viewer, sight.benchmark), slug=name)
    return _send(found, f"{slug}-{name}", format)


def _send(found: Snapshot | BenchmarkSnapshot, name: str, format: str) -> HttpResponse:
    text, media_type = found.files[format], FORMATS[format].media_type
    if format == "json":
        return HttpResponse(text, content_type=media_type)
    return text_file(f"{name}.{format}", text, media_type)
