"""Measures of the ranks of relevant documents.

c_i is the number of relevant documents in the first i, R the number judged relevant.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evaluation.conventions import Convention
from evaluation.judging import DEPTH, Int32Array, JudgedRun
from evaluation.measures.declaring import (
    INFINITY,
    OPTIONAL_CUTOFF,
    MeasureError,
    Value,
    as_trec_eval,
    choice,
    measure,
    number,
)
from evaluation.measures.example import example  # noqa: F401, for the docstrings
from evaluation.ragged import AnyIntArray, BoolArray, FloatArray, IntArray, Ragged, ratio

LEVELS = tuple(step / 10 for step in range(11))
LEVEL = number("r", None, "a number from 0 to 1", lambda r: 0 <= r <= 1, required=True)
MULTIPLE = number("x", None, "a number of at least 0", lambda x: x >= 0, required=True)


def precision_at_rows(run: JudgedRun, relevant: BoolArray) -> FloatArray:
    """c_i / i at the rank i of every row."""
    return run.rows.running_count(relevant) / run.rank


def _cap_needs_a_cutoff(given: Mapping[str, Value]) -> None:
    if given.get("norm") == "cap" and "k" not in given:
        raise MeasureError("AP(norm=cap) divides by min(R, k) and needs a cutoff: AP(norm=cap)@10")


@measure(
    "AP",
    choice("norm", "R", "cap", "hits"),
    at=OPTIONAL_CUTOFF,
    trec_name="map map_cut_{k}",
    also=("MAP",),
    check=_cap_needs_a_cutoff,
)
def average_precision(run: JudgedRun, *, k: int | None, rel: int, norm: str) -> FloatArray:
    """Mean of the precision at each relevant document, 0 if it is not retrieved.

    The sum of c_i / i over the relevant ranks i (up to k), divided by R.
    Takes rel and norm, the divisor: R, cap for min(R, k), or hits for c_k.
    Source: Harman, Evaluation Issues in Information Retrieval, 1992; Buckley and Voorhees,
    SIGIR 2000.

    >>> example("AP"), example("AP@5"), example("AP(norm=hits)@5")
    (0.4821, 0.375, 0.75)
    """
    relevant = run.relevant(rel) & run.within(k)
    total = run.rows.sum(np.where(relevant, precision_at_rows(run, relevant), 0.0))
    divisor = run.rows.count(relevant) if norm == "hits" else run.judgments.num_relevant(rel)
    return ratio(total, divisor if norm != "cap" or k is None else np.minimum(divisor, k))


@measure("GMAP", trec_name="gm_map", aggregate="geometric mean")
def geometric_average_precision(run: JudgedRun, *, rel: int) -> FloatArray:
    """Geometric mean of AP over topics, each at least 0.00001: gives poor topics more weight.

    Takes rel. The value of a topic is its AP.
    Source: Robertson, On GMAP, CIKM 2006.

    >>> example("GMAP")
    0.4821
    """
    return average_precision(run, k=None, rel=rel, norm="R")


@measure("RR", at=OPTIONAL_CUTOFF, trec_name="recip_rank", also=("MRR",), bounds="true")
def reciprocal_rank(run: JudgedRun, *, k: int | None, rel: int) -> FloatArray:
    """1 / rank of the first relevant document (within the first k), 0 where there is none.

    Takes rel.
    Source: Kantor and Voorhees, The TREC-5 Confusion Track, 2000.

    >>> example("RR")
    1.0
    """
    return 1 / run.rows.first(run.rank, run.relevant(rel) & run.within(k), INFINITY)


@measure(
    "MR",
    range=(1, INFINITY),
    unit="rank",
    higher_is_better=False,
    also=("mean-rank",),
    bounds="true",
)
def mean_rank(run: JudgedRun, *, rel: int) -> FloatArray:
    """Rank of the first relevant document; depth + 1 where there is none within the depth.

    Takes rel. Lower is better. The depth is that of the judged run, 1000 where it has none.
    Source: Bordes and others, NIPS 2013.

    >>> example("MR")
    1.0
    """
    depth = DEPTH if run.depth is None else run.depth
    return run.rows.first(run.rank, run.relevant(rel) & run.within(depth), depth + 1)


@measure("Rprec", trec_name="Rprec", also=("R-precision",))
def r_precision(run: JudgedRun, *, rel: int) -> FloatArray:
    """Precision after as many documents as are relevant, c_R / R.

    Takes rel.
    Source: Buckley and Voorhees, Retrieval System Evaluation, in TREC, 2005.

    >>> example("Rprec")
    0.5
    """
    relevant = run.judgments.num_relevant(rel)
    first = run.rank <= relevant[run.topic]
    return ratio(run.rows.count(run.relevant(rel) & first), relevant)


@measure("RprecMult", MULTIPLE, trec_name="Rprec_mult_{x:.2f}")
def r_precision_at_multiple(run: JudgedRun, *, rel: int, x: float) -> FloatArray:
    """Precision after x times as many documents as are relevant, c_j / j, j = floor(x R + 0.9).

    Takes rel and x; 0 where j is 0.
    Source: trec_eval.

    >>> example("RprecMult(0.5)")
    0.5
    """
    cutoff = np.floor(x * run.judgments.num_relevant(rel) + 0.9)
    first = run.rank <= cutoff[run.topic]
    return ratio(run.rows.count(run.relevant(rel) & first), cutoff)


@measure("IPrec", at=LEVEL, trec_name="iprec_at_recall_{r:.2f}")
def interpolated_precision(run: JudgedRun, *, r: float, rel: int) -> FloatArray:
    """Highest precision at any rank where recall has reached the level r.

    The highest c_i / i over ranks with c_i >= j; j = floor(r R + 0.5) under the house
    convention, floor(r R + 0.9) under trec_eval-9. 0 where no rank reaches the level.
    Takes rel.
    Source: Salton and McGill, Introduction to Modern Information Retrieval, 1983.

    >>> example("IPrec@0.5")
    0.5
    """
    needed = run.convention.documents_at(r, run.judgments.num_relevant(rel))
    return highest_precision(*relevant_rows(run, rel), needed)


def relevant_rows(run: JudgedRun, rel: int) -> tuple[Ragged, Int32Array]:
    """The relevant documents that a run retrieved, by topic, and their ranks."""
    relevant = run.relevant(rel)
    return Ragged(run.topic[relevant], run.rows.topics), run.rank[relevant]


def highest_precision(rows: Ragged, rank: AnyIntArray, needed: IntArray) -> FloatArray:
    """The highest c_i / i of every ranking where c_i is at least `needed`, 0 where none is.

    rows, rank: the relevant documents of each ranking. Precision falls between two of them, so
    their ranks are enough.
    """
    return rows.highest(rows.position / rank, rows.position >= needed[rows.topic])


@measure("IPrec11", trec_name="11pt_avg", also=("11pt",))
def eleven_point_average(run: JudgedRun, *, rel: int) -> FloatArray:
    """Mean of the interpolated precision at the recall levels 0, 0.1, ... 1.

    Takes rel.
    Source: Salton and McGill, Introduction to Modern Information Retrieval, 1983.

    >>> example("IPrec11")
    0.5779
    """
    total: FloatArray = np.add.accumulate(interpolated_by_level(run, rel), axis=1)[:, -1]
    return total / len(LEVELS)


def interpolated_by_level(run: JudgedRun, rel: int = 1) -> FloatArray:
    """Interpolated precision, one line per topic, one column per recall level."""
    return interpolate(*relevant_rows(run, rel), run.judgments.num_relevant(rel), run.convention)


def interpolate(
    rows: Ragged, rank: AnyIntArray, relevant: IntArray, convention: Convention
) -> FloatArray:
    """Interpolated precision of many rankings, one line each, one column per recall level.

    rows, rank: the relevant documents of each ranking; relevant: R of each.

    >>> from evaluation.conventions import HOUSE
    >>> two = Ragged(np.array([0, 0, 1]), topics=2)
    >>> interpolate(two, np.array([1, 4, 2]), np.array([2, 2]), HOUSE)[:, [0, 5, 10]].tolist()
    [[1.0, 1.0, 0.5], [0.5, 0.5, 0.0]]
    """
    needed = [convention.documents_at(level, relevant) for level in LEVELS]
    return np.stack([highest_precision(rows, rank, each) for each in needed], axis=1)


@as_trec_eval("IPrec11")
def trec_eleven_point_average(run: JudgedRun, *, rel: int, written: str) -> FloatArray:
    """Mean of the interpolated precision, added from level 1 down to level 0."""
    levels = [interpolated_precision(run, r=level, rel=rel) for level in reversed(LEVELS)]
    total: FloatArray = np.add.accumulate(levels)[-1]
    return total / len(LEVELS)


@measure("binG", trec_name="binG")
def binary_g(run: JudgedRun, *, rel: int) -> FloatArray:
    """Mean over relevant documents of 1 / log2(2 + non-relevant documents above).

    Takes rel. Unjudged documents count as non-relevant.
    Source: trec_eval.

    >>> example("binG")
    0.4717
    """
    relevant = run.relevant(rel)
    above = run.rank - run.rows.running_count(relevant)
    values = np.where(relevant, 1 / np.log2(2 + above), 0.0)
    return ratio(run.rows.sum(values), run.judgments.num_relevant(rel))


@measure("yaap", trec_name="yaap", range=(-INFINITY, INFINITY), unit="log odds")
def yet_another_average_precision(run: JudgedRun, *, rel: int) -> FloatArray:
    """Log odds of average precision, ln((1 + S) / (1 + R - S)), S the sum of c_i / i.

    Takes rel.
    Source: Robertson, On Smoothing Average Precision, ECIR 2012; trec_eval.

    >>> example("yaap")
    -0.0476
    """
    relevant = run.relevant(rel)
    total = run.rows.sum(np.where(relevant, precision_at_rows(run, relevant), 0.0))
    odds: FloatArray = np.log((1 + total) / (1 + run.judgments.num_relevant(rel) - total))
    return odds
