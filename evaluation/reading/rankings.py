"""Rankings: the documents of every topic of a run, in scoring order.

The order is score descending, ties by docno descending in byte order, as trec_eval has it. Many
rankings together are a `Block` of flat arrays, in which all topics are worked on at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from tempfile import SpooledTemporaryFile

import numpy as np
import numpy.typing as npt

from evaluation.reading.docnos import WORD, docnos_of, mixed, words_of

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Words = npt.NDArray[np.uint64]

IN_MEMORY = 16 * 1024 * 1024
TOPICS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents of one topic in scoring order, `docnos[i]` with `scores[i]`."""

    docnos: list[bytes]
    scores: FloatArray

    @classmethod
    def in_scoring_order(cls, docnos: list[bytes], scores: FloatArray) -> Ranking:
        """Order by score descending, then docno descending by bytes; NaN is below every number.

        >>> Ranking.in_scoring_order([b"a", b"b", b"c"], np.array([1.0, 1.0, 2.0])).docnos
        [b'c', b'b', b'a']
        """
        order = np.lexsort((np.array(docnos, dtype="S"), scores, ~np.isnan(scores)))[::-1]
        return cls([docnos[i] for i in order.tolist()], scores[order])

    def cut(self, depth: int) -> Ranking:
        return Ranking(self.docnos[:depth], self.scores[:depth])


@dataclass(frozen=True, eq=False)
class Block:
    """Rankings of T topics side by side, n rows in all.

    starts: int[T + 1], the first row of every topic, and behind the last one n.
    docnos: uint64[n, width], the bytes of each docno with zeros behind, see `docnos.words_of`.
    """

    topics: Sequence[bytes]
    starts: Places
    docnos: Words
    scores: FloatArray

    @classmethod
    def of(cls, rankings: Mapping[bytes, Ranking]) -> Block:
        docnos = [docno for ranking in rankings.values() for docno in ranking.docnos]
        scores = [ranking.scores for ranking in rankings.values()]
        return cls(
            list(rankings),
            np.cumsum([0, *map(len, scores)]),
            words_of(np.array(docnos, dtype="S")),
            np.concatenate(scores),
        )

    @cached_property
    def topic(self) -> Places:
        """The topic of every row, an index into `topics`."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.starts))

    def keys(self, numbers: Places) -> Words:
        """A hash of every (topic, docno), the topics by these numbers: uint64[n].

        Equal pairs have equal keys, in every block; others hardly ever.
        """
        number = np.repeat(numbers.astype(np.uint64), np.diff(self.starts))
        keys: Words = mixed([number, *self.docnos.T])
        return keys

    @cached_property
    def ties(self) -> BoolArray:
        """Whether each row, the last one left out, has the score of the next one of its topic."""
        return self._within(self.scores[1:] == self.scores[:-1])

    def rises(self) -> BoolArray:
        """Whether after each row, the last one left out, the score of its topic rises."""
        return self._within(self.scores[1:] > self.scores[:-1])

    def _within(self, steps: BoolArray) -> BoolArray:
        """The same, but False at the steps from one topic into the next."""
        steps[self.starts[1:-1] - 1] = False
        return steps

    def may_repeat(self) -> bool:
        """Whether a document may come twice for a topic; False is certain."""
        keys = np.sort(self.keys(np.arange(len(self.topics))))
        return bool((keys[1:] == keys[:-1]).any())

    def in_scoring_order(self) -> Block:
        """The same rankings in scoring order; most runs come in it, or all but their ties."""
        block = self
        if self.rises().any():
            block = self.taken(np.lexsort((-self.scores, self.topic)))
        return block.taken(block._ties_by_docno()) if block.ties.any() else block

    def _ties_by_docno(self) -> Places:
        """The order in which rows of equal score stand by docno, descending."""
        order = np.arange(len(self.scores))
        tied = np.flatnonzero(self.in_ties())
        group = np.cumsum(~np.concatenate(([False], self.ties)))[tied]
        # As big-endian numbers words order as bytes do; their complement orders the other way.
        columns = (~self.docnos[tied]).byteswap().T
        order[tied] = tied[np.lexsort((*columns[::-1], group))]
        return order

    def in_ties(self) -> BoolArray:
        """Which rows share their score with a neighbour of their topic."""
        return np.concatenate((self.ties, [False])) | np.concatenate(([False], self.ties))

    def taken(self, order: Places) -> Block:
        """The same topics with their rows in another order."""
        return replace(self, docnos=self.docnos[order], scores=self.scores[order])

    def in_float32(self) -> Block:
        """The same rankings when scores are compared as 32-bit floats."""
        with np.errstate(over="ignore", under="ignore"):
            scores = self.scores.astype(np.float32).astype(np.float64)
        return replace(self, scores=scores).in_scoring_order()

    def ranking(self, place: int) -> Ranking:
        rows = slice(*self.starts[place : place + 2].tolist())
        return Ranking(docnos_of(self.docnos[rows]).tolist(), self.scores[rows])


def blocks_of(rankings: Mapping[bytes, Ranking]) -> Iterator[Block]:
    """All rankings of a run in blocks, some topics at a time."""
    if isinstance(rankings, StoredRankings):
        yield from rankings.blocks()
        return
    topics = list(rankings)
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        yield Block.of({t: rankings[t] for t in topics[start : start + TOPICS_AT_ONCE]})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block lies in the file of `StoredRankings`."""

    start: int
    width: int
    topics: Sequence[bytes]
    starts: Places

    @property
    def rows(self) -> int:
        return int(self.starts[-1])


@dataclass(frozen=True, eq=False)
class StoredRankings(Mapping[bytes, Ranking]):
    """The rankings of a run, block behind block in a temporary file; small ones in memory.

    So ten million lines take no memory: whoever judges or stores them takes block by block.
    """

    file: SpooledTemporaryFile[bytes] = field(
        default_factory=lambda: SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
    )
    places: list[Place] = field(default_factory=list)
    known: dict[bytes, tuple[int, int]] = field(default_factory=dict)

    def add(self, block: Block) -> None:
        """Keep a block of topics that are not here yet."""
        start = self.file.seek(0, 2)
        self.file.write(np.ascontiguousarray(block.docnos).data)
        self.file.write(block.scores.data)
        number = len(self.places)
        self.known.update((topic, (number, place)) for place, topic in enumerate(block.topics))
        self.places.append(Place(start, block.docnos.shape[1], block.topics, block.starts))

    def blocks(self) -> Iterator[Block]:
        for place in self.places:
            docnos, scores = self._rows(place, 0, place.rows)
            yield Block(place.topics, place.starts, docnos, scores)

    def _rows(self, place: Place, start: int, end: int) -> tuple[Words, FloatArray]:
        self.file.seek(place.start + WORD * place.width * start)
        docnos = np.frombuffer(self.file.read(WORD * place.width * (end - start)), np.uint64)
        self.file.seek(place.start + WORD * (place.width * place.rows + start))
        scores = np.frombuffer(self.file.read(WORD * (end - start)), np.float64)
        return docnos.reshape(-1, place.width), scores

    def __getitem__(self, topic: bytes) -> Ranking:
        number, topic_number = self.known[topic]
        place = self.places[number]
        docnos, scores = self._rows(place, *place.starts[topic_number : topic_number + 2].tolist())
        return Ranking(docnos_of(docnos).tolist(), scores)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)

    @property
    def count(self) -> int:
        """How many documents are retrieved in all."""
        return sum(place.rows for place in self.places)
