"""Measures of nuggets: which of what a good answer says is in the answer.

The credit of a nugget is 1 for support, `partial` for partial support, 0 for none and for a
contradiction. An unjudged nugget counts as none.
"""

from __future__ import annotations

import numpy as np

from evaluation.answers.judged import JudgedAnswers, credit
from evaluation.answers.labels import CONTRADICTS, SUPPORT, UNJUDGED
from evaluation.answers.labels import PARTIAL as PARTLY
from evaluation.answers.measures.declaring import OF, OVER, PARTIAL, Share, answer_measure
from evaluation.answers.measures.example import example  # noqa: F401, for the docstrings
from evaluation.measures.declaring import choice, number
from evaluation.ragged import FloatArray, IntArray, ratio

OF_ANSWERS = choice("n", "all", "judged")


@answer_measure("Nuggets", OF, PARTIAL, OVER, domain="nuggets", unjudged="nuggets")
def nuggets(judged: JudgedAnswers, *, of: str, partial: float) -> Share:
    """Mean credit of the nuggets, or of the vital ones; 0 for a topic without any.

    Takes of (all or vital), partial and over. strict_vital is Nuggets(of=vital,partial=0), vital
    Nuggets(of=vital), strict_all Nuggets(partial=0) and all Nuggets.
    Source: Pradeep and others, Initial Nugget Evaluation Results for the TREC 2024 RAG Track, 2024.

    >>> example("Nuggets"), example("strict_vital")
    (0.375, 0.5)
    """
    rows = judged.nuggets
    chosen = rows.vital if of == "vital" else np.ones(len(rows.topic), bool)
    part = judged.sum(rows.topic, credit(rows.code, partial) * chosen)
    return Share(part, judged.sum(rows.topic, chosen))


VITAL_WEIGHT = number("vital", 2.0, "a number of at least 0", lambda value: value >= 0)
OKAY_WEIGHT = number("okay", 1.0, "a number of at least 0", lambda value: value >= 0)


@answer_measure(
    "WNuggets", VITAL_WEIGHT, OKAY_WEIGHT, PARTIAL, OVER, domain="nuggets", unjudged="nuggets"
)
def weighted_nuggets(judged: JudgedAnswers, *, vital: float, okay: float, partial: float) -> Share:
    """Mean credit of the nuggets, weighted by their importance.

    Takes vital and okay (weights of vital and of all other nuggets), partial and over.
    Source: Lawrie and others, Overview of the TREC 2025 RAGTIME Track.

    >>> example("WNuggets"), example("WNuggets(partial=0)")
    (0.5, 0.3333)
    """
    rows = judged.nuggets
    weight = np.where(rows.vital, vital, okay)
    part = judged.sum(rows.topic, credit(rows.code, partial) * weight)
    return Share(part, judged.sum(rows.topic, weight))


@answer_measure("Groups", choice("at", "support", "partial"), domain="nuggets", unjudged="nuggets")
def groups(judged: JudgedAnswers, *, at: str) -> Share:
    """Share of the groups with at least one nugget that is supported.

    Takes at: with partial, partial support is enough. A nugget without a group counts as a group
    of its own.
    Source: Rankfield, after the sub-narratives of the TREC 2025 RAG Track.

    >>> example("Groups"), example("Groups(at=partial)")
    (0.3333, 0.3333)
    """
    rows = judged.nuggets
    found = (rows.code == SUPPORT) | ((rows.code == PARTLY) & (at == "partial"))
    topic, counts = _by_group(rows.topic, rows.group)
    has_one = np.bincount(rows.group, found, minlength=len(topic)) > 0
    return Share(judged.sum(topic, has_one), judged.sum(topic, counts > 0))


@answer_measure("GroupMean", PARTIAL, domain="nuggets", unjudged="nuggets")
def group_mean(judged: JudgedAnswers, *, partial: float) -> Share:
    """Mean over the groups of the mean credit of their nuggets: each group counts once.

    Takes partial.
    Source: Rankfield, after the sub-narratives of the TREC 2025 RAG Track.

    >>> example("GroupMean")
    0.25
    """
    rows = judged.nuggets
    topic, counts = _by_group(rows.topic, rows.group)
    credits = np.bincount(rows.group, credit(rows.code, partial), minlength=len(topic))
    return Share(judged.sum(topic, ratio(credits, counts)), judged.sum(topic, counts > 0))


def _by_group(topic: IntArray, group: IntArray) -> tuple[IntArray, IntArray]:
    """Return the topic of every group and how many nuggets it has."""
    size = int(group.max()) + 1 if len(group) else 0
    topics = np.zeros(size, np.int64)
    topics[group] = topic
    return topics, np.bincount(group, minlength=size).astype(np.int64)


@answer_measure(
    "Contradicted",
    OVER,
    domain="nuggets",
    unjudged="nuggets",
    contradicts=True,
    higher_is_better=False,
)
def contradicted(judged: JudgedAnswers) -> Share:
    """Share of the nuggets that the answer contradicts.

    Takes over.
    Source: TREC 2025 DRAGUN Track, assessment of reports.

    >>> example("Contradicted")
    0.25
    """
    rows = judged.nuggets
    return Share(
        judged.sum(rows.topic, rows.code == CONTRADICTS),
        judged.sum(rows.topic, np.ones(len(rows.topic))),
    )


@answer_measure(
    "RubricSupport",
    PARTIAL,
    OF_ANSWERS,
    domain="nuggets",
    unjudged="nuggets",
    also=("supportive_score",),
)
def rubric_support(judged: JudgedAnswers, *, partial: float, n: str) -> Share:
    """Mean credit of each question's accepted answers, weighted by the question.

    Weights are 4, 2 and 1 for the importance A, B and C. Takes partial and n: with judged, a
    question counts only its judged accepted answers, as the public script does.
    Source: trec-dragun/resources, utils/score.py.

    >>> example("RubricSupport")
    0.4286
    """
    return _rubric(judged, credit(judged.nuggets.code, partial), n)


@answer_measure(
    "RubricContradiction",
    OF_ANSWERS,
    domain="nuggets",
    unjudged="nuggets",
    contradicts=True,
    higher_is_better=False,
    also=("contradictory_score",),
)
def rubric_contradiction(judged: JudgedAnswers, *, n: str) -> Share:
    """Share of each question's accepted answers that are contradicted, weighted by the question.

    Takes n.
    Source: trec-dragun/resources, utils/score.py.

    >>> example("RubricContradiction")
    0.1429
    """
    return _rubric(judged, (judged.nuggets.code == CONTRADICTS).astype(np.float64), n)


def _rubric(judged: JudgedAnswers, values: FloatArray, n: str) -> Share:
    rows = judged.nuggets
    topic, counts = _by_group(rows.topic, rows.parent)
    weight = np.zeros(len(topic))
    weight[rows.parent] = rows.weight
    number = np.bincount(rows.parent, rows.code != UNJUDGED, minlength=len(topic))
    means = ratio(
        np.bincount(rows.parent, values, minlength=len(topic)), number if n == "judged" else counts
    )
    return Share(judged.sum(topic, weight * means), judged.sum(topic, weight))


@answer_measure("RubricQuestions", domain="nuggets", unjudged="nuggets")
def rubric_questions(judged: JudgedAnswers) -> Share:
    """How well the best of a run's questions meets each question of a rubric, weighted.

    Very similar is 1, similar .5, else 0; a compound question is 0.
    Source: trec-dragun/resources, utils/score.py.

    >>> example("RubricQuestions")
    0.5714
    """
    rows = judged.nuggets
    topic, _ = _by_group(rows.topic, rows.parent)
    weight, best = np.zeros(len(topic)), np.zeros(len(topic))
    weight[rows.parent] = rows.weight
    np.maximum.at(best, rows.parent, credit(rows.code, 0.5))
    return Share(judged.sum(topic, weight * best), judged.sum(topic, weight))


@answer_measure("Rubric", domain="nuggets", unjudged="nuggets", range=(-np.inf, 1))
def rubric(judged: JudgedAnswers) -> Share:
    """Sum of weight times grade, over the sum of the positive weights; it may be negative.

    Grades are 1, .5 and 0. It is 0 where no weight is positive.
    Source: Rankfield, after the rubrics of the TREC 2026 RAG Track.

    >>> example("Rubric")
    0.5455
    """
    rows = judged.nuggets
    met = judged.sum(rows.topic, rows.weight * credit(rows.code, 0.5))
    positive = judged.sum(rows.topic, np.maximum(rows.weight, 0))
    return Share(np.where(positive > 0, met, 0.0), positive)


SHARE_SAID = number("p", 1.0, "a number above 0, up to 1", lambda value: 0 < value <= 1)


@answer_measure(
    "NuggetsSaid",
    SHARE_SAID,
    domain="nuggets",
    range=(0, np.inf),
    unit="words",
    higher_is_better=False,
)
def nuggets_said(judged: JudgedAnswers, *, p: float) -> FloatArray:
    """Number of words of the answer's beginning that hold the share p of its credited nuggets.

    Takes p. Undefined where no mark names the sentence that is the evidence.
    Source: Rankfield.

    >>> example("NuggetsSaid"), example("NuggetsSaid(0.5)")
    (6.0, 3.0)
    """
    rows = judged.nuggets
    is_said = (credit(rows.code, 1.0) > 0) & ~np.isnan(rows.said)
    topic, said = rows.topic[is_said], rows.said[is_said]
    order = np.lexsort((said, topic))
    counts = judged.sum(topic, np.ones(len(topic))).astype(np.int64)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    wanted = starts + np.maximum(np.ceil(p * counts - 1e-9).astype(np.int64), 1) - 1
    values = np.full(judged.size, np.nan)
    has_any = counts > 0
    values[has_any] = said[order][wanted[has_any]]
    return values
