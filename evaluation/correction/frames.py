"""A drawn sample as arrays: where the runs of a board have the documents of its frame.

>>> from evaluation.pooling import Place, Pool, Pooled
>>> from evaluation.problems import Problems
>>> from evaluation.reading.runs.rankings import Ranking
>>> from evaluation.reading.runs.reader import Run
>>> drawn, other = Pooled(b"d1", (Place(0, 1),), 1, 0.5), Pooled(b"d2", (Place(0, 2),), 1, 0.5)
>>> frame = SampleFrame.of(Pool("sample@1", ("ada",), {b"7": (drawn,)}, {b"7": (other,)}), [b"7"])
>>> later = Run("ben", {b"7": Ranking([b"d2", b"d9"], np.array([2.0, 1.0]))}, 2, Problems())
>>> frame.place([later], 10).document.tolist()
[1, -1]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.conventions import POOLED
from evaluation.correction.means import Correction, join_strata
from evaluation.correction.weights import MeasureParts
from evaluation.pooling import Pool
from evaluation.pooling.pools import Grades
from evaluation.ragged import BoolArray, FloatArray, IntArray, ratio
from evaluation.reading.runs.reader import Run


@dataclass(frozen=True, eq=False)
class Placements:
    """Where runs have documents: a row for each run and rank down to the depth of the frame.

    run, topic, rank: int[E], the topic a place among those evaluated, the rank from 1.
    document: int[E], a document of the frame, or -1 where it lies outside.
    """

    runs: int
    run: IntArray
    topic: IntArray
    rank: IntArray
    document: IntArray


class FrameRow(NamedTuple):
    """A document of a frame: how many runs brought it, its stratum from 1, whether it is drawn."""

    topic: bytes
    docno: bytes
    cover: int
    stratum: int
    is_drawn: bool


@dataclass(frozen=True, eq=False)
class SampleFrame:
    """The frame of a sample on the evaluated topics: N documents by topic and docno.

    topic: int[N], a place in `topics`. stratum: int[N], from 0. cover: int[N], the number of runs
    that brought it. is_drawn: bool[N].
    """

    topics: tuple[bytes, ...]
    docnos: tuple[bytes, ...]
    topic: IntArray
    stratum: IntArray
    cover: IntArray
    is_drawn: BoolArray

    @classmethod
    def of(cls, sample: Pool, topics: Sequence[bytes]) -> SampleFrame:
        """Number the documents of a sample and those not drawn, on these topics.

        Other topics are left out: within a stratum what is drawn of the rest is random too.
        """
        rows = (
            FrameRow(topic, found.docno, len(found.places), found.stratum, is_drawn)
            for is_drawn, of in ((True, sample.topics), (False, sample.undrawn))
            for topic, documents in of.items()
            for found in documents
        )
        return cls.of_rows(rows, topics)

    @classmethod
    def of_rows(cls, rows: Iterable[FrameRow], topics: Sequence[bytes]) -> SampleFrame:
        """The frame of these rows, in any order."""
        places = {topic: place for place, topic in enumerate(topics)}
        own = sorted(
            (row for row in rows if row.topic in places),
            key=lambda row: (places[row.topic], row.docno),
        )
        return cls(
            tuple(topics),
            tuple(row.docno for row in own),
            np.array([places[row.topic] for row in own], np.int64),
            np.array([row.stratum - 1 for row in own], np.int64),
            np.array([row.cover for row in own], np.int64),
            np.array([row.is_drawn for row in own], bool),
        )

    def place(self, runs: Iterable[Run], depth: int) -> Placements:
        """Return where the runs have the first `depth` documents of each topic."""
        numbers: list[dict[bytes, int]] = [{} for _ in self.topics]
        for number, (topic, docno) in enumerate(zip(self.topic.tolist(), self.docnos, strict=True)):
            numbers[topic][docno] = number
        lengths: list[int] = []
        documents: list[int] = []
        count = 0
        for run in runs:
            count += 1
            for topic, known in zip(self.topics, numbers, strict=True):
                ranking = run.rankings.get(topic)
                docnos = [] if ranking is None else ranking.docnos[:depth]
                lengths.append(len(docnos))
                documents += [known.get(docno, -1) for docno in docnos]
        cells = np.repeat(np.arange(len(lengths)), lengths)
        starts = np.cumsum(lengths) - lengths if lengths else np.zeros(0, np.int64)
        rank = np.arange(len(documents)) - starts[cells] + 1
        per_run = max(len(self.topics), 1)
        document = np.array(documents, np.int64)
        return Placements(count, cells // per_run, cells % per_run, rank.astype(np.int64), document)

    def grade(self, grades: Grades) -> IntArray:
        """int[N]: the grade of each document; -1 without one."""
        return np.array(
            [
                grades.get(self.topics[topic], {}).get(docno, POOLED)
                for topic, docno in zip(self.topic.tolist(), self.docnos, strict=True)
            ],
            np.int64,
        )


@dataclass(frozen=True, eq=False)
class CorrectedBoard:
    """The correction of a board, and what lies outside of its frame.

    uncovered: float64[R], the share of the weight of each run on documents outside of the frame.
    joined: how many strata were joined with another for want of two judged documents.
    """

    correction: Correction
    uncovered: FloatArray
    joined: int


def correct_board(
    frame: SampleFrame,
    placements: Placements,
    parts: MeasureParts,
    topic_scales: FloatArray,
    machine: IntArray,
    people: IntArray,
) -> CorrectedBoard:
    """Correct the means of the placed runs by one measure.

    `machine` and `people` are int[N], the grades of the documents of the frame, -1 without one;
    those of people count on drawn documents only. `topic_scales` float64[T], see `scale_topics`.
    """
    weights, uncovered = _weigh(frame, placements, parts, topic_scales)
    sampled = np.flatnonzero(frame.is_drawn & (people != POOLED))
    keys = _keys_of(frame, machine)
    stratum, joined = join_strata(keys, frame.stratum, sampled)
    values = parts.values(machine)
    given = (parts.values(machine if parts.is_exact else people))[sampled]
    correction = Correction.of(
        weights, values, frame.topic, stratum, sampled, given, topics=len(frame.topics)
    )
    return CorrectedBoard(correction, uncovered, len(joined))


def _keys_of(frame: SampleFrame, machine: IntArray) -> FloatArray:
    """float64[H, 2]: the grade of each stratum, and its place among those of one grade."""
    strata = int(frame.stratum.max(initial=-1)) + 1
    keys = np.zeros((strata, 2))
    keys[frame.stratum, 0] = machine
    keys[:, 1] = np.arange(strata)
    return keys


def _weigh(
    frame: SampleFrame, placements: Placements, parts: MeasureParts, topic_scales: FloatArray
) -> tuple[Any, FloatArray]:
    """The weights as a sparse R x N matrix, and the share of each run's outside of the frame."""
    each = parts.discounts[placements.rank - 1] * topic_scales[placements.topic]
    each = each / max(len(frame.topics), 1)
    inside = placements.document >= 0
    shape = (placements.runs, len(frame.docnos))
    places = (placements.run[inside], placements.document[inside])
    weights = scipy.sparse.csr_array((each[inside], places), shape)
    total, outside = (
        np.bincount(placements.run[of], weights=each[of], minlength=placements.runs)
        for of in (np.ones(len(each), bool), ~inside)
    )
    return weights, ratio(outside, total)
