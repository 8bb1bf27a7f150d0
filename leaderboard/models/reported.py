"""Scores that others report of systems on collections, and the files that they are read from.

No run of this site is behind them.
"""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from leaderboard.models.benchmarks import Benchmark
from leaderboard.models.collections import ImportedVersion, ImportState
from leaderboard.models.people import User

# The contents of a version, which are large.
CELLS = ("systems", "collections", "known", "values")


class ReportedScoresQuerySet(models.QuerySet["ReportedScores"]):
    def latest_first(self) -> ReportedScoresQuerySet:
        return self.order_by("-version")

    def without_cells(self) -> ReportedScoresQuerySet:
        """Return versions without their contents."""
        return self.defer(*CELLS)


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


class ResultsFileQuerySet(models.QuerySet["ResultsFile"]):
    def waiting(self) -> ResultsFileQuerySet:
        """Return the files that are not imported, or not yet."""
        return self.exclude(state=ImportState.READY)

    def with_scores(self) -> ResultsFileQuerySet:
        """Return files with the versions that they became, without the cells of these."""
        cells = (f"scores__{name}" for name in CELLS)
        return self.select_related("scores").defer(*cells)


class ResultsFile(ImportedVersion):
    """An uploaded file of results that others report; imported, it is a version of their table.

    `groups` has the group of collections by their names.
    """

    noun = "results"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="results_files")
    # Who reports them, or where they are published.
    source = models.CharField(max_length=300)
    groups = models.JSONField(default=dict, blank=True)
    scores = models.OneToOneField(
        ReportedScores, models.SET_NULL, null=True, related_name="results_file"
    )

    objects = ResultsFileQuerySet.as_manager()

    class Meta(ImportedVersion.Meta):
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "version"], name="results_version_once")
        ]
