"""Paired differences, the input of all tests: one row per run, one column per topic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.ragged import FloatArray

# Two differences closer than this are equal, so that 0.1 + 0.2 - 0.3 is a tie.
EQUAL = 1e-12
DIGITS = 12
# Below 2**52 whole numbers add up in float64 without an error, in any order.
EXACT = 2.0**52


@dataclass(frozen=True, slots=True)
class TestResult:
    """The result of a test for one run: `p` is two-sided and in (0, 1].

    `exact` is false where p was drawn or approximated; `draws` is the number of equally likely
    cases behind it, counted or drawn (0 where a distribution is known in closed form).
    """

    p: float
    exact: bool
    draws: int
    statistic: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a mean difference."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Differences of one run: number of topics, mean, standard deviation (divisor n - 1).

    A deviation at or below `EQUAL` is 0; with fewer than two topics it is NaN.
    """

    topics: int
    mean: float
    deviation: float


def summarise(differences: FloatArray) -> Summary:
    """Mean and deviation of float64[T]; NaN topics are excluded.

    >>> summarise(np.array([0.5, np.nan, 0.25, 0.0]))
    Summary(topics=3, mean=0.25, deviation=0.25)
    """
    defined = differences[~np.isnan(differences)]
    if len(defined) < 2:
        return Summary(len(defined), float(defined[0]) if len(defined) else np.nan, np.nan)
    deviation = float(np.std(defined, ddof=1))
    mean = float(np.mean(defined))
    return Summary(len(defined), mean, deviation if deviation > EQUAL else 0.0)


def summaries(rows: FloatArray) -> list[Summary]:
    """`summarise` of every row of float64[R, T], with the same bits.

    >>> summaries(np.array([[0.5, 0.25, 0.0], [0.5, np.nan, np.nan]]))[0]
    Summary(topics=3, mean=0.25, deviation=0.25)
    """
    topics = rows.shape[1]
    if topics < 2 or np.isnan(rows).any():
        return [summarise(row) for row in rows]
    # Sums along a contiguous row are added in the order in which that row alone is added.
    rows = np.ascontiguousarray(rows)
    deviations = rows.std(axis=1, ddof=1)
    deviations[deviations <= EQUAL] = 0.0
    pairs = zip(rows.mean(axis=1).tolist(), deviations.tolist(), strict=True)
    return [Summary(topics, mean, deviation) for mean, deviation in pairs]


def whole(differences: FloatArray) -> FloatArray:
    """Differences as whole multiples of 1e-12, undefined ones as 0.

    Sums of whole numbers have no rounding error, so counts made with them do not depend on the
    order of runs or on other runs. A row whose total could exceed 2**52 is scaled by a smaller
    power of ten.

    >>> whole(np.array([[0.1 + 0.2 - 0.3, 0.25, np.nan]])).tolist()
    [[0.0, 250000000000.0, 0.0]]
    """
    rounded: FloatArray = np.rint(np.nan_to_num(differences, nan=0.0) * scale(differences))
    return rounded + 0.0


def scale(differences: FloatArray) -> FloatArray:
    """float64[..., 1]: the factor of each row in `whole`, 1e12 or less."""
    filled = np.nan_to_num(differences, nan=0.0)
    bound = filled.shape[-1] * np.abs(filled).max(axis=-1, keepdims=True, initial=0.0)
    digits = np.minimum(DIGITS, np.floor(np.log10(EXACT / np.maximum(bound, 1.0))))
    power: FloatArray = 10.0**digits
    return power
