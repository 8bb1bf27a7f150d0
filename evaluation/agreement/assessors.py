"""Agreement of assessors: kappa, alpha, overlap and positive agreement of their grades.

The grades of all assessors are float64[assessors, documents], one column for each document of a
topic, NaN where an assessor gave no grade. Every statistic is computed from counts of pairs of
grades, so that a jackknife over topics takes away the counts of one topic at a time.

    >>> ada, ben = np.array([2.0, 1.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.0, 1.0])
    >>> round(cohen_kappa(ada, ben), 6), round(cohen_kappa(ada, ben, "quadratic"), 6)
    (0.2, 0.636364)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias, get_args

import numpy as np

from evaluation.agreement.jackknife import Estimate, estimate_over_topics
from evaluation.ragged import FloatArray, IntArray
from evaluation.reading.judging.qrels import Qrels

Weights: TypeAlias = Literal["none", "linear", "quadratic"]
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)
LEVELS: tuple[Level, ...] = get_args(Level)
# From counts[..., G, G] of pairs of grades and the G grades, ascending, to a value each.
Statistic: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]


def cohen_kappa(one: FloatArray, other: FloatArray, weights: Weights = "none") -> float | None:
    """Cohen's kappa: the agreement of two assessors beyond that of chance.

    1 - sum w o / sum w e over all pairs of grades, o their observed share and e the product of
    the two assessors' shares. w is 1 for different grades ("none"), |a - b| ("linear") or
    (a - b)^2 ("quadratic"). Documents without a grade of both are ignored. None without such a
    document, or if both give one and the same grade to all (Cohen 1960, 1968).

    >>> cohen_kappa(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0]))
    0.5
    """
    grades = grades_in(np.stack([one, other]))
    return _defined(_kappa(weights)(_pair_counts(one, other, grades), grades))


def cohen_kappa_of_counts(counts: FloatArray, grades: FloatArray) -> FloatArray:
    """Cohen's kappa from counts of pairs of grades, float64[..., G, G]; NaN where undefined.

    >>> cohen_kappa_of_counts(np.array([[20.0, 5.0], [10.0, 15.0]]), np.array([0.0, 1.0])).round(6)
    np.float64(0.4)
    """
    return _kappa("none")(counts, grades)


def fleiss_kappa(counts: IntArray) -> float | None:
    """Fleiss's kappa: the agreement of a fixed number of assessors beyond that of chance.

    `counts` is int64[documents, grades], how many assessors gave each grade; every row adds up
    to the same number, at least 2, else ValueError. None where all grades are the same
    (Fleiss, Psychological Bulletin 1971).

    >>> round(fleiss_kappa(np.array([[3, 0], [2, 1], [0, 3]])), 6)
    0.55
    """
    sizes = set(counts.sum(axis=1).tolist())
    if len(sizes) != 1 or min(sizes) < 2:
        raise ValueError("Fleiss's kappa needs the same number of grades, at least 2, per document")
    grades = np.arange(counts.shape[1], dtype=np.float64)
    return _defined(_fleiss(_coincidences(counts).sum(axis=0), grades))


def krippendorff_alpha(grades: FloatArray, level: Level = "nominal") -> float | None:
    """Krippendorff's alpha: 1 - observed / expected disagreement, with missing grades.

    `grades` is float64[assessors, documents]; documents with fewer than two grades are ignored.
    `level` says what counts as far apart: "nominal" different or not, "interval" (a - b)^2,
    "ordinal" the square of the number of grades given between the two, half of their own
    included. None without such documents, or where all grades are the same
    (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011).

    >>> twice = np.array([[0.0, 1.0, 2.0, 2.0], [0.0, 1.0, 2.0, np.nan]])
    >>> krippendorff_alpha(twice, "ordinal")
    1.0
    """
    scale = grades_in(grades)
    counts = _coincidences(_grade_counts(grades, scale)).sum(axis=0)
    return _defined(_alpha(level)(counts, scale))


def overlap(one: FloatArray, other: FloatArray, rel: float = 1) -> float | None:
    """Overlap: documents relevant for both assessors over those relevant for either.

    |A and B| / |A or B| over documents with a grade of both; None where none is relevant
    (Voorhees, Information Processing and Management 2000).

    >>> overlap(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0]))
    0.3333333333333333
    """
    grades = grades_in(np.stack([one, other]))
    return _defined(_overlap(rel)(_pair_counts(one, other, grades), grades))


def specific_agreement(
    one: FloatArray, other: FloatArray, rel: float = 1
) -> tuple[float | None, float | None]:
    """Positive and negative agreement: 2 a / (2 a + b + c) and 2 d / (2 d + b + c).

    a documents are relevant for both assessors, d for none, b + c for one of them. Kappa is low
    where nearly all documents are relevant, or nearly none is; these two tell the cases apart
    (Cicchetti and Feinstein, Journal of Clinical Epidemiology 1990).

    >>> specific_agreement(np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    (0.6666666666666666, 0.8)
    """
    grades = grades_in(np.stack([one, other]))
    counts = _pair_counts(one, other, grades)
    return _defined(_positive(rel)(counts, grades)), _defined(_negative(rel)(counts, grades))


@dataclass(frozen=True, slots=True)
class Agreement:
    """One statistic of two or more assessors, with a jackknife interval over topics.

    `assessors` are row numbers of the grades, `documents` is the number that the value rests on.
    `low` and `high` are None with fewer than three topics, and where the value is None or would
    be without some topic.
    """

    statistic: str
    assessors: tuple[int, ...]
    documents: int
    value: float | None
    low: float | None
    high: float | None

    def name_assessors(self, names: Sequence[str]) -> str:
        """Return the names of its assessors, of all that there are."""
        if len(self.assessors) == len(names) > 2:
            return f"all {len(names)}"
        return " ".join(names[each] for each in self.assessors)


OF_TWO = {
    "agreement": "share of the documents with the same grade of both",
    "kappa": "Cohen's kappa",
    "kappa_linear": "Cohen's kappa, weighted by the distance of the grades",
    "kappa_quadratic": "Cohen's kappa, weighted by the squared distance",
    "overlap": "documents relevant for both over those relevant for either",
    "positive": "agreement on relevant documents, 2 a / (2 a + b + c)",
    "negative": "agreement on documents that are not, 2 d / (2 d + b + c)",
}
OF_ALL = {
    "fleiss_kappa": "Fleiss's kappa, for the documents that all assessors graded",
    "alpha_nominal": "Krippendorff's alpha, grades are names",
    "alpha_ordinal": "Krippendorff's alpha, grades are ranks",
    "alpha_interval": "Krippendorff's alpha, grades are numbers",
}
STATISTICS = OF_TWO | OF_ALL
# These are never negative.
SHARES = ("agreement", "overlap", "positive", "negative")


def agreement_of_assessors(
    grades: FloatArray,
    topics: IntArray,
    rel: float = 1,
    level: float = 0.95,
) -> list[Agreement]:
    """Return all statistics: those of two for every pair of assessors, then those of all.

    `grades` is float64[assessors, documents], `topics` int64[documents] numbers the topic of each
    document from 0. Intervals are those of `estimate_over_topics`. ValueError with fewer than two
    assessors.

    >>> ada, ben = [2.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 1.0]
    >>> found = agreement_of_assessors(np.array([ada, ben]), np.array([0, 0, 1, 1]))
    >>> [(each.statistic, each.documents, each.value) for each in found[:2]]
    [('agreement', 4, 0.5), ('kappa', 4, 0.19999999999999996)]
    """
    if len(grades) < 2:
        raise ValueError("agreement needs two assessors")
    scale = grades_in(grades)
    found: list[Agreement] = []
    num_topics = int(topics.max(initial=-1)) + 1

    def add(name: str, who: tuple[int, ...], documents: int, counts: FloatArray) -> None:
        lowest = 0.0 if name in SHARES else -1.0
        one = estimate_over_topics(
            lambda each: statistics[name](each, scale), counts, level, lowest
        )
        found.append(Agreement(name, who, documents, one.value, one.low, one.high))

    statistics = _statistics(rel)
    for one, other in combinations(range(len(grades)), 2):
        pairs = _pairs(grades[one], grades[other], scale)
        counts = _by_topic(pairs, topics, num_topics)
        for name in OF_TWO:
            add(name, (one, other), int(counts.sum()), counts)
    given = _grade_counts(grades, scale)
    complete = np.where(given.sum(axis=1, keepdims=True) == len(grades), given, 0)
    for name in OF_ALL:
        used = complete if name == "fleiss_kappa" else given
        counts = _by_topic(_coincidences(used), topics, num_topics)
        documents = int(np.count_nonzero(used.sum(axis=1) >= 2))
        add(name, tuple(range(len(grades))), documents, counts)
    return found


def agreement_by_topic(
    one: FloatArray,
    other: FloatArray,
    topics: IntArray,
    num_topics: int,
    statistic: str = "kappa_quadratic",
    rel: float = 1,
) -> tuple[Estimate, FloatArray]:
    """Return a statistic of two assessors, and a value for each topic whose mean it is nearly.

    `topics` int64[documents] numbers topics below `num_topics`. The values, float64[topics], are
    those of the jackknife, T theta - (T - 1) theta without the topic; NaN for a topic without a
    document of both, and everywhere where theta is not defined without some topic.

    >>> ada, ben = np.array([2.0, 1.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.0, 1.0])
    >>> found, values = agreement_by_topic(ada, ben, np.array([0, 0, 1, 1]), 2, "agreement")
    >>> found.value, values.tolist()
    (0.5, [0.5, 0.5])
    """
    grades = np.stack([one, other])
    scale = grades_in(grades)
    if statistic in OF_TWO:
        counts = _by_topic(_pairs(one, other, scale), topics, num_topics)
    else:
        counts = _by_topic(_coincidences(_grade_counts(grades, scale)), topics, num_topics)

    def compute(each: FloatArray) -> FloatArray:
        return _statistics(rel)[statistic](each, scale)

    has_any = _total(counts) > 0
    used = counts[has_any]
    lowest = 0.0 if statistic in SHARES else -1.0
    values = np.full(num_topics, np.nan)
    if not len(used):
        return Estimate(None), values
    total, number = used.sum(axis=0), len(used)
    if number > 1:
        values[has_any] = number * compute(total) - (number - 1) * compute(total - used)
    if np.isnan(values[has_any]).any():
        values[:] = np.nan
    return estimate_over_topics(compute, used, lowest=lowest), values


def grades_of(assessors: Sequence[Qrels]) -> tuple[list[bytes], FloatArray, IntArray]:
    """Return the topics, float64[assessors, documents] and the topic of each document.

    Documents are those with a grade of at least two assessors, topics those with such documents.
    """
    known: dict[bytes, dict[bytes, int]] = {}
    for qrels in assessors:
        for topic, graded in qrels.grades.items():
            counted = known.setdefault(topic, {})
            for docno, grade in graded.items():
                counted[docno] = counted.get(docno, 0) + (grade >= 0)
    shared = {
        topic: sorted(docno for docno, count in counted.items() if count >= 2)
        for topic, counted in sorted(known.items())
    }
    topics = [topic for topic, docnos in shared.items() if docnos]
    documents = [(topic, docno) for topic in topics for docno in shared[topic]]
    grades = np.array(
        [[q.grades.get(topic, {}).get(docno, -1) for topic, docno in documents] for q in assessors],
        dtype=np.float64,
    )
    numbers = np.repeat(np.arange(len(topics)), [len(shared[topic]) for topic in topics])
    return topics, np.where(grades < 0, np.nan, grades), numbers


def grades_in(grades: FloatArray) -> FloatArray:
    """Return the grades that are given at all, ascending: float64[G].

    >>> grades_in(np.array([[2.0, np.nan], [0.0, 2.0]])).tolist()
    [0.0, 2.0]
    """
    return np.unique(grades[~np.isnan(grades)])


def _defined(value: FloatArray) -> float | None:
    return None if np.isnan(value) else float(value)


def _pairs(one: FloatArray, other: FloatArray, scale: FloatArray) -> FloatArray:
    """float64[documents, G, G]: 1 where `one` gave the row's grade and `other` the column's."""
    first, second = (grades[:, np.newaxis] == scale for grades in (one, other))
    pairs: FloatArray = (first[:, :, np.newaxis] & second[:, np.newaxis, :]).astype(np.float64)
    return pairs


def _pair_counts(one: FloatArray, other: FloatArray, scale: FloatArray) -> FloatArray:
    counts: FloatArray = _pairs(one, other, scale).sum(axis=0)
    return counts


def _grade_counts(grades: FloatArray, scale: FloatArray) -> IntArray:
    """int64[documents, G]: how many assessors gave each grade."""
    counts: IntArray = (grades[:, :, np.newaxis] == scale).sum(axis=0)
    return counts


def _coincidences(counts: IntArray) -> FloatArray:
    """float64[documents, G, G]: pairs of grades of two assessors, each grade counted once.

    A document with m >= 2 grades adds n_c (n_d - [c = d]) / (m - 1); one with fewer adds nothing.
    """
    sizes = counts.sum(axis=1)
    ordered = counts[:, :, np.newaxis] * counts[:, np.newaxis, :]
    ordered = ordered - counts[:, :, np.newaxis] * np.eye(counts.shape[1], dtype=np.int64)
    pairs: FloatArray = ordered / np.maximum(sizes - 1, 1)[:, np.newaxis, np.newaxis]
    return pairs


def _by_topic(pairs: FloatArray, topics: IntArray, num_topics: int) -> FloatArray:
    """float64[T, G, G]: the sums of the documents of each topic."""
    counts = np.zeros((num_topics, *pairs.shape[1:]))
    np.add.at(counts, topics, pairs)
    return counts


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """above / below, NaN where `below` is 0."""
    ratios: FloatArray = np.divide(
        above, below, out=np.full(np.shape(above), np.nan), where=below > 0
    )
    return ratios


def _total(counts: FloatArray) -> FloatArray:
    total: FloatArray = counts.sum(axis=(-2, -1))
    return total


def _agreed(counts: FloatArray, _: FloatArray) -> FloatArray:
    return _ratio(np.trace(counts, axis1=-2, axis2=-1), _total(counts))


def _kappa(weights: Weights) -> Statistic:
    def kappa(counts: FloatArray, scale: FloatArray) -> FloatArray:
        apart = np.abs(scale[:, np.newaxis] - scale)
        weight = np.sign(apart) if weights == "none" else apart
        weight = weight**2 if weights == "quadratic" else weight
        expected = counts.sum(axis=-1)[..., :, np.newaxis] * counts.sum(axis=-2)[..., np.newaxis, :]
        return 1 - _ratio(_total(weight * counts) * _total(counts), _total(weight * expected))

    return kappa


def _fleiss(counts: FloatArray, _: FloatArray) -> FloatArray:
    """Fleiss's kappa from coincidences of grades, float64[..., grades, grades]."""
    total = _total(counts)
    chance = _ratio(np.square(counts.sum(axis=-1)).sum(axis=-1), total**2)
    disagreed = _ratio(total - np.trace(counts, axis1=-2, axis2=-1), total)
    return 1 - _ratio(disagreed, 1 - chance)


def _alpha(level: Level) -> Statistic:
    def alpha(counts: FloatArray, scale: FloatArray) -> FloatArray:
        given = counts.sum(axis=-1)
        position = scale
        if level == "ordinal":
            # The number of grades given between two grades, half of their own included.
            position = given.cumsum(axis=-1) - given / 2
        apart = position[..., :, np.newaxis] - position[..., np.newaxis, :]
        apart = np.square(np.sign(apart) if level == "nominal" else apart)
        expected = given[..., :, np.newaxis] * given[..., np.newaxis, :]
        left = np.maximum(given.sum(axis=-1) - 1, 0)
        return 1 - _ratio(_total(apart * counts) * left, _total(apart * expected))

    return alpha


def _shared(counts: FloatArray, scale: FloatArray, rel: float) -> tuple[FloatArray, ...]:
    """The documents relevant for both, for one and for none."""
    relevant = scale >= rel
    both, none = (_total(counts * np.outer(side, side)) for side in (relevant, ~relevant))
    return both, _total(counts) - both - none, none


def _overlap(rel: float) -> Statistic:
    def shared(counts: FloatArray, scale: FloatArray) -> FloatArray:
        both, one, _ = _shared(counts, scale, rel)
        return _ratio(both, both + one)

    return shared


def _positive(rel: float) -> Statistic:
    def positive(counts: FloatArray, scale: FloatArray) -> FloatArray:
        both, one, _ = _shared(counts, scale, rel)
        return _ratio(2 * both, 2 * both + one)

    return positive


def _negative(rel: float) -> Statistic:
    def negative(counts: FloatArray, scale: FloatArray) -> FloatArray:
        _, one, none = _shared(counts, scale, rel)
        return _ratio(2 * none, 2 * none + one)

    return negative


def _statistics(rel: float) -> dict[str, Statistic]:
    return {
        "agreement": _agreed,
        "kappa": _kappa("none"),
        "kappa_linear": _kappa("linear"),
        "kappa_quadratic": _kappa("quadratic"),
        "overlap": _overlap(rel),
        "positive": _positive(rel),
        "negative": _negative(rel),
        "fleiss_kappa": _fleiss,
        **{f"alpha_{level}": _alpha(level) for level in LEVELS},
    }
