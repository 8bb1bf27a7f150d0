"""Make a benchmark of tracks, order its tracks, and change what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from leaderboard.actions.lone_tracks import dissolve_benchmark, part_track
from leaderboard.actions.merged_teams import move_teams
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.track_copies import build_copy, copy_page
from leaderboard.actions.tracks import create_draft, open_track, save_changes
from leaderboard.jobs.erasure import erase_benchmark
from leaderboard.models import AuditEvent, Benchmark, Collection, Track, User
from leaderboard.models.tracks import new_invitation

# The rule that lets fewer people in comes first.
STRICTEST = (
    Benchmark.Joining.APPROVAL,
    Benchmark.Joining.INVITATION,
    Benchmark.Joining.EVERYONE,
)


@dataclass(frozen=True)
class PlacedTrack:
    """Where a track stands in its benchmark: its phase, group and date, "" for none.

    Of a private collection participants have no judgments.
    """

    track: Track
    phase: str = ""
    group: str = ""
    dated: str = ""
    is_private: bool = False

    def __str__(self) -> str:
        private = "private" if self.is_private else ""
        words = str(self.track), self.phase, self.group, self.dated, private
        return ", ".join(filter(None, words))


@transaction.atomic
def make_benchmark(user: User, benchmark: Benchmark, tracks: Sequence[Track]) -> Benchmark:
    """Save a new benchmark of these tracks; tracks that are not saved yet are opened.

    The benchmark has the strictest joining of its tracks, the terms, organisers and teams of all.
    Raises ActionError.
    """
    if not tracks:
        raise ActionError("Choose a track or a collection. A benchmark has at least one track.")
    saved = [track for track in tracks if track.pk is not None]
    _refuse_foreign_tracks(user, saved)
    sources = [Benchmark.objects.get(tracks=track) for track in saved]
    benchmark.owner = user
    benchmark.joining = _find_strictest(sources)
    benchmark.terms = "\n\n".join(dict.fromkeys(each.terms for each in sources if each.terms))
    for name in ("main_branch", "commit_url"):
        stated = (getattr(each, name) for each in sources if getattr(each, name))
        setattr(benchmark, name, next(stated, ""))
    benchmark.save(force_insert=True)
    after = {"slug": benchmark.slug, "tracks": [track.slug for track in tracks]}
    AuditEvent.objects.record(user, "create", benchmark, after=after)
    for position, track in enumerate(tracks):
        if track.pk is None:
            track.benchmark, track.position = benchmark, position
            open_track(track, user)
        else:
            _move_track(track, benchmark, position)
    return benchmark


def _find_strictest(sources: Sequence[Benchmark]) -> str:
    rules = {each.joining for each in sources}
    return next((rule for rule in STRICTEST if rule in rules), Benchmark.Joining.EVERYONE)


@transaction.atomic
def change_benchmark(benchmark: Benchmark, user: User, changes: Mapping[str, Any]) -> Benchmark:
    """Change settings of a benchmark. Raises ActionError."""
    _refuse_stranger(benchmark, user)
    save_changes(benchmark, user, changes)
    return benchmark


@transaction.atomic
def add_track(benchmark: Benchmark, user: User, place: PlacedTrack) -> None:
    """Move a track to the end of a benchmark, with its organisers and teams. Raises ActionError.

    A track of another benchmark with several leaves that with copies of its teams.
    """
    _refuse_stranger(benchmark, user)
    source = Benchmark.objects.get(tracks=place.track)
    both = Benchmark.objects.filter(pk__in=[benchmark.pk, source.pk])
    # In one order, so that two tracks which change places never wait for each other.
    list(both.order_by("pk").select_for_update(no_key=True))
    _refuse_strange_tracks(user, [place.track])
    if source.pk == benchmark.pk:
        raise ActionError(f"{place.track} is a track of this benchmark already.")
    if source.has_several_tracks:
        remove_track(source, user, place.track)
    AuditEvent.objects.record(user, "add track", benchmark, after={"track": place.track.slug})
    _move_track(place.track, benchmark, _next_position(benchmark), place.phase, place.group)


@transaction.atomic
def copy_track(
    track: Track, user: User, slug: str, name: str, collection: Collection | None = None
) -> Track:
    """Create a draft behind a track, with its settings, dates and texts.

    It is on the same collection, or on another one with the newest judgments of that. Runs, marks
    and the baseline are its own. Raises ActionError.
    """
    benchmark = Benchmark.objects.select_for_update(no_key=True).get(tracks=track)
    _refuse_stranger(benchmark, user)
    collection = collection or track.collection
    if not collection.is_organised_by(user):
        raise ActionError("Only the collection's organisers can open tracks on it.")
    copied = plan_copy(track, collection, slug=slug, name=name)
    copied.benchmark, copied.position = benchmark, _next_position(benchmark)
    AuditEvent.objects.record(user, "copy", track, after={"slug": slug})
    create_draft(copied, user)
    copy_page(track, copied)
    return copied


def plan_copy(track: Track, collection: Collection, **names: str) -> Track:
    """Build a copy of a track on a collection, by which it is scored, and do not save it."""
    copied = build_copy(track, collection, **names)
    if collection.pk != track.collection_id:
        copied.judgment_set = collection.judgment_sets.ready().last()
    return copied


def _next_position(benchmark: Benchmark) -> int:
    last = benchmark.tracks.aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


def _move_track(
    track: Track, benchmark: Benchmark, position: int, phase: str = "", group: str = ""
) -> None:
    """Move a track that stood alone, and the people of its benchmark, which is deleted."""
    source = Benchmark.objects.get(tracks=track)
    if source.registers_teams:
        raise ActionError(
            f"{track} asks teams to register or to sign, which would be lost. Let a benchmark of "
            "several tracks ask instead."
        )
    move_teams(source, benchmark)
    benchmark.co_organisers.add(*source.organisers().exclude(pk=benchmark.owner_id))
    AuditEvent.objects.filter(benchmark=source).update(benchmark=benchmark)
    source.questions.update(benchmark=benchmark)
    moved = Track.objects.filter(pk=track.pk)
    moved.update(benchmark=benchmark, position=position, phase=phase, group=group)
    benchmark.renew_addresses()
    erase_benchmark(source)


@transaction.atomic
def remove_track(benchmark: Benchmark, user: User, track: Track) -> None:
    """Make a track stand alone again, with its teams and runs. Raises ActionError."""
    _refuse_stranger(benchmark, user)
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    if benchmark.tracks.count() < 2:
        raise ActionError("A benchmark has at least one track.")
    AuditEvent.objects.record(user, "remove track", benchmark, before={"track": track.slug})
    part_track(track, benchmark)


@transaction.atomic
def place_tracks(benchmark: Benchmark, user: User, places: Sequence[PlacedTrack]) -> None:
    """Put the tracks of a benchmark in this order; tracks that are not named follow."""
    _refuse_stranger(benchmark, user)
    present = {track.pk: track for track in benchmark.tracks.in_order().select_for_update()}
    before = [str(_place_of(track)) for track in present.values()]
    named = {place.track.pk: place for place in places if place.track.pk in present}
    order = [
        *named.values(),
        *(_place_of(track) for key, track in present.items() if key not in named),
    ]
    for position, place in enumerate(order):
        benchmark.tracks.filter(pk=place.track.pk).update(
            position=position,
            phase=place.phase,
            group=place.group,
            dated=place.dated,
            is_private=place.is_private,
        )
    after = [str(place) for place in order]
    AuditEvent.objects.record(
        user, "order tracks", benchmark, {"tracks": before}, {"tracks": after}
    )


def _place_of(track: Track) -> PlacedTrack:
    return PlacedTrack(track, track.phase, track.group, track.dated, track.is_private)


@transaction.atomic
def renew_invitation(benchmark: Benchmark, user: User) -> None:
    """Replace the invitation link of a benchmark; the old one stops working.

    Raises ActionError if anyone can join without it.
    """
    if benchmark.joining == Benchmark.Joining.EVERYONE:
        raise ActionError("Anyone can join, so the link is no secret to renew.")
    _refuse_stranger(benchmark, user)
    Benchmark.objects.filter(pk=benchmark.pk).update(invitation=new_invitation())
    AuditEvent.objects.record(user, "renew invitation", benchmark)


@transaction.atomic
def delete_benchmark(benchmark: Benchmark, user: User) -> None:
    """Delete a benchmark with its systems; its tracks stand alone again and keep teams and runs."""
    _refuse_stranger(benchmark, user)
    AuditEvent.objects.record(user, "delete", benchmark, before={"slug": benchmark.slug})
    dissolve_benchmark(benchmark)


def _refuse_stranger(benchmark: Benchmark, user: User) -> None:
    if not benchmark.is_organised_by(user):
        raise ActionError("Only organisers of this benchmark can do this.")


def _refuse_foreign_tracks(user: User, tracks: Sequence[Track]) -> None:
    """Raise ActionError unless the user organises all these tracks, and each stands alone."""
    _refuse_strange_tracks(user, tracks)
    several = Benchmark.objects.of_several_tracks().values("pk")
    for track in Track.objects.filter(pk__in=[each.pk for each in tracks], benchmark__in=several):
        raise ActionError(f"{track} belongs to a benchmark already.")


def _refuse_strange_tracks(user: User, tracks: Sequence[Track]) -> None:
    """Raise ActionError unless the user organises all these tracks."""
    asked = {track.pk for track in tracks}
    if Track.objects.organised_by(user).filter(pk__in=asked).count() < len(asked):
        raise ActionError("You do not organise all tracks that this changes.")
