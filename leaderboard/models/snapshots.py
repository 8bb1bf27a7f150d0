"""Snapshots: fixed copies of a board."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from leaderboard.models.people import User
from leaderboard.models.tracks import Edition, Track


class SnapshotQuerySet(models.QuerySet["Snapshot"]):
    def without_contents(self) -> SnapshotQuerySet:
        """Return snapshots without the board itself, which is large."""
        return self.defer("heads", "rows", "files")


class Snapshot(models.Model):
    """A fixed copy of a board: its runs, names, values, ranks and p-values, and its files.

    `heads` are the titles of the columns, `rows` has one list per run with its id first, and
    `files` has the texts by format.  Nothing in it is computed again.
    """

    track = models.ForeignKey(Track, models.CASCADE, related_name="snapshots")
    edition = models.ForeignKey(Edition, models.PROTECT, related_name="snapshots")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    note = models.TextField(blank=True, max_length=2000)
    # One per line, for the citation.
    authors = models.TextField(blank=True, max_length=2000, default="", db_default="")
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
