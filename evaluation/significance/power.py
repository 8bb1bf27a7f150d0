"""Power: the smallest difference that topics can detect, and the topics that it needs.

>>> f"{minimum_detectable(50):.3f}"
'0.404'
>>> topics_needed(0.5)
34
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.significance.studentized import root_chi


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


@lru_cache(maxsize=256)
def minimum_detectable(topics: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest effect d_z that one paired comparison on `topics` topics detects with `power`.

    At least two topics are needed; ValueError otherwise.

    >>> f"{minimum_detectable(250):.3f}"
    '0.178'
    """
    if topics < 2:
        raise ValueError("a paired test needs two topics")
    highest = 1.0
    while power_of(highest, topics, alpha) < power:
        highest *= 2
    return _bisected(lambda effect: power_of(effect, topics, alpha) >= power, 0.0, highest)


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


def _bisected(reached: Callable[[float], bool], low: float, high: float) -> float:
    """The point between `low` and `high` from which `reached` is true, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
