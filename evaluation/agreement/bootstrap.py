"""Bootstrap intervals of agreement: the topics are drawn, and their counts are added up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.ragged import FloatArray


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; None where undefined, or with fewer than two topics."""

    value: float | None
    low: float | None = None
    high: float | None = None


def bootstrap_topics(
    statistic: Callable[[FloatArray], FloatArray],
    counts: FloatArray,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return a statistic of the summed counts, with percentiles over samples of the topics.

    `counts` is float64[topics, ...]; `statistic` takes [..., G, G] to one value each, NaN where
    undefined. Samples in which it is undefined do not count.

    >>> agreed = np.array([[[3.0, 1.0], [0.0, 4.0]]])
    >>> bootstrap_topics(lambda each: np.trace(each, axis1=-2, axis2=-1), agreed)
    Estimate(value=7.0, low=None, high=None)
    """
    value = float(statistic(counts.sum(axis=0)))
    if np.isnan(value) or len(counts) < 2:
        return Estimate(None if np.isnan(value) else value)
    values = statistic(np.tensordot(draw_topics(len(counts), draws, seed), counts, axes=1))
    values = values[~np.isnan(values)]
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, float(low), float(high))


def draw_topics(num_topics: int, draws: int, seed: int) -> FloatArray:
    """float64[draws, topics]: how often each draw with replacement took each topic."""
    if not num_topics:
        return np.zeros((draws, 0))
    shares = np.full(num_topics, 1 / num_topics)
    return np.random.default_rng(seed).multinomial(num_topics, shares, draws).astype(np.float64)
