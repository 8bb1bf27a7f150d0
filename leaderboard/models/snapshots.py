"""Snapshots, which are fixed copies of a board, and copies of its public pages."""

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


class PagesCopy(models.Model):
    """The public pages of a track as one zip file; without a file it was asked for and waits."""

    track = models.OneToOneField(Track, models.CASCADE, related_name="pages_copy")
    # The address of the site, where links to other pages lead.
    site = models.CharField(max_length=200)
    file = models.FileField(max_length=200, blank=True)
    size = models.BigIntegerField(default=0, db_default=0)
    copied_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"the pages of {self.track}"
