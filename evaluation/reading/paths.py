"""Judgments and runs by the path of their file, unpacked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO, FileIO
from typing import TYPE_CHECKING, BinaryIO

from evaluation.reading.columns import INTEGER, TO_JUDGE
from evaluation.reading.containers import GIB, KIB, MIB, Limits, unpacked
from evaluation.reading.qrels import Qrels, read_qrels, read_qrels_leniently
from evaluation.reading.run_rules import RunRules
from evaluation.reading.runs import Run, read_run, read_run_leniently

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 128 * KIB
LONG = 32 * MIB
# Nobody else's time is at stake here: only a bomb stops the reading.
LIMITS = Limits(upload=1024 * GIB, unpacked=1024 * GIB, ratio=1000)
ANY_DEPTH = 1_000_000_000
ANY_RUN = RunRules(depth=ANY_DEPTH)


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


def read_judgments(path: str, lenient: bool, subtopics: bool = False) -> Qrels:
    """Judgments in four columns, or five of a stratified sample; raises `Refused`."""
    with open_input(path) as file:
        format = "subtopics" if subtopics else judgment_format(file)
        if lenient and format == "trec":
            return read_qrels_leniently(file)
        return read_qrels(file, format=format)


def judgment_format(file: BinaryIO) -> str:
    """Return strata if the first line of judgments has the five columns of a sample, else trec."""
    start = file.tell()
    first = next((line for line in file if line.strip() and not line.startswith(b"#")), b"")
    file.seek(start)
    columns = first.split()
    if len(columns) != 5:
        return "trec"
    is_grade = columns[4] == TO_JUDGE or INTEGER.fullmatch(columns[4])
    return "strata" if is_grade else "trec"


def read_any_run(path: str, lenient: bool) -> Run:
    """A run, whatever topics and documents it names."""
    with open_input(path) as file:
        return read_run_leniently(file) if lenient else read_run(file, ANY_RUN)
