"""Results that others report: files of MTEB, each with the score of a system on a collection.

A file is `SYSTEM/REVISION/COLLECTION.json`, in a folder or in a ZIP archive. Its score is the mean
of `main_score` over its splits and subsets, as MTEB has it.
"""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from statistics import fmean
from typing import Any

import numpy as np

from evaluation.problems import Problems, Refused, refuse
from evaluation.ragged import FloatArray
from evaluation.reading.containers import MIB

# What a folder of MTEB has besides results.
NO_RESULTS = {"model_meta.json"}
# A file of results is small; the largest public ones have a few MiB.
LONGEST_FILE = 64 * MIB
LONGEST_NAME = 200
# A path ends with a system, a revision and a collection.
PARTS_OF_PATH = 3


@dataclass(frozen=True)
class SubsetResult:
    """The scores of one subset and split in the result of a task."""

    task: str
    subset: str
    split: str
    main_score: float
    scores: dict[str, Any]


@dataclass(frozen=True, order=True)
class ReportedSystem:
    """A system in one revision, with the names that the source gives both."""

    name: str
    revision: str


@dataclass(frozen=True, eq=False)
class ReportedResults:
    """Systems by collections, both in the order of their names; a missing cell is NaN.

    `revised` are the collections whose results name several revisions of the data.
    """

    systems: list[ReportedSystem]
    collections: list[str]
    scores: FloatArray = field(repr=False)
    revised: list[str]
    problems: Problems

    @property
    def num_cells(self) -> int:
        return int(np.count_nonzero(~np.isnan(self.scores)))


def read_object(content: bytes, name: str) -> dict[str, Any]:
    """Return the JSON object in a file.  Raises `Refused` for another file."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise refuse("E_JSON", f"{name} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise refuse("E_FORMAT", f"{name} is no JSON object")
    return found


def parse_result(content: dict[str, Any], name: str) -> list[SubsetResult]:
    """Return the scores in the result of a task.  Raises `Refused` for another file."""
    try:
        return [
            SubsetResult(
                content["task_name"], row["hf_subset"], split, float(row["main_score"]), row
            )
            for split, rows in content["scores"].items()
            for row in rows
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise refuse("E_FORMAT", f"{name} is no result of MTEB: {error!r}") from None


def files_of_results(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the JSON files in a folder or a ZIP archive, with their paths in it.

    Raises OSError, and `Refused` with E_CONTAINER or E_SIZE.
    """
    if path.is_dir():
        for found in sorted(path.rglob("*.json")):
            if found.is_file():
                _check_size(found.name, found.stat().st_size)
                yield found.relative_to(path).as_posix(), found.read_bytes()
        return
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.filename.endswith(".json"):
                    _check_size(entry.filename, entry.file_size)
                    # No more bytes are read of a member than the directory says.
                    yield entry.filename, archive.read(entry)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise refuse("E_CONTAINER", f"{path.name} is no ZIP archive: {error}") from None


def _check_size(name: str, size: int) -> None:
    if size > LONGEST_FILE:
        raise refuse("E_SIZE", f"{name} has {size:,} bytes; the limit is {LONGEST_FILE:,}")


def read_results(files: Iterable[tuple[str, bytes]]) -> ReportedResults:
    """Read results; files that are none are left out, with a warning each.

    Raises `Refused` where no file is a result.
    """
    problems, cells = Problems(), {}
    revisions: dict[str, set[str]] = {}
    for path, content in files:
        parts = PurePosixPath(path).parts
        if parts[-1] in NO_RESULTS:
            continue
        if len(parts) < PARTS_OF_PATH:
            problems.warn(
                "W_RESULT_PATH", None, "the path is not SYSTEM/REVISION/COLLECTION.json", path
            )
            continue
        try:
            stated = read_object(content, path)
            collection, score = _score_of(parse_result(stated, path), path)
        except Refused as refusal:
            problems.warn("W_RESULT", None, str(refusal), path)
            continue
        system = ReportedSystem(parts[-3].replace("__", "/"), parts[-2])
        if not all(map(_is_name, (collection, system.name, system.revision))):
            problems.warn("W_RESULT", None, "a name is too long, or cannot be printed", path)
            continue
        if (system, collection) in cells:
            problems.warn("W_RESULT_TWICE", None, "a second result of the same cell", path)
            continue
        cells[system, collection] = score
        revisions.setdefault(collection, set()).add(str(stated.get("dataset_revision") or ""))
    if not cells:
        raise refuse("E_FORMAT", "no file is a result of MTEB, SYSTEM/REVISION/COLLECTION.json")
    revised = sorted(name for name, found in revisions.items() if len(found) > 1)
    return _tabulate(cells, revised, problems)


def _score_of(rows: list[SubsetResult], path: str) -> tuple[str, float]:
    """Return the collection of a result, and the mean over its splits and subsets."""
    if not rows or not all(math.isfinite(row.main_score) for row in rows):
        raise refuse("E_SCORE", f"{path} lacks a main_score, or has one that is not finite")
    return str(rows[0].task), fmean(row.main_score for row in rows)


def _is_name(text: str) -> bool:
    return 0 < len(text) <= LONGEST_NAME and text.isprintable()


def _tabulate(
    cells: dict[tuple[ReportedSystem, str], float], revised: list[str], problems: Problems
) -> ReportedResults:
    systems = sorted({system for system, _ in cells})
    collections = sorted({name for _, name in cells})
    rows = {system: place for place, system in enumerate(systems)}
    columns = {name: place for place, name in enumerate(collections)}
    scores = np.full((len(rows), len(columns)), np.nan)
    for (system, name), score in cells.items():
        scores[rows[system], columns[name]] = score
    return ReportedResults(systems, collections, scores, revised, problems)
