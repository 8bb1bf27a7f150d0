"""Snapshots, which are fixed copies of a board, and copies of its public pages."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils import timezone

from leaderboard.models.benchmarks import Benchmark
from leaderboard.models.people import User
from leaderboard.models.tracks import Edition, Track


class FrozenBoardQuerySet(models.QuerySet[Any]):
    def without_contents(self) -> FrozenBoardQuerySet:
        """Return snapshots without the board itself, which is large."""
        return self.defer("heads", "rows", "files")


class FrozenBoard(models.Model):
    """A fixed copy of a board: its names, values, ranks and p-values, and its files.

    `heads` tell of each column its title and whether it has words, `rows` has one list per row with
    its id first, and `files` has the texts by format.  Nothing in it is computed again.
    """

    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    note = models.TextField(blank=True, max_length=2000)
    caption = models.TextField()
    heads = models.JSONField()
    rows = models.JSONField()
    files = models.JSONField()
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = FrozenBoardQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def subject(self) -> Track | Benchmark:
        """What it is a board of."""
        raise NotImplementedError


class Snapshot(FrozenBoard):
    """A fixed copy of the board of a track, whose rows are runs."""

    track = models.ForeignKey(Track, models.CASCADE, related_name="snapshots")
    edition = models.ForeignKey(Edition, models.PROTECT, related_name="snapshots")
    # One per line, for the citation.
    authors = models.TextField(blank=True, max_length=2000, default="", db_default="")

    class Meta(FrozenBoard.Meta):
        constraints = [
            models.UniqueConstraint(fields=["track", "slug"], name="a_snapshot_has_an_address")
        ]

    @property
    def subject(self) -> Track:
        return self.track


class BenchmarkSnapshot(FrozenBoard):
    """A fixed copy of the board of a benchmark, whose rows are versions of systems."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="snapshots")
    # What it was made of: the editions of its columns.
    editions = models.ManyToManyField(Edition, related_name="+")

    class Meta(FrozenBoard.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "slug"], name="a_benchmark_snapshot_has_an_address"
            )
        ]

    @property
    def subject(self) -> Benchmark:
        return self.benchmark


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
