"""Power: the smallest difference that topics can detect, and the topics that it needs.

>>> round(detectable_effect(50, critical_before(50, runs=2)), 4)
0.4131
>>> topics_needed(0.5)
34
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.significance.across import Family
from evaluation.significance.planning import fewest
from evaluation.significance.studentized import (
    find_root,
    root_chi,
    studentized_range_quantile,
)
from evaluation.significance.units import FEWEST_TOPICS
from evaluation.significance.widening import widening

# No effect is larger than this many standard deviations.
LARGEST_EFFECT = 1000.0
# A typed effect has few digits.
ROUNDING = 1e-4
# With so many topics a critical value changes no more.
MANY = 100_000


def power_of(effect: float, topics: int, alpha: float = 0.05) -> float:
    """The probability that a two-sided paired t-test detects a true effect d_z = mean / sd.

    P(|T| > t) where T has the noncentral t distribution on n - 1 degrees of freedom with
    noncentrality d_z sqrt(n), and t is the central 1 - alpha / 2 quantile. n is at least 2.
    P(T > t) is the mean of Phi(d_z sqrt(n) - t s) over s, a chi variable over its root degrees.

    >>> round(power_of(0.5, topics=34), 3)
    0.808
    """
    nodes, weights = root_chi(topics - 1, coarsest=0.01)
    critical = nodes * scipy.special.stdtrit(topics - 1, 1 - alpha / 2)
    noncentrality = abs(effect) * topics**0.5
    above = scipy.special.ndtr(noncentrality - critical)
    found = above + scipy.special.ndtr(-noncentrality - critical)
    return float(np.dot(found, weights))


def power_in_family(effect: float, topics: int, critical: float) -> float:
    """The probability that one run named in advance exceeds the critical value of its family.

    P(T > c v(d)), where T has the noncentral t distribution on n - 1 degrees of freedom with
    noncentrality d sqrt(n), d = mean / sd of the differences. v(d) is how much wider than the
    usual error the widened one is expected to be.

    >>> round(power_in_family(0.5383, 50, critical=2.8499), 4)
    0.8
    """
    nodes, weights = root_chi(topics - 1, coarsest=0.01)
    squares = topics - 1 + 2 * float(widening(topics)) ** 2 * (1 + effect**2 / 4)
    wider = (topics * squares / ((topics + 1) * (topics + 2))) ** 0.5
    above = scipy.special.ndtr(abs(effect) * topics**0.5 - critical * wider * nodes)
    return float(above @ weights)


@lru_cache(maxsize=1024)
def detectable_effect(topics: int, critical: float, power: float = 0.8) -> float | None:
    """The smallest effect that one run named in advance shows against the value of its family.

    None where no effect is large enough.

    >>> round(detectable_effect(50, critical_before(50, runs=12)), 4)
    0.5383
    """

    def missing(effect: float) -> float:
        return power - power_in_family(effect, topics, critical)

    highest = 1.0
    while missing(highest) > 0:
        highest *= 2
        if highest > LARGEST_EFFECT:
            return None
    return find_root(missing, 0.0, highest)


@lru_cache(maxsize=1024)
def critical_before(
    topics: int, runs: int, family: Family = "baseline", alpha: float = 0.05
) -> float:
    """The critical value of a family of runs, before any is scored.

    Against the baseline it is Dunnett's two-sided value for runs - 1 comparisons with correlations
    of 1/2, which related runs do not exceed; for all pairs that of the studentised range over
    sqrt(2) (Dunnett, JASA 1955; Tukey 1953). ValueError below two runs or two topics.

    >>> [round(critical_before(50, runs), 4) for runs in (5, 12)]
    [2.5238, 2.8499]
    """
    if runs < 2 or topics < 2:
        raise ValueError("a family needs two runs and two topics")
    if family == "all":
        return studentized_range_quantile(1 - alpha, runs, topics - 1) / 2**0.5
    nodes, weights = root_chi(topics - 1)
    z = np.linspace(-9.0, 9.0, 91)
    density = np.exp(-z * z / 2) * (z[1] - z[0]) / (2 * np.pi) ** 0.5

    def excess(value: float) -> float:
        ends = value * nodes[:, np.newaxis] * 2**0.5
        inside = scipy.special.ndtr(z + ends) - scipy.special.ndtr(z - ends)
        return 1 - alpha - float(weights @ (np.power(inside, runs - 1) @ density))

    highest = 8.0
    while excess(highest) > 0:
        highest *= 2
    return find_root(excess, 0.0, highest)


def topics_in_family(
    effect: float, runs: int, family: Family = "baseline", power: float = 0.8, alpha: float = 0.05
) -> int:
    """The fewest topics on which one run named in advance shows an effect with `power`.

    As in `detectable_effect`; six topics at least, since fewer give no verdict. ValueError for no
    effect and for one that needs millions of topics.

    >>> topics_in_family(0.4131, runs=2)
    50
    """
    if not effect:
        raise ValueError("no number of topics detects an effect of 0")

    def is_enough(topics: int) -> bool:
        critical = critical_before(topics, runs, family, alpha)
        return power_in_family(effect, topics, critical) >= power - ROUNDING

    usual = critical_before(MANY, runs, family, alpha) + float(scipy.special.ndtri(power))
    return fewest(is_enough, FEWEST_TOPICS, around=round(usual**2 / effect**2))


def topics_needed(effect: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """The fewest topics on which a paired t-test detects the effect d_z with `power`.

    From a pilot, d_z is the smallest difference of interest over the standard deviation of the
    differences, which is sqrt(2 V) where V is the residual variance of a two-way analysis. The
    search starts from (z_(1-alpha/2) + z_power)^2 / d^2 + z_(1-alpha/2)^2 / 2
    (Nagata 2003; Sakai, Information Retrieval Journal 2016).

    >>> topics_needed(0.2)
    199
    """
    if not effect:
        raise ValueError("no number of topics detects an effect of 0")
    z = float(scipy.special.ndtri(1 - alpha / 2))
    topics = max(2, round((z + float(scipy.special.ndtri(power))) ** 2 / effect**2 + z * z / 2))
    while topics > 2 and power_of(effect, topics - 1, alpha) >= power:
        topics -= 1
    while power_of(effect, topics, alpha) < power:
        topics += 1
    return topics


def smallest_p(topics: int) -> float:
    """The smallest p that a sign-flip test on n topics can give: 2 / 2^n.

    >>> smallest_p(5), smallest_p(6)
    (0.0625, 0.03125)
    """
    return min(1.0, 2.0 ** (1 - topics))
