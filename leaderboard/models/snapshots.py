"""Snapshots: boards that never change again."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from leaderboard.models.people import User
from leaderboard.models.tracks import Edition, Track


class SnapshotQuerySet(models.QuerySet["Snapshot"]):
    def named(self) -> SnapshotQuerySet:
        """Without what they hold, which is as large as a board of all columns."""
        return self.defer("heads", "rows", "files")


class Snapshot(models.Model):
    """A board as it was: its runs, names, values, ranks and p-values, and the files made of it.

    `heads` are the titles of its columns, `rows` one list a run, its id first, and `files` the
    texts by format.  Nothing of it is computed again.
    """

    track = models.ForeignKey(Track, models.CASCADE, related_name="snapshots")
    edition = models.ForeignKey(Edition, models.PROTECT, related_name="snapshots")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    note = models.TextField(blank=True, max_length=2000)
    caption = models.TextField()
    heads = models.JSONField()
    rows = models.JSONField()
    files = models.JSONField()
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = SnapshotQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["track", "slug"], name="a_snapshot_has_an_address")
        ]

    def __str__(self) -> str:
        return self.name
