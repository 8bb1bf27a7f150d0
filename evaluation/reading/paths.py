"""Judgments and runs by the path of their file, unpacked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedReader, BytesIO, FileIO
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO

from evaluation.problems import Refused, refuse
from evaluation.reading.columns import INTEGER, TO_JUDGE
from evaluation.reading.containers import GIB, KIB, MIB, Limits, unpacked
from evaluation.reading.golden import recognise_golden
from evaluation.reading.headers import name_columns
from evaluation.reading.judging.qrels import Qrels, read_qrels, read_qrels_leniently
from evaluation.reading.lines import first_bytes
from evaluation.reading.recognition import (
    NOT_READ,
    Candidate,
    Recognised,
    beginning,
    recognise_judge,
    recognise_qrels,
    run_by_first_bytes,
)
from evaluation.reading.runs.reader import Run, read_run, read_run_leniently
from evaluation.reading.runs.run_rules import RunRules

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 128 * KIB
LONG = 32 * MIB
# Nobody else's time is at stake here: only a bomb stops the reading.
LIMITS = Limits(upload=1024 * GIB, unpacked=1024 * GIB, ratio=1000)
ANY_DEPTH = 1_000_000_000
ANY_RUN = RunRules(depth=ANY_DEPTH)
JSON = ("json", "jsonl")


@contextmanager
def open_input(path: str, limits: Limits = LIMITS) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where it is compressed; `-` is the standard input.

    Raises `Refused` for a container that cannot be unpacked.
    """
    if path == "-":
        yield unpacked(BytesIO(sys.stdin.buffer.read()), limits)
    else:
        with BufferedReader(ProgressReader(path), CHUNK) as file:
            yield unpacked(file, limits)


class ProgressReader(FileIO):
    """A long file that shows on a terminal how much of it has been read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path
        self.size = os.fstat(self.fileno()).st_size
        self.percent = 0
        self.shown = self.size >= LONG and sys.stderr.isatty()

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        count = super().readinto(buffer)
        if self.shown and self.tell() * 100 // self.size > self.percent:
            self.percent = self.tell() * 100 // self.size
            rest = f"{self.path} {self.percent} %" if self.percent < 100 else ""
            print(f"\r\033[K{rest}", end="", file=sys.stderr, flush=True)
        return count


def read_judgments(
    path: str, lenient: bool, subtopics: bool = False, format: str | None = None
) -> Qrels:
    """Judgments in the `format`, or in the one that the file shows; raises `Refused`."""
    with open_input(path) as file:
        if lenient and not (format or subtopics or _is_sample(file)):
            return read_qrels_leniently(file)
        format = format or ("subtopics" if subtopics else judgment_format(file))
        try:
            return read_qrels(file, format=format)
        except Refused:
            file.seek(0)
            shown = _shown_by_grades(file) if format == "trec" else ""
            if not shown:
                raise
            file.seek(0)
            return read_qrels(file, format=shown)


def read_judge(path: str, lenient: bool, format: str | None = None) -> Qrels:
    """The judgments of a judge, perhaps with confidences; raises `Refused`."""
    with open_input(path) as file:
        has_confidences = recognise_judge(file) in ("confidence", "jsonl")
        if format is None and has_confidences:
            return read_qrels(file, of_judge=True)
    return read_judgments(path, lenient, format=format)


def judgment_format(file: BinaryIO) -> str:
    """Return the format that a file of judgments shows; raises `Refused` where several fit.

    Four columns are those of TREC; for anything else the first lines are looked at.
    """
    if recognise_golden(beginning(file)):
        return "golden"
    first = _first_line(file)
    columns = first.split()
    if len(columns) == 5 and columns[4] == TO_JUDGE:
        return "strata"
    if len(columns) == 4 and not name_columns(columns) and not first.startswith((b"{", b"[")):
        return "trec"
    try:
        found = recognise_qrels(file)
    except Refused:
        return "trec"
    finally:
        file.seek(0)
    readable = [candidate for candidate in found.candidates if not candidate.refused]
    if readable and len(found.candidates) > 1:
        raise _ask_for_format(found)
    # A file that is not read as judgments is refused with the lines of its problems.
    by_name = found.format in NOT_READ and found.format != "run"
    return found.format if readable or by_name else "trec"


def _first_line(file: BinaryIO) -> bytes:
    first = next((line for line in file if line.strip() and not line.startswith(b"#")), b"")
    file.seek(0)
    return first


def _is_sample(file: BinaryIO) -> bool:
    """Return whether the first line has the five columns of a sample."""
    columns = _first_line(file).split()
    return len(columns) == 5 and bool(columns[4] == TO_JUDGE or INTEGER.fullmatch(columns[4]))


def _shown_by_grades(file: BinaryIO) -> str:
    """Return the format of four columns that are no grades of TREC, if the file shows it."""
    try:
        found = recognise_qrels(file).format
    except Refused:
        return ""
    return found if found in ("ntcir", "smart") else ""


def _ask_for_format(found: Recognised) -> Refused:
    message = "the judgments can be read in more than one way; choose one"
    return refuse("E_FORMAT", message, hint=" ".join(map(_describe, found.candidates)))


def _describe(candidate: Candidate) -> str:
    if candidate.refused:
        return f"{candidate.because} {candidate.refused}"
    return f"{candidate.because} If so, select the format {candidate.format}."


def read_any_run(path: str, lenient: bool) -> Run:
    """A run, whatever topics and documents it names."""
    with open_input(path) as file:
        return read_run_leniently(file) if lenient else read_run(file, rules_of_any(path, file))


def rules_of_any(path: str, file: BinaryIO) -> RunRules:
    """The rules of a run in six columns or, where its first bytes say so, in JSON.

    JSON can be nothing else. Without a tag in it, the name of the file is that of the run.
    """
    found = run_by_first_bytes(first_bytes(file))
    if found is None or found.refused or found.format not in JSON:
        return ANY_RUN
    return replace(ANY_RUN, formats=(found.format,), name=name_of_run(path))


def name_of_run(path: str) -> str:
    """The name of a file without its endings.

    >>> name_of_run("runs/bm25.json.gz"), name_of_run("-")
    ('bm25', '-')
    """
    return PurePath(PurePath(path).name.removesuffix(".gz").removesuffix(".zip")).stem
