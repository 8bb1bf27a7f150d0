"""Measures of diversity, for judgments with a grade for each subtopic (intent) of a topic.

S is the number of subtopics that have a relevant document. Subtopics are equally probable unless
their probabilities are given. Then ERR-IA, nERR-IA, P-IA, AP-IA and D-nDCG weigh each subtopic by
its probability, divided by the sum over those that have a relevant document. Judgments without
subtopics count as one subtopic per topic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.judging import JudgedRun, Judgments
from evaluation.measures.declaring import CUTOFF, measure, number
from evaluation.measures.example import example  # noqa: F401, for the docstrings
from evaluation.ragged import FloatArray, IntArray, Ragged, ratio

ALPHA = number("alpha", 0.5, "a number from 0 to 1", lambda alpha: 0 <= alpha <= 1)


@dataclass(frozen=True, eq=False)
class Entries:
    """The relevant (rank, intent) pairs of a run, by intent and rank; `intents` is their number."""

    intent: IntArray
    topic: IntArray
    rank: IntArray
    intents: int
    topics: int

    @property
    def above(self) -> IntArray:
        """How many documents above are relevant to the same intent."""
        return Ragged(self.intent, self.intents).position - 1

    def sum(self, values: FloatArray) -> FloatArray:
        """The sum of values over the entries of every topic."""
        return np.bincount(self.topic, weights=values, minlength=self.topics).astype(np.float64)

    def per_intent(self, values: FloatArray) -> FloatArray:
        """The sum of values over the entries of every intent."""
        return np.bincount(self.intent, weights=values, minlength=self.intents).astype(np.float64)


def graded_pairs(run: JudgedRun) -> tuple[IntArray, IntArray, IntArray]:
    """Return row, intent and grade of every judged (document, subtopic) pair of a run."""
    if run.document is None:
        return np.arange(len(run.rank)), run.topic.astype(np.int64), run.grade.astype(np.int64)
    intents = run.judgments.intents
    first, last = (
        np.searchsorted(intents.document, run.document, side) for side in ("left", "right")
    )
    row = np.repeat(np.arange(len(run.rank)), last - first)
    rows = Ragged(row, len(run.rank))
    pair = first[row] + rows.position - 1
    return row, intents.intent[pair], intents.grade[pair].astype(np.int64)


def relevant_entries(run: JudgedRun, rel: int, k: int | None) -> Entries:
    row, intent, grade = graded_pairs(run)
    rank = run.rank[row].astype(np.int64)
    keep = (grade >= max(rel, 0)) & run.within(k)[row]
    row, intent, rank = row[keep], intent[keep], rank[keep]
    order = np.lexsort((rank, intent))
    topic = run.topic[row].astype(np.int64)[order]
    known = run.judgments.intents
    return Entries(
        intent[order], topic, rank[order], len(known.topic_of), len(run.judgments.topics)
    )


def relevant_per_intent(judgments: Judgments, rel: int) -> IntArray:
    intents = judgments.intents
    chosen = intents.intent[intents.grade >= rel]
    return np.bincount(chosen, minlength=len(intents.topic_of)).astype(np.int64)


def num_intents(judgments: Judgments, rel: int) -> IntArray:
    """S: how many subtopics of each topic have a relevant document."""
    some = judgments.intents.topic_of[relevant_per_intent(judgments, rel) > 0]
    return np.bincount(some, minlength=len(judgments.topics)).astype(np.int64)


def weight_of_intents(judgments: Judgments, rel: int) -> FloatArray:
    """The sum of the probabilities that S counts: S itself if all are equal."""
    intents = judgments.intents
    weight = np.where(relevant_per_intent(judgments, rel) > 0, intents.weight, 0.0)
    summed = np.bincount(intents.topic_of, weights=weight, minlength=len(judgments.topics))
    return summed.astype(np.float64)


def greedy_ideal(
    judgments: Judgments,
    rel: int,
    alpha: float,
    k: int,
    weight: Callable[[int], float],
    probability: FloatArray,
) -> FloatArray:
    """Sum of novelty gain times weight(rank) over k ranks, the best document first at each.

    The best ranking is hard to find, so each rank takes the document that gains most there, as
    Clarke and others do; of equal ones that with the highest docno, as ndeval does.
    """
    intents, topics = judgments.intents, len(judgments.topics)
    relevant = intents.grade >= rel
    document, intent = intents.document[relevant], intents.intent[relevant]
    seen = np.zeros(len(intents.topic_of))
    free = np.ones(len(intents.topic), bool)
    total = np.zeros(topics)
    for rank in range(1, k + 1):
        novelty = probability[intent] * (1 - alpha) ** seen[intent]
        gain = np.bincount(document, weights=novelty, minlength=len(free)) * free
        order = np.lexsort((intents.place, -gain, intents.topic))
        topic, first = np.unique(intents.topic[order], return_index=True)
        best = order[first]
        if not gain[best].any():
            break
        total[topic] += gain[best] * weight(rank)
        free[best] = False
        chosen = np.zeros(len(free), bool)
        chosen[best] = True
        np.add.at(seen, intent[chosen[document]], 1.0)
    return total


@measure("alpha-nDCG", ALPHA, at=CUTOFF, also=("alpha_nDCG",), bounds="none")
def alpha_ndcg(run: JudgedRun, *, rel: int, alpha: float, k: int) -> FloatArray:
    """nDCG that counts a subtopic less each time it is repeated: gain (1 - alpha)^repetitions.

    A document gains the sum over its subtopics; the ideal takes the best document rank by rank.
    Takes rel and alpha.
    Source: Clarke and others, SIGIR 2008; ndeval.

    >>> example("alpha-nDCG@5")
    0.8133
    """
    entries = relevant_entries(run, rel, k)
    gains = entries.sum((1 - alpha) ** entries.above / np.log2(entries.rank + 1.0))

    def best() -> FloatArray:
        equal = np.ones(len(run.judgments.intents.weight))
        return greedy_ideal(
            run.judgments, rel, alpha, k, lambda rank: float(1 / np.log2(rank + 1)), equal
        )

    return ratio(gains, run.judgments.known(("ideal_alpha", rel, alpha, k), best))


@measure("ERR-IA", ALPHA, at=CUTOFF, also=("ERR_IA",), bounds="none")
def err_ia(run: JudgedRun, *, rel: int, alpha: float, k: int) -> FloatArray:
    """Expected reciprocal rank averaged over subtopics, divided by the highest possible value.

    The sum of (1 - alpha)^repetitions / rank, divided by S times the sum of
    (1 - alpha)^(i - 1) / i over the ranks i up to k.
    Takes rel and alpha.
    Source: Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; ndeval.

    >>> example("ERR-IA@5")
    0.8169
    """
    ranks = np.arange(1, k + 1)
    highest = float(((1 - alpha) ** (ranks - 1.0) / ranks).sum())
    gains = intent_aware_gains(run, rel, alpha, k)
    return ratio(gains, weight_of_intents(run.judgments, rel) * highest)


def intent_aware_gains(run: JudgedRun, rel: int, alpha: float, k: int) -> FloatArray:
    """Sum of probability times (1 - alpha)^repetitions / rank."""
    entries = relevant_entries(run, rel, k)
    weight = run.judgments.intents.weight[entries.intent]
    return entries.sum(weight * (1 - alpha) ** entries.above / entries.rank)


@measure("nERR-IA", ALPHA, at=CUTOFF, also=("nERR_IA",), bounds="none")
def nerr_ia(run: JudgedRun, *, rel: int, alpha: float, k: int) -> FloatArray:
    """ERR-IA divided by that of the ideal ranking, which takes the best document rank by rank.

    Takes rel and alpha.
    Source: Clarke and others, ndeval.

    >>> example("nERR-IA@5")
    0.8244
    """
    judgments = run.judgments

    def best() -> FloatArray:
        weight = judgments.intents.weight
        return greedy_ideal(judgments, rel, alpha, k, lambda rank: 1 / rank, weight)

    gains = intent_aware_gains(run, rel, alpha, k)
    return ratio(gains, run.judgments.known(("ideal_err_ia", rel, alpha, k), best))


@measure("P-IA", at=CUTOFF, also=("P_IA",), bounds="none")
def precision_ia(run: JudgedRun, *, rel: int, k: int) -> FloatArray:
    """Mean over subtopics of the precision in the first k.

    Takes rel.
    Source: Agrawal and others, WSDM 2009; ndeval.

    >>> example("P-IA@5")
    0.4
    """
    entries = relevant_entries(run, rel, k)
    found = entries.sum(run.judgments.intents.weight[entries.intent])
    return ratio(found, weight_of_intents(run.judgments, rel) * k)


@measure("AP-IA", also=("AP_IA", "MAP-IA"), bounds="none")
def average_precision_ia(run: JudgedRun, *, rel: int) -> FloatArray:
    """Mean over subtopics of average precision.

    Takes rel.
    Source: Agrawal and others, WSDM 2009; ndeval.

    >>> example("AP-IA")
    0.4821
    """
    intents = run.judgments.intents
    weighted = intents.weight * subtopic_scores(run, rel)
    total = np.bincount(intents.topic_of, weights=weighted, minlength=len(run.judgments.topics))
    return ratio(total, weight_of_intents(run.judgments, rel))


def subtopic_scores(run: JudgedRun, rel: int = 1) -> FloatArray:
    """Return average precision for each subtopic of `judgments.intents`, for a drill-down."""
    entries = relevant_entries(run, rel, None)
    precision = (entries.above + 1) / entries.rank
    return ratio(entries.per_intent(precision), relevant_per_intent(run.judgments, rel))


@measure("strec", at=CUTOFF, also=("I-rec", "subtopic-recall"), bounds="none")
def subtopic_recall(run: JudgedRun, *, rel: int, k: int) -> FloatArray:
    """Share of the subtopics that have a relevant document in the first k: I-rec.

    Takes rel.
    Source: Zhai, Cohen and Lafferty, SIGIR 2003; Sakai, NTCIREVAL (I-rec).

    >>> example("strec@5")
    1.0
    """
    entries = relevant_entries(run, rel, k)
    found = entries.sum((entries.above == 0).astype(np.float64))
    return ratio(found, num_intents(run.judgments, rel))


@measure("D-nDCG", at=CUTOFF, rel=False, also=("D_nDCG",), bounds="none")
def d_ndcg(run: JudgedRun, *, k: int) -> FloatArray:
    """nDCG whose gain is the sum of the grades of a document over the subtopics.

    If probabilities are given, each grade is multiplied by that of its subtopic.

    Source: Sakai and Song, SIGIR 2011.

    >>> example("D-nDCG@5")
    0.5798
    """
    intents = run.judgments.intents
    row, intent, grade = graded_pairs(run)
    weighted = intents.weight[intent] * np.maximum(grade, 0)
    gain = np.bincount(row, weights=weighted, minlength=len(run.rank))
    discounted = np.where(run.within(k), gain / np.log2(run.rank + 1.0), 0.0)
    weighted = intents.weight[intents.intent] * np.maximum(intents.grade, 0)
    every = np.bincount(intents.document, weights=weighted, minlength=len(intents.topic))
    order = np.lexsort((-every, intents.topic))
    rows = Ragged(intents.topic[order], run.rows.topics)
    first = rows.position <= k
    ideal = rows.sum(np.where(first, every[order] / np.log2(rows.position + 1.0), 0.0))
    return ratio(run.rows.sum(discounted), ideal)


@measure("D#-nDCG", at=CUTOFF, also=("Dsharp-nDCG",), bounds="none")
def d_sharp_ndcg(run: JudgedRun, *, rel: int, k: int) -> FloatArray:
    """Mean of subtopic recall (I-rec) and D-nDCG.

    Takes rel, for subtopic recall.
    Source: Sakai and Song, SIGIR 2011, with gamma 1/2.

    >>> example("D#-nDCG@5")
    0.7899
    """
    return (subtopic_recall(run, rel=rel, k=k) + d_ndcg(run, k=k)) / 2


DIVERSITY = frozenset(
    {"alpha-nDCG", "ERR-IA", "nERR-IA", "P-IA", "AP-IA", "strec", "D-nDCG", "D#-nDCG"}
)
"""The measures that need the grades of each subtopic."""
