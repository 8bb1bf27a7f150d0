"""Scores that others report: their table, as rows of the database keep it, and their files.

`check_results` and `import_results` are the work of a job; they write no rows that pages show
before the function is called that they return.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.core.files.storage import default_storage
from django.utils import timezone

from evaluation.complete_cells import BoolArray
from evaluation.problems import Problems
from evaluation.ragged import FloatArray
from evaluation.reading.results import ReportedResults, ReportedSystem, read_uploaded_results
from leaderboard.collections.checking import check_version
from leaderboard.collections.importing import limits_of_uploads
from leaderboard.collections.preview import FIRST_SHOWN, NAMES_SHOWN
from leaderboard.models import Benchmark, ReportedScores, ResultsFile, User
from leaderboard.models.collections import ImportState
from leaderboard.models.jobs import Progress, Publish


@dataclass(frozen=True)
class ReportedCollection:
    name: str
    group: str


@dataclass(frozen=True, eq=False)
class ReportedTable:
    """Systems by collections, float64[systems, collections]; a missing cell is NaN."""

    systems: list[ReportedSystem]
    collections: list[ReportedCollection]
    scores: FloatArray = field(repr=False)

    @property
    def known(self) -> BoolArray:
        return ~np.isnan(self.scores)

    @property
    def num_cells(self) -> int:
        return int(np.count_nonzero(self.known))


def pack_results(results: ReportedResults, groups: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns of a version; a collection without a group has an empty one."""
    known = ~np.isnan(results.scores)
    return {
        "systems": [[system.name, system.revision] for system in results.systems],
        "collections": [[name, groups.get(name, "")] for name in results.collections],
        "known": np.packbits(known).tobytes(),
        "values": results.scores[known].astype("<f8").tobytes(),
        "num_cells": results.num_cells,
        "num_revised": len(results.revised),
        "num_ignored": sum(results.problems.counts.values()),
    }


def unpack_table(version: ReportedScores) -> ReportedTable:
    """Return the table of a version.  Raises ValueError or TypeError if its parts do not fit."""
    shape = len(version.systems), len(version.collections)
    bits = np.frombuffer(version.known, np.uint8)
    known = np.unpackbits(bits, count=shape[0] * shape[1]).astype(bool).reshape(shape)
    scores, values = np.full(shape, np.nan), np.frombuffer(version.values, "<f8")
    if len(values) != np.count_nonzero(known) or not np.isfinite(values).all():
        raise ValueError("there are not as many scores as known cells")
    scores[known] = values
    return ReportedTable(
        [ReportedSystem(*system) for system in version.systems],
        [ReportedCollection(*collection) for collection in version.collections],
        scores,
    )


def add_version(
    benchmark: Benchmark,
    user: User,
    results: ReportedResults,
    source: str,
    groups: Mapping[str, str],
) -> ReportedScores:
    """Store results as the next version of the reported scores of a benchmark."""
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    latest = benchmark.reported_scores.without_cells().latest_first().first()
    return ReportedScores.objects.create(
        benchmark=benchmark,
        version=1 if latest is None else latest.version + 1,
        source=source,
        created_by=user,
        **pack_results(results, groups),
    )


@dataclass(frozen=True)
class FirstResult:
    system: str
    revision: str
    collection: str
    score: float


@dataclass(frozen=True)
class ResultsPreview:
    """What a check understood of a file of results.

    `without_group` and `revised` name the first collections without a group, and with scores on
    several revisions of their data.
    """

    file: str
    systems: int
    collections: int
    cells: int
    lowest: float
    highest: float
    groups: int
    num_without_group: int
    without_group: list[str]
    num_revised: int
    revised: list[str]
    first: list[FirstResult]


def read_file(file: ResultsFile, progress: Progress) -> ReportedResults:
    """Read the results of a stored file.  Raises Refused."""
    with default_storage.open(file.file.name) as stored:
        return read_uploaded_results(stored, limits_of_uploads(), progress)


def check_results(file_id: str, progress: Progress) -> Publish:
    """Check an uploaded file of results and preview what was understood."""
    file = ResultsFile.objects.get(pk=file_id)

    def read() -> tuple[ResultsPreview, Problems]:
        results = read_file(file, progress)
        return preview_results(file, results), results.problems

    return check_version(file, read)


def preview_results(file: ResultsFile, results: ReportedResults) -> ResultsPreview:
    """Count what a file has, and list its first results."""
    names = results.collections
    without = [name for name in names if not file.groups.get(name)] if file.groups else []
    rows, columns = np.nonzero(~np.isnan(results.scores))
    first = zip(rows[:FIRST_SHOWN].tolist(), columns[:FIRST_SHOWN].tolist(), strict=True)
    return ResultsPreview(
        file=file.filename,
        systems=len(results.systems),
        collections=len(names),
        cells=results.num_cells,
        lowest=float(np.nanmin(results.scores)),
        highest=float(np.nanmax(results.scores)),
        groups=len({file.groups[name] for name in names if file.groups.get(name)}),
        num_without_group=len(without),
        without_group=without[:NAMES_SHOWN],
        num_revised=len(results.revised),
        revised=results.revised[:NAMES_SHOWN],
        first=[
            FirstResult(
                *(results.systems[row].name, results.systems[row].revision),
                *(names[column], float(results.scores[row, column])),
            )
            for row, column in first
        ],
    )


def import_results(file_id: str, progress: Progress) -> Publish:
    """Read a confirmed file again; its scores are a version once the returned function wrote it."""
    file = ResultsFile.objects.select_related("benchmark", "created_by").get(pk=file_id)
    results = read_file(file, progress)

    def publish() -> None:
        scores = add_version(file.benchmark, file.created_by, results, file.source, file.groups)
        imported = {"state": ImportState.READY, "ready_at": timezone.now(), "scores": scores}
        ResultsFile.objects.filter(pk=file.pk).update(**imported)

    return publish
