"""Topic-set-size design: how many topics a collection needs, from a variance of earlier runs.

>>> [anova_topics(0.1, 0.0462, runs) for runs in (2, 3, 10)]
[74, 91, 146]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.ragged import FloatArray, IntArray
from evaluation.significance.units import Units

MOST_TOPICS = 10_000_000


@dataclass(frozen=True, slots=True)
class Variances:
    """Variances of scores, each estimated over all runs.

    `residual` is that of a one-way analysis, within runs: with the spread of the topics.
    `paired` is the mean over all pairs of runs of the variance of their differences. Topics in
    groups have those of whole groups, of `per_group` topics on average: a plan of so many groups
    takes that many times as many topics.
    """

    residual: float
    paired: float
    per_group: float = 1.0

    def topics_of(self, units: int) -> int:
        """The topics of so many groups, or single topics.

        >>> Variances(0.1, 0.1).topics_of(40), Variances(0.1, 0.1, 2.5).topics_of(41)
        (40, 103)
        """
        return ceil(round(units * self.per_group, 6))

    def units_of(self, topics: int) -> int:
        """The whole groups, or single topics, that so many topics make."""
        return int(round(topics / self.per_group, 6))


def values_of(scores: FloatArray, groups: IntArray | None = None) -> FloatArray:
    """float64[R, U]: the topics with a score of every run, single or as groups.

    `groups` int[T] has the group of each topic; without it topics are single.
    """
    kept = ~np.isnan(scores).any(axis=0)
    if groups is None:
        return scores[:, kept]
    return Units.of(scores[:, kept], np.unique(groups[kept], return_inverse=True)[1]).values


def variances_of(scores: FloatArray, groups: IntArray | None = None) -> Variances:
    """Estimate the variances from float64[R, T]; topics with NaN are excluded.

    `groups` int[T] has the group of each topic. ValueError below two runs, topics or groups.

    >>> found = variances_of(np.array([[0.1, 0.4, 0.4], [0.1, 0.5, 0.6]]))
    >>> round(found.residual, 6), round(found.paired, 6)
    (0.05, 0.01)
    """
    counted = int(np.count_nonzero(~np.isnan(scores).any(axis=0)))
    scores = values_of(scores, groups)
    runs, topics = scores.shape
    if runs < 2 or topics < 2:
        raise ValueError("variances need two runs and two topics")
    within = scores - scores.mean(axis=1, keepdims=True)
    left = within - within.mean(axis=0)
    # The mean variance of a difference is twice the residual variance of a two-way analysis.
    two_way = np.square(left).sum() / ((runs - 1) * (topics - 1))
    residual = float(np.square(within).sum() / (runs * (topics - 1)))
    return Variances(residual, float(2 * two_way), counted / topics)


def pair_deviations(scores: FloatArray, groups: IntArray | None = None) -> FloatArray:
    """The standard deviation of the differences of each pair of runs of float64[R, T].

    float64[R (R - 1) / 2]; topics with NaN are excluded, and `groups` are those of `variances_of`.
    Their mean square is `paired`.

    >>> pair_deviations(np.array([[0.1, 0.4, 0.4], [0.1, 0.5, 0.6]])).round(6).tolist()
    [0.1]
    """
    scores = values_of(scores, groups)
    if len(scores) < 2 or scores.shape[1] < 2:
        return np.zeros(0)
    rows = [(scores[run + 1 :] - scores[run]).std(axis=1, ddof=1) for run in range(len(scores) - 1)]
    return np.concatenate(rows)


def anova_topics(
    difference: float, variance: float, runs: int, power: float = 0.8, alpha: float = 0.05
) -> int:
    """The fewest topics on which a one-way ANOVA of `runs` runs finds an effect with `power`.

    `difference` is between the best and the worst run, `variance` the residual variance. The
    other runs are in the middle, the case that is hardest to see: with n topics the noncentrality
    of F is n difference^2 / (2 variance), on runs - 1 and runs (n - 1) degrees of freedom.
    ValueError where no number of topics is enough (Sakai, Information Retrieval Journal 2016).

    >>> anova_topics(0.1, 0.0462, runs=2)
    74
    """
    _check(difference, variance)
    if runs < 2:
        raise ValueError("an analysis of variance needs two runs")

    def is_enough(topics: int) -> bool:
        between, within = runs - 1, runs * (topics - 1)
        critical = scipy.special.fdtri(between, within, 1 - alpha)
        noncentrality = topics * difference**2 / (2 * variance)
        return 1 - float(scipy.special.ncfdtr(between, within, noncentrality, critical)) >= power

    return fewest(is_enough)


def interval_topics(width: float, variance: float, level: float = 0.95) -> int:
    """The fewest topics whose interval of a mean difference is expected to be at most this wide.

    `variance` is that of the differences. The expected width is 2 t sqrt(variance / n) c, where t
    is the quantile on n - 1 degrees of freedom and c, the mean of an estimated standard deviation
    over the true one, is sqrt(2 / (n - 1)) Gamma(n / 2) / Gamma((n - 1) / 2)
    (Sakai, Information Retrieval Journal 2016).

    >>> interval_topics(0.1, 0.0924)
    144
    """
    _check(width, variance)

    def is_enough(topics: int) -> bool:
        degrees = topics - 1
        ratio = scipy.special.gammaln(topics / 2) - scipy.special.gammaln(degrees / 2)
        bias = np.exp(ratio) * np.sqrt(2 / degrees)
        t = scipy.special.stdtrit(degrees, (1 + level) / 2)
        return bool(2 * t * np.sqrt(variance / topics) * bias <= width)

    return fewest(is_enough)


def _check(difference: float, variance: float) -> None:
    if not difference > 0 or not variance > 0:
        raise ValueError("the difference and the variance must be above 0")


def fewest(is_enough: Callable[[int], bool], least: int = 2, around: int = 2) -> int:
    """The smallest number from `least` that is enough, by growing steps from `around`.

    >>> fewest(lambda number: number >= 40, around=37), fewest(lambda number: True, around=9)
    (40, 2)
    """
    low = high = min(max(around, least), MOST_TOPICS)
    step = 1
    while high <= MOST_TOPICS and not is_enough(high):
        low, high, step = high, high + step, 2 * step
    if high > MOST_TOPICS:
        raise ValueError(f"more than {MOST_TOPICS:,} topics would be needed")
    while low == high or (low >= least and is_enough(low)):
        low, high, step = max(low - step, least - 1), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
