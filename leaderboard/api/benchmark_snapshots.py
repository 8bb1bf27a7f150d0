"""Endpoints for the snapshots of a benchmark: list them, and get the file of one."""

from __future__ import annotations

from typing import Literal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router

from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.benchmark_schemas import BenchmarkBoardOut, BenchmarkSnapshotList
from leaderboard.api.listing import Page, page_by_number
from leaderboard.api.schemas import Paging, response_schemas
from leaderboard.boards.board_files import FORMATS
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.infrastructure.downloads import text_file
from leaderboard.models import BenchmarkSnapshot
from leaderboard.sight.visible_rows import visible_benchmark_snapshots

router = Router(tags=["benchmarks"])


@router.get("/{slug:slug}/snapshots", auth=PUBLIC, response=response_schemas(BenchmarkSnapshotList))
def list_benchmark_snapshots(
    request: HttpRequest, slug: str, paging: Query[Paging]
) -> Page[BenchmarkSnapshot]:
    """List the frozen boards of a benchmark, the oldest first.

    One with a track that hides something from you is not listed.
    """
    sight = benchmark_or_404(viewer(request), slug)
    return page_by_number(visible_benchmark_snapshots(sight.viewer, sight.benchmark), paging)


@router.get(
    "/{slug:slug}/snapshots/{slug:name}", auth=PUBLIC, response=response_schemas(BenchmarkBoardOut)
)
def get_benchmark_snapshot(
    request: HttpRequest,
    slug: str,
    name: str,
    format: Literal["json", "csv", "tsv", "tex", "md"] = "json",
) -> HttpResponse:
    """Get a frozen board of a benchmark, as it was when it was frozen."""
    sight = benchmark_or_404(viewer(request), slug)
    found = get_object_or_404(visible_benchmark_snapshots(sight.viewer, sight.benchmark), slug=name)
    text, media_type = found.files[format], FORMATS[format].media_type
    if format == "json":
        return HttpResponse(text, content_type=media_type)
    return text_file(f"{slug}-{name}.{format}", text, media_type)
