"""Make a benchmark of tracks, order its tracks, and change what they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from leaderboard.actions.benchmark_teams import spread
from leaderboard.actions.people import OrganiserError, find_new_organiser
from leaderboard.actions.submission_rules import ActionError
from leaderboard.actions.tracks import open_track, plain_value
from leaderboard.jobs.erasure import erase_benchmark
from leaderboard.models import AuditEvent, Benchmark, BenchmarkTrack, Team, Track, User
from leaderboard.models.tracks import new_invitation
from leaderboard.notifications import notices

# What each track of a benchmark has a copy of.
SHARED = ("joining", "invitation", "terms")
# The rule that lets fewer people in comes first.
STRICTEST = (Track.Joining.APPROVAL, Track.Joining.INVITATION, Track.Joining.EVERYONE)


@dataclass(frozen=True)
class PlacedTrack:
    """Where a track stands in its benchmark: its phase and group, "" for none."""

    track: Track
    phase: str = ""
    group: str = ""


@transaction.atomic
def make_benchmark(user: User, benchmark: Benchmark, tracks: Sequence[Track]) -> Benchmark:
    """Save a new benchmark of these tracks; tracks that are not saved yet are opened.

    The benchmark has the strictest joining of its tracks, and the terms of all. Raises ActionError.
    """
    if not tracks:
        raise ActionError("Choose a track or a collection. A benchmark has at least one track.")
    _refuse_foreign_tracks(user, [track for track in tracks if track.pk is not None])
    tracks = [track if track.pk is not None else open_track(track, user) for track in tracks]
    benchmark.owner = user
    benchmark.joining = next(
        rule for rule in STRICTEST if any(rule == each.joining for each in tracks)
    )
    benchmark.terms = "\n\n".join(dict.fromkeys(track.terms for track in tracks if track.terms))
    benchmark.save(force_insert=True)
    others = [set(track.organisers()) for track in tracks]
    benchmark.co_organisers.set(set.intersection(*others) - {user})
    for position, track in enumerate(tracks):
        BenchmarkTrack.objects.create(benchmark=benchmark, track=track, position=position)
    after = {"slug": benchmark.slug, "tracks": [track.slug for track in tracks]}
    AuditEvent.objects.record(user, "create", benchmark, after=after)
    _copy_to_tracks(benchmark, user, tracks)
    spread(benchmark)
    return benchmark


@transaction.atomic
def change_benchmark(benchmark: Benchmark, user: User, changes: Mapping[str, Any]) -> Benchmark:
    """Change settings of a benchmark and the copies on its tracks. Raises ActionError."""
    after = {name: value for name, value in changes.items() if value != getattr(benchmark, name)}
    _refuse_stranger(benchmark, user)
    if set(SHARED) & after.keys():
        _refuse_foreign_tracks(user, benchmark.tracks())
    before = {name: plain_value(getattr(benchmark, name)) for name in after}
    for name, value in after.items():
        setattr(benchmark, name, value)
    if after:
        benchmark.save(update_fields=list(after))
        plain = {name: plain_value(value) for name, value in after.items()}
        AuditEvent.objects.record(user, "change", benchmark, before, plain)
    if set(SHARED) & after.keys():
        _copy_to_tracks(benchmark, user, benchmark.tracks())
    return benchmark


@transaction.atomic
def add_track(benchmark: Benchmark, user: User, place: PlacedTrack) -> None:
    """Put a track at the end of a benchmark; its teams become teams of the benchmark.

    The organisers of the benchmark organise the track from now on. Raises ActionError.
    """
    _refuse_stranger(benchmark, user)
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    _refuse_foreign_tracks(user, [place.track])
    if BenchmarkTrack.objects.filter(track=place.track).exists():
        raise ActionError(f"{place.track} belongs to a benchmark already.")
    last = benchmark.places.last()
    position = 0 if last is None else last.position + 1
    BenchmarkTrack.objects.create(
        benchmark=benchmark,
        track=place.track,
        position=position,
        phase=place.phase,
        group=place.group,
    )
    AuditEvent.objects.record(user, "add track", benchmark, after={"track": place.track.slug})
    others = benchmark.organisers().exclude(pk=place.track.owner_id)
    place.track.co_organisers.add(*others)
    _copy_to_tracks(benchmark, user, [place.track])
    spread(benchmark)


@transaction.atomic
def remove_track(benchmark: Benchmark, user: User, track: Track) -> None:
    """Make a track stand alone again, with its teams and runs. Raises ActionError."""
    _refuse_stranger(benchmark, user)
    _refuse_foreign_tracks(user, [track])
    if BenchmarkTrack.objects.filter(benchmark=benchmark, track=track).delete()[0]:
        Team.objects.filter(track=track).update(benchmark_team=None)
        AuditEvent.objects.record(user, "remove track", benchmark, before={"track": track.slug})


@transaction.atomic
def place_tracks(benchmark: Benchmark, user: User, places: Sequence[PlacedTrack]) -> None:
    """Put the tracks of a benchmark in this order; tracks that are not named follow."""
    _refuse_stranger(benchmark, user)
    before = [str(place) for place in benchmark.places.select_related("track", "benchmark")]
    named = {place.track.pk: place for place in places}
    present = {row.track_id: row for row in benchmark.places.select_for_update(no_key=True)}
    order = [
        *(key for key in named if key in present),
        *(key for key in present if key not in named),
    ]
    for position, key in enumerate(order):
        place = named.get(key)
        words = {} if place is None else {"phase": place.phase, "group": place.group}
        BenchmarkTrack.objects.filter(track=key).update(position=position, **words)
    after = [str(place) for place in benchmark.places.select_related("track", "benchmark")]
    AuditEvent.objects.record(
        user, "order tracks", benchmark, {"tracks": before}, {"tracks": after}
    )


@transaction.atomic
def renew_benchmark_invitation(benchmark: Benchmark, user: User) -> None:
    """Replace the invitation link of a benchmark on all its tracks; the old one stops working.

    Raises ActionError if anyone can join without it.
    """
    if benchmark.joining == Track.Joining.EVERYONE:
        raise ActionError("Anyone can join this benchmark, so its link is no secret to renew.")
    _refuse_stranger(benchmark, user)
    _refuse_foreign_tracks(user, benchmark.tracks())
    code = new_invitation()
    Benchmark.objects.filter(pk=benchmark.pk).update(invitation=code)
    Track.objects.filter(benchmark_place__benchmark=benchmark).update(invitation=code)
    AuditEvent.objects.record(user, "renew invitation", benchmark)


@transaction.atomic
def add_benchmark_organiser(benchmark: Benchmark, user: User, name: str) -> User:
    """Make the user of that name an organiser of a benchmark and its tracks.

    Raises OrganiserError and ActionError.
    """
    _refuse_stranger(benchmark, user)
    _refuse_foreign_tracks(user, benchmark.tracks())
    organiser = find_new_organiser(benchmark, name)
    benchmark.co_organisers.add(organiser)
    for track in benchmark.tracks().exclude(owner=organiser):
        track.co_organisers.add(organiser)
    AuditEvent.objects.record(user, "add organiser", benchmark, after={"organiser": name})
    notices.notify_appointed_to_benchmark(benchmark, organiser)
    return organiser


@transaction.atomic
def remove_benchmark_organiser(benchmark: Benchmark, user: User, organiser: User) -> None:
    """Remove an organiser of a benchmark and of its tracks, but not the owner of a track.

    If that was the owner of it, another organiser becomes the owner. Raises OrganiserError
    for the last one, and ActionError.
    """
    _refuse_stranger(benchmark, user)
    _refuse_foreign_tracks(user, benchmark.tracks())
    benchmark = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    benchmark.co_organisers.remove(organiser)
    if benchmark.owner_id == organiser.pk:
        heir = benchmark.co_organisers.order_by("pk").first()
        if heir is None:
            raise OrganiserError("A benchmark needs an organiser. Add another first.")
        benchmark.co_organisers.remove(heir)
        Benchmark.objects.filter(pk=benchmark.pk).update(owner=heir)
    for track in benchmark.tracks():
        track.co_organisers.remove(organiser)
    before = {"organiser": organiser.username}
    AuditEvent.objects.record(user, "remove organiser", benchmark, before=before)


@transaction.atomic
def delete_benchmark(benchmark: Benchmark, user: User) -> None:
    """Delete a benchmark with its systems; its tracks stand alone again and keep teams and runs."""
    _refuse_stranger(benchmark, user)
    AuditEvent.objects.record(user, "delete", benchmark, before={"slug": benchmark.slug})
    erase_benchmark(benchmark)


def _refuse_stranger(benchmark: Benchmark, user: User) -> None:
    if not benchmark.is_organised_by(user):
        raise ActionError("Only organisers of this benchmark can do this.")


def _refuse_foreign_tracks(user: User, tracks: Iterable[Track]) -> None:
    """Raise ActionError unless the user organises all these tracks."""
    asked = {track.pk for track in tracks}
    own = Track.objects.organised_by(user).filter(pk__in=asked)
    if own.count() < len(asked):
        raise ActionError("You do not organise all tracks that this changes.")


def _copy_to_tracks(benchmark: Benchmark, user: User, tracks: Iterable[Track]) -> None:
    """Give tracks their copies of what a benchmark shares; the activity log of each shows it."""
    shared = {name: getattr(benchmark, name) for name in SHARED}
    for track in tracks:
        logged = [name for name in ("joining", "terms") if getattr(track, name) != shared[name]]
        Track.objects.filter(pk=track.pk).update(**shared)
        if logged:
            before = {name: getattr(track, name) for name in logged}
            after = {name: shared[name] for name in logged}
            AuditEvent.objects.record(user, "change", track, before, after)
