"""Endpoints for organisers: pools of documents, of answers with nuggets, and of citations."""

from __future__ import annotations

from typing import Literal

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from leaderboard.actions import pools as verbs
from leaderboard.api.auth import ORGANISE, PUBLIC, viewer
from leaderboard.api.errors import field_error
from leaderboard.api.listing import Page, page_by_number
from leaderboard.api.schemas import Paging, PoolIn, PoolList, PoolOut, response_schemas
from leaderboard.api.tracks import organised_sight_or_403
from leaderboard.boards.disclosure import track_or_404
from leaderboard.collections.pools import FILES
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.models import Pool, Run, Track
from leaderboard.sight.tracks import Viewer

router = Router(tags=["pools"])


class PoolFileIn(Schema):
    format: Literal[tuple(FILES)] = "tsv"  # type: ignore[valid-type]
    all: bool = Field(False, description="Also what is judged already.")


@router.get("/{slug:slug}/pools", auth=PUBLIC, response=response_schemas(PoolList))
def list_pools(request: HttpRequest, slug: str, paging: Query[Paging]) -> Page[Pool]:
    """List the pools of a track (organisers only)."""
    return page_by_number(visible_pools(viewer(request), slug), paging)


@router.post("/{slug:slug}/pools", auth=ORGANISE, response=response_schemas(PoolOut, 202))
def create_pool(request: HttpRequest, slug: str, body: PoolIn) -> Status[Pool]:
    """Pool documents of runs, or of answers the pairs that people judge.

    A worker gathers it; its state is then `proposed`, and you approve or discard it.
    """
    user = viewer(request)
    track = organised_sight_or_403(user, slug).track
    runs = find_runs(track, body.runs)
    asked = body.dict(exclude={"runs"})
    made = verbs.create_pool(track, user, runs, **asked)
    return Status(202, made)


def find_runs(track: Track, ids: list[str] | None) -> list[Run]:
    """Return the runs of these IDs, or all that can be pooled."""
    runs = list(track.runs.accepted().not_removed().select_related("team"))
    if ids is None:
        return runs
    known = {run.pk: run for run in runs}
    unknown = next((each for each in ids if each not in known), None)
    if unknown is not None:
        raise field_error("runs", "is no accepted run of this track", unknown)
    return [known[each] for each in dict.fromkeys(ids)]


@router.get("/{slug:slug}/pools/{slug:pool}", auth=PUBLIC, response=response_schemas(PoolOut))
def get_pool(request: HttpRequest, slug: str, pool: str) -> Pool:
    """Get a pool with what it has (organisers only)."""
    return pool_or_404(viewer(request), slug, pool)


@router.get("/{slug:slug}/pools/{slug:pool}/file", auth=PUBLIC, response={200: None})
def get_pool_file(
    request: HttpRequest, slug: str, pool: str, asked: Query[PoolFileIn]
) -> StreamingHttpResponse:
    """Download what is unjudged of a pool, one document or pair per line (organisers only)."""
    found = pool_or_404(viewer(request), slug, pool)
    if not found.file:
        raise Http404("the pool is not gathered yet")
    lines, media_type = FILES[asked.format]
    return streamed_text(f"{slug}-{pool}.{asked.format}", lines(found, asked.all), media_type)


@router.post(
    "/{slug:slug}/pools/{slug:pool}/approve", auth=ORGANISE, response=response_schemas(PoolOut)
)
def approve_pool(request: HttpRequest, slug: str, pool: str) -> Pool:
    """Approve a pool for judging. It never changes from then on."""
    found = organised_pool_or_403(viewer(request), slug, pool)
    verbs.approve_pool(found, viewer(request))
    found.refresh_from_db()
    return found


@router.delete(
    "/{slug:slug}/pools/{slug:pool}", auth=ORGANISE, response=response_schemas(None, 204)
)
def discard_pool(request: HttpRequest, slug: str, pool: str) -> Status[None]:
    """Delete a pool that is not approved."""
    verbs.discard_pool(organised_pool_or_403(viewer(request), slug, pool), viewer(request))
    return Status(204, None)


def visible_pools(user: Viewer, slug: str) -> QuerySet[Pool]:
    """Return the pools of a track for its organisers; for others there are none to see."""
    sight = track_or_404(user, slug)
    if not sight.is_organiser:
        raise Http404("no pools to see")
    return sight.track.pools.select_related("track", "nuggets", "marked_in")


def pool_or_404(user: Viewer, slug: str, name: str) -> Pool:
    return find_pool(visible_pools(user, slug), name)


def organised_pool_or_403(user: Viewer, slug: str, name: str) -> Pool:
    return find_pool(organised_sight_or_403(user, slug).track.pools.all(), name)


def find_pool(pools: QuerySet[Pool], name: str) -> Pool:
    found = pools.filter(name=name).first()
    if found is None:
        raise Http404("no such pool")
    return found
