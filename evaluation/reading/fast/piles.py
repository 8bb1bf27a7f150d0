"""Piles: they bring together the scattered lines of topics with little memory.

A run in any order, such as one sorted by document, cannot be read topic by topic. Its topics are
numbered as they appear. The rows of some topics form a pile, and all piles are in one temporary
file, with a piece of each pile for every block. A pile is small enough to be sorted in memory.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from tempfile import TemporaryFile

import numpy as np
import numpy.typing as npt

from evaluation.reading.docnos import docnos_of, hash_all_words, words_of
from evaluation.reading.words import WORD, FloatArray, Places, Words

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

TOPICS = 256
ROWS_AT_ONCE = 1 << 14
SLOTS = 1 << 18
NUMBER, RANK, SCORE, DOCNO = range(4)


@dataclass(frozen=True, slots=True)
class Rows:
    """The values of valid lines in the order of the file: docnos in words, ranks, scores.

    `hashes` are those of `hash_all_words`, where they were computed on the way.
    """

    docnos: Words
    ranks: IntArray
    scores: FloatArray
    hashes: Words | None = None


@dataclass
class Numbers:
    """Topics numbered from 0 in the order in which they appear.

    The topic of a line has mostly appeared before. `slots` has a number at the hash of each topic,
    and `words` the topic of each number, which is compared.
    """

    names: list[bytes] = field(default_factory=list)
    known: dict[bytes, int] = field(default_factory=dict)
    slots: IntArray = field(default_factory=lambda: np.zeros(SLOTS, np.int64))
    words: Words = field(default_factory=lambda: np.zeros((1, 1), np.uint64))

    def of(self, topics: Words) -> tuple[IntArray, Places]:
        """Return the number of each topic, and the first lines of new topics."""
        slot = (hash_all_words(topics) >> (65 - SLOTS.bit_length())).view(np.intp)
        numbers = self.slots[slot]
        missed = np.flatnonzero(~self._have_numbers(topics, numbers))
        new = []
        for line, name in zip(missed.tolist(), docnos_of(topics[missed]).tolist(), strict=True):
            numbers[line] = self.known.setdefault(name, len(self.names))
            if numbers[line] == len(self.names):
                self.names.append(name)
                new.append(line)
        if new:
            self.words = words_of(np.array(self.names))
        self.slots[slot[missed]] = numbers[missed]
        return numbers, np.array(new, np.intp)

    def _have_numbers(self, topics: Words, numbers: IntArray) -> BoolArray:
        """Return which topics have these numbers; extra words must be zero."""
        same = np.ones(len(topics), bool)
        columns = [words.T for words in (topics, self.words[numbers])]
        for one, other in zip_longest(*columns, fillvalue=0):
            same &= one == other
        return same


class Piles:
    """Rows by the numbers of their topics, in a temporary file.

    A row is (number of the topic, rank, score, docno) in 64-bit words; `pieces` has for each
    pile the places and sizes of its rows in the file.
    """

    def __init__(self) -> None:
        self.file = TemporaryFile(buffering=0)  # noqa: SIM115
        self.pieces: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self.end = 0

    def deal(self, topic: IntArray, rows: Rows) -> None:
        """Write the rows of a block to the piles of their topics."""
        width = DOCNO + rows.docnos.shape[1]
        table = np.empty((len(topic), width), np.uint64)
        table[:, NUMBER], table[:, RANK] = topic, rows.ranks.view(np.uint64)
        table[:, SCORE], table[:, DOCNO:] = rows.scores.view(np.uint64), rows.docnos
        pile = (topic // TOPICS).astype(np.uint16)
        order = np.argsort(pile, kind="stable")
        self.file.write(table[order].data)
        counts = np.bincount(pile)
        sizes = WORD * width * counts
        starts = self.end + np.cumsum(sizes) - sizes
        for number in np.flatnonzero(counts).tolist():
            self.pieces[number].append((int(starts[number]), int(sizes[number]), width))
        self.end += int(sizes.sum())

    def taken(self) -> Iterator[tuple[int, Places, Rows]]:
        """Yield all rows, some topics at a time: the first topic, where each begins, the rows.

        Within a topic they have the order of the file.
        """
        for number, pieces in sorted(self.pieces.items()):
            table = self._pile(pieces)
            topic = (table[:, NUMBER] - number * TOPICS).astype(np.uint16)
            order = np.argsort(topic, kind="stable")
            bounds = np.concatenate(([0], np.cumsum(np.bincount(topic))))
            first = 0
            while first < len(bounds) - 1:
                last = int(np.searchsorted(bounds, bounds[first] + ROWS_AT_ONCE, "right")) - 1
                last = max(first + 1, last)
                rows = table[order[bounds[first] : bounds[last]]]
                starts = bounds[first : last + 1] - bounds[first]
                yield number * TOPICS + first, starts, _rows(rows)
                first = last

    def _pile(self, pieces: list[tuple[int, int, int]]) -> Words:
        """Return the rows of one pile, all as wide as the widest."""
        widest = max(width for _, _, width in pieces)
        if all(width == widest for _, _, width in pieces):
            data = b"".join(os.pread(self.file.fileno(), size, start) for start, size, _ in pieces)
            return np.frombuffer(data, np.uint64).reshape(-1, widest)
        parts = []
        for start, size, width in pieces:
            data = os.pread(self.file.fileno(), size, start)
            part = np.frombuffer(data, np.uint64).reshape(-1, width)
            parts.append(np.pad(part, ((0, 0), (0, widest - width))))
        return np.concatenate(parts)


def _rows(table: Words) -> Rows:
    ranks, scores = table[:, RANK].copy(), table[:, SCORE].copy()
    docnos = np.ascontiguousarray(table[:, DOCNO:])
    return Rows(docnos, ranks.view(np.int64), scores.view(np.float64))
