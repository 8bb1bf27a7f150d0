"""Announcements by the organisers of a track."""

from __future__ import annotations

from django.db import transaction

from leaderboard import telling
from leaderboard.models import Announcement, AuditEvent, Track, User


@transaction.atomic
def announce(track: Track, user: User, text: str) -> Announcement:
    """It stands on the pages of the track, and whoever takes part gets a notice."""
    announcement = track.announcements.create(text=text, created_by=user)
    AuditEvent.objects.record(user, "announce", announcement, after={"text": text})
    telling.announced(announcement)
    return announcement
