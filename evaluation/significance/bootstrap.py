"""Bootstrap over topics: the bootstrap-shift test and the BCa interval of a mean difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64
from scipy.special import ndtr, ndtri  # type: ignore[import-untyped]

from evaluation.ragged import FloatArray
from evaluation.significance.differences import EQUAL, Interval, TestResult, scale, whole

# The resampled topics are the same for every run: the raw stream of PCG64 from this seed.
SEED = 19_790_101
RESAMPLES = 10_000
CHUNK = 500


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The test and the interval of one run."""

    test: TestResult
    interval: Interval


def bootstrap(
    differences: FloatArray, level: float = 0.95, resamples: int = RESAMPLES
) -> Bootstrap:
    """Test and interval of one run, float64[T]; NaN topics are excluded.

    The test is the bootstrap-shift test (Sakai, SIGIR 2006): p = (c + 1) / (resamples + 1),
    c = number of resamples with |mean* - mean| >= |mean|. For few topics its p is too small
    (Smucker, Allan and Carterette, SIGIR 2009). The interval is BCa (Efron, JASA 1987).

    >>> bootstrap(np.array([0.25, 0.25, 0.25])).interval
    Interval(low=0.25, high=0.25)
    """
    return bootstraps(differences[np.newaxis], level, resamples)[0]


def bootstraps(
    differences: FloatArray, level: float = 0.95, resamples: int = RESAMPLES
) -> list[Bootstrap]:
    """`bootstrap` of every row of float64[R, T], with the same resampled topics for all.

    >>> [result.test.p for result in bootstraps(np.zeros((2, 10)))]
    [1.0, 1.0]
    """
    defined = ~np.isnan(differences)
    masks, group = np.unique(defined, axis=0, return_inverse=True)
    results: dict[int, Bootstrap] = {}
    for number, mask in enumerate(masks):
        runs = np.flatnonzero(group.reshape(-1) == number)
        rows = differences[np.ix_(runs, mask)]
        means = resampled_means(rows, resamples)
        for run, row, drawn in zip(runs.tolist(), rows, means, strict=True):
            results[run] = Bootstrap(_shift_test(row, drawn), _bca(row, drawn, level))
    return [results[run] for run in range(len(differences))]


def _shift_test(row: FloatArray, means: FloatArray) -> TestResult:
    mean = float(np.mean(row))
    strayed = np.abs(means - mean) >= abs(mean) - EQUAL
    p = (int(np.count_nonzero(strayed)) + 1) / (len(means) + 1)
    return TestResult(p, False, len(means), mean)


def _bca(row: FloatArray, means: FloatArray, level: float) -> Interval:
    """Percentiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))) of the resampled means.

    Bias z0 comes from the share of means below the observed one (half of those equal to it),
    acceleration a = sum e^3 / (6 (sum e^2)^1.5) with e = d - mean.
    """
    away = row - np.mean(row)
    if np.abs(away).max() <= EQUAL:
        return Interval(float(np.mean(row)), float(np.mean(row)))
    below = (np.count_nonzero(means - np.mean(row) < -EQUAL)) / 2
    below += np.count_nonzero(means - np.mean(row) <= EQUAL) / 2
    bias = ndtri((below + 0.5) / (len(means) + 1))
    acceleration = np.power(away, 3).sum() / (6 * np.square(away).sum() ** 1.5)
    tails = bias + ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    low, high = np.quantile(means, ndtr(bias + tails / (1 - acceleration * tails)))
    return Interval(float(low), float(high))


def resampled_means(rows: FloatArray, resamples: int) -> FloatArray:
    """float64[R, resamples]: means of as many topics as there are, drawn with replacement.

    Totals are added in whole numbers, so a row's means do not depend on the other rows.
    """
    topics = rows.shape[1]
    factors = whole(rows).T
    totals = np.concatenate([counts @ factors for counts in _drawn(topics, resamples)])
    means: FloatArray = totals.T / (scale(rows) * topics)
    return means


def _drawn(topics: int, resamples: int) -> Iterator[FloatArray]:
    """float64[block, topics]: the number of times each topic was drawn, in blocks of resamples."""
    stream = PCG64(SEED)
    for start in range(0, resamples, CHUNK):
        block = min(CHUNK, resamples - start)
        raw = np.asarray(stream.random_raw(block * topics))
        share = (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53
        cell = (share * topics).astype(np.int64) + np.repeat(np.arange(block) * topics, topics)
        counts = np.bincount(cell, minlength=block * topics)
        yield counts.reshape(block, topics).astype(np.float64)
