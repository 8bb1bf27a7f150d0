"""Paired t, Wilcoxon and sign test. Each takes the differences of one run, float64[T].

Undefined topics (NaN) are excluded. All p are two-sided; p is 1 if all differences are 0.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.ragged import FloatArray, IntArray
from evaluation.significance.differences import (
    EQUAL,
    Interval,
    Summary,
    TestResult,
    summarise,
    whole,
)

WILCOXON_EXACT_UP_TO = 50
# Two runs are nearly equal if the variance of their difference is below this share of theirs.
ALIKE = 1e-4


def paired_t(differences: FloatArray) -> TestResult:
    """Student's paired t-test: t = mean / (sd / sqrt(n)) on n - 1 degrees of freedom.

    If all differences are equal, the denominator of t is 0 and p is the limit, 0; if all are 0,
    p is 1. At least two topics are needed (Student, Biometrika 1908).

    >>> result = paired_t(np.array([0.11, 0.01, 0.01, -0.02, 0.02, 0.47, 0.11, -0.01, 0.01, -0.07]))
    >>> round(result.statistic, 6), round(result.p, 6)
    (1.324169, 0.218088)
    """
    summary = summarise(differences)
    if summary.deviation == 0:
        same = abs(summary.mean) <= EQUAL
        return TestResult(float(same), False, 0, 0.0 if same else np.inf * np.sign(summary.mean))
    t = summary.mean / summary.deviation * np.sqrt(summary.topics)
    p = 2.0 * float(scipy.special.stdtr(summary.topics - 1, -abs(t)))
    return TestResult(p, False, 0, float(t))


def all_paired_t(scores: FloatArray) -> FloatArray:
    """The p of `paired_t` for all pairs of rows of float64[R, T]: float64[R, R], its diagonal 1.

    One matrix product gives the variances of all differences. It is inaccurate for two runs that
    are nearly equal, so such a pair is tested on its own. Only topics with a score of every run
    are used; at least two are needed.

    >>> scores = np.array([[0.1, 0.4, 0.3], [0.2, 0.6, 0.3], [0.1, 0.4, 0.3]])
    >>> all_paired_t(scores).round(4).tolist()
    [[1.0, 0.2254, 1.0], [0.2254, 1.0, 0.2254], [1.0, 0.2254, 1.0]]
    """
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    topics = scores.shape[1]
    means = scores.mean(axis=1, keepdims=True)
    products = (scores - means) @ (scores - means).T
    sizes = np.diag(products) + np.diag(products)[:, np.newaxis]
    squares = sizes - 2 * products
    alike = squares <= ALIKE * sizes
    error = np.sqrt(np.where(alike, 1.0, squares) / (topics - 1) / topics)
    p: FloatArray = 2.0 * scipy.special.stdtr(topics - 1, -np.abs(means - means.T) / error)
    for one, other in np.argwhere(np.triu(alike, 1)).tolist():
        p[one, other] = p[other, one] = paired_t(scores[one] - scores[other]).p
    np.fill_diagonal(p, 1.0)
    return p


def t_interval(differences: FloatArray, level: float = 0.95) -> Interval:
    """mean -+ t sd / sqrt(n), t the (1 + level) / 2 quantile on n - 1 degrees of freedom.

    >>> t_interval(np.array([0.25, 0.25, 0.25]))
    Interval(low=0.25, high=0.25)
    """
    return interval_around(summarise(differences), level)


def interval_around(summary: Summary, level: float) -> Interval:
    """`t_interval` from a summary of the differences."""
    if summary.deviation == 0:
        return Interval(summary.mean, summary.mean)
    half = t_quantile(summary.topics - 1, level) * summary.deviation / summary.topics**0.5
    return Interval(summary.mean - half, summary.mean + half)


@lru_cache(maxsize=64)
def t_quantile(degrees: int, level: float) -> float:
    """The (1 + level) / 2 quantile of Student's t."""
    return float(scipy.special.stdtrit(degrees, (1 + level) / 2))


def sign_test(differences: FloatArray) -> TestResult:
    """The exact sign test: wins against losses, without ties; the statistic is the number of wins.

    p = min(1, 2 B(min(wins, losses); wins + losses, 1/2)), B the binomial distribution function.

    >>> sign_test(np.array([1.0] * 29 + [-1.0] * 21)).p.__round__(7)
    0.3222363
    """
    row = whole(differences)
    wins, losses = int(np.count_nonzero(row > 0)), int(np.count_nonzero(row < 0))
    if wins + losses == 0:
        return TestResult(1.0, True, 1, 0.0)
    p = min(1.0, 2.0 * float(scipy.special.bdtr(min(wins, losses), wins + losses, 0.5)))
    return TestResult(p, True, 2 ** (wins + losses), float(wins))


def wilcoxon(differences: FloatArray, exact: bool | None = None) -> TestResult:
    """Wilcoxon's signed-rank test; the statistic is W, the smaller of the two rank sums.

    Zeros are excluded; equal sizes share the mean of their ranks. Up to 50 differences p is
    exact over these ranks; beyond, normal with correction for ties and continuity
    (Wilcoxon, Biometrics Bulletin 1945). `exact` selects one of the two.

    >>> maize = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])
    >>> result = wilcoxon(maize)
    >>> result.statistic, round(result.p, 7)
    (24.0, 0.0412598)
    """
    row = whole(differences)
    row = row[row != 0]
    if len(row) == 0:
        return TestResult(1.0, True, 1, 0.0)
    doubled = _doubled_ranks(np.abs(row))
    smaller = min(int(doubled[row > 0].sum()), int(doubled[row < 0].sum()))
    if exact is None:
        exact = len(row) <= WILCOXON_EXACT_UP_TO
    p = _signed_rank_p(doubled, smaller) if exact else _signed_rank_normal_p(doubled, smaller)
    return TestResult(min(1.0, p), exact, 2 ** len(row) if exact else 0, smaller / 2)


def _doubled_ranks(sizes: FloatArray) -> IntArray:
    """Twice the rank of every size, ascending from 1, so that shared ranks are whole too."""
    _, group, count = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    doubled: IntArray = (2 * last - count + 1)[group]
    return doubled


def _signed_rank_p(doubled: IntArray, smaller: int) -> float:
    """2 P(rank sum <= smaller), where each rank is added with probability 1/2."""
    probability = np.zeros(int(doubled.sum()) + 1)
    probability[0] = 1.0
    for rank in doubled:
        shifted = np.zeros_like(probability)
        shifted[rank:] = probability[:-rank]
        probability = (probability + shifted) / 2
    return 2.0 * float(probability[: smaller + 1].sum())


def _signed_rank_normal_p(doubled: IntArray, smaller: int) -> float:
    """The normal approximation; the sum of squared shared ranks carries the tie correction."""
    ranks = doubled / 2
    mean, deviation = ranks.sum() / 2, np.sqrt(np.square(ranks).sum()) / 2
    return 2.0 * float(scipy.special.ndtr(min(0.0, (smaller / 2 - mean + 0.5) / deviation)))
