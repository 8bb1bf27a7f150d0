"""Scores that others report: store a version of them."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from evaluation.reading.results import ReportedResults
from leaderboard.collections.reported_scores import pack_results
from leaderboard.models import AuditEvent, Benchmark, ReportedScores, User


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
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    latest = benchmark.reported_scores.without_cells().latest_first().first()
    version = ReportedScores.objects.create(
        benchmark=benchmark,
        version=1 if latest is None else latest.version + 1,
        source=source,
        created_by=user,
        **pack_results(results, groups or {}),
    )
    AuditEvent.objects.record(user, "upload", version)
    return version
