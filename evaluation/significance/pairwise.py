"""Comparison of all pairs of runs, each pair with its own standard error.

The statistic is the studentised maximum: topics are flipped together for all runs, and the
largest t of a flip, over all pairs, is what chance alone can reach (Westfall and Young 1993;
Romano and Wolf, Econometrica 2005). Related runs have small standard errors, so small
differences between them count. One pooled variance, as in Tukey's HSD, sees too little or too much.

    >>> base = np.linspace(0.1, 0.6, 12)
    >>> small = np.array([1, 2, 1, 3, 1, 2, 1, 1, 2, 1, 2, 1]) / 1000
    >>> pairs = compare_all_pairs(np.array([base, base - small, base[::-1]]))
    >>> bool(pairs.different[0, 1]), bool(pairs.different[0, 2])
    (True, False)
    >>> pairs.rank_low.tolist(), pairs.rank_high.tolist(), pairs.letters
    ([1, 2, 1], [2, 3, 3], ('a', 'b', 'ab'))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import ceil, inf

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.ragged import BoolArray, FloatArray, IntArray
from evaluation.significance.differences import EQUAL, Interval
from evaluation.significance.letters import letters_of
from evaluation.significance.randomisation import sign_blocks
from evaluation.significance.units import FEWEST_DEGREES, FEWEST_TOPICS, Units, move_t
from evaluation.significance.widening import Spread

PAIR_DRAWS = 10_000
# Statistics that differ by a smaller share are equal, so that machines agree.
TIE = 1e-9
# Totals that are compared at a time: half a megabyte stays in the processor's cache.
TOTALS = 65_536
# A run joins all pairs if it leaves the others this share of their topics.
MOST_LEFT = 0.9
# More runs than this get no letters: no reader could follow them.
MOST_LETTERED = 100


@dataclass(frozen=True)
class PairDecisions:
    """The comparison of R runs by the studentised maximum; positive where the row is larger.

    `members` tells which runs are compared: one with far fewer topics stands outside, has no
    letter and may have any rank (`find_members`).

    `maxima` is float64[draws], ascending: the largest t of each flip. `critical` is the t that a
    pair must exceed, None where there is no verdict: with one run, below six topics, or where no
    p can be small enough.
    `errors` is float64[R, R], the widened error of each mean difference, 0 where one of the two
    stands outside. `topics` counts the topics used, `undefined` those without a score of every
    run that is compared. `units` counts what was flipped,
    topics or groups of topics, and `degrees` the degrees of freedom that they leave. `sizes` has
    the size of a difference in the family, on each collection.
    """

    means: FloatArray
    errors: FloatArray
    maxima: FloatArray = field(repr=False)
    critical: float | None
    topics: int
    undefined: int
    units: int
    degrees: float
    sizes: tuple[float, ...]
    members: BoolArray
    # The median over pairs of the standard deviation of a difference.
    deviation: float = 0.0
    direction: int = 1

    @property
    def differences(self) -> FloatArray:
        """float64[R, R]: mean of the row's run minus mean of the column's."""
        differences: FloatArray = self.means[:, np.newaxis] - self.means
        differences[np.abs(differences) <= EQUAL] = 0.0
        return differences

    @property
    def t(self) -> FloatArray:
        """float64[R, R]: |difference| / widened error; 0 for equal means and for no error."""
        distance = np.abs(self.differences)
        return np.divide(distance, self.errors, out=np.zeros_like(distance), where=self.errors > 0)

    @property
    def p(self) -> FloatArray:
        """float64[R, R]: the p of every pair, adjusted for all pairs; 1 on the diagonal."""
        p = self._p_at(self.t)
        np.fill_diagonal(p, 1.0)
        return p

    def _p_at(self, t: FloatArray) -> FloatArray:
        """The adjusted p of any t."""
        return adjusted_p(t, self.maxima, np.array(self.units), np.array(self.degrees))

    @cached_property
    def different(self) -> BoolArray:
        """bool[R, R]: whether two runs differ at 5 %, over all pairs at once."""
        if self.critical is None:
            return np.zeros(self.t.shape, dtype=bool)
        differ: BoolArray = self.t > self.critical * (1 + TIE)
        return differ

    @cached_property
    def better(self) -> BoolArray:
        """bool[R, R]: whether the row's run is significantly better than the column's."""
        better: BoolArray = self.different & (self.direction * self.differences > 0)
        return better

    @property
    def rank_low(self) -> IntArray:
        """int[R]: the best rank of each run; all intervals hold at once with 95 % confidence."""
        low: IntArray = 1 + self.better.sum(axis=0)
        return low

    @property
    def rank_high(self) -> IntArray:
        """int[R]: the worst rank of each run (Mogstad, Romano, Shaikh and Wilhelm 2024)."""
        high: IntArray = len(self.means) - self.better.sum(axis=1)
        return high

    @cached_property
    def order(self) -> IntArray:
        """The runs from the best mean to the worst; equal ones in their given order."""
        return np.argsort(-self.direction * self.means, kind="stable")

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """Runs share a letter if and only if they do not differ; empty words above 100 runs."""
        if len(self.means) > MOST_LETTERED:
            return ("",) * len(self.means)
        letters = letters_of(self.different, self.order)
        pairs = zip(letters, self.members.tolist(), strict=True)
        return tuple(word if is_member else "" for word, is_member in pairs)

    @property
    def separated(self) -> list[int]:
        """The places in `order` after which every run above is better than every run below."""
        return self.separated_in(self.order)

    def separated_in(self, order: IntArray) -> list[int]:
        """The same places in another order of the runs."""
        better = self.better[np.ix_(order, order)]
        # The first place below which a run is better than all others.
        beats_from = [_first_of_trues(row) for row in better]
        needed = accumulate(beats_from, max)
        return [place for place, first in enumerate(needed) if first <= place + 1 < len(better)]

    @property
    def num_different(self) -> int:
        """How many of the pairs differ."""
        return int(np.count_nonzero(np.triu(self.different, 1)))

    def difference(self, run: int, other: int) -> float:
        """The mean of one run minus that of another."""
        difference = float(self.means[run] - self.means[other])
        return difference if abs(difference) > EQUAL else 0.0

    def p_of(self, run: int, other: int) -> float:
        """The p of one pair, adjusted for all."""
        distance, error = abs(self.difference(run, other)), float(self.errors[run, other])
        return float(self._p_at(np.array(distance / error if error > 0 else 0.0)))

    def interval(self, run: int, other: int) -> Interval | None:
        """The simultaneous 95 % interval of one difference; it leaves 0 where the runs differ.

        None where there is no verdict, and where no run of the family differs on any topic and
        the measure has no range: nothing is known of the size of a difference.
        """
        if self.critical is None or not self.errors[run, other] > 0:
            return None
        margin = self.critical * float(self.errors[run, other])
        differs = bool(self.different[run, other])
        return interval_of(self.difference(run, other), margin, differs)


def has_values(scores: FloatArray) -> BoolArray:
    """bool[R]: whether each run of float64[R, T] has a score on some topic.

    >>> has_values(np.array([[0.5, np.nan], [np.nan, np.nan]])).tolist()
    [True, False]
    """
    if not scores.shape[1]:
        return np.ones(len(scores), dtype=bool)
    defined: BoolArray = np.any(~np.isnan(scores), axis=1)
    return defined


def find_members(scores: FloatArray) -> BoolArray:
    """bool[R]: which runs of float64[R, T] are compared with each other, all pairs at once.

    All pairs leave out each topic that any of their runs lacks, so a run stands outside whose
    topics would cost the others more than a tenth of theirs. The longer half of the runs is
    inside, whatever it costs; a shorter run joins if it leaves them nine tenths of their topics.
    A run without a score stands outside.

    >>> scores = np.array([[0.5] * 20, [0.4] * 20, [0.3] * 19 + [np.nan], [0.2] + [np.nan] * 19])
    >>> find_members(scores).tolist()
    [True, True, True, False]
    """
    defined = ~np.isnan(scores)
    counts = np.count_nonzero(defined, axis=1)
    known = counts > 0
    if np.count_nonzero(known) < 2 or defined[known].all():
        return known if scores.shape[1] else np.ones(len(scores), dtype=bool)
    ordered = -np.sort(-counts[known])
    members: BoolArray = known & (counts >= ordered[max(1, (len(ordered) + 1) // 2 - 1)])
    shared = defined[members].all(axis=0)
    # Runs of one length are judged together, so that their order decides nothing.
    for length in np.unique(counts[known & ~members])[::-1]:
        left = np.count_nonzero(defined & shared, axis=1)
        joining = (counts == length) & (left >= MOST_LEFT * np.count_nonzero(shared))
        members |= joining
        shared = shared & defined[joining].all(axis=0)
    return members


def compare_all_pairs(
    scores: FloatArray,
    level: float = 0.95,
    direction: int = 1,
    draws: int = PAIR_DRAWS,
    half_range: float | None = None,
    groups: IntArray | None = None,
) -> PairDecisions:
    """Compare all pairs of float64[R, T], topics in the order of their numbers.

    Runs with far fewer topics stand outside (`find_members`), and a topic without a score of
    every other run is left out. With `direction` -1 lower means are better.
    `half_range` is half of the range of the scores, None without one. `groups` int[T] has the
    group of each topic, from 0 in the order of their names. Memory is bounded by R x R and by
    R x 1,024 draws.
    """
    maxima = draw_maxima(scores, draws, groups)
    return decide_pairs(scores, maxima, direction, level, half_range, groups=groups)


def draw_maxima(
    scores: FloatArray, draws: int = PAIR_DRAWS, groups: IntArray | None = None
) -> FloatArray:
    """The largest t over all pairs in each flip of the topics, float64[draws], ascending.

    Centred scores are flipped. For a pair with centred sum of squares q the flipped total d has
    t^2 = (T - 1) u^2 / (T - u^2), u = |d| / sqrt(q): so the largest u is the largest t.
    """
    rows = _Rows.of(scores, groups)
    runs, units = rows.centred.shape
    if runs < 2 or units < 2:
        return np.zeros(draws)
    squares = square_sums(rows.centred)
    weights = np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
    stride = max(16, TOTALS // runs)
    largest = [
        _largest(rows.centred @ signs.T[:, start : start + stride], weights)
        for signs in sign_blocks(units, draws)
        for start in range(0, len(signs), stride)
    ]
    return np.sort(t_of(np.concatenate(largest), units))


def decide_pairs(
    scores: FloatArray,
    maxima: FloatArray,
    direction: int = 1,
    level: float = 0.95,
    half_range: float | None = None,
    size: float | None = None,
    groups: IntArray | None = None,
) -> PairDecisions:
    """Decide about the pairs of float64[R, T] by maxima drawn for a family that has them all.

    Where the rows are only some of the family, `size` is that of its decisions.
    """
    rows = _Rows.of(scores, groups)
    spread = spread_of_pairs(rows.centred, rows.means[rows.members])
    size = spread.family_size(half_range) if size is None else size
    inside = np.flatnonzero(rows.members)
    errors = np.zeros((len(scores), len(scores)))
    errors[np.ix_(inside, inside)] = fill_pairs(spread.errors(size), len(inside))
    decided = len(inside) > 1
    return PairDecisions(
        means=rows.means,
        errors=errors,
        maxima=maxima,
        critical=deciding_value(maxima, level, rows.units, rows.degrees) if decided else None,
        topics=rows.topics,
        undefined=scores.shape[1] - rows.topics,
        units=rows.units,
        degrees=rows.degrees,
        sizes=(size,),
        members=rows.members,
        deviation=spread.deviation,
        direction=direction,
    )


def fill_pairs(values: FloatArray, runs: int) -> FloatArray:
    """float64[R, R] from values in the order of `np.triu_indices`; 0 on the diagonal."""
    filled, pairs = np.zeros((runs, runs)), np.triu_indices(runs, 1)
    filled[pairs] = values
    filled.T[pairs] = values
    return filled


def critical_value(maxima: FloatArray, level: float = 0.95) -> float:
    """The ceil(level (draws + 1))-th smallest of ascending maxima; inf where there are too few.

    Its last digits depend on the order of the runs, so it is rounded.
    """
    place = ceil(level * (len(maxima) + 1) - EQUAL)
    return float(f"{maxima[place - 1]:.12g}") if place <= len(maxima) else inf


def can_decide(units: IntArray | int, level: float) -> BoolArray:
    """Whether this many topics allow a verdict: six or more, and a smallest p of 1 - level.

    >>> can_decide(np.array([5, 6, 8]), 0.95).tolist(), can_decide(np.array([6, 8]), 0.99).tolist()
    ([False, True, True], [False, True])
    """
    smallest = 2.0 ** (1 - np.asarray(units))
    decides: BoolArray = (units >= FEWEST_TOPICS) & (smallest <= 1 - level + EQUAL)
    return decides


def deciding_value(
    maxima: FloatArray, level: float, units: int, degrees: float | None = None
) -> float | None:
    """The t that a pair must exceed, None where there is no verdict.

    It is the critical value of the flips, but at least that of Student's t. Groups of unequal
    size leave fewer `degrees` of freedom than the number of units less 1.
    """
    critical, own = critical_value(maxima, level), np.array(units - 1.0)
    if degrees is not None:
        own = np.array(float(degrees))
    if not can_decide(units, level) or not np.isfinite(critical) or own < FEWEST_DEGREES:
        return None
    moved = move_t(np.array(critical), np.array(units - 1.0), own)
    return max(float(moved), float(scipy.special.stdtrit(own, (1 + level) / 2)))


def adjusted_p(
    t: FloatArray,
    maxima: FloatArray,
    units: IntArray,
    degrees: FloatArray,
    drawn: FloatArray | None = None,
) -> FloatArray:
    """(1 + number of maxima >= t) / (1 + draws) for every t, at least the p of Student's t.

    Never below 2^(1 - units), and 1 without a difference. t has `degrees` of freedom; the maxima
    have `drawn`, by default the units less 1.
    """
    draws = len(maxima)
    moved = move_t(t, degrees, np.subtract(units, 1.0) if drawn is None else drawn)
    reached = draws - np.searchsorted(maxima, moved * (1 - TIE), side="left")
    p: FloatArray = np.maximum((1 + reached) / (1 + draws), smallest_p_of(t, units, degrees))
    return np.where(t > 0, p, 1.0)


def smallest_p_of(t: FloatArray, units: IntArray, degrees: FloatArray) -> FloatArray:
    """The two-sided p of Student's t, and never less than 2^(1 - units).

    Groups that leave no verdict give no p below that of five topics.
    """
    # A t within a tie of its critical value does not exceed it.
    student = 2 * scipy.special.stdtr(np.maximum(degrees, 1), -t / (1 + TIE))
    fewest = np.where(degrees < FEWEST_DEGREES, FEWEST_TOPICS - 1, units)
    smallest: FloatArray = np.maximum(
        np.minimum(1.0, 2.0 ** (1.0 - np.minimum(units, fewest))), student
    )
    return smallest


def interval_of(difference: float, margin: float, differs: bool) -> Interval:
    """difference ± margin; 0 is inside unless the difference is significant, also at a tie."""
    low, high = difference - margin, difference + margin
    return Interval(low, high) if differs else Interval(min(low, 0.0), max(high, 0.0))


def t_of(u: FloatArray, topics: IntArray | int) -> FloatArray:
    """The t of flipped totals u = |d| / sqrt(q); inf where all flipped differences are equal."""
    squares = np.square(u)
    rest = topics - squares
    flat = rest <= TIE * topics
    t: FloatArray = np.sqrt((topics - 1) * squares / np.where(flat, 1.0, rest))
    return np.where(flat & (squares > 0), inf, t)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The members on the topics with a score of each of them, as the units that are flipped.

    `means` are those of all runs: a run that stands outside has that of its own topics.
    """

    members: BoolArray
    centred: FloatArray
    means: FloatArray
    topics: int
    units: int
    degrees: float

    @classmethod
    def of(cls, scores: FloatArray, groups: IntArray | None) -> _Rows:
        scores = np.asarray(scores, dtype=np.float64)
        members = find_members(scores)
        kept = ~np.isnan(scores[members]).any(axis=0)
        rows = scores[members][:, kept]
        if groups is not None:
            groups = np.unique(groups[kept], return_inverse=True)[1].reshape(-1)
        units, topics = Units.of(rows, groups), rows.shape[1]
        means = np.full(len(scores), np.nan)
        if topics:
            means[members] = rows.mean(axis=1)
        for run in np.flatnonzero(~members & has_values(scores)):
            means[run] = np.nanmean(scores[run])
        count = units.centred.shape[1]
        degrees = float(units.degrees[0]) if len(rows) else 0.0
        return cls(members, units.centred, means, topics, count, degrees)


def spread_of_pairs(centred: FloatArray, means: FloatArray) -> Spread:
    """What the errors of all pairs are made of, in the order of `np.triu_indices`.

    `centred` are the runs as float64[R, U] units without their means.
    """
    runs, units = centred.shape
    values = centred + means[:, np.newaxis]
    pairs = np.triu_indices(runs, 1)
    changed, largest = np.zeros(len(pairs[0]), dtype=np.int64), np.zeros(len(pairs[0]))
    end = 0
    for run in range(runs - 1):
        apart = np.abs(values[run + 1 :] - values[run])
        start, end = end, end + len(apart)
        changed[start:end] = np.count_nonzero(apart > EQUAL, axis=1)
        largest[start:end] = apart.max(axis=1, initial=0.0)
    differences, sums = np.nan_to_num(means[pairs[0]] - means[pairs[1]]), centred.sum(axis=1)
    return Spread(
        counts=np.full(len(differences), units),
        means=np.where(np.abs(differences) <= EQUAL, 0.0, differences),
        changed=changed,
        squares=square_sums(centred)[pairs],
        leanings=sums[pairs[0]] - sums[pairs[1]],
        largest=largest,
    )


def square_sums(centred: FloatArray) -> FloatArray:
    """float64[R, R], upper half: the sums of squared differences, 0 where they are rounding.

    They come from the differences themselves: a Gram matrix would cancel for runs that are alike.
    """
    runs, topics = centred.shape
    squares = np.zeros((runs, runs))
    for run in range(runs - 1):
        differences = centred[run + 1 :] - centred[run]
        squares[run, run + 1 :] = np.einsum("ij,ij->i", differences, differences)
    squares[squares <= topics * EQUAL**2] = 0.0
    return squares


def _largest(totals: FloatArray, weights: FloatArray) -> FloatArray:
    """The largest weighted distance of two runs in each draw; totals are float64[R, draws]."""
    totals = np.ascontiguousarray(totals)
    largest, of_run = np.zeros(totals.shape[1]), np.empty(totals.shape[1])
    distances = np.empty_like(totals)
    for run in range(len(totals) - 1):
        rest = distances[: len(totals) - 1 - run]
        np.subtract(totals[run + 1 :], totals[run], out=rest)
        np.multiply(rest, weights[run, run + 1 :, np.newaxis], out=rest)
        np.abs(rest, out=rest)
        np.max(rest, axis=0, out=of_run)
        np.maximum(largest, of_run, out=largest)
    return largest


def _first_of_trues(row: BoolArray) -> int:
    """The place from which on all are true; the length if the last is not."""
    false = np.flatnonzero(~row)
    return int(false[-1]) + 1 if len(false) else 0
