"""Comparison of every run with one baseline: differences, intervals, tests, adjusted p.

>>> scores = np.array([[0.2, 0.3, 0.4], [0.3, 0.5, 0.7], [0.2, 0.3, 0.4]])
>>> better, same = compare_with_baseline(scores[1:], scores[0], test="sign_flip")
>>> better.p, better.p_adjusted, better.wins, better.losses, better.ties
(0.25, 0.5, 3, 0, 0)
>>> same.difference, same.p, same.p_adjusted, same.effect_size
(0.0, 1.0, 1.0, 0.0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.ragged import BoolArray, FloatArray, IntArray
from evaluation.significance.adjusting import benjamini_hochberg, holm
from evaluation.significance.bootstrap import bootstraps
from evaluation.significance.differences import (
    EQUAL,
    Interval,
    Summary,
    TestResult,
    summaries,
    whole,
)
from evaluation.significance.paired import interval_around, paired_t, sign_test, wilcoxon
from evaluation.significance.pairwise import (
    PAIR_DRAWS,
    TIE,
    PairDecisions,
    adjusted_p,
    can_decide,
    critical_value,
    interval_of,
    smallest_p_of,
    t_of,
)
from evaluation.significance.randomisation import CHUNK, sign_blocks, sign_flip_results
from evaluation.significance.scales import MEAN, Scale, Unit
from evaluation.significance.units import Units, move_t
from evaluation.significance.widening import Spread

Test: TypeAlias = Literal["max_t", "sign_flip", "t", "wilcoxon", "sign", "bootstrap"]
Correction: TypeAlias = Literal["max_t", "holm", "benjamini_hochberg", "none"]

# The names of each test on pages and in tables, and of the interval shown with it.
TESTS: dict[str, str] = {
    "max_t": "two-sided maximum-t test (sign flips of all runs together)",
    "sign_flip": "two-sided paired randomisation test (sign flips)",
    "t": "two-sided paired t-test",
    "wilcoxon": "two-sided Wilcoxon signed-rank test",
    "sign": "two-sided sign test",
    "bootstrap": "two-sided studentised bootstrap test",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a run from the baseline, over the `topics` where both have a score.

    `difference` is the mean of run minus baseline in the `unit` of the measure: for "total" it
    is the difference of the sums, for "ratio" the ratio of the geometric means. `low` and `high`
    are its interval, which leaves no difference out exactly where `p_adjusted` is at most
    1 - level; None where the test has no such interval. `effect_size` d_z = mean / sd of the
    differences: 0 where there is no difference, None where all topics differ by the same amount.
    `p` is None for the baseline itself and below two topics. `undefined` counts the excluded
    topics. A number that is undefined is None, never NaN.
    """

    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    effect_size: float | None
    wins: int
    losses: int
    ties: int
    topics: int
    undefined: int
    exact: bool = False
    unit: Unit = "mean"

    def reversed(self) -> Difference:
        """The difference of the baseline from the run."""

        def turned(value: float | None) -> float | None:
            if value is None:
                return None
            return 1 / value if self.unit == "ratio" else 0.0 - value

        return replace(
            self,
            difference=turned(self.difference),
            low=turned(self.high),
            high=turned(self.low),
            effect_size=None if self.effect_size is None else 0.0 - self.effect_size,
            wins=self.losses,
            losses=self.wins,
        )

    @property
    def changed(self) -> int:
        """On how many topics the two differ; what few of them show, few others could undo."""
        return self.wins + self.losses

    @property
    def gain(self) -> float | None:
        """The difference less that of two equal runs: its sign says which run is higher."""
        if self.difference is None:
            return None
        return self.difference - Scale(self.unit).neutral


def compare_with_baseline(
    scores: FloatArray,
    baseline: int | FloatArray,
    test: Test | None = "max_t",
    level: float = 0.95,
    correction: Correction | None = None,
    direction: int = 1,
    scale: Scale = MEAN,
    groups: IntArray | None = None,
) -> list[Difference]:
    """Compare every row of `scores` float64[R, T] with the baseline, a row number or float64[T].

    Topics are in the order of their numbers, the same in every row; NaN is undefined. All tests
    form one family. `max_t` adjusts by the largest t of each flip of the topics, other tests by
    `holm` unless another correction is named. `max_t` has simultaneous intervals; `t` and
    `bootstrap` have one where p is not adjusted. Without a test only differences and wins are
    set. With `direction` -1 lower scores win; the sign of the difference does not change.
    `groups` int[T] has the group of each topic, from 0 in the order of their names: whole groups
    are flipped then, which needs `max_t`. Unknown names raise ValueError.

    >>> compare_with_baseline(np.array([[0.5], [0.7]]), baseline=0)[1].p is None
    True
    """
    correction = correction or ("max_t" if test == "max_t" else "holm")
    if test not in (None, *TESTS) or correction not in get_args(Correction):
        raise ValueError(f"no such test or correction: {test}, {correction}")
    if test and (test == "max_t") != (correction == "max_t") and correction != "none":
        raise ValueError("the test max_t adjusts p itself; other tests cannot use max_t")
    if groups is not None and test not in (None, "max_t"):
        raise ValueError("topics in groups require the test max_t")
    scores = scale.tested(np.asarray(scores, dtype=np.float64))
    own = baseline if isinstance(baseline, int | np.integer) else None
    against = scores[own] if own is not None else scale.tested(np.asarray(baseline))
    differences = scores - against
    enough = np.count_nonzero(~np.isnan(differences), axis=1) >= 2
    tested = [run for run in np.flatnonzero(enough).tolist() if run != own]
    outcome_of: dict[int, Outcome] = {}
    if test is not None:
        if test == "max_t":
            adjust = correction == "max_t"
            outcomes = max_t(
                differences[tested],
                level,
                adjust=adjust,
                half_range=scale.half_range,
                groups=groups,
            )
        else:
            outcomes = _tested(differences[tested], test, level, correction)
        outcome_of = dict(zip(tested, outcomes, strict=True))
    described = zip(summaries(differences), _signs(differences, direction), strict=True)
    return [
        _described(summary, signs, scores.shape[1], outcome_of.get(run), scale)
        for run, (summary, signs) in enumerate(described)
    ]


def decide_within_all_pairs(
    alone: Difference, pairs: PairDecisions, run: int, other: int, scale: Scale = MEAN
) -> Difference:
    """Return a difference of two runs with the p and the interval that hold for all pairs.

    `pairs` are on the scale of the measure. The p of the pair alone does not change. There is no
    other where one of the two stands outside.
    """
    if not (pairs.members[run] and pairs.members[other]):
        return replace(alone, low=None, high=None, p_adjusted=None)
    interval = pairs.interval(run, other)
    difference, low, high = _printed(pairs.difference(run, other), interval, pairs.topics, scale)
    return replace(
        alone,
        difference=difference,
        low=low,
        high=high,
        p_adjusted=pairs.p_of(run, other) if pairs.topics > 1 else None,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a test says of one run."""

    p: float
    p_adjusted: float
    interval: Interval | None
    exact: bool


def _tested(
    differences: FloatArray, test: Test, level: float, correction: Correction
) -> list[Outcome]:
    if not len(differences):
        return []
    intervals: list[Interval | None] = []
    if test == "bootstrap":
        both = bootstraps(differences, level)
        results, intervals = [one.test for one in both], [one.interval for one in both]
    elif test == "sign_flip":
        results = sign_flip_results(differences)
    else:
        one: Callable[[FloatArray], TestResult]
        one = {"t": paired_t, "wilcoxon": wilcoxon, "sign": sign_test}[test]
        results = [one(row) for row in differences]
    if test == "t":
        intervals = [interval_around(summary, level) for summary in summaries(differences)]
    # Holm's verdicts contradict intervals that hold one by one.
    shown = bool(intervals) and (correction == "none" or len(results) == 1)
    adjusted = _adjusted(np.array([result.p for result in results]), correction).tolist()
    return [
        Outcome(result.p, p, intervals[run] if shown else None, result.exact)
        for run, (result, p) in enumerate(zip(results, adjusted, strict=True))
    ]


def _adjusted(p: FloatArray, correction: Correction) -> FloatArray:
    if correction == "holm":
        return holm(p)
    return benjamini_hochberg(p) if correction == "benjamini_hochberg" else p


def max_t(
    differences: FloatArray,
    level: float = 0.95,
    draws: int = PAIR_DRAWS,
    adjust: bool = True,
    half_range: float | None = None,
    groups: IntArray | None = None,
) -> list[Outcome]:
    """The maximum-t test of every row of float64[R, T] (Westfall and Young 1993), NaN excluded.

    Centred differences are flipped by topic or by group of topics, all runs together. p counts
    the flips in which the run's own t reaches the observed one, the adjusted p those in which the
    largest t of any run does; so it is never smaller. The observed t has the widened error. Runs
    with fewer topics are compared by the t that is as improbable on the degrees of freedom of the
    longest run. Without `adjust` each run is a family of its own. No p is below that of Student's
    t, or below 2^(1 - units). A run has no interval where that is above 1 - level, below six
    units, or where no run differs on any topic and the scores have no range.

    >>> rows = np.array([[1, 2, 1, 3, 1, 2, 1, 2], [1, -1, 2, -2, 1, -1, 1, 0]]) / 10
    >>> [round(outcome.p_adjusted, 2) for outcome in max_t(rows)]
    [0.01, 0.87]
    """
    rows = _Flipped.of(differences, half_range, adjust, groups)
    needed = rows.needed[:, np.newaxis]
    if adjust:
        # Runs without a verdict are no part of the family.
        kept = rows.units.decided
        longest = np.array(rows.counts[kept].max(initial=2) - 1.0)
        counted, largest = np.zeros(len(rows.t), np.int64), []
        for drawn in rows.flips(draws):
            counted += np.count_nonzero(drawn >= needed, axis=1)
            largest.append(_largest_t(drawn, rows.counts, kept, longest))
        raw, maxima = rows.p_of(counted, draws), np.sort(np.concatenate(largest))
        critical = np.full(len(rows.t), critical_value(maxima, level))
        reached = adjusted_p(rows.t, maxima, rows.counts, rows.units.degrees, longest)
        adjusted = np.maximum(raw, reached)
    else:
        drawn = np.concatenate([block.copy() for block in rows.flips(draws)], axis=1)
        raw = adjusted = rows.p_of(np.count_nonzero(drawn >= needed, axis=1), draws)
        ordered = t_of(np.sort(drawn), rows.counts[:, np.newaxis])
        critical = np.array([critical_value(row, level) for row in ordered])
        longest = rows.counts - 1.0
    margins = rows.margins(critical, longest, level)
    differs = rows.t * rows.errors > margins * (1 + TIE)
    return [
        Outcome(
            float(raw[run]),
            float(adjusted[run]),
            interval_of(float(rows.units.means[run]), float(margins[run]), bool(differs[run]))
            if np.isfinite(margins[run])
            else None,
            exact=False,
        )
        for run in range(len(rows.t))
    ]


def max_t_alone(
    differences: FloatArray,
    draws: int = PAIR_DRAWS,
    half_range: float | None = None,
    groups: IntArray | None = None,
) -> FloatArray:
    """The p of every row of float64[R, T] alone, as in `max_t`; topics are two or more, no NaN.

    >>> max_t_alone(np.array([[1, 2, 1, 3, 1, 2, 1, 2], [1, -1, 2, -2, 1, -1, 1, 0]])).round(2)
    array([0.01, 0.79])
    """
    rows = _Flipped.of(differences, half_range, together=False, groups=groups)
    needed, counted = rows.needed[:, np.newaxis], np.zeros(len(differences), dtype=np.int64)
    for drawn in rows.flips(draws):
        counted += np.count_nonzero(drawn >= needed, axis=1)
    return rows.p_of(counted, draws)


@dataclass(frozen=True, eq=False)
class _Flipped:
    """Rows of differences as units, with the widened error of each mean."""

    units: Units
    errors: FloatArray
    lengths: FloatArray

    @classmethod
    def of(
        cls,
        differences: FloatArray,
        half_range: float | None,
        together: bool = True,
        groups: IntArray | None = None,
    ) -> _Flipped:
        """`together` tells whether the rows are one family, or each is one of its own."""
        units = Units.of(differences, groups)
        spread = Spread.of(units)
        size = spread.family_size(half_range) if together else spread.own_sizes(half_range)
        return cls(units, spread.errors(size), np.sqrt(spread.squares))

    @property
    def counts(self) -> IntArray:
        return self.units.counts

    @property
    def scaled(self) -> FloatArray:
        """float64[R, U]: the centred rows of length 1; constant rows are 0."""
        lengths, centred = self.lengths[:, np.newaxis], self.units.centred
        return np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > 0)

    @cached_property
    def t(self) -> FloatArray:
        """float64[R]: |mean| / widened error; 0 for no difference."""
        means = np.abs(self.units.means)
        return np.divide(means, self.errors, out=np.zeros_like(means), where=self.errors > 0)

    @property
    def needed(self) -> FloatArray:
        """The u that a flip must reach to count: that of t, u^2 = n t^2 / (n - 1 + t^2)."""
        counts = self.counts
        moved = move_t(self.t, self.units.degrees, np.subtract(counts, 1.0))
        squares = np.square(moved)
        needed: FloatArray = np.sqrt(counts * squares / (counts - 1 + squares)) * (1 - TIE)
        return needed

    def flips(self, draws: int) -> Iterator[FloatArray]:
        """Yield u = |total| / length of each row in some flips, in an array that is used again.

        It is float64[R, <= 1024], and 0 for constant rows.
        """
        scaled = self.scaled
        buffer = np.empty((len(scaled), CHUNK))
        for signs in sign_blocks(scaled.shape[1], draws):
            drawn = buffer[:, : len(signs)]
            np.matmul(scaled, signs.T, out=drawn)
            yield np.abs(drawn, out=drawn)

    def p_of(self, reached: IntArray, draws: int) -> FloatArray:
        """The p of each row alone, from the number of flips that reach its t."""
        smallest = smallest_p_of(self.t, self.counts, self.units.degrees)
        p: FloatArray = np.maximum((1 + reached) / (1 + draws), smallest)
        return np.where(self.t > 0, p, 1.0)

    def margins(self, critical: FloatArray, degrees: FloatArray, level: float) -> FloatArray:
        """Half the length of each interval, NaN where there is none.

        `critical` is the t on `degrees` that a run must exceed; each run has its own degrees.
        """
        own: FloatArray = np.maximum(self.units.degrees, 1.0)
        least = scipy.special.stdtrit(own, (1 + level) / 2)
        margins = np.maximum(move_t(critical, degrees, own), least) * self.errors
        decided = self.units.decided & can_decide(self.counts, level) & (self.errors > 0)
        return np.where(decided & np.isfinite(margins), margins, np.nan)


def _largest_t(
    drawn: FloatArray, counts: IntArray, kept: BoolArray, degrees: FloatArray
) -> FloatArray:
    """The largest t of the kept runs in each flip, on the degrees of freedom of the longest run.

    With equally many units, the largest t is that of the largest u.
    """
    largest = np.zeros(drawn.shape[1])
    for count in np.unique(counts[kept]):
        t = t_of(drawn[kept & (counts == count)].max(axis=0), int(count))
        np.maximum(largest, move_t(t, np.array(count - 1.0), degrees), out=largest)
    return largest


def _signs(differences: FloatArray, direction: int) -> list[tuple[int, int, int]]:
    """Wins, losses and ties of every row."""
    signs = np.sign(whole(differences)) * direction
    wins, losses = np.count_nonzero(signs > 0, axis=1), np.count_nonzero(signs < 0, axis=1)
    ties = np.count_nonzero(~np.isnan(differences), axis=1) - wins - losses
    return list(zip(wins.tolist(), losses.tolist(), ties.tolist(), strict=True))


def _described(
    summary: Summary,
    signs: tuple[int, int, int],
    topics: int,
    outcome: Outcome | None,
    scale: Scale,
) -> Difference:
    interval = outcome.interval if outcome else None
    difference, low, high = _printed(summary.mean, interval, summary.topics, scale)
    wins, losses, ties = signs
    return Difference(
        difference=difference,
        low=low,
        high=high,
        p=outcome.p if outcome else None,
        p_adjusted=outcome.p_adjusted if outcome else None,
        effect_size=_effect_size(summary.mean, summary.deviation),
        wins=wins,
        losses=losses,
        ties=ties,
        topics=summary.topics,
        undefined=topics - summary.topics,
        exact=outcome.exact if outcome else False,
        unit=scale.unit,
    )


def _printed(
    mean: float, interval: Interval | None, topics: int, scale: Scale
) -> tuple[float | None, float | None, float | None]:
    """The difference and the ends of its interval in the unit of the scale."""
    if not topics:
        return None, None, None
    ends = (mean, interval.low, interval.high) if interval else (mean,)
    difference, *rest = scale.printed(np.array(ends), topics).tolist()
    low, high = rest or (None, None)
    return difference, low, high


def _effect_size(mean: float, deviation: float) -> float | None:
    if np.isnan(deviation):
        return None
    if deviation == 0:
        return 0.0 if abs(mean) <= EQUAL else None
    return mean / deviation
