"""Bootstrap over topics: the studentised bootstrap test and the interval that agrees with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64

from evaluation.ragged import FloatArray
from evaluation.significance.differences import EQUAL, Interval, TestResult
from evaluation.significance.pairwise import TIE, critical_value, interval_of

# The resampled topics are the same for every run: the raw stream of PCG64 from this seed.
SEED = 19_790_101
RESAMPLES = 10_000
CHUNK = 500


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The test and the interval of one run."""

    test: TestResult
    interval: Interval | None


def bootstrap(
    differences: FloatArray, level: float = 0.95, resamples: int = RESAMPLES
) -> Bootstrap:
    """Test and interval of one run, float64[T]; NaN topics are excluded.

    Both come from t* = (mean* - mean) / error*, drawn by resampling topics (Efron and
    Tibshirani 1993, chapters 12 and 16): p = (c + 1) / (resamples + 1), c = number of |t*| that
    reach |t|, and the interval is mean ± the quantile of |t*| times the standard error, None
    where too many |t*| are infinite: few topics are often drawn as one value. The shift test
    without studentising says "different" too often.

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
        drawn = np.sort(resampled_t(rows, resamples), axis=1)
        for run, row, of_row in zip(runs.tolist(), rows, drawn, strict=True):
            results[run] = _bootstrap(row, of_row, level)
    return [results[run] for run in range(len(differences))]


def _bootstrap(row: FloatArray, drawn: FloatArray, level: float) -> Bootstrap:
    """Test and interval of a row by its ascending |t*|."""
    mean, error = float(row.mean()), float(row.std() / np.sqrt(len(row)))
    if abs(mean) <= EQUAL or len(row) < 2:
        t = 0.0
    else:
        t = abs(mean) / error if error > EQUAL else np.inf
    reached = len(drawn) - int(np.searchsorted(drawn, t * (1 - TIE), side="left"))
    p = (reached + 1) / (len(drawn) + 1)
    critical = critical_value(drawn, level)
    margin = critical * error if error > EQUAL else 0.0
    differs = t > critical * (1 + TIE)
    interval = interval_of(mean, margin, differs) if np.isfinite(margin) else None
    return Bootstrap(TestResult(p, False, len(drawn), mean), interval)


def resampled_t(rows: FloatArray, resamples: int) -> FloatArray:
    """float64[R, resamples]: |mean* - mean| / error* of topics drawn with replacement."""
    topics = rows.shape[1]
    away = (rows - rows.mean(axis=1, keepdims=True)).T
    blocks = [
        _studentised(counts @ away / topics, counts @ np.square(away) / topics, topics)
        for counts in draw_topics(topics, resamples)
    ]
    drawn: FloatArray = np.concatenate(blocks).T
    return drawn


def _studentised(means: FloatArray, squares: FloatArray, topics: int) -> FloatArray:
    variance = squares - np.square(means)
    # A resample of one value has no error: its t is infinite, or 0 where all values are equal.
    flat = variance <= TIE * squares
    error = np.sqrt(np.where(flat, 1.0, variance) / topics)
    infinite = np.where(np.abs(means) > EQUAL, np.inf, 0.0)
    return np.where(flat, infinite, np.abs(means) / error)


def draw_topics(topics: int, resamples: int) -> Iterator[FloatArray]:
    """float64[block, topics]: the number of times each topic was drawn, in blocks of resamples."""
    stream = PCG64(SEED)
    for start in range(0, resamples, CHUNK):
        block = min(CHUNK, resamples - start)
        raw = np.asarray(stream.random_raw(block * topics))
        share = (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53
        cell = (share * topics).astype(np.int64) + np.repeat(np.arange(block) * topics, topics)
        counts = np.bincount(cell, minlength=block * topics)
        yield counts.reshape(block, topics).astype(np.float64)
