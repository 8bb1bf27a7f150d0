"""Sharing: several processes read one large run, each some of its topics.

The file is split where one topic ends and the next begins. A fork of this process reads each part,
and the results are joined as if one process had read it all. We use processes because two threads
of numpy wait for each other longer than they work.
"""

from __future__ import annotations

import os
import pickle
from functools import partial
from io import RawIOBase, UnsupportedOperation
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO, cast

from evaluation.forks import Fork, run_forks
from evaluation.reading.runs.fast_reader import FastRun, Scattered, read_fast, tag_of
from evaluation.reading.runs.rankings import StoredRankings
from evaluation.reading.runs.run_rules import RunRules
from evaluation.reading.words import Unclear

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# One process reads a smaller part before another has started; no topic is longer than the search.
SMALLEST = 32 * 1024 * 1024
SEARCHED = 8 * 1024 * 1024
# The answer of a fork that has no run.
FAILURES = {"unclear": Unclear, "scattered": Scattered}


class FilePart(RawIOBase):
    """The bytes of an open file between two places; the position of the file does not change."""

    def __init__(self, descriptor: int, start: int, end: int) -> None:
        self.descriptor = descriptor
        self.start = self.place = start
        self.end = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        room = memoryview(buffer)[: self.end - self.place]
        count = os.preadv(self.descriptor, [room], self.place) if room else 0
        self.place += count
        return count


def read_shared(
    file: BinaryIO, head: bytes, rules: RunRules, rankings: StoredRankings, processes: int
) -> FastRun:
    """Read a run like `read_fast`, by several processes if that is faster."""
    parts = split_by_topics(file, file.tell() - len(head), processes) if processes > 1 else []
    if len(parts) < 2 or not rankings.can_be_handed_over:
        return read_fast(file, head, rules, rankings)
    tag = tag_of(head, rules)
    works = [partial(read_part, part, tag, rules, rankings) for part in parts[1:]]
    with run_forks(works) as others:
        run = read_fast(cast(BinaryIO, parts[0]), b"", rules, rankings, tag)
        for part, other in zip(parts[1:], others, strict=True):
            run.join(receive_run(other), part.start - parts[0].start)
    return run


def split_by_topics(file: BinaryIO, start: int, count: int) -> list[FilePart]:
    """Split a file at borders of topics into about equal parts; none if it is not a file."""
    try:
        descriptor = file.fileno()
    except UnsupportedOperation:
        return []
    size = os.fstat(descriptor).st_size
    if size - start < SMALLEST:
        return []
    guesses = (start + (size - start) * number // count for number in range(1, count))
    borders = sorted(
        {start, size, *(find_topic_border(descriptor, guess, size) for guess in guesses)}
    )
    return [FilePart(descriptor, *ends) for ends in pairwise(borders)]


def find_topic_border(descriptor: int, place: int, size: int) -> int:
    """Return where the next topic after a place begins; the size of the file if there is none."""
    text = os.pread(descriptor, SEARCHED, place)
    line = text.find(b"\n") + 1
    first = text[line:].split(None, 1)[:1]
    # A slice of all that follows would copy megabytes for each line.
    while line and (end := text.find(b"\n", line)) >= 0:
        topic = text[line:end].split(None, 1)[:1]
        if topic and topic != first:
            return place + line
        line = end + 1
    return size


def read_part(part: FilePart, tag: bytes, rules: RunRules, rankings: StoredRankings) -> bytes:
    """Read one part of the file in a fork."""
    try:
        run = read_fast(cast(BinaryIO, part), b"", rules, rankings, tag)
        return pickle.dumps(run)
    except Unclear:
        return pickle.dumps("unclear")
    except Scattered:
        return pickle.dumps("scattered")


def receive_run(fork: Fork) -> FastRun:
    """Receive the run of a fork; raise `Unclear` or `Scattered` if the fork did, or died."""
    said = fork.receive()
    run = pickle.loads(said) if said else "unclear"
    if isinstance(run, str):
        raise FAILURES[run]
    return cast(FastRun, run)
