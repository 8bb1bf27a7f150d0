"""Endpoints for benchmarks: list, create, change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query, Router, Status

from leaderboard.actions import benchmark_copies, benchmark_setup
from leaderboard.actions.benchmark_setup import PlacedTrack
from leaderboard.actions.default_tracks import build_internal_track
from leaderboard.actions.refusals import ActionError
from leaderboard.api.auth import ORGANISE, PUBLIC, viewer
from leaderboard.api.benchmark_schemas import (
    BenchmarkCopyIn,
    BenchmarkIn,
    BenchmarkList,
    BenchmarkOut,
    BenchmarkPatch,
    BenchmarkPlace,
)
from leaderboard.api.errors import ApiError, field_error, permission_error
from leaderboard.api.listing import page_by_slug
from leaderboard.api.schemas import Paging, response_schemas
from leaderboard.api.tracks import refuse_without_right_to_open
from leaderboard.archives import benchmark_export
from leaderboard.archives.zip_files import stream_zip
from leaderboard.boards.disclosure import BenchmarkSight, benchmark_or_404, benchmark_sight_of
from leaderboard.infrastructure.downloads import streamed_bytes
from leaderboard.models import Benchmark, Collection, System, Track, User
from leaderboard.sight.tracks import Viewer

router = Router(tags=["benchmarks"])

# Settings that are stored as they come.
PLAIN = (
    *("name", "description", "joining", "terms", "quota_per_day", "quota_total"),
    *("measure", "main_branch"),
)


@router.get("", auth=PUBLIC, response=response_schemas(BenchmarkList))
def list_benchmarks(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """List the benchmarks with a track that you may know."""
    user = viewer(request)
    page = page_by_slug(Benchmark.objects.visible_to(user), paging)
    items = [serialise_benchmark(benchmark_sight_of(benchmark, user)) for benchmark in page.items]
    return {"items": items, "next": page.next}


@router.get("/{slug:slug}", auth=PUBLIC, response=response_schemas(BenchmarkOut))
def get_benchmark(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Get a benchmark with the tracks that you may know, in order."""
    return serialise_benchmark(benchmark_or_404(viewer(request), slug))


def serialise_benchmark(sight: BenchmarkSight) -> dict[str, Any]:
    benchmark = sight.benchmark
    tracks = [seen.track for seen in sight.sights]
    return {
        "slug": benchmark.slug,
        **{name: getattr(benchmark, name) for name in PLAIN},
        "tracks": [track.slug for track in tracks],
        "places": [
            {
                "track": track.slug,
                "phase": track.phase,
                "group": track.group,
                "date": track.dated,
                "private": track.is_private,
            }
            for track in tracks
        ],
        "team": None if sight.team is None else sight.team.name,
        "invitation": benchmark.invitation if sight.is_organiser else "",
    }


@router.post("", auth=ORGANISE, response=response_schemas(BenchmarkOut, 201))
def create_benchmark(request: HttpRequest, body: BenchmarkIn) -> Status[dict[str, Any]]:
    """Create a benchmark of tracks that you organise; its teams are linked by their members.

    It has the strictest joining of its tracks, and the terms of all.
    """
    user = viewer(request)
    if body.collections:
        refuse_without_right_to_open(user)
    if Benchmark.objects.filter(slug=body.slug).exists():
        raise field_error("slug", "is already in use; choose another", body.slug)
    tracks = [_free_track_or_error(user, slug, "tracks") for slug in dict.fromkeys(body.tracks)]
    with transaction.atomic():
        for slug in dict.fromkeys(body.collections):
            found = Collection.objects.ready().organised_by(user).filter(slug=slug).first()
            if found is None:
                raise field_error("collections", "is not a ready collection of yours", slug)
            tracks.append(build_internal_track(found))
        try:
            benchmark_setup.make_benchmark(user, Benchmark(slug=body.slug, name=body.name), tracks)
        except ActionError as refusal:
            raise ApiError(409, "E_CONFLICT", str(refusal)) from None
        except IntegrityError:
            raise field_error("slug", "is already in use", body.slug) from None
    return Status(201, serialise_benchmark(benchmark_or_404(user, body.slug)))


@router.post("/{slug:slug}/copy", auth=ORGANISE, response=response_schemas(BenchmarkOut, 201))
def copy_benchmark(
    request: HttpRequest, slug: str, body: BenchmarkCopyIn
) -> Status[dict[str, Any]]:
    """Make next year's benchmark: rules, texts and a draft for each track, a year later.

    People, runs and scores are not copied.
    """
    user = viewer(request)
    sight = organised_benchmark_or_403(user, slug)
    refuse_without_right_to_open(user)
    if Benchmark.objects.filter(slug=body.slug).exists():
        raise field_error("slug", "is already in use; choose another", body.slug)
    chosen = _find_collections(user, sight, body.collections)
    try:
        benchmark_copies.copy_benchmark(sight.benchmark, user, body.name, body.slug, chosen)
    except IntegrityError:
        raise field_error("slug", "is already in use", body.slug) from None
    return Status(201, serialise_benchmark(benchmark_or_404(user, body.slug)))


def _find_collections(
    user: Viewer, sight: BenchmarkSight, chosen: Mapping[str, str]
) -> dict[int, Collection]:
    """Return the collections that copies are made on, by the key of their track."""
    known = {seen.track.slug: seen.track.pk for seen in sight.sights}
    found = {}
    for track, name in chosen.items():
        if track not in known:
            raise field_error("collections", "is not a track of this benchmark", track)
        collection = Collection.objects.ready().organised_by(user).filter(slug=name).first()
        if collection is None:
            raise field_error("collections", "is not a ready collection of yours", name)
        found[known[track]] = collection
    return found


@router.get("/{slug:slug}/archive", auth=ORGANISE)
def get_archive(request: HttpRequest, slug: str, documents: bool = False) -> HttpResponseBase:
    """Download a benchmark as a zip for `import_benchmark`, without accounts.

    Only for those who organise all its tracks.
    """
    user = viewer(request)
    benchmark = organised_benchmark_or_403(user, slug).benchmark
    organised = Track.objects.organised_by(user).values("pk")
    if benchmark.tracks.exclude(pk__in=organised).exists():
        raise permission_error("Only organisers of all its tracks download a benchmark.")
    members = benchmark_export.build_benchmark_members(benchmark, documents)
    return streamed_bytes(f"{slug}.zip", stream_zip(members), "application/zip")


def _own_track_or_error(user: Viewer, slug: str, field: str) -> Track:
    """Return a track that the user organises."""
    track = Track.objects.organised_by(user).filter(slug=slug).first()
    if track is None:
        raise field_error(field, "is not a track that you organise", slug)
    return track


def _free_track_or_error(user: Viewer, slug: str, field: str) -> Track:
    """Return a track that the user organises and that is alone in its benchmark."""
    track = _own_track_or_error(user, slug, field)
    if track.benchmark.has_several_tracks:
        raise field_error(field, "belongs to a benchmark already", slug)
    return track


def organised_benchmark_or_403(user: Viewer, slug: str) -> BenchmarkSight:
    """Return a benchmark to its organisers; raise Http404 or ApiError for others."""
    sight = benchmark_or_404(user, slug)
    if not sight.is_organiser:
        raise permission_error("Only organisers of this benchmark can do this.")
    return sight


@router.patch("/{slug:slug}", auth=ORGANISE, response=response_schemas(BenchmarkOut))
def change_benchmark(request: HttpRequest, slug: str, body: BenchmarkPatch) -> dict[str, Any]:
    """Change the given settings; joining and terms change on all tracks of the benchmark."""
    user = viewer(request)
    sight = organised_benchmark_or_403(user, slug)
    changes = {name: getattr(body, name) for name in PLAIN if name in body.model_fields_set}
    if "measure" in changes:
        _check_measure(sight, changes["measure"])
    if "baseline" in body.model_fields_set:
        changes["baseline"] = _find_system(sight.benchmark, body.baseline)
    try:
        with transaction.atomic():
            benchmark_setup.change_benchmark(sight.benchmark, user, changes)
            if body.places:
                _place_tracks(sight, user, body.places)
    except ActionError as refusal:
        raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    return serialise_benchmark(benchmark_or_404(user, slug))


def _check_measure(sight: BenchmarkSight, measure: str) -> None:
    known = {name for seen in sight.sights for name in seen.track.measures}
    if measure and measure not in known and measure != sight.benchmark.measure:
        raise field_error("measure", "is a measure of no track", measure)


def _find_system(benchmark: Benchmark, system_id: int | None) -> System | None:
    if system_id is None:
        return None
    found = benchmark.systems.filter(pk=system_id).first()
    if found is None:
        raise field_error("baseline", "is not a system of this benchmark", str(system_id))
    return found


def _place_tracks(sight: BenchmarkSight, user: User, wanted: list[BenchmarkPlace]) -> None:
    known = {seen.track.slug: seen.track for seen in sight.sights}
    places = []
    for place in wanted:
        track = known.get(place.track)
        if track is None:
            track = _own_track_or_error(user, place.track, "places")
            benchmark_setup.add_track(sight.benchmark, user, PlacedTrack(track))
        places.append(PlacedTrack(track, place.phase, place.group, place.date, place.private))
    benchmark_setup.place_tracks(sight.benchmark, user, places)
