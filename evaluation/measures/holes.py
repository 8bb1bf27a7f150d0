"""Measures that distinguish unjudged documents.

An unjudged document is a hole, and so is one with grade -1 (in the pool, not judged). A lower
grade, such as -2 for junk, is a judgment: not relevant.
"""

from __future__ import annotations

import numpy as np

from evaluation.judging import Int32Array, JudgedRun, Judgments
from evaluation.measures.declaring import CUTOFF, INFINITY, MEASURES, OPTIONAL_CUTOFF, measure
from evaluation.measures.example import example  # noqa: F401, for the docstrings
from evaluation.ragged import FloatArray, ratio

EPSILON = 0.00001


@measure("Bpref", trec_name="bpref", bounds="none")
def bpref(run: JudgedRun, *, rel: int) -> FloatArray:
    """Share of relevant documents, weighted by how few judged non-relevant ones are above.

    (1 / R) times the sum over retrieved relevant documents of
    1 - min(judged non-relevant above, R) / min(N, R); 1 where none is above.
    Takes rel. Holes are skipped.
    Source: Buckley and Voorhees, SIGIR 2004.

    >>> example("Bpref")
    0.375
    """
    relevant = run.relevant(rel)
    all_relevant = run.judgments.num_relevant(rel)
    fewer = np.minimum(run.judgments.num_nonrelevant(rel), all_relevant)
    above = run.rows.running_count((run.grade >= 0) & ~relevant)
    penalty = ratio(np.minimum(above, all_relevant[run.topic]), fewer[run.topic])
    return ratio(run.rows.sum(np.where(relevant, 1 - penalty, 0.0)), all_relevant)


@measure("GMBpref", trec_name="gm_bpref", aggregate="geometric mean", bounds="none")
def geometric_bpref(run: JudgedRun, *, rel: int) -> FloatArray:
    """Geometric mean of Bpref over topics, each at least 0.00001.

    Takes rel. The value of a topic is its Bpref.
    Source: trec_eval; Robertson, On GMAP, CIKM 2006.

    >>> example("GMBpref")
    0.375
    """
    return bpref(run, rel=rel)


@measure("infAP", trec_name="infAP", bounds="none")
def inferred_average_precision(run: JudgedRun, *, rel: int) -> FloatArray:
    """AP estimated from a sample: negative grades are pooled documents that were not drawn.

    With j = i - 1 documents above, of them `rel` relevant, `non` judged non-relevant and `unj`
    negative, a relevant rank i adds
    1/i + (j/i) ((rel + non + unj)/j) ((rel + e)/(rel + non + 2e)), e = 0.00001; divided by R.
    Takes rel.
    Source: Yilmaz and Aslam, CIKM 2006.

    >>> example("infAP")
    0.4821
    """
    relevant = run.relevant(rel)
    found = run.rows.running_count(relevant) - 1
    judged = run.rows.running_count(run.grade >= 0) - 1
    pooled = run.rows.position - 1
    expected = (found + EPSILON) / (judged + 2 * EPSILON)
    # At rank 1 no document is above, so the second term is 0.  The order of operations is that of
    # trec_eval, since another order may change the last printed digit.
    above = np.maximum(run.rank - 1, 1)
    values = 1 / run.rank + above / run.rank * (pooled / above) * expected
    total = run.rows.sum(np.where(relevant, values, 0.0))
    return ratio(total, run.judgments.num_relevant(rel))


SAMPLED = ("xinfAP", "infNDCG")
"""The measures that estimate from a stratified sample; others treat it as a whole."""

WITHOUT_GRADES = ("NumQ", "NumRet", "Judged", "Unjudged")
"""The measures that do not depend on grades, so that a sample does not change what they mean."""


def measures_of_sample(judgments: Judgments) -> frozenset[str]:
    """Return the names of the measures that these judgments can give.

    In a stratified sample with documents that were not drawn, only estimates and measures without
    grades; otherwise all.

    >>> from evaluation.measures.example import example_run
    >>> measures_of_sample(example_run().judgments) == frozenset(MEASURES)
    True
    """
    is_sample = bool(judgments.strata) and bool((judgments.documents.grade < 0).any())
    return frozenset((*SAMPLED, *WITHOUT_GRADES) if is_sample else MEASURES)


def is_of_one_stratum(judgments: Judgments) -> bool:
    """Whether some topic is a single stratum drawn in part, from which xinfAP is too low.

    Where nothing above a rank was drawn, its smoothing counts a precision of 1/3, and a topic
    without a relevant document that was drawn counts 0.
    """
    if not judgments.strata:
        return False
    documents, topics = judgments.documents, len(judgments.topics)
    every = documents.by_stratum(np.ones(len(documents.grade), bool), topics)
    drawn = documents.by_stratum(documents.grade >= 0, topics)
    is_single = np.count_nonzero(every, axis=1) == 1
    return bool((is_single & (drawn.sum(axis=1) < every.sum(axis=1))).any())


def strata_of(run: JudgedRun) -> Int32Array:
    """Return the stratum of each row; without a sample all documents are in one."""
    if run.document is None:
        return np.zeros(len(run.rank), np.int32)
    return run.judgments.documents.stratum[run.document]


def worth_of_strata(run: JudgedRun) -> FloatArray:
    """Return how many documents one drawn document stands for: float[topics, strata]."""
    documents, topics = run.judgments.documents, len(run.judgments.topics)
    every = documents.by_stratum(np.ones(len(documents.grade), bool), topics)
    return ratio(every, documents.by_stratum(documents.grade >= 0, topics))


@measure("xinfAP", range=(0, INFINITY), bounds="none")
def extended_inferred_average_precision(run: JudgedRun, *, rel: int) -> FloatArray:
    """AP estimated from a stratified sample: in each stratum, some documents were not drawn.

    A drawn relevant document at rank i adds w / i (1 + sum over strata of
    n (r + e) / (j + 3e)), e = 0.00001, with n documents of the stratum above it, j of them drawn,
    r of these relevant; w is the size of its stratum over the number drawn. The total is divided
    by the estimated number of relevant documents, the sum of w over all that were drawn.
    Takes rel. Grade -1 means: in the stratum, not drawn.
    Source: Yilmaz, Kanoulas and Aslam, SIGIR 2008; NIST, sample_eval, for the 3e of smoothing.

    >>> example("xinfAP")
    0.4821
    """
    stratum, relevant = strata_of(run), run.relevant(rel)
    drawn, documents = run.grade >= 0, run.judgments.documents
    expected = np.ones(len(run.rank))
    for number in range(documents.strata):
        here = stratum == number
        pooled = run.rows.running_count(here) - here
        judged = run.rows.running_count(here & drawn) - (here & drawn)
        found = run.rows.running_count(here & relevant) - (here & relevant)
        expected += pooled * (found + EPSILON) / (judged + 3 * EPSILON)
    worth = worth_of_strata(run)
    values = np.where(relevant, worth[run.topic, stratum] * expected / run.rank, 0.0)
    all_relevant = documents.by_stratum(documents.grade >= rel, len(worth))
    return ratio(run.rows.sum(values), (worth * all_relevant).sum(axis=1))


@measure("infNDCG", rel=False, range=(0, INFINITY), bounds="none")
def inferred_ndcg(run: JudgedRun) -> FloatArray:
    """nDCG estimated from a stratified sample: each drawn document counts for its stratum.

    Each gain counts w times, the size of its stratum over the number drawn. The ideal has the
    estimated number of documents of each grade, rounded.
    Grade -1 means: in the stratum, not drawn.
    Source: Yilmaz, Kanoulas and Aslam, SIGIR 2008; NIST, sample_eval.

    >>> example("infNDCG")
    0.6593
    """
    worth, documents = worth_of_strata(run), run.judgments.documents
    gain = worth[run.topic, strata_of(run)] * np.maximum(run.grade, 0)
    dcg = run.rows.sum(gain / np.log2(run.rank + 1.0))
    ideal, end = np.zeros(len(worth)), np.zeros(len(worth), np.int64)
    estimated = np.zeros(len(worth))
    deepest = len(documents.grade) + 1
    discounts = np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(deepest) + 2.0))))
    for grade in np.unique(documents.grade[documents.grade > 0])[::-1]:
        of_grade = documents.by_stratum(documents.grade == grade, len(worth))
        estimated += (worth * of_grade).sum(axis=1)
        start, end = end, np.floor(estimated + 0.5).astype(np.int64)
        ideal += grade * (discounts[end] - discounts[start])
    return ratio(dcg, ideal)


@measure("AUC", bounds="none", also=("AUC-ROC",))
def area_under_roc(run: JudgedRun, *, rel: int) -> FloatArray:
    """Probability that a judged relevant document is above a judged non-relevant one.

    Judged documents that were not retrieved tie at the bottom, which counts 1/2. Undefined
    (NaN, excluded from the mean) where one of the two classes is empty. Negative grades are in
    neither class.
    Takes rel.
    Source: Hanley and McNeil, Radiology 1982.

    >>> example("AUC")
    0.375
    """
    relevant = run.relevant(rel)
    nonrelevant = (run.grade >= 0) & ~relevant
    positives, negatives = run.judgments.num_relevant(rel), run.judgments.num_nonrelevant(rel)
    below = negatives[run.topic] - run.rows.running_count(nonrelevant)
    wins = run.rows.sum(np.where(relevant, below, 0.0))
    ties = (positives - run.rows.count(relevant)) * (negatives - run.rows.count(nonrelevant))
    return ratio(wins + ties / 2, positives * negatives, otherwise=np.nan)


@measure("Judged", at=OPTIONAL_CUTOFF, rel=False, bounds="none")
def judged_at_k(run: JudgedRun, *, k: int | None) -> FloatArray:
    """Share of the first k ranks that is judged, 1 - unjudged / k.

    Ranks that the run leaves empty are not counted; grade -1 is. Without k it is the share of all
    retrieved documents, 1 if there are none.
    Source: trec_eval (1 - unj_k).

    >>> example("Judged@5"), example("Judged")
    (0.6, 0.7143)
    """
    if k is None:
        return ratio(run.rows.count(run.judged), run.retrieved, otherwise=1.0)
    return 1 - unjudged_at_k(run, k=k)


@measure(
    "Grade",
    at=OPTIONAL_CUTOFF,
    rel=False,
    range=(0, INFINITY),
    unit="grade",
    also=("MeanGrade",),
    bounds="none",
)
def mean_grade(run: JudgedRun, *, k: int | None) -> FloatArray:
    """Mean grade of the judged documents among the first k, or of all without k.

    It is undefined where none is judged. Of a run of answers it is how good the documents are that
    an answer cites, in any order.
    Source: Rankfield.

    >>> example("Grade@5"), example("Grade")
    (1.0, 0.8)
    """
    graded = run.within(k) & (run.grade >= 0)
    total = run.rows.sum(np.where(graded, run.grade, 0))
    return ratio(total, run.rows.count(graded), otherwise=np.nan)


@measure(
    "Unjudged", at=CUTOFF, rel=False, higher_is_better=False, trec_name="unj_{k}", bounds="none"
)
def unjudged_at_k(run: JudgedRun, *, k: int) -> FloatArray:
    """Share of unjudged documents in the first k ranks.

    Source: trec_eval.

    >>> example("Unjudged@5")
    0.4
    """
    judged = run.rows.count(run.judged & run.within(k))
    return (np.minimum(run.retrieved, k) - judged) / k
