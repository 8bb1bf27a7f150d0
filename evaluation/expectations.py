"""The expected value of a measure over all orders of documents that have equal scores.

Each order of a tie is equally probable. No order is drawn: the expected value has a closed form.
Source: McSherry and Najork, Computing Information Retrieval Performance Measures Efficiently in
the Presence of Tied Scores, ECIR 2008.

    >>> from io import BytesIO
    >>> from evaluation.judging import judge, prepare
    >>> from evaluation.measures import parse_measure
    >>> from evaluation.reading.judging.qrels import read_qrels
    >>> from evaluation.reading.runs.reader import read_run
    >>> judgments = prepare(read_qrels(BytesIO(b"7 0 a 1\\n7 0 b 0\\n")))
    >>> run = read_run(BytesIO(b"7 Q0 a 1 5 bm25\\n7 Q0 b 2 5 bm25\\n"))
    >>> expected_scores(parse_measure("RR"), find_ties(run, judge(run, judgments))).tolist()
    [0.75]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from evaluation.judging import JudgedRun
from evaluation.measures import Measure, MeasureError, TrecMeasure
from evaluation.measures.declaring import Gains
from evaluation.measures.gains import GainScale, Ideal, ideal_dcg
from evaluation.ragged import FloatArray, IntArray, Ragged, ratio
from evaluation.reading.runs.rankings import blocks_of
from evaluation.reading.runs.reader import Run

Expected: TypeAlias = Callable[..., FloatArray]


@dataclass(frozen=True, eq=False)
class Ties:
    """The ties that have a judged document: topic, documents above, and documents in the tie."""

    topic: IntArray
    above: IntArray
    size: IntArray
    topics: int

    @property
    def rows(self) -> Ragged:
        return Ragged(self.topic, self.topics)


@dataclass(frozen=True, eq=False)
class TiedRun:
    """A judged run with the ties of its n rows.

    above: int64[n], how many documents have a higher score, judged or not.
    size: int64[n], how many documents have the score of the row, 1 without a tie.
    """

    run: JudgedRun
    above: IntArray
    size: IntArray

    @property
    def deepest(self) -> int:
        """The deepest rank that a judged document can have."""
        return int((self.above + self.size).max(initial=0))

    @cached_property
    def tie(self) -> IntArray:
        """The tie of every row, numbered from 0 in the order of rows."""
        new = np.ones(len(self.above), bool)
        new[1:] = (np.diff(self.above) != 0) | (np.diff(self.run.topic) != 0)
        return np.cumsum(new) - 1

    @cached_property
    def ties(self) -> Ties:
        _, first = np.unique(self.tie, return_index=True)
        topic = self.run.topic[first].astype(np.int64)
        return Ties(topic, self.above[first], self.size[first], self.run.rows.topics)

    def relevant(self, rel: int) -> IntArray:
        """Count the relevant documents of each tie."""
        chosen = self.tie[self.run.relevant(rel)]
        return np.bincount(chosen, minlength=len(self.ties.topic)).astype(np.int64)

    def mean_weight(self, weight: FloatArray, k: int | None) -> FloatArray:
        """Return the mean weight of the ranks that each row can have; a rank beyond k weighs 0.

        weight: float64[deepest], from rank 1.
        """
        first = np.arange(len(weight)) < (len(weight) if k is None else k)
        total = np.concatenate(([0.0], np.cumsum(np.where(first, weight, 0.0))))
        mean: FloatArray = (total[self.above + self.size] - total[self.above]) / self.size
        return mean


def find_ties(run: Run, judged: JudgedRun) -> TiedRun:
    """Return the judged run with its ties.

    `run` must still have its rankings; `judged` must not be cut or condensed.
    """
    numbers = {topic: number for number, topic in enumerate(judged.judgments.topics)}
    above = np.zeros(len(judged.rank), np.int64)
    size = np.ones(len(judged.rank), np.int64)
    for block in blocks_of(run.rankings):
        ordered = block.in_float32() if judged.convention.float32_scores else block
        start = np.full(len(numbers) + 1, -1)
        # Topics that are not judged share the last place, which no row asks for.
        start[[numbers.get(t, len(numbers)) for t in ordered.topics]] = ordered.starts[:-1]
        here = np.flatnonzero(start[judged.topic] >= 0)
        base = start[judged.topic[here]]
        firsts, sizes, tie = _equal_scores(ordered.scores, ordered.starts)
        of_row = tie[base + judged.rank[here] - 1]
        above[here], size[here] = firsts[of_row] - base, sizes[of_row]
    return TiedRun(judged, above, size)


def _equal_scores(scores: FloatArray, starts: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first row and the size of each tie, and the tie of each row."""
    new = np.ones(len(scores), bool)
    new[1:] = scores[1:] != scores[:-1]
    new[starts[:-1][starts[:-1] < len(scores)]] = True
    firsts = np.flatnonzero(new)
    return firsts, np.diff(firsts, append=len(scores)), np.cumsum(new) - 1


def expected_scores(measure: Measure, tied: TiedRun) -> FloatArray:
    """Return one float64 per topic: the expected value of a measure over the orders of ties.

    MeasureError for a measure without a closed form.
    """
    if measure.name in WITHOUT_ORDER:
        return measure.scores(tied.run)
    values = measure.parameters
    is_ours = not isinstance(measure, TrecMeasure) or measure.formula is measure.ours.formula
    is_plain = values.pop("holes") != "condensed" and values.get("norm") != "hits"
    if measure.name not in EXPECTED or not is_ours or not is_plain:
        raise MeasureError(
            f"{measure}: its expected value over ties has no closed form here;"
            f" {', '.join(EXPECTED)} have one"
        )
    if "rel" in values and values["rel"] is None:
        values["rel"] = 1
    return EXPECTED[measure.name](tied, **values)


def expected_hits(tied: TiedRun, rel: int, k: int) -> FloatArray:
    """Return the expected number of relevant documents in the first k."""
    share = tied.mean_weight(np.ones(tied.deepest), k)
    return tied.run.rows.sum(np.where(tied.run.relevant(rel), share, 0.0))


def precision(tied: TiedRun, *, k: int, rel: int) -> FloatArray:
    return expected_hits(tied, rel, k) / k


def recall(tied: TiedRun, *, k: int, rel: int) -> FloatArray:
    return ratio(expected_hits(tied, rel, k), tied.run.judgments.num_relevant(rel))


def capped_recall(tied: TiedRun, *, k: int, rel: int) -> FloatArray:
    possible = np.minimum(tied.run.judgments.num_relevant(rel), k)
    return ratio(expected_hits(tied, rel, k), possible)


def f_at_k(tied: TiedRun, *, k: int, rel: int, beta: float) -> FloatArray:
    """F@k is (1 + beta^2) c_k / (beta^2 R + k), a multiple of c_k."""
    size = beta * beta * tied.run.judgments.num_relevant(rel) + k
    return ratio((1 + beta * beta) * expected_hits(tied, rel, k), size)


def dcg(
    tied: TiedRun, *, k: int | None, gain: str, discount: str, base: int, gains: Gains
) -> FloatArray:
    return expected_dcg(tied, GainScale(gain, gains, discount, base), k)


def expected_dcg(tied: TiedRun, scale: GainScale, k: int | None) -> FloatArray:
    weight = 1 / scale.discount_at(np.arange(1, tied.deepest + 1))
    return tied.run.rows.sum(scale.gain_of(tied.run.grade) * tied.mean_weight(weight, k))


def ndcg(
    tied: TiedRun,
    *,
    k: int | None,
    gain: str,
    discount: str,
    base: int,
    ideal: str,
    gains: Gains,
) -> FloatArray:
    """The ideal ranking does not depend on the order of ties."""
    run, scale = tied.run, GainScale(gain, gains, discount, base)
    if ideal == "judged":
        best = ideal_dcg(run.judgments, scale, k)
    else:
        best = Ideal.of(run.rows, scale.gain_of(run.grade)).dcg(scale, k)
    return ratio(expected_dcg(tied, scale, k), best)


def average_precision(tied: TiedRun, *, k: int | None, rel: int, norm: str) -> FloatArray:
    """A tie of n documents, r of them relevant, has a documents above it, c of them relevant.

    It adds r / n times the sum over its ranks a + j of
    (c + 1 + (j - 1) (r - 1) / (n - 1)) / (a + j).
    """
    ties, relevant = tied.ties, tied.relevant(rel)
    found = ties.rows.running_sum(relevant.astype(np.float64)) - relevant
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, tied.deepest + 1))))
    end = ties.above + ties.size
    if k is not None:
        end = np.minimum(end, np.maximum(k, ties.above))
    reciprocals = harmonic[end] - harmonic[ties.above]
    # (j - 1) / (a + j) is 1 - (a + 1) / (a + j).
    shifted = (end - ties.above) - (ties.above + 1) * reciprocals
    more = ratio(relevant - 1, ties.size - 1) * shifted
    total = ties.rows.sum(relevant / ties.size * ((found + 1) * reciprocals + more))
    divisor = tied.run.judgments.num_relevant(rel)
    return ratio(total, np.minimum(divisor, k) if norm == "cap" and k is not None else divisor)


def reciprocal_rank(tied: TiedRun, *, k: int | None, rel: int) -> FloatArray:
    return expected_of_first(tied, 1 / np.arange(1, tied.deepest + 1), k, rel)


def success(tied: TiedRun, *, k: int | None, rel: int) -> FloatArray:
    return expected_of_first(tied, np.ones(tied.deepest), k, rel)


def expected_of_first(tied: TiedRun, weight: FloatArray, k: int | None, rel: int) -> FloatArray:
    """Return the expected weight of the rank of the first relevant document, 0 beyond rank k.

    It is in the first tie with a relevant document. At place j of its n documents, r of them
    relevant, it is with probability r / (n - j + 1) if it is not above.
    """
    relevant = tied.relevant(rel)
    some = np.flatnonzero(relevant > 0)
    topic, first = np.unique(tied.ties.topic[some], return_index=True)
    n, r, above = (values[some][first] for values in (tied.ties.size, relevant, tied.ties.above))
    rows = Ragged(np.repeat(np.arange(len(topic)), n), len(topic))
    here = np.minimum(r[rows.topic] / (n[rows.topic] - rows.position + 1), 1.0)
    not_yet = rows.running_product(1 - here)
    before = np.where(rows.position > 1, np.roll(not_yet, 1), 1.0)
    rank = above[rows.topic] + rows.position
    counted = weight[rank - 1] if k is None else np.where(rank <= k, weight[rank - 1], 0.0)
    expected = np.zeros(tied.ties.topics)
    expected[topic] = rows.sum(before * here * counted)
    return expected


EXPECTED: dict[str, Expected] = {
    "P": precision,
    "R": recall,
    "RCap": capped_recall,
    "F": f_at_k,
    "Success": success,
    "RR": reciprocal_rank,
    "AP": average_precision,
    "DCG": dcg,
    "nDCG": ndcg,
}
"""The closed form of each measure that has one here."""

WITHOUT_ORDER = frozenset(
    (
        *("SetP", "SetR", "SetF", "SetAP", "SetRelP", "Utility", "IDCG"),
        *("NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelRet"),
    )
)
"""The measures of the retrieved set, which no order changes."""
