"""The sample that people judge: drawn from strata of a frame with known probabilities.

The frame is the depth pool of the runs of a board: every document in the first k of any of them.
A stratum has the documents of one machine grade and one range of cover, the number of runs whose
first k hold the document.

>>> from evaluation.pooling import Place, Pool, Pooled
>>> documents = [Pooled(b"d%d" % number, (Place(0, number + 1),)) for number in range(4)]
>>> frame = Pool("depth@4", ("ada",), {b"7": tuple(documents)})
>>> drawn, strata = draw_sample(frame, {b"7": {b"d0": 1, b"d1": 1, b"d2": 1}}, 3, seed=1)
>>> [(stratum.grade, stratum.size, stratum.drawn) for stratum in strata]
[(-1, 1, 1), (1, 3, 2)]
>>> len(drawn), {document.inclusion for document in drawn.topics[b"7"] if document.stratum == 2}
(3, {0.6666666666666666})
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evaluation.conventions import POOLED
from evaluation.pooling import Pool, Pooled
from evaluation.pooling.pools import Grades, chance_of
from evaluation.ragged import FloatArray, IntArray

# The variance within a stratum needs two documents.
FEWEST_DRAWN = 2
# Documents of one run; of up to an eighth, of up to a third, and of more of the runs.
COVERS = ("one run", "up to 1/8 of the runs", "up to 1/3 of the runs", "more runs")


@dataclass(frozen=True, slots=True)
class SampledStratum:
    """One stratum: the machine's grade, which of `COVERS`, its documents, and those drawn.

    The grade is -1 where the machine gave none.
    """

    grade: int
    cover: int
    size: int
    drawn: int

    @property
    def inclusion(self) -> float:
        """The probability with which a document of it is drawn."""
        return self.drawn / self.size


def draw_sample(
    frame: Pool, grades: Grades, size: int, seed: int, by_cover: bool = True
) -> tuple[Pool, tuple[SampledStratum, ...]]:
    """Draw about `size` documents of a frame, with the stratum and probability of each.

    `grades` are the machine's. The documents that are not drawn are in `undrawn`, so that the
    result holds the whole frame. Strata count from 1 in the order of the result. The draw depends
    on the seed, the topics and the docnos only. Without `by_cover` a stratum is one grade.
    """
    documents = list(frame)
    graded = [grades.get(topic, {}).get(found.docno, POOLED) for topic, found in documents]
    runs = [len({place.run for place in found.places}) for _, found in documents]
    cover = np.array(runs, np.int64)
    ranges = group_covers(cover, len(frame.runs)) if by_cover else np.zeros_like(cover)
    cells = np.stack([np.array(graded, np.int64), ranges], axis=1)
    keys, stratum = np.unique(cells, axis=0, return_inverse=True)
    stratum = stratum.reshape(-1)
    sizes = np.bincount(stratum, minlength=len(keys))
    squares = np.bincount(stratum, weights=cover.astype(np.float64) ** 2, minlength=len(keys))
    quota = share_labels(sizes, np.sqrt(squares / np.maximum(sizes, 1)), size)
    chances = [chance_of(seed, topic, found.docno) for topic, found in documents]
    order = np.array(sorted(range(len(documents)), key=chances.__getitem__), np.int64)
    order = order[np.argsort(stratum[order], kind="stable")]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[stratum[order]]
    strata = tuple(
        SampledStratum(grade, cover, size, drawn)
        for (grade, cover), size, drawn in zip(
            keys.tolist(), sizes.tolist(), quota.tolist(), strict=True
        )
    )
    drawn: dict[bytes, list[Pooled]] = {topic: [] for topic in frame.topics}
    undrawn: dict[bytes, list[Pooled]] = {topic: [] for topic in frame.topics}
    for (topic, found), number, is_drawn in zip(
        documents, stratum.tolist(), (place < quota[stratum]).tolist(), strict=True
    ):
        into = drawn if is_drawn else undrawn
        of_stratum = replace(found, stratum=number + 1, inclusion=strata[number].inclusion)
        into[topic].append(of_stratum)
    topics, others = ({t: tuple(found) for t, found in of.items()} for of in (drawn, undrawn))
    method = f"sample@{int(quota.sum())} of {frame.method}"
    return Pool(method, frame.runs, topics, others), strata


def group_covers(cover: IntArray, runs: int) -> IntArray:
    """The place in `COVERS` of each number of runs, of `runs` in all.

    >>> group_covers(np.array([1, 2, 5, 6, 13, 14]), 40).tolist()
    [0, 1, 1, 2, 2, 3]
    """
    several = 1 + (cover > runs / 8).astype(np.int64) + (cover > runs / 3)
    return np.where(cover > 1, several, 0)


def share_labels(sizes: IntArray, spreads: FloatArray, labels: int) -> IntArray:
    """How many documents of each stratum to draw: in proportion to its size times its spread.

    `sizes` int[H]; `spreads` float64[H], the root mean square of cover. At least two of each, or
    all, and at most all; so the sum is not always `labels`.

    >>> share_labels(np.array([100, 50, 3, 1]), np.array([1.0, 4.0, 9.0, 2.0]), 30).tolist()
    [9, 18, 2, 1]
    """
    lowest = np.minimum(sizes, FEWEST_DRAWN)
    quota, fixed = lowest.astype(np.float64), np.zeros(len(sizes), bool)
    wanted = sizes * spreads
    for _ in sizes:
        left = max(labels - quota[fixed].sum(), 0.0)
        free = wanted[~fixed].sum()
        shares = wanted * (left / free if free else 0.0)
        # What is over a limit is cut first: that leaves more to the others, never less.
        over, under = ~fixed & (shares >= sizes), ~fixed & (shares <= lowest)
        outside = over if over.any() else under
        quota[~fixed] = shares[~fixed]
        quota[outside] = np.clip(shares, lowest, sizes)[outside]
        if not outside.any():
            break
        fixed |= outside
    return _round_to(quota, lowest, sizes)


def _round_to(quota: FloatArray, lowest: IntArray, sizes: IntArray) -> IntArray:
    """Whole numbers with the same sum, those with the largest remainder rounded up."""
    whole = np.floor(quota + 1e-9).astype(np.int64)
    missing = round(float(quota.sum())) - int(whole.sum())
    largest = np.argsort(whole - quota, kind="stable")
    whole[largest[: max(missing, 0)]] += 1
    rounded: IntArray = np.clip(whole, lowest, sizes)
    return rounded
