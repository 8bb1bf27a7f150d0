"""Comparison of all pairs of runs by the studentised maximum, with a standard error per pair.

The signs of the centred scores are flipped topic by topic, for all runs at once; the largest t
of any pair is noted for each draw. A pair differs when its own t exceeds 95 % of these maxima.
Related runs have small standard errors, so the family-wise error holds where one pooled variance
fails (Westfall and Young 1993; Romano and Wolf, JASA 2005).

    >>> first, second = [0.5, 0.6, 0.7, 0.4, 0.6, 0.8, 0.5], [0.4, 0.7, 0.6, 0.5, 0.5, 0.7, 0.6]
    >>> scores = np.array([first, second, [0.1, 0.2, 0.2, 0.0, 0.2, 0.3, 0.1]])
    >>> pairs = compare_all_pairs(scores)
    >>> pairs.letters, pairs.rank_low.tolist(), pairs.rank_high.tolist(), pairs.separated
    (('a', 'a', 'b'), [1, 1, 3], [2, 2, 3], (2,))
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from evaluation.ragged import BoolArray, FloatArray, IntArray
from evaluation.significance.differences import EQUAL, Interval
from evaluation.significance.letters import letters_of
from evaluation.significance.randomisation import sign_blocks

DRAWS = 10_000
# Below this number of topics no p can reach .05, since 2^(1 - topics) is its floor.
FEWEST_TOPICS = 6
# Statistics whose relative distance is below this are equal, so that machines agree.
TIED = 1e-9
# Totals of two runs this much more alike than different are added from their differences.
ALIKE = 1e-10


@dataclass(frozen=True)
class PairDecisions:
    """The comparison of R runs; every array has the order of the runs given.

    `differences`, `errors`, `p` and `different` are [R, R]: mean of the row's run minus mean of
    the column's, its standard error, p adjusted for all pairs (1 on the diagonal), and whether p
    is at most 1 - level. `critical` is the t that a pair must exceed, None where no verdict is
    possible: below 6 topics, or where too many maxima are infinite. Ranks count from 1; the
    intervals [rank_low, rank_high] hold for all runs at once. Two runs share a letter if and
    only if they do not differ. `separated` has the places k of the sorted board such that every
    one of the first k runs differs from every later one. `undefined` counts the topics without
    a score of every run, which are not used.
    """

    means: FloatArray
    differences: FloatArray
    errors: FloatArray
    p: FloatArray
    different: BoolArray
    critical: float | None
    rank_low: IntArray
    rank_high: IntArray
    letters: tuple[str, ...]
    separated: tuple[int, ...]
    topics: int
    undefined: int
    draws: int

    def interval(self, run: int, other: int) -> Interval | None:
        """The simultaneous confidence interval of one difference; it leaves 0 if they differ."""
        if self.critical is None:
            return None
        difference = float(self.differences[run, other])
        half = self.critical * float(self.errors[run, other])
        return interval_around_decision(difference, half, bool(self.different[run, other]))


def compare_all_pairs(
    scores: FloatArray, level: float = 0.95, draws: int = DRAWS, direction: int = 1
) -> PairDecisions:
    """Compare all pairs of rows of float64[R, T], topics in the order of their numbers.

    p of a pair is (1 + number of draws whose largest t reaches its own) / (1 + draws), and never
    below 2^(1 - topics). With `direction` -1 lower means rank first; the sign of a difference
    does not change. Topics with a NaN are left out.

    >>> compare_all_pairs(np.array([[0.5, 0.6], [0.9, 0.9]])).rank_high.tolist()
    [2, 2]
    """
    defined = scores[:, ~np.isnan(scores).any(axis=0)]
    runs, topics = defined.shape
    means = defined.mean(axis=1) if topics else np.full(runs, np.nan)
    differences = means[:, np.newaxis] - means
    equal = EQUAL * max(1.0, float(np.abs(defined).max(initial=0.0)))
    roots = _roots(defined, equal)
    if runs > 1 and topics > 1:
        maxima = np.sort(t_of(_largest(defined, roots, draws), topics))
        errors = roots / np.sqrt((topics - 1) * topics)
        t = observed_t(differences, errors, equal)
        p = p_of(t, maxima, topics)
        critical = critical_of(maxima, level, topics)
    else:
        errors, p, critical = np.full((runs, runs), np.nan), np.ones((runs, runs)), None
    different: BoolArray = np.zeros((runs, runs), dtype=bool)
    if critical is not None:
        different = t * (1 - TIED) > critical
    better = different & (direction * differences > 0)
    order = np.argsort(-direction * means, kind="stable")
    return PairDecisions(
        means=means,
        differences=differences,
        errors=errors,
        p=p,
        different=different,
        critical=critical,
        rank_low=1 + np.count_nonzero(better, axis=0),
        rank_high=runs - np.count_nonzero(better, axis=1),
        letters=letters_of(different, order),
        separated=_separated(different[np.ix_(order, order)]),
        topics=topics,
        undefined=scores.shape[1] - topics,
        draws=draws,
    )


def observed_t(differences: FloatArray, errors: FloatArray, equal: float) -> FloatArray:
    """|difference| / error: 0 where the means are equal, infinite for a constant difference."""
    t = np.full(differences.shape, np.inf)
    np.divide(np.abs(differences), errors, out=t, where=errors > 0)
    t[np.abs(differences) <= equal] = 0.0
    return t


def t_of(u: FloatArray, topics: int | IntArray) -> FloatArray:
    """The t of a flipped, centred difference from u = |sum| / root of the sum of squares.

    >>> t_of(np.array([0.0, 1.0, 2.0]), topics=4).tolist()
    [0.0, 1.0, inf]
    """
    squares = np.square(u)
    left = topics - squares
    t = np.full(squares.shape, np.inf)
    np.divide((topics - 1) * squares, left, out=t, where=left > TIED * topics)
    return np.sqrt(t, out=t)


def p_of(t: FloatArray, ascending: FloatArray, topics: int) -> FloatArray:
    """p of each t by the ascending statistics of the draws, with its floor for few topics."""
    reached = len(ascending) - np.searchsorted(ascending, t * (1 - TIED), side="left")
    p = (1.0 + reached) / (1.0 + len(ascending))
    p = np.maximum(p, 2.0 ** (1 - topics))
    p[t == 0] = 1.0
    return p


def critical_of(ascending: FloatArray, level: float, topics: int) -> float | None:
    """The t that p <= 1 - level needs more than; None where no t is enough."""
    place = ceil(level * (len(ascending) + 1) - TIED)
    if topics < FEWEST_TOPICS or 2.0 ** (1 - topics) > 1 - level + TIED or place > len(ascending):
        return None
    critical = float(ascending[place - 1])
    return critical if np.isfinite(critical) else None


def interval_around_decision(difference: float, half: float, different: bool) -> Interval:
    """difference -+ half; a statistic tied with the critical value leaves 0 inside."""
    low, high = difference - half, difference + half
    return Interval(low, high) if different else Interval(min(low, 0.0), max(high, 0.0))


def _roots(scores: FloatArray, equal: float) -> FloatArray:
    """float64[R, R]: the root of the sum of squares of each pair's centred differences.

    It is added from differences, since a product of matrices cancels where runs are alike.
    """
    runs, topics = scores.shape
    roots = np.zeros((runs, runs))
    for run in range(runs - 1 if topics else 0):
        apart = scores[run + 1 :] - scores[run]
        apart -= apart.mean(axis=1, keepdims=True)
        roots[run, run + 1 :] = np.linalg.norm(apart, axis=1)
    roots[roots <= equal * max(1, topics - 1) ** 0.5] = 0.0
    symmetric: FloatArray = roots + roots.T
    return symmetric


def _largest(scores: FloatArray, roots: FloatArray, draws: int) -> FloatArray:
    """float64[draws]: the largest |sum of flipped differences| / root over all pairs."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=1)
    alike = (roots > 0) & (roots <= ALIKE**0.5 * np.maximum(sizes, sizes[:, np.newaxis]))
    inverses = np.divide(1.0, roots, out=np.zeros_like(roots), where=(roots > 0) & ~alike)
    close = np.argwhere(np.triu(alike))
    blocks = []
    for signs in sign_blocks(scores.shape[1], draws):
        largest = _largest_of_totals(centred @ signs.T, inverses)
        for start in range(0, len(close), len(signs)):
            one, other = close[start : start + len(signs)].T
            rows = (centred[one] - centred[other]) / roots[one, other][:, np.newaxis]
            np.maximum(largest, np.abs(rows @ signs.T).max(axis=0), out=largest)
        blocks.append(largest)
    return np.concatenate(blocks)


def _largest_of_totals(totals: FloatArray, inverses: FloatArray) -> FloatArray:
    """The largest |totals[i] - totals[j]| * inverses[i, j] per draw; totals is float64[R, draws].

    A run is skipped in the draws where even the totals furthest from its own, over its smallest
    root, stay below the maximum so far. The first maximum is that of the two extreme totals.
    """
    highest, lowest = totals.argmax(axis=0), totals.argmin(axis=0)
    top, bottom = totals.max(axis=0), totals.min(axis=0)
    largest: FloatArray = (top - bottom) * inverses[highest, lowest]
    steepest = inverses.max(axis=1)
    for run in np.argsort(-steepest, kind="stable").tolist():
        reach = np.maximum(top - totals[run], totals[run] - bottom) * steepest[run]
        draws = np.flatnonzero(reach > largest)
        others = np.flatnonzero(inverses[run])
        if not len(draws) or not len(others):
            continue
        apart = totals[np.ix_(others, draws)] if len(draws) < len(top) else totals[others]
        apart -= totals[run, draws]
        apart *= inverses[run, others][:, np.newaxis]
        beyond = np.maximum(apart.max(axis=0), -apart.min(axis=0))
        largest[draws] = np.maximum(largest[draws], beyond)
    return largest


def _separated(different: BoolArray) -> tuple[int, ...]:
    """The places after which every run above differs from every run below, from a sorted board."""
    runs = len(different)
    alike = np.triu(~different)
    # The last run that each run does not differ from; no place before it separates the two.
    last = runs - 1 - alike[:, ::-1].argmax(axis=1) if runs else np.empty(0, dtype=np.int64)
    furthest = np.maximum.accumulate(last)
    return tuple((np.flatnonzero(furthest[:-1] == np.arange(runs - 1)) + 1).tolist())
