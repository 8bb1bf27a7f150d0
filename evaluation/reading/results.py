"""Results that others report: the scores of systems on collections, as MTEB writes them.

A file is `SYSTEM/REVISION/COLLECTION.json`, in a folder or in a ZIP archive. JSON lines name the
system instead: each is the result of a task with `model_name` and `model_revision`, or has several
in `task_results`. A score is the mean of `main_score` over its splits and subsets, as MTEB has it.
"""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from statistics import fmean
from typing import Any, BinaryIO

import numpy as np

from evaluation.problems import Problems, Refused, refuse
from evaluation.ragged import FloatArray
from evaluation.reading.containers import DOCUMENT_LIMITS, MIB, Limits, unpacked
from evaluation.reading.texts.records import hint_for_json, json_fault

SHAPE = "It needs task_name, and scores by split: lists of hf_subset and a number main_score."
# What a folder of MTEB has besides results.
NO_RESULTS = {"model_meta.json"}
# A file of results is small; the largest public ones have a few MiB.
LONGEST_FILE = 64 * MIB
LONGEST_NAME = 200
# A path ends with a system, a revision and a collection.
PARTS_OF_PATH = 3
# The revision of a system that states none, as MTEB calls it.
NO_REVISION = "no_revision_available"
HEAD_OF_GROUPS = ["collection", "group"]
# After how many results the progress is told.
STEP = 500

Progress = Callable[[int, int], None]


def tell_nothing(done: int, total: int) -> None:
    """Tell nobody how many results are read."""


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
        message = f"{name} is no JSON: {json_fault(error)}"
        raise refuse("E_JSON", message, hint=hint_for_json(error)) from None
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
    except (KeyError, TypeError, AttributeError, ValueError):
        raise refuse("E_FORMAT", f"{name} is no result of MTEB", hint=SHAPE) from None


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
    with path.open("rb") as file:
        yield from _files_of_archive(file, DOCUMENT_LIMITS)


def _files_of_archive(
    file: BinaryIO, limits: Limits, progress: Progress = tell_nothing
) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = _list_results(archive)
            whole = sum(entry.file_size for entry in entries)
            if whole > limits.unpacked:
                raise refuse("E_SIZE", f"its files have {whole:,} bytes in total")
            for done, entry in enumerate(entries):
                if done % STEP == 0:
                    progress(done, len(entries))
                _check_size(entry.filename, entry.file_size)
                # No more bytes are read of a member than the directory says.
                yield entry.filename, archive.read(entry)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise refuse("E_CONTAINER", f"the file is no ZIP archive: {error}") from None


def _list_results(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [entry for entry in archive.infolist() if entry.filename.endswith(".json")]


def _check_size(name: str, size: int) -> None:
    if size > LONGEST_FILE:
        raise refuse("E_SIZE", f"{name} has {size:,} bytes; the limit is {LONGEST_FILE:,}")


def read_uploaded_results(
    file: BinaryIO, limits: Limits = DOCUMENT_LIMITS, progress: Progress = tell_nothing
) -> ReportedResults:
    """Read a ZIP archive of results, or JSON lines, which may be packed.

    Raises `Refused` as `read_results` does.
    """
    if _is_archive_of_results(file):
        return read_results(_files_of_archive(file, limits, progress))
    return read_result_lines(unpacked(file, limits), progress)


def _is_archive_of_results(file: BinaryIO) -> bool:
    file.seek(0)
    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as archive:
        return bool(_list_results(archive))


def read_results(files: Iterable[tuple[str, bytes]]) -> ReportedResults:
    """Read results, each a file with its path; files that are none are left out, with a warning.

    Raises `Refused` where no file is a result.
    """
    found = _Cells()
    for path, content in files:
        parts = PurePosixPath(path).parts
        if parts[-1] in NO_RESULTS:
            continue
        if len(parts) < PARTS_OF_PATH:
            message = "the path is not SYSTEM/REVISION/COLLECTION.json"
            found.problems.warn("W_RESULT_PATH", None, message, path)
            continue
        system = ReportedSystem(parts[-3].replace("__", "/"), parts[-2])
        try:
            found.add(system, read_object(content, "the file"), None, path)
        except Refused as refusal:
            found.leave_out(refusal, None, path)
    return found.tabulate("no file is a result of MTEB, SYSTEM/REVISION/COLLECTION.json")


def read_result_lines(file: BinaryIO, progress: Progress = tell_nothing) -> ReportedResults:
    """Read results, each a line of JSON; lines that are none are left out, with a warning.

    Raises `Refused` where no line has a result.
    """
    found = _Cells()
    for line, content in enumerate(iter(lambda: file.readline(LONGEST_FILE + 1), b""), 1):
        _check_size(f"line {line}", len(content))
        if line % STEP == 0:
            progress(line, 0)
        if not (shown := content.strip()[:LONGEST_NAME]):
            continue
        try:
            stated = read_object(content, "the line")
            system = _system_of(stated)
            for each in _results_of(stated):
                found.add(system, each, line, shown)
        except Refused as refusal:
            found.leave_out(refusal, line, shown)
    return found.tabulate("no line has a result of MTEB with a model_name")


def _system_of(stated: dict[str, Any]) -> ReportedSystem:
    name, revision = stated.get("model_name"), stated.get("model_revision") or NO_REVISION
    if not isinstance(name, str) or not isinstance(revision, str):
        raise refuse("E_FORMAT", "the line names no system: it needs model_name")
    return ReportedSystem(name.replace("__", "/"), revision)


def _results_of(stated: dict[str, Any]) -> list[dict[str, Any]]:
    several = stated.get("task_results", [stated])
    if not isinstance(several, list) or not all(isinstance(each, dict) for each in several):
        raise refuse("E_FORMAT", "task_results is not a list of results")
    return several


def read_groups_of_collections(content: bytes) -> dict[str, str]:
    """Return the group of each collection of a CSV table; raises `Refused` with E_GROUPS."""
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise refuse("E_GROUPS", f"the groups are no CSV table in UTF-8: {error}") from None
    if not rows or rows[0] != HEAD_OF_GROUPS:
        raise refuse("E_GROUPS", f"line 1: the head is not {','.join(HEAD_OF_GROUPS)}")
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(HEAD_OF_GROUPS) or not _is_group(row[1]):
            raise refuse("E_GROUPS", f"line {line}: write the collection and its group")
    return {name: group for name, group in rows[1:]}


@dataclass
class _Cells:
    """The cells that are read so far, and what is wrong with the others."""

    problems: Problems = field(default_factory=Problems)
    scores: dict[tuple[ReportedSystem, str], float] = field(default_factory=dict)
    # The revisions of the data of each collection.
    revisions: dict[str, set[str]] = field(default_factory=dict)

    def add(
        self, system: ReportedSystem, stated: dict[str, Any], line: int | None, found: str | bytes
    ) -> None:
        """Add the result of a system; raises `Refused` if it is none."""
        collection, score = _score_of(parse_result(stated, "it"))
        if not all(map(_is_name, (collection, system.name, system.revision))):
            message = "a name is too long, or cannot be printed"
            self.problems.warn("W_RESULT", line, message, found)
        elif (system, collection) in self.scores:
            self.problems.warn("W_RESULT_TWICE", line, "a second result of the same cell", found)
        else:
            self.scores[system, collection] = score
            revision = str(stated.get("dataset_revision") or "")
            self.revisions.setdefault(collection, set()).add(revision)

    def leave_out(self, refusal: Refused, line: int | None, found: str | bytes) -> None:
        """Warn of a result that is none, with what mends it."""
        (problem,) = refusal.problems
        self.problems.warn("W_RESULT", line, str(refusal), found, problem.hint)

    def tabulate(self, without: str) -> ReportedResults:
        """Return the table; raises `Refused` for these reasons if it has no cell."""
        if not self.scores:
            self.problems.error("E_FORMAT", None, without)
            raise Refused(self.problems)
        systems = sorted({system for system, _ in self.scores})
        collections = sorted({name for _, name in self.scores})
        rows = {system: place for place, system in enumerate(systems)}
        columns = {name: place for place, name in enumerate(collections)}
        scores = np.full((len(rows), len(columns)), np.nan)
        for (system, name), score in self.scores.items():
            scores[rows[system], columns[name]] = score
        revised = sorted(name for name, found in self.revisions.items() if len(found) > 1)
        return ReportedResults(systems, collections, scores, revised, self.problems)


def _score_of(rows: list[SubsetResult]) -> tuple[str, float]:
    """Return the collection of a result, and the mean over its splits and subsets."""
    if not rows or not all(math.isfinite(row.main_score) for row in rows):
        message = "it lacks a main_score, or has one that is not finite"
        raise refuse("E_SCORE", message, hint=SHAPE)
    return str(rows[0].task), fmean(row.main_score for row in rows)


def _is_group(text: str) -> bool:
    return len(text) <= LONGEST_NAME and text.isprintable()


def _is_name(text: str) -> bool:
    return bool(text) and _is_group(text)
