"""Organisers of a track: its owner and those added later."""

from __future__ import annotations

from django.db import transaction

from leaderboard.models import AuditEvent, Track, User
from leaderboard.notifications import notices


class CannotAppoint(Exception):
    """Why this cannot be; the text is for the organiser."""


@transaction.atomic
def add_organiser(track: Track, user: User, name: str) -> User:
    """Let the user of that name organise the track too.  Raises CannotAppoint."""
    named = User.objects.filter(username=name, is_active=True).first()
    if named is None:
        raise CannotAppoint(f"No such user: {name}.")
    if track.organisers().filter(pk=named.pk).exists():
        raise CannotAppoint(f"{name} organises this track already.")
    track.co_organisers.add(named)
    AuditEvent.objects.record(user, "add organiser", track, after={"organiser": name})
    notices.appointed(track, named)
    return named


@transaction.atomic
def remove_organiser(track: Track, user: User, organiser: User) -> None:
    """Let somebody organise no more; where it was the owner, another organiser owns the track.

    Raises CannotAppoint for the last one.  The lock on the track keeps two from removing each
    other.
    """
    track = Track.objects.select_for_update(no_key=True).get(pk=track.pk)
    track.co_organisers.remove(organiser)
    if track.owner_id == organiser.pk:
        heir = track.co_organisers.order_by("pk").first()
        if heir is None:
            raise CannotAppoint("A track needs an organiser. Add another first.")
        track.co_organisers.remove(heir)
        Track.objects.filter(pk=track.pk).update(owner=heir)
    before = {"organiser": organiser.username}
    AuditEvent.objects.record(user, "remove organiser", track, before=before)
