"""Measures of cumulated gain, after Järvelin and Kekäläinen.

g_i is the gain of the document at rank i: by default its grade, 0 where it is unjudged or
negative. The ideal ranking has all documents judged with a positive gain, highest first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.judging import Int32Array, JudgedRun, Judgments
from evaluation.measures.declaring import (
    CUTOFF,
    GAINS,
    INFINITY,
    OPTIONAL_CUTOFF,
    Gains,
    MeasureError,
    Value,
    as_trec_eval,
    choice,
    integer,
    measure,
)
from evaluation.measures.example import example  # noqa: F401, for the docstrings
from evaluation.ragged import AnyIntArray, FloatArray, IntArray, Ragged, ratio

HIGHEST_EXPONENT = 1023
GAIN = choice("gain", "linear", "exp")
DISCOUNT = choice("discount", "log2", "jk")
BASE = integer("base", 2, 2)


@dataclass(frozen=True)
class GainScale:
    """How grades become gains, g or 2^g - 1 or a map, and ranks discounts."""

    gain: str = "linear"
    gains: Gains = ()
    discount: str = "log2"
    base: int = 2

    def gain_of(self, grade: Int32Array) -> FloatArray:
        if self.gain == "exp":
            if grade.max(initial=0) > HIGHEST_EXPONENT:
                raise MeasureError(f"gain=exp allows grades up to 1023, found {grade.max()}")
            exponential: FloatArray = np.exp2(np.maximum(grade, 0.0)) - 1
            return exponential
        gain = np.maximum(grade, 0).astype(np.float64)
        for mapped, value in self.gains:
            gain[grade == mapped] = value
        return gain

    def discount_at(self, rank: AnyIntArray) -> FloatArray:
        logarithm: FloatArray = np.log2(rank + (1.0 if self.discount == "log2" else 0.0))
        return (
            logarithm
            if self.discount == "log2"
            else np.maximum(logarithm / np.log2(self.base), 1.0)
        )

    def ideal(self, judgments: Judgments) -> Ideal:
        gain = self.gain_of(judgments.grade)
        return Ideal.of(judgments.rows, gain)


@dataclass(frozen=True, eq=False)
class Ideal:
    """The best possible ranking of every topic: one row for each positive gain, highest first."""

    rows: Ragged
    gain: FloatArray

    @classmethod
    def of(cls, rows: Ragged, gain: FloatArray) -> Ideal:
        topic, gain = rows.topic[gain > 0], gain[gain > 0]
        order = np.lexsort((-gain, topic))
        return cls(Ragged(topic[order], rows.topics), gain[order])

    def dcg(self, scale: GainScale, k: int | None) -> FloatArray:
        first = np.ones(len(self.gain), bool) if k is None else self.rows.position <= k
        return self.rows.sum(np.where(first, self.gain / scale.discount_at(self.rows.position), 0))

    def running_dcg(self, scale: GainScale) -> FloatArray:
        return self.rows.running_sum(self.gain / scale.discount_at(self.rows.position))


def run_dcg(run: JudgedRun, scale: GainScale, k: int | None) -> FloatArray:
    """Sum of gain / discount over the first k ranks."""
    discounted = scale.gain_of(run.grade) / scale.discount_at(run.rank)
    return run.rows.sum(np.where(run.within(k), discounted, 0.0))


def ideal_dcg(judgments: Judgments, scale: GainScale, k: int | None) -> FloatArray:
    """The same sum for the ideal ranking of the judgments, computed once."""
    key = ("ideal_dcg", scale, k)
    return judgments.known(key, lambda: scale.ideal(judgments).dcg(scale, k))


@measure("CG", at=CUTOFF, rel=False, range=(0, INFINITY), unit="gain", bounds="true")
def cumulative_gain(run: JudgedRun, *, k: int) -> FloatArray:
    """Sum of the grades of the first k documents.

    Source: Järvelin and Kekäläinen, SIGIR 2000.

    >>> example("CG@5")
    3.0
    """
    return run.rows.sum(np.where(run.within(k), np.maximum(run.grade, 0.0), 0.0))


def _check_scale(given: Mapping[str, Value]) -> None:
    if "base" in given and given.get("discount") != "jk":
        raise MeasureError("base belongs to discount=jk: nDCG(discount=jk,base=3)@10")
    if "gains" in given and given.get("gain") == "exp":
        raise MeasureError("gains and gain=exp exclude each other")


@measure(
    "DCG",
    GAIN,
    DISCOUNT,
    BASE,
    GAINS,
    at=OPTIONAL_CUTOFF,
    rel=False,
    range=(0, INFINITY),
    unit="gain",
    trec_name="dcg",
    bounds="true",
    check=_check_scale,
)
def dcg(
    run: JudgedRun, *, k: int | None, gain: str, discount: str, base: int, gains: Gains
) -> FloatArray:
    """Sum of the gains (of the first k documents), each divided by a discount for its rank.

    Takes gain: linear g, exp 2^g - 1; discount: log2 for log2(i + 1), jk for 1 before rank
    base and log_base(i) from there; base (2), with jk only; gains, a map such as {1:3,2:9}.
    Source: Järvelin and Kekäläinen, TOIS 2002; gain=exp: Burges and others, ICML 2005.

    >>> example("DCG@5"), example("DCG(discount=jk)@5")
    (2.4307, 2.5)
    """
    return run_dcg(run, GainScale(gain, gains, discount, base), k)


@measure(
    "IDCG",
    GAIN,
    DISCOUNT,
    BASE,
    GAINS,
    at=OPTIONAL_CUTOFF,
    rel=False,
    range=(0, INFINITY),
    unit="gain",
    trec_name="ideal_dcg",
    bounds="none",
    check=_check_scale,
)
def ideal(
    run: JudgedRun, *, k: int | None, gain: str, discount: str, base: int, gains: Gains
) -> FloatArray:
    """DCG of the ideal ranking (cut at k), which no run changes.

    Takes gain, discount, base and gains, as DCG does.
    Source: Järvelin and Kekäläinen, TOIS 2002.

    >>> example("IDCG")
    4.1925
    """
    return ideal_dcg(run.judgments, GainScale(gain, gains, discount, base), k)


@measure(
    "nDCG",
    GAIN,
    DISCOUNT,
    BASE,
    choice("ideal", "judged", "retrieved"),
    GAINS,
    at=OPTIONAL_CUTOFF,
    rel=False,
    trec_name="ndcg ndcg_cut_{k}",
    also=("normalised-DCG", "normalized-DCG"),
    check=_check_scale,
)
def ndcg(
    run: JudgedRun,
    *,
    k: int | None,
    gain: str,
    discount: str,
    base: int,
    ideal: str,
    gains: Gains,
) -> FloatArray:
    """DCG divided by the DCG of the ideal ranking (cut at k), 0 where that is 0.

    Takes gain, discount and base, as DCG does; ideal: judged for the ideal of all judged
    documents, retrieved for all retrieved ones put in the best order; gains, as DCG does.
    Source: Järvelin and Kekäläinen, TOIS 2002; gain=exp: Burges and others, ICML 2005.

    >>> example("nDCG@5"), example("nDCG"), example("nDCG(gain=exp)@5")
    (0.5798, 0.6593, 0.5891)
    """
    scale = GainScale(gain, gains, discount, base)
    if ideal == "judged":
        best = ideal_dcg(run.judgments, scale, k)
    else:
        best = Ideal.of(run.rows, scale.gain_of(run.grade)).dcg(scale, k)
    return ratio(run_dcg(run, scale, k), best)


def dcg_before(run: JudgedRun, scale: GainScale, topic: AnyIntArray, rank: IntArray) -> FloatArray:
    """DCG of the first `rank` documents of `topic`, for many pairs of both."""
    deepest = int(max(run.rank.max(initial=0), rank.max(initial=0))) + 1
    rows = run.topic.astype(np.int64) * deepest + run.rank
    length = np.searchsorted(rows, topic * deepest + rank, "right") - run.rows.starts[topic]
    discounted = scale.gain_of(run.grade) / scale.discount_at(run.rank)
    return run.rows.value_at(run.rows.running_sum(discounted), length, topic)


def ideal_before(
    ideal: Ideal, running_dcg: FloatArray, topic: AnyIntArray, rank: AnyIntArray
) -> FloatArray:
    """DCG of the first `rank` documents of the ideal ranking, for many pairs of both."""
    return ideal.rows.value_at(running_dcg, np.minimum(rank, ideal.rows.lengths[topic]), topic)


@measure("nDCGRel", GAINS, rel=False, trec_name="ndcg_rel")
def ndcg_at_relevant(run: JudgedRun, *, gains: Gains) -> FloatArray:
    """Mean of nDCG over the ranks of the documents with a positive gain.

    One that was not retrieved counts with DCG / IDCG of the whole ranking.
    Takes gains, as DCG does.
    Source: trec_eval.

    >>> example("nDCGRel")
    0.7246
    """
    scale = GainScale(gains=gains)
    best = scale.ideal(run.judgments)
    found, missing = at_relevant_ranks(run, scale, best)
    final = ratio(run_dcg(run, scale, None), best.dcg(scale, None))
    return ratio(found + missing * final, best.rows.lengths)


def at_relevant_ranks(run: JudgedRun, scale: GainScale, best: Ideal) -> tuple[FloatArray, IntArray]:
    """Sum of nDCG over the ranks with a positive gain, and how many such documents are missing."""
    running = best.running_dcg(scale)
    gain = scale.gain_of(run.grade)
    discounted = run.rows.running_sum(gain / scale.discount_at(run.rank))
    here = ratio(discounted, ideal_before(best, running, run.topic, run.rank))
    found = run.rows.sum(np.where(gain > 0, here, 0.0))
    return found, best.rows.lengths - run.rows.count(gain > 0)


@as_trec_eval("nDCGRel")
def trec_ndcg_at_relevant(run: JudgedRun, *, gains: Gains, written: str) -> FloatArray:
    """Mean of nDCG, multiplied before it is divided; 0 where the sum is negative."""
    scale = GainScale(gains=gains)
    best = scale.ideal(run.judgments)
    found, missing = at_relevant_ranks(run, scale, best)
    total = found + ratio(missing * run_dcg(run, scale, None), best.dcg(scale, None))
    return ratio(np.maximum(total, 0.0), best.rows.lengths)


@measure("Rndcg", GAINS, trec_name="Rndcg")
def ndcg_at_steps(run: JudgedRun, *, rel: int, gains: Gains) -> FloatArray:
    """Mean of nDCG over the ranks at which the gain of the ideal ranking changes or ends.

    The end of the ranking counts as one more such rank if it is more than one rank deeper. 0
    where R is 0 or no gain is positive.
    Takes rel, for R alone, and gains, as DCG does.
    Source: trec_eval.

    >>> example("Rndcg")
    0.6174
    """
    scale = GainScale(gains=gains)
    best = scale.ideal(run.judgments)
    topic, rank = _steps(run, best)
    running = best.running_dcg(scale)
    here = ratio(dcg_before(run, scale, topic, rank), ideal_before(best, running, topic, rank))
    steps = Ragged(topic, run.rows.topics)
    some = (run.judgments.num_relevant(rel) > 0) & (best.rows.lengths > 0)
    return np.where(some, ratio(steps.sum(here), steps.lengths), 0.0)


def _steps(run: JudgedRun, best: Ideal) -> tuple[AnyIntArray, IntArray]:
    """The (topic, rank) pairs at which Rndcg looks, in order."""
    rows = best.rows
    followed = np.append(rows.topic[1:] == rows.topic[:-1], False)[: len(rows.topic)]
    same = followed & (best.gain == np.append(best.gain[1:], 0.0)[: len(best.gain)])
    longer = np.flatnonzero(run.retrieved > rows.lengths + 1)
    topic = np.concatenate((rows.topic[~same], longer))
    rank = np.concatenate((rows.position[~same], run.retrieved[longer]))
    order = np.lexsort((rank, topic))
    return topic[order], rank[order]


@measure("G", GAINS, rel=False, trec_name="G")
def g(run: JudgedRun, *, gains: Gains) -> FloatArray:
    """Sum of the gains, each discounted by the gain missed above it, over the sum of all gains.

    g_i / log2(2 + sum over j <= i of max(ideal gain at j, 1) - sum over j <= i of g_j).
    Takes gains, as DCG does.
    Source: trec_eval.

    >>> example("G")
    0.4645
    """
    gain, cost, run_gain, best = costs(run, gains)
    values = np.divide(
        gain, np.log2(2 + (cost - run_gain)), out=np.zeros(len(gain)), where=gain > 0
    )
    return ratio(run.rows.sum(values), best.rows.sum(best.gain))


def costs(run: JudgedRun, gains: Gains) -> tuple[FloatArray, FloatArray, FloatArray, Ideal]:
    """For every row its gain, the cost of its rank and the gain up to it; and the ideal ranking."""
    scale = GainScale(gains=gains)
    best = scale.ideal(run.judgments)
    gain = scale.gain_of(run.grade)
    length = np.minimum(run.rank, best.rows.lengths[run.topic])
    ideal_gain = best.rows.running_sum(np.maximum(best.gain, 1.0))
    cost = best.rows.value_at(ideal_gain, length, run.topic) + (run.rank - length)
    return gain, cost, run.rows.running_sum(gain), best


@as_trec_eval("G")
def trec_g(run: JudgedRun, *, gains: Gains, written: str) -> FloatArray:
    """Sum of the discounted gains, negative ones too, over the sum of all gains."""
    gain, cost, run_gain, best = costs(run, gains)
    values = np.divide(gain, np.log2(2 + cost - run_gain), out=np.zeros(len(gain)), where=gain != 0)
    return ratio(run.rows.sum(values), best.rows.sum(best.gain))
