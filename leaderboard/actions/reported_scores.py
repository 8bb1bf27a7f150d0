"""Scores that others report: accept a file of them, or store them at once."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from evaluation.reading.results import ReportedResults
from leaderboard.actions import versions
from leaderboard.collections.reported_scores import add_version
from leaderboard.models import AuditEvent, Benchmark, ReportedScores, ResultsFile, User


@transaction.atomic
def store_reported_scores(
    benchmark: Benchmark,
    user: User,
    results: ReportedResults,
    source: str,
    groups: Mapping[str, str] | None = None,
) -> ReportedScores:
    """Store results as the next version of the reported scores of a benchmark.

    `groups` has the group of collections by their names.
    """
    version = add_version(benchmark, user, results, source, groups or {})
    AuditEvent.objects.record(user, "upload", version)
    return version


def accept_results(file: ResultsFile, sent: UploadedFile) -> None:
    """Store an uploaded file of results under the next name, and queue its check.

    Raises NotAccepted for a file that is too large.
    """
    names = file.benchmark.results_files.values_list("version", flat=True)
    file.version = f"v{1 + max((int(name[1:]) for name in names), default=0)}"
    versions.accept_version(file, sent)
