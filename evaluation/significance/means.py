"""The interval of the mean of one run.

It describes a run: where the intervals of two runs overlap, they can still differ.

>>> interval_of_mean(np.array([1.0] * 8 + [0.0] * 2), (0, 1))
Interval(low=0.4901624715, high=0.9433178485)
"""

from __future__ import annotations

from math import inf, isfinite

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.measures import Measure
from evaluation.ragged import FloatArray
from evaluation.significance.differences import EQUAL, Interval
from evaluation.significance.scales import scale_of
from evaluation.significance.widening import widening

# Enough for what is printed, and the same on every machine.
DIGITS = 10


def interval_of_mean(
    scores: FloatArray, limits: tuple[float, float], level: float = 0.95
) -> Interval | None:
    """The interval of the mean of float64[T], NaN excluded; `limits` are those of the measure.

    Scores that are all 0 or 1 have Wilson's interval (JASA 1927). Others have mean ± t e, cut to
    the limits: e is the error with two more topics, a typical distance G from the mean, which few
    topics near an end of the range do not show. None below two topics, and where all scores are
    equal and the measure has no fixed range.
    """
    scores = scores[~np.isnan(scores)]
    topics, (lowest, highest) = len(scores), limits
    if topics < 2:
        return None
    if limits == (0, 1) and np.isin(scores, (0, 1)).all():
        return _interval_of_share(float(scores.mean()), topics, level)
    mean, squares = float(scores.mean()), float(np.square(scores - scores.mean()).sum())
    is_fixed = isfinite(highest - lowest)
    half = (highest - lowest) / 2 if is_fixed else float(np.ptp(scores)) / 2
    if half <= EQUAL:
        return None
    size = np.sqrt((squares + half**2) / (topics + 1)) * float(widening(float(topics)))
    error = np.sqrt((squares + 2 * size**2) / ((topics + 1) * (topics + 2)))
    margin = float(scipy.special.stdtrit(topics - 1, (1 + level) / 2) * error)
    return Interval(max(mean - margin, lowest), min(mean + margin, highest))


def interval_of_score(scores: FloatArray, measure: Measure) -> Interval | None:
    """The interval of what a board prints of a run: a mean, a total or a geometric mean.

    >>> from evaluation.measures import parse_measure
    >>> interval_of_score(np.array([0.0, 1.0, 1.0, 1.0]), parse_measure("Success@1"))
    Interval(low=0.3006418426, high=0.9544127392)
    """
    scale, defined = scale_of(measure), scores[~np.isnan(scores)]
    limits = (-inf, inf) if scale.unit == "ratio" else measure.range
    found = interval_of_mean(scale.tested(defined), limits)
    if found is None:
        return None
    low, high = scale.printed(np.array([found.low, found.high]), len(defined)).tolist()
    return Interval(low, high)


def _interval_of_share(share: float, topics: int, level: float) -> Interval:
    z = float(scipy.special.ndtri((1 + level) / 2))
    middle = (share + z * z / (2 * topics)) / (1 + z * z / topics)
    half = z / (1 + z * z / topics) * (share * (1 - share) / topics + (z / topics / 2) ** 2) ** 0.5
    low, high = (round(middle + sign * half, DIGITS) for sign in (-1, 1))
    return Interval(max(low, 0.0), min(high, 1.0))
