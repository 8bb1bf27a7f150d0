"""Scores that others report of systems on collections; no run of this site is behind them."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from leaderboard.models.benchmarks import Benchmark
from leaderboard.models.people import User


class ReportedScoresQuerySet(models.QuerySet["ReportedScores"]):
    def latest_first(self) -> ReportedScoresQuerySet:
        return self.order_by("-version")

    def without_cells(self) -> ReportedScoresQuerySet:
        """Return versions without their contents, which are large."""
        return self.defer("systems", "collections", "known", "values")


class ReportedScores(models.Model):
    """A version of the table of reported scores of a benchmark; it never changes.

    `systems` are pairs of name and revision, `collections` of name and group, as
    `leaderboard.collections.reported_scores` packs them with their cells.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="reported_scores")
    version = models.PositiveIntegerField()
    # Who reports them, or where they are published.
    source = models.CharField(max_length=300)
    systems = models.JSONField()
    collections = models.JSONField()
    # A bit for each cell, and the scores of the known ones, row by row.
    known = models.BinaryField()
    values = models.BinaryField()
    num_cells = models.PositiveIntegerField()
    # How many collections have scores on several revisions of their data.
    num_revised = models.PositiveIntegerField(default=0)
    # How many files were ignored when it was read.
    num_ignored = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ReportedScoresQuerySet.as_manager()

    class Meta:
        ordering = ["benchmark", "-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "version"], name="versions_of_reported_scores_differ"
            ),
            models.CheckConstraint(
                condition=models.Q(num_cells__gt=0), name="reported_scores_have_a_cell"
            ),
        ]

    def __str__(self) -> str:
        return f"v{self.version}"
