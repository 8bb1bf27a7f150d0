"""Measures that count: of the first k documents, or of all retrieved, how many are relevant.

c_i is the number of relevant documents in the first i, n the number retrieved, R the number of
relevant documents judged. A division by zero gives 0.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from evaluation.conventions import TREC_EVAL_9
from evaluation.judging import JudgedRun
from evaluation.measures.declaring import (
    CUTOFF,
    INFINITY,
    OPTIONAL_CUTOFF,
    as_trec_eval,
    measure,
    number,
)
from evaluation.measures.example import example  # noqa: F401, for the docstrings
from evaluation.ragged import FloatArray, IntArray, ratio

BETA = number("beta", 1.0, "a number above 0", lambda value: value > 0)


def hits(run: JudgedRun, rel: int, k: int | None = None) -> IntArray:
    """c_k for every topic; c_n without k."""
    return run.rows.count(run.relevant(rel) & run.within(k))


def f_measure(precision: FloatArray, recall: FloatArray, beta: float) -> FloatArray:
    """(1 + beta^2) P R / (beta^2 P + R), 0 where both are 0."""
    return weighted_harmonic_mean(precision, recall, beta * beta)


def weighted_harmonic_mean(precision: FloatArray, recall: FloatArray, squared: float) -> FloatArray:
    """The same, given beta^2."""
    return ratio((1 + squared) * precision * recall, squared * precision + recall)


@measure("P", at=CUTOFF, trec_name="P_{k}", also=("Precision",), bounds="true")
def precision(run: JudgedRun, *, k: int, rel: int) -> FloatArray:
    """Share of relevant documents in the first k, c_k / k, also for shorter rankings.

    Takes rel.
    Source: Cleverdon, Mills and Keen, Factors Determining the Performance of Indexing Systems,
    1966.

    >>> example("P@5")
    0.4
    """
    return hits(run, rel, k) / k


@measure("R", at=CUTOFF, trec_name="recall_{k}", also=("Recall",))
def recall(run: JudgedRun, *, k: int, rel: int) -> FloatArray:
    """Share of the relevant documents that are in the first k, c_k / R.

    Takes rel.
    Source: Cleverdon, Mills and Keen, Factors Determining the Performance of Indexing Systems,
    1966.

    >>> example("R@5")
    0.5
    """
    return ratio(hits(run, rel, k), run.judgments.num_relevant(rel))


@measure("RCap", at=CUTOFF, trec_name="relative_P_{k}", also=("R_cap", "capped-recall"))
def capped_recall(run: JudgedRun, *, k: int, rel: int) -> FloatArray:
    """Share of the highest possible number of relevant documents in the first k, c_k / min(k, R).

    Takes rel.
    Source: trec_eval; Thakur and others, BEIR, NeurIPS 2021.

    >>> example("RCap@2")
    0.5
    """
    return ratio(hits(run, rel, k), np.minimum(run.judgments.num_relevant(rel), k))


@measure("F", BETA, at=CUTOFF)
def f_at_k(run: JudgedRun, *, k: int, rel: int, beta: float) -> FloatArray:
    """Weighted harmonic mean of P@k and R@k, (1 + beta^2) P R / (beta^2 P + R).

    Takes rel and beta, the weight of recall: above 1 recall counts more.
    Source: van Rijsbergen, Information Retrieval, 1979.

    >>> example("F@5")
    0.4444
    """
    return f_measure(precision(run, k=k, rel=rel), recall(run, k=k, rel=rel), beta)


@measure("SetP", trec_name="set_P", also=("Precision",))
def set_precision(run: JudgedRun, *, rel: int) -> FloatArray:
    """Share of relevant documents among all retrieved, c_n / n.

    Takes rel.
    Source: Cleverdon, Mills and Keen, Factors Determining the Performance of Indexing Systems,
    1966.

    >>> example("SetP")
    0.4286
    """
    return ratio(hits(run, rel), run.retrieved)


@measure("SetR", trec_name="set_recall", also=("Recall",))
def set_recall(run: JudgedRun, *, rel: int) -> FloatArray:
    """Share of the relevant documents that were retrieved, c_n / R.

    Takes rel.
    Source: Cleverdon, Mills and Keen, Factors Determining the Performance of Indexing Systems,
    1966.

    >>> example("SetR")
    0.75
    """
    return ratio(hits(run, rel), run.judgments.num_relevant(rel))


@measure("SetF", BETA, trec_name="set_F", also=("F-measure",))
def set_f(run: JudgedRun, *, rel: int, beta: float) -> FloatArray:
    """Weighted harmonic mean of SetP and SetR.

    Takes rel and beta. trec_eval's parameter is beta^2: its set_F.4 is SetF(beta=2).
    Source: van Rijsbergen, Information Retrieval, 1979.

    >>> example("SetF"), example("SetF(beta=2)")
    (0.5455, 0.6522)
    """
    return f_measure(set_precision(run, rel=rel), set_recall(run, rel=rel), beta)


@as_trec_eval("SetF")
def trec_set_f(run: JudgedRun, *, rel: int, beta: float, written: str) -> FloatArray:
    """Weighted harmonic mean of SetP and SetR, from beta^2 as written, not as a root squared."""
    squared = float(written) if written else beta * beta
    return weighted_harmonic_mean(set_precision(run, rel=rel), set_recall(run, rel=rel), squared)


@measure("SetAP", trec_name="set_map")
def set_average_precision(run: JudgedRun, *, rel: int) -> FloatArray:
    """Precision times recall of all retrieved documents, c_n^2 / (n R).

    Takes rel.
    Source: trec_eval.

    >>> example("SetAP")
    0.3214
    """
    found = hits(run, rel)
    return ratio(found * found, run.retrieved * run.judgments.num_relevant(rel))


@measure("SetRelP", trec_name="set_relative_P")
def set_relative_precision(run: JudgedRun, *, rel: int) -> FloatArray:
    """Share of the highest possible number of relevant documents, c_n / min(n, R).

    Takes rel.
    Source: trec_eval.

    >>> example("SetRelP")
    0.75
    """
    possible = np.minimum(run.retrieved, run.judgments.num_relevant(rel))
    return ratio(hits(run, rel), possible)


@measure(
    "Success",
    at=OPTIONAL_CUTOFF,
    trec_name="success_{k}",
    also=("HR", "hit-rate", "Hit", "Hits"),
    bounds="true",
)
def success(run: JudgedRun, *, k: int | None, rel: int) -> FloatArray:
    """1 if a relevant document is in the first k (or retrieved at all), else 0: the hit rate.

    Takes rel.
    Source: trec_eval.

    >>> example("Success@1")
    1.0
    """
    return (hits(run, rel, k) > 0).astype(np.float64)


@measure(
    "Utility",
    number("a", 1.0, "a number"),
    number("b", -1.0, "a number"),
    number("c", 0.0, "a number"),
    number("d", 0.0, "a number"),
    trec_name="utility",
    range=(-INFINITY, INFINITY),
    unit="utility",
)
def utility(run: JudgedRun, *, rel: int, a: float, b: float, c: float, d: float) -> FloatArray:
    """Utility of the retrieved set: a per hit, b per false hit, c per miss, d per rejection.

    Takes rel, a, b, c and d. a c_n + b (n - c_n) + c (R - c_n) + d (c_n - n - R): the size of
    the collection counts as 0, as in trec_eval without its option -N.
    Source: Hull, The TREC-6 Filtering Track, 1997; trec_eval.

    >>> example("Utility(1,-0.5)")
    1.0
    """
    return worth(run, run.retrieved, rel, (a, b, c, d))


def worth(
    run: JudgedRun, retrieved: IntArray, rel: int, weights: tuple[float, float, float, float]
) -> FloatArray:
    """a c_n + b (n - c_n) + c (R - c_n) + d (c_n - n - R) for every topic."""
    a, b, c, d = weights
    found, relevant = hits(run, rel), run.judgments.num_relevant(rel)
    rejected = found - retrieved - relevant
    gained: FloatArray = a * found + b * (retrieved - found) + c * (relevant - found)
    return gained + d * rejected


def with_stand_ins(run: JudgedRun, written: str) -> IntArray:
    """Return n for every topic, as trec_eval 10.0 counts it with one exception.

    10.0 puts one unjudged document into the ranking of a topic that the run lacks, and counts
    it only in measures written with parameters. Under -J it is removed.
    """
    counted = bool(written) and not run.judged_only
    return np.maximum(run.retrieved, 1) if counted else run.retrieved


@as_trec_eval("Utility")
def trec_utility(
    run: JudgedRun, *, rel: int, a: float, b: float, c: float, d: float, written: str
) -> FloatArray:
    """Utility of the retrieved set; only a topic that the run lacks has another value.

    It is 0 in 9.0.8; 10.0 counts one retrieved document that is not relevant.
    """
    gained = worth(run, with_stand_ins(run, written), rel, (a, b, c, d))
    return np.where((run.retrieved == 0) & (run.convention == TREC_EVAL_9), 0.0, gained)


counted = partial(measure, aggregate="sum", range=(0, INFINITY), bounds="none")


@counted("NumQ", rel=False, trec_name="num_q", unit="topics")
def num_topics(run: JudgedRun) -> FloatArray:
    """The number of topics evaluated: 1 per topic.

    Source: trec_eval.

    >>> example("NumQ")
    1.0
    """
    return np.ones(run.rows.topics)


@counted("NumRet", rel=False, trec_name="num_ret", unit="documents")
def num_retrieved(run: JudgedRun) -> FloatArray:
    """The number of documents retrieved, n.

    Source: trec_eval.

    >>> example("NumRet")
    7.0
    """
    return run.retrieved.astype(np.float64)


@counted("NumRel", trec_name="num_rel", unit="documents")
def num_relevant(run: JudgedRun, *, rel: int) -> FloatArray:
    """The number of relevant documents judged, R.

    Takes rel.
    Source: trec_eval.

    >>> example("NumRel")
    4.0
    """
    return run.judgments.num_relevant(rel).astype(np.float64)


@counted("NumRelRet", trec_name="num_rel_ret", unit="documents")
def num_relevant_retrieved(run: JudgedRun, *, rel: int) -> FloatArray:
    """The number of relevant documents retrieved, c_n.

    Takes rel.
    Source: trec_eval.

    >>> example("NumRelRet")
    3.0
    """
    return hits(run, rel).astype(np.float64)


@counted("NumNonrelRet", trec_name="num_nonrel_judged_ret", unit="documents")
def num_nonrelevant_retrieved(run: JudgedRun, *, rel: int) -> FloatArray:
    """The number of documents retrieved that are judged, but below rel.

    Takes rel.
    Source: trec_eval.

    >>> example("NumNonrelRet")
    2.0
    """
    return run.rows.count((run.grade >= 0) & ~run.relevant(rel)).astype(np.float64)
