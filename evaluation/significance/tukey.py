"""Comparison of all pairs of runs: Tukey's HSD, rank intervals and letter groups.

Scores are modelled as run + topic + error; a pair differs when its means are further apart than
margin = q sqrt(V / T), V the variance of the residuals and q the quantile of the studentized
range (Tukey 1953; for retrieval Carterette, TOIS 2012; Sakai 2018).

    >>> scores = np.array([[0.5, 0.6, 0.7, 0.4], [0.4, 0.5, 0.6, 0.31], [0.1, 0.2, 0.3, 0.0]])
    >>> pairs = tukey_hsd(scores)
    >>> pairs.letters, pairs.rank_low.tolist(), pairs.rank_high.tolist()
    (('a', 'b', 'c'), [1, 2, 3], [1, 2, 3])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import permutations
from math import lgamma, log

import numpy as np
from numpy.random import PCG64

from evaluation.ragged import BoolArray, FloatArray, IntArray
from evaluation.significance.differences import EQUAL, Interval
from evaluation.significance.letters import letters_of
from evaluation.significance.studentized import studentized_range_quantile, studentized_range_tail

SEED = 19_530_101
DRAWS = 10_000

# Maps differences of means, float64[k] >= 0, to their p.
Tail = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class AllPairs:
    """The comparison of R runs; `q`, `margin`, `residual_variance` are None where undefined.

    Ranks count from 1; [rank_low, rank_high] contain the ranks of all runs simultaneously with
    the chosen confidence (Al Mohamad, Goeman and van Zwet 2022). Runs that share a letter do
    not differ. `topics` counts the topics used, `undefined` those without a score of every run.
    """

    margin: float | None
    q: float | None
    residual_variance: float | None
    degrees: int
    means: FloatArray
    rank_low: IntArray
    rank_high: IntArray
    letters: tuple[str, ...]
    topics: int
    undefined: int
    tail: Tail = field(repr=False)

    @cached_property
    def differences(self) -> FloatArray:
        """float64[R, R]: mean of the row's run minus mean of the column's."""
        result: FloatArray = self.means[:, np.newaxis] - self.means
        return result

    @cached_property
    def p(self) -> FloatArray:
        """float64[R, R]: the p of every pair, adjusted for all pairs; 1 on the diagonal."""
        runs = len(self.means)
        upper = np.triu_indices(runs, 1)
        p = np.ones((runs, runs))
        p[upper] = self.tail(np.abs(self.differences[upper]))
        p.T[upper] = p[upper]
        return p

    def interval(self, run: int, other: int) -> Interval | None:
        """The simultaneous confidence interval of one difference."""
        if self.margin is None:
            return None
        difference = float(self.differences[run, other])
        return Interval(difference - self.margin, difference + self.margin)


def tukey_hsd(scores: FloatArray, level: float = 0.95, direction: int = 1) -> AllPairs:
    """Tukey's HSD over float64[R, T]; with `direction` -1 lower means rank first.

    With one run or one topic, margin is None and every run may have any rank. If runs differ by
    the same amount on every topic, the residual and the margin are 0.

    >>> tukey_hsd(np.array([[0.5], [0.9]])).rank_high.tolist()
    [2, 2]
    """
    layout = _Layout.of(scores)
    if not layout.degrees:
        return _all_pairs(layout, None, None, _nothing_known, direction)
    q = studentized_range_quantile(level, layout.runs, layout.degrees)
    error = float(np.sqrt(layout.variance / layout.topics))
    tail = partial(_hsd_tail, error=error, runs=layout.runs, degrees=layout.degrees)
    return _all_pairs(layout, q * error, q, tail, direction)


def randomised_tukey(
    scores: FloatArray, level: float = 0.95, draws: int = DRAWS, direction: int = 1
) -> AllPairs:
    """Randomised Tukey HSD: shuffle the runs within each topic, without assuming a distribution.

    p of a pair is the share of shuffles whose range of means reaches its difference: over all
    shuffles if there are at most `draws`, else (c + 1) / (draws + 1). One very poor run widens
    the range for all pairs and reduces power (Carterette, TOIS 2012).

    >>> rows = [[0.5, 0.6, 0.7, 0.4, 0.8], [0.4, 0.5, 0.3, 0.45, 0.6], [0.1, 0.2, 0.3, 0.2, 0.25]]
    >>> pairs = randomised_tukey(np.array(rows))
    >>> round(pairs.p[0, 2] * 6**5)
    24
    """
    layout = _Layout.of(scores)
    if not layout.degrees:
        return _all_pairs(layout, None, None, _nothing_known, direction)
    counted = lgamma(layout.runs + 1) * layout.topics <= log(draws)
    ranges = np.sort(_every_range(layout.scores) if counted else _drawn_ranges(layout, draws))
    extra = 0 if counted else 1
    # The p of a difference is below 1 - level if fewer than `allowed` ranges reach it.
    allowed = int(np.ceil((1 - level) * (len(ranges) + extra) - EQUAL)) - extra
    margin = float(ranges[-allowed]) if allowed > 0 else None
    tail = partial(_range_tail, ranges=ranges, extra=extra)
    return _all_pairs(layout, margin, None, tail, direction)


@dataclass(frozen=True)
class _Layout:
    """Scores on the defined topics, and the residuals of the model run + topic."""

    scores: FloatArray
    undefined: int
    degrees: int
    variance: float

    @classmethod
    def of(cls, scores: FloatArray) -> _Layout:
        defined = scores[:, ~np.isnan(scores).any(axis=0)]
        runs, topics = defined.shape
        degrees = max(0, (runs - 1) * (topics - 1))
        if not degrees:
            return cls(defined, scores.shape[1] - topics, 0, np.nan)
        residual = defined - defined.mean(axis=1, keepdims=True)
        residual = residual - residual.mean(axis=0)
        variance = float(np.square(residual).sum()) / degrees
        variance = variance if variance > EQUAL**2 else 0.0
        return cls(defined, scores.shape[1] - topics, degrees, variance)

    @property
    def runs(self) -> int:
        return len(self.scores)

    @property
    def topics(self) -> int:
        return int(self.scores.shape[1])


def _all_pairs(
    layout: _Layout, margin: float | None, q: float | None, tail: Tail, direction: int
) -> AllPairs:
    means = layout.scores.mean(axis=1) if layout.topics else np.full(layout.runs, np.nan)
    ahead = direction * (means[:, np.newaxis] - means)
    better: BoolArray = ahead > (np.inf if margin is None else max(margin, EQUAL))
    return AllPairs(
        margin=margin,
        q=q,
        residual_variance=layout.variance if layout.degrees else None,
        degrees=layout.degrees,
        means=means,
        rank_low=1 + np.count_nonzero(better, axis=0),
        rank_high=layout.runs - np.count_nonzero(better, axis=1),
        letters=letters_of(better | better.T, np.argsort(-direction * means, kind="stable")),
        topics=layout.topics,
        undefined=layout.undefined,
        tail=tail,
    )


def _hsd_tail(differences: FloatArray, error: float, runs: int, degrees: int) -> FloatArray:
    if not error:
        return np.where(differences > EQUAL, 0.0, 1.0)
    return studentized_range_tail(differences / error, runs, degrees)


def _range_tail(differences: FloatArray, ranges: FloatArray, extra: int) -> FloatArray:
    reached = len(ranges) - np.searchsorted(ranges, differences - EQUAL, side="left")
    p: FloatArray = (reached + extra) / (len(ranges) + extra)
    return p


def _nothing_known(differences: FloatArray) -> FloatArray:
    return np.full(len(differences), np.nan)


def _every_range(scores: FloatArray) -> FloatArray:
    """The range of means for every shuffle of the runs within the topics."""
    totals = np.zeros((1, len(scores)))
    for column in scores.T:
        shuffled = np.array(list(permutations(column)))
        totals = (totals[:, np.newaxis] + shuffled).reshape(-1, len(scores))
    ranges: FloatArray = np.ptp(totals, axis=1) / scores.shape[1]
    return ranges


def _drawn_ranges(layout: _Layout, draws: int) -> FloatArray:
    """The range of means for drawn shuffles, each made by sorting random keys."""
    stream = PCG64(SEED)
    low_bits = np.uint64(2 ** layout.runs.bit_length() - 1)
    run = np.arange(layout.runs, dtype=np.uint64)
    totals = np.zeros((draws, layout.runs))
    for column in layout.scores.T:
        keys = np.asarray(stream.random_raw(draws * layout.runs)).reshape(draws, -1)
        shuffled = np.sort(keys & ~low_bits | run, axis=1) & low_bits
        totals += column[shuffled.astype(np.intp)]
    ranges: FloatArray = np.ptp(totals, axis=1) / layout.topics
    return ranges
