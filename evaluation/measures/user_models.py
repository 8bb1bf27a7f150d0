"""Measures based on a model of a user who reads down the ranking and stops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evaluation.judging import Int32Array, JudgedRun, Judgments
from evaluation.measures.counting import with_stand_ins
from evaluation.measures.declaring import (
    OPTIONAL_CUTOFF,
    MeasureError,
    Value,
    as_trec_eval,
    choice,
    measure,
    number,
)
from evaluation.measures.example import example  # noqa: F401, for the docstrings
from evaluation.ragged import AnyIntArray, FloatArray, Ragged, ratio

INST_DEPTH = 1000
TARGET = number("T", 1.0, "a number of at least 1", lambda target: target >= 1)
TOP = choice("top", "scale", "topic")
PERSISTENCE = number("p", 0.8, "a number between 0 and 1", lambda p: 0 < p < 1)


def expected_reciprocal_rank(
    rows: Ragged, rank: AnyIntArray, grade: Int32Array, top_grade: AnyIntArray, k: int | None
) -> FloatArray:
    """Sum over the ranks up to k of p_i / i times the product over those above of 1 - p_j.

    `top_grade` is an integer per topic.
    """
    first = grade >= 0
    if k is not None:
        first &= rank <= k
    rows = Ragged(rows.topic[first], rows.topics)
    top = top_grade.astype(np.float64)[rows.topic]
    stops = np.exp2(grade[first] - top) - np.exp2(-top)
    arrives = rows.running_product(1 - stops)
    before = np.where(rows.position > 1, np.roll(arrives, 1), 1.0)
    return rows.sum(stops * before / rank[first])


def top_grades(judgments: Judgments, top: str) -> AnyIntArray:
    """Return the highest grade for each topic: of the scale, or judged for that topic."""
    if top == "scale":
        return np.full(len(judgments.topics), judgments.top_grade)
    highest = np.zeros(len(judgments.topics), np.int64)
    np.maximum.at(highest, judgments.topic, judgments.grade)
    return highest


# The judgment of a hole can raise the highest grade of its topic, which lowers every other gain.
BY_TOPIC = ("top", "topic")


@measure("ERR", TOP, at=OPTIONAL_CUTOFF, rel=False, bounds="true", unbounded=BY_TOPIC)
def err(run: JudgedRun, *, k: int | None, top: str) -> FloatArray:
    """Expected reciprocal rank at which a user stops, with probability (2^g - 1) / 2^t.

    Takes top: scale for t the highest grade of the judgment set, topic for the highest grade
    of the topic. 0 where t is 0.
    Source: Chapelle, Metzler, Zhang and Grinspan, CIKM 2009.

    >>> example("ERR@5")
    0.7656
    """
    top_grade = top_grades(run.judgments, top)
    return expected_reciprocal_rank(run.rows, run.rank, run.grade, top_grade, k)


@measure("nERR", TOP, at=OPTIONAL_CUTOFF, rel=False, unbounded=BY_TOPIC)
def nerr(run: JudgedRun, *, k: int | None, top: str) -> FloatArray:
    """ERR@k divided by the ERR@k of the judged documents in the best order.

    Takes top, as ERR does.
    Source: Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; Sakai, NTCIREVAL.

    >>> example("nERR@5")
    0.8987
    """
    judgments = run.judgments

    def best() -> FloatArray:
        rows, top_grade = judgments.rows, top_grades(judgments, top)
        return expected_reciprocal_rank(rows, rows.position, judgments.grade, top_grade, k)

    return ratio(err(run, k=k, top=top), judgments.known(("ideal_err", k, top), best))


def _graded_takes_no_rel(given: Mapping[str, Value]) -> None:
    if given.get("gain") == "graded" and "rel" in given:
        raise MeasureError("RBP(gain=graded) depends on grades and takes no rel")


@measure(
    "RBP",
    PERSISTENCE,
    choice("gain", "binary", "graded"),
    bounds="true",
    check=_graded_takes_no_rel,
)
def rank_biased_precision(run: JudgedRun, *, rel: int, p: float, gain: str) -> FloatArray:
    """Expected rate of gain of a user who reads the next document with probability p.

    (1 - p) times the sum of g_i p^(i - 1).
    Takes rel; p; gain: binary for 1 where relevant, graded for grade / highest of the scale.
    Source: Moffat and Zobel, TOIS 2008.

    >>> example("RBP(p=0.8)"), example("RBP(gain=graded)")
    (0.3548, 0.2774)
    """
    if gain == "graded":
        gains = ratio(np.maximum(run.grade, 0), run.judgments.top_grade)
    else:
        gains = run.relevant(rel).astype(np.float64)
    return (1 - p) * run.rows.sum(gains * p ** (run.rank - 1.0))


def powers(p: float, count: int) -> FloatArray:
    """Return 1, p, p^2 ... p^count by repeated multiplication, as in trec_eval."""
    steps = np.full(count + 1, p)
    steps[0] = 1.0
    product: FloatArray = np.multiply.accumulate(steps)
    return product


@as_trec_eval("RBP")
def trec_rank_biased_precision(
    run: JudgedRun, *, rel: int, p: float, gain: str, written: str
) -> FloatArray:
    """rbp: (1 - p) times the sum of g_i p^(i - 1), g the grade / highest grade of the topic."""
    judgments = run.judgments
    top = judgments.rows.highest(judgments.grade.astype(np.float64), judgments.grade > 0)
    gains = ratio(np.maximum(run.grade, 0), top[run.topic])
    weights = powers(p, int(run.rank.max(initial=0)))
    return (1 - p) * run.rows.sum(gains * weights[run.rank - 1])


@measure("RBPResidual", PERSISTENCE, rel=False, higher_is_better=False, bounds="none")
def rank_biased_residual(run: JudgedRun, *, p: float) -> FloatArray:
    """How much RBP could rise if all unjudged and unretrieved documents were relevant.

    (1 - p) times the sum of p^(i - 1) over unjudged ranks, plus p^n for the
    ranks after the end: 1 minus the same sum over the judged ranks.
    Takes p.
    Source: Moffat and Zobel, TOIS 2008.

    >>> example("RBPResidual(p=0.8)")
    0.4516
    """
    judged = np.where(run.judged, p ** (run.rank - 1.0), 0.0)
    return np.maximum(1 - (1 - p) * run.rows.sum(judged), 0.0)


@as_trec_eval("RBPResidual")
def trec_rank_biased_residual(run: JudgedRun, *, p: float, written: str) -> FloatArray:
    """rbp_resid: p^n + (1 - p) times the sum of p^(i - 1) over unjudged ranks; 0 without any."""
    retrieved = with_stand_ins(run, written)
    weights = powers(p, int(retrieved.max(initial=0)))
    judged = run.grade >= 0
    rows = Ragged(run.topic[judged], len(retrieved))
    ranks = np.split(run.rank[judged], rows.starts[1:-1])
    incomplete = retrieved > rows.lengths
    sums = np.zeros(len(retrieved))
    for topic in np.flatnonzero(incomplete):
        unjudged = weights[: retrieved[topic]].copy()
        unjudged[ranks[topic] - 1] = 0.0
        sums[topic] = np.add.accumulate(unjudged)[-1]
    residual: FloatArray = weights[retrieved] + (1 - p) * sums
    return np.where(incomplete, residual, 0.0)


@measure("INST", TARGET, bounds="none")
def inst(run: JudgedRun, *, rel: int, T: float) -> FloatArray:
    """Expected gain per document of a user who wants T relevant documents and adapts on the way.

    The user goes on from rank i with probability ((i + T + T_i - 1) / (i + T + T_i))^2, where
    T_i = T - c_i. Ranks up to 1,000 count; a rank without a document has no gain.
    Takes rel and T.
    Source: Moffat, Bailey, Scholer and Thomas, TOIS 2017; cwl-eval.

    >>> example("INST"), example("INST(T=2)")
    (0.6879, 0.4207)
    """
    gains = np.zeros((len(run.judgments.topics), INST_DEPTH))
    relevant = run.relevant(rel) & run.within(INST_DEPTH)
    gains[run.topic[relevant], run.rank[relevant] - 1] = 1.0
    place = np.arange(1, INST_DEPTH + 1) + 2 * T - np.cumsum(gains, axis=1)
    reached = np.ones_like(gains)
    reached[:, 1:] = np.cumprod(((place - 1) / place) ** 2, axis=1)[:, :-1]
    return ratio((reached * gains).sum(axis=1), reached.sum(axis=1))
