"""Intervals of agreement by the jackknife over topics: each topic is left out once.

>>> agreed, documents = np.array([17, 15, 15, 17]), np.array([20, 20, 20, 20])
>>> counts = np.stack([agreed, documents], axis=1)
>>> found = estimate_over_topics(lambda each: each[..., 0] / each[..., 1], counts)
>>> found.value, round(found.low, 3), round(found.high, 3)
(0.8, 0.708, 0.892)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.ragged import FloatArray

# With fewer topics the spread of the values without one of them says nothing.
FEWEST_TOPICS = 3


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; None where undefined, or with fewer than three topics."""

    value: float | None
    low: float | None = None
    high: float | None = None


def estimate_over_topics(
    statistic: Callable[[FloatArray], FloatArray],
    counts: FloatArray,
    level: float = 0.95,
    lowest: float = -1.0,
) -> Estimate:
    """Return a statistic of the summed counts, with its interval over topics.

    `counts` is float64[topics, ...]; `statistic` takes such counts, of all topics or of any, to
    one value each, NaN where undefined. With T topics, theta_i = T theta - (T - 1) theta without
    topic i; the interval is theta ± t sd(theta_i) / sqrt(T), t with T - 1 degrees of freedom, cut
    to `lowest` and 1. There is none where the statistic is undefined without some topic (Tukey
    1958; Miller, Biometrika 1974).
    """
    # Pools need the agreement of boards, and numpy alone.
    import scipy  # type: ignore[import-untyped]

    total, topics = counts.sum(axis=0), len(counts)
    value = float(statistic(total))
    if np.isnan(value):
        return Estimate(None)
    if topics < FEWEST_TOPICS:
        return Estimate(value)
    without = statistic(total - counts)
    error = float(np.std(topics * value - (topics - 1) * without, ddof=1)) / topics**0.5
    if np.isnan(error):
        return Estimate(value)
    margin = float(scipy.special.stdtrit(topics - 1, (1 + level) / 2)) * error
    return Estimate(value, max(value - margin, lowest), min(value + margin, 1.0))
