"""The table of reported scores, as rows of the database keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluation.complete_cells import BoolArray
from evaluation.ragged import FloatArray
from evaluation.reading.results import ReportedResults, ReportedSystem
from leaderboard.models import ReportedScores


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
