"""Make a task of tracks, order its tracks, and change what they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from leaderboard.actions.people import OrganiserError, find_new_organiser
from leaderboard.actions.submission_rules import ActionError
from leaderboard.actions.task_teams import spread
from leaderboard.actions.tracks import open_track, plain_value
from leaderboard.jobs.erasure import erase_task
from leaderboard.models import AuditEvent, Task, TaskTrack, Team, Track, User
from leaderboard.models.tracks import new_invitation
from leaderboard.notifications import notices

# What each track of a task has a copy of.
SHARED = ("joining", "invitation", "terms")
# The rule that lets fewer people in comes first.
STRICTEST = (Track.Joining.APPROVAL, Track.Joining.INVITATION, Track.Joining.EVERYONE)


@dataclass(frozen=True)
class Place:
    """Where a track stands in its task: its phase and group, "" for none."""

    track: Track
    phase: str = ""
    group: str = ""


@transaction.atomic
def make_task(user: User, task: Task, tracks: Sequence[Track]) -> Task:
    """Save a new task of these tracks; tracks that are not saved yet are opened.

    The task has the strictest joining of its tracks, and the terms of all. Raises ActionError.
    """
    if not tracks:
        raise ActionError("Choose a track or a collection. A task has at least one track.")
    _refuse_foreign_tracks(user, [track for track in tracks if track.pk is not None])
    tracks = [track if track.pk is not None else open_track(track, user) for track in tracks]
    task.owner = user
    task.joining = next(rule for rule in STRICTEST if any(rule == each.joining for each in tracks))
    task.terms = "\n\n".join(dict.fromkeys(track.terms for track in tracks if track.terms))
    task.save(force_insert=True)
    others = [set(track.organisers()) for track in tracks]
    task.co_organisers.set(set.intersection(*others) - {user})
    for position, track in enumerate(tracks):
        TaskTrack.objects.create(task=task, track=track, position=position)
    after = {"slug": task.slug, "tracks": [track.slug for track in tracks]}
    AuditEvent.objects.record(user, "create", task, after=after)
    _copy_to_tracks(task, user, tracks)
    spread(task)
    return task


@transaction.atomic
def change_task(task: Task, user: User, changes: Mapping[str, Any]) -> Task:
    """Change settings of a task; its tracks get a copy of what they share. Raises ActionError."""
    after = {name: value for name, value in changes.items() if value != getattr(task, name)}
    _refuse_stranger(task, user)
    if set(SHARED) & after.keys():
        _refuse_foreign_tracks(user, task.tracks())
    before = {name: plain_value(getattr(task, name)) for name in after}
    for name, value in after.items():
        setattr(task, name, value)
    if after:
        task.save(update_fields=list(after))
        plain = {name: plain_value(value) for name, value in after.items()}
        AuditEvent.objects.record(user, "change", task, before, plain)
    if set(SHARED) & after.keys():
        _copy_to_tracks(task, user, task.tracks())
    return task


@transaction.atomic
def add_track(task: Task, user: User, place: Place) -> None:
    """Put a track at the end of a task; its teams become teams of the task.

    The organisers of the task organise the track from now on. Raises ActionError.
    """
    _refuse_stranger(task, user)
    Task.objects.select_for_update(no_key=True).get(pk=task.pk)
    _refuse_foreign_tracks(user, [place.track])
    if TaskTrack.objects.filter(track=place.track).exists():
        raise ActionError(f"{place.track} belongs to a task already.")
    last = task.places.last()
    position = 0 if last is None else last.position + 1
    TaskTrack.objects.create(
        task=task, track=place.track, position=position, phase=place.phase, group=place.group
    )
    AuditEvent.objects.record(user, "add track", task, after={"track": place.track.slug})
    others = task.organisers().exclude(pk=place.track.owner_id)
    place.track.co_organisers.add(*others)
    _copy_to_tracks(task, user, [place.track])
    spread(task)


@transaction.atomic
def remove_track(task: Task, user: User, track: Track) -> None:
    """Make a track of a task stand alone again, with its teams and runs. Raises ActionError."""
    _refuse_stranger(task, user)
    _refuse_foreign_tracks(user, [track])
    if TaskTrack.objects.filter(task=task, track=track).delete()[0]:
        Team.objects.filter(track=track).update(task_team=None)
        AuditEvent.objects.record(user, "remove track", task, before={"track": track.slug})


@transaction.atomic
def place_tracks(task: Task, user: User, places: Sequence[Place]) -> None:
    """Put the tracks of a task in this order; tracks that are not named follow."""
    _refuse_stranger(task, user)
    before = [str(place) for place in task.places.select_related("track", "task")]
    named = {place.track.pk: place for place in places}
    present = {row.track_id: row for row in task.places.select_for_update(no_key=True)}
    order = [
        *(key for key in named if key in present),
        *(key for key in present if key not in named),
    ]
    for position, key in enumerate(order):
        place = named.get(key)
        words = {} if place is None else {"phase": place.phase, "group": place.group}
        TaskTrack.objects.filter(track=key).update(position=position, **words)
    after = [str(place) for place in task.places.select_related("track", "task")]
    AuditEvent.objects.record(user, "order tracks", task, {"tracks": before}, {"tracks": after})


@transaction.atomic
def renew_task_invitation(task: Task, user: User) -> None:
    """Replace the invitation link of a task on all its tracks; the old one stops working.

    Raises ActionError if anyone can join without it.
    """
    if task.joining == Track.Joining.EVERYONE:
        raise ActionError("Anyone can join this task, so its link is no secret to renew.")
    _refuse_stranger(task, user)
    _refuse_foreign_tracks(user, task.tracks())
    code = new_invitation()
    Task.objects.filter(pk=task.pk).update(invitation=code)
    Track.objects.filter(task_place__task=task).update(invitation=code)
    AuditEvent.objects.record(user, "renew invitation", task)


@transaction.atomic
def add_task_organiser(task: Task, user: User, name: str) -> User:
    """Make the user of that name an organiser of a task and its tracks.

    Raises OrganiserError and ActionError.
    """
    _refuse_stranger(task, user)
    _refuse_foreign_tracks(user, task.tracks())
    organiser = find_new_organiser(task, name)
    task.co_organisers.add(organiser)
    for track in task.tracks().exclude(owner=organiser):
        track.co_organisers.add(organiser)
    AuditEvent.objects.record(user, "add organiser", task, after={"organiser": name})
    notices.notify_appointed_to_task(task, organiser)
    return organiser


@transaction.atomic
def remove_task_organiser(task: Task, user: User, organiser: User) -> None:
    """Remove an organiser of a task and of its tracks, but not the owner of a track.

    If that was the owner of the task, another organiser becomes the owner. Raises OrganiserError
    for the last one, and ActionError.
    """
    _refuse_stranger(task, user)
    _refuse_foreign_tracks(user, task.tracks())
    task = Task.objects.select_for_update(no_key=True).get(pk=task.pk)
    task.co_organisers.remove(organiser)
    if task.owner_id == organiser.pk:
        heir = task.co_organisers.order_by("pk").first()
        if heir is None:
            raise OrganiserError("A task needs an organiser. Add another first.")
        task.co_organisers.remove(heir)
        Task.objects.filter(pk=task.pk).update(owner=heir)
    for track in task.tracks():
        track.co_organisers.remove(organiser)
    before = {"organiser": organiser.username}
    AuditEvent.objects.record(user, "remove organiser", task, before=before)


@transaction.atomic
def delete_task(task: Task, user: User) -> None:
    """Delete a task with its systems; its tracks stand alone again and keep teams and runs."""
    _refuse_stranger(task, user)
    AuditEvent.objects.record(user, "delete", task, before={"slug": task.slug})
    erase_task(task)


def _refuse_stranger(task: Task, user: User) -> None:
    if not task.is_organised_by(user):
        raise ActionError("Only organisers of this task can do this.")


def _refuse_foreign_tracks(user: User, tracks: Iterable[Track]) -> None:
    """Raise ActionError unless the user organises all these tracks."""
    asked = {track.pk for track in tracks}
    own = Track.objects.organised_by(user).filter(pk__in=asked)
    if own.count() < len(asked):
        raise ActionError("You do not organise all tracks that this changes.")


def _copy_to_tracks(task: Task, user: User, tracks: Iterable[Track]) -> None:
    """Give tracks their copies of what a task shares; the activity log of each shows it."""
    shared = {name: getattr(task, name) for name in SHARED}
    for track in tracks:
        logged = [name for name in ("joining", "terms") if getattr(track, name) != shared[name]]
        Track.objects.filter(pk=track.pk).update(**shared)
        if logged:
            before = {name: getattr(track, name) for name in logged}
            after = {name: shared[name] for name in logged}
            AuditEvent.objects.record(user, "change", track, before, after)
