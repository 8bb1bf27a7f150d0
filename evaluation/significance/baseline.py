"""Comparison of every run with one baseline: differences, intervals, tests, adjusted p.

>>> scores = np.array([[0.2, 0.3, 0.4], [0.3, 0.5, 0.7], [0.2, 0.3, 0.4]])
>>> better, same = compare_with_baseline(scores[1:], scores[0], test="sign_flip")
>>> better.p, better.p_adjusted, better.wins, better.losses, better.ties
(0.25, 0.5, 3, 0, 0)
>>> same.difference, same.p, same.p_adjusted, same.effect_size
(0.0, 1.0, 1.0, 0.0)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from evaluation.ragged import FloatArray, IntArray
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
    FEWEST_TOPICS,
    PAIR_DRAWS,
    TIE,
    PairDecisions,
    adjusted_p,
    can_decide,
    critical_value,
    interval_of,
    t_of,
)
from evaluation.significance.randomisation import CHUNK, sign_blocks, sign_flip_results
from evaluation.significance.scales import MEAN, Scale, Unit

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
) -> list[Difference]:
    """Compare every row of `scores` float64[R, T] with the baseline, a row number or float64[T].

    Topics are in the order of their numbers, the same in every row; NaN is undefined. All tests
    form one family. `max_t` adjusts by the largest t of each flip of the topics, other tests by
    `holm` unless another correction is named. `max_t` has simultaneous intervals; `t` and
    `bootstrap` have one where p is not adjusted. Without a test only differences and wins are
    set. With `direction` -1 lower scores win; the sign of the difference does not change.
    Unknown names raise ValueError.

    >>> compare_with_baseline(np.array([[0.5], [0.7]]), baseline=0)[1].p is None
    True
    """
    correction = correction or ("max_t" if test == "max_t" else "holm")
    if test not in (None, *TESTS) or correction not in get_args(Correction):
        raise ValueError(f"no such test or correction: {test}, {correction}")
    if test and (test == "max_t") != (correction == "max_t") and correction != "none":
        raise ValueError("the test max_t adjusts p itself; other tests cannot use max_t")
    scores = scale.tested(np.asarray(scores, dtype=np.float64))
    own = baseline if isinstance(baseline, int | np.integer) else None
    against = scores[own] if own is not None else scale.tested(np.asarray(baseline))
    differences = scores - against
    enough = np.count_nonzero(~np.isnan(differences), axis=1) >= 2
    tested = [run for run in np.flatnonzero(enough).tolist() if run != own]
    outcome_of: dict[int, Outcome] = {}
    if test is not None:
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

    `pairs` are on the scale of the measure. The p of the pair alone stays as it is.
    """
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
    if test == "max_t":
        return max_t(differences, level, adjust=correction == "max_t")
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
    differences: FloatArray, level: float = 0.95, draws: int = PAIR_DRAWS, adjust: bool = True
) -> list[Outcome]:
    """The maximum-t test of every row of float64[R, T] (Westfall and Young 1993), NaN excluded.

    Centred differences are flipped by topic, all runs together. p counts the flips in which the
    run's own t reaches the observed one, the adjusted p those in which the largest t of any run
    does; so it is never smaller. Without `adjust` both are those of the run alone. No p is
    below 2^(1 - topics). A run has no interval where that is above 1 - level, or below six topics.

    >>> rows = np.array([[1, 2, 1, 3, 1, 2, 1, 2], [1, -1, 2, -2, 1, -1, 1, 0]]) / 10
    >>> [round(outcome.p_adjusted, 2) for outcome in max_t(rows)]
    [0.01, 0.87]
    """
    rows = _Centred.of(differences)
    t, topics = rows.t, rows.topics
    drawn = _flipped(rows, draws)
    reached = np.count_nonzero(drawn >= _needed(t, topics)[:, np.newaxis], axis=1)
    raw = _p_of(reached, draws, rows)
    enough = topics >= FEWEST_TOPICS
    if adjust:
        maxima = np.sort(_largest_t(drawn[enough], topics[enough]))
        critical = np.full(len(t), critical_value(maxima, level))
        adjusted = np.maximum(raw, adjusted_p(t, maxima))
    else:
        ordered = t_of(np.sort(drawn), topics[:, np.newaxis])
        critical = np.array([critical_value(row, level) for row in ordered])
        adjusted = raw
    decided = can_decide(topics, level) & np.isfinite(critical)
    differs = t > critical * (1 + TIE)
    margins = np.where(decided, critical, 0.0) * rows.errors
    return [
        Outcome(
            float(raw[run]),
            float(adjusted[run]),
            interval_of(float(rows.means[run]), float(margins[run]), bool(differs[run]))
            if decided[run]
            else None,
            exact=False,
        )
        for run in range(len(t))
    ]


def max_t_alone(differences: FloatArray, draws: int = PAIR_DRAWS) -> FloatArray:
    """The p of every row of float64[R, T] alone, as in `max_t`; topics are two or more, no NaN.

    >>> max_t_alone(np.array([[1, 2, 1, 3, 1, 2, 1, 2], [1, -1, 2, -2, 1, -1, 1, 0]])).round(2)
    array([0.01, 0.85])
    """
    rows = _Centred.of(differences)
    needed, reached = _needed(rows.t, rows.topics), np.zeros(len(differences), dtype=np.int64)
    scaled, buffer = rows.scaled, np.empty((len(differences), CHUNK))
    for signs in sign_blocks(differences.shape[1], draws):
        drawn = buffer[:, : len(signs)]
        np.matmul(scaled, signs.T, out=drawn)
        np.abs(drawn, out=drawn)
        reached += np.count_nonzero(drawn >= needed[:, np.newaxis], axis=1)
    return _p_of(reached, draws, rows)


@dataclass(frozen=True, eq=False)
class _Centred:
    """Differences without their means; lengths and means that are rounding are 0."""

    centred: FloatArray
    topics: IntArray
    means: FloatArray
    lengths: FloatArray

    @classmethod
    def of(cls, differences: FloatArray) -> _Centred:
        defined = ~np.isnan(differences)
        topics = np.count_nonzero(defined, axis=1)
        filled = np.where(defined, differences, 0.0)
        means = filled.sum(axis=1) / topics
        means[np.abs(means) <= EQUAL] = 0.0
        centred = np.where(defined, filled - means[:, np.newaxis], 0.0)
        lengths = np.sqrt(np.square(centred).sum(axis=1))
        lengths[lengths <= EQUAL * np.sqrt(topics)] = 0.0
        return cls(centred, topics, means, lengths)

    @property
    def scaled(self) -> FloatArray:
        """float64[R, T]: the centred rows of length 1; constant rows are 0."""
        lengths = self.lengths[:, np.newaxis]
        return np.divide(self.centred, lengths, out=np.zeros_like(self.centred), where=lengths > 0)

    @property
    def errors(self) -> FloatArray:
        """float64[R]: the standard error of each mean."""
        errors: FloatArray = self.lengths / np.sqrt((self.topics - 1) * self.topics)
        return errors

    @property
    def t(self) -> FloatArray:
        """float64[R]: |mean| / standard error; 0 for no difference, inf for a constant one."""
        apart = np.where(self.means != 0, np.inf, 0.0)
        return np.divide(np.abs(self.means), self.errors, out=apart, where=self.errors > 0)


def _flipped(rows: _Centred, draws: int) -> FloatArray:
    """float64[R, draws]: u = |total| / length of each row in each flip; 0 for constant rows."""
    scaled = rows.scaled
    blocks = [scaled @ signs.T for signs in sign_blocks(rows.centred.shape[1], draws)]
    drawn: FloatArray = np.abs(np.concatenate(blocks, axis=1))
    return drawn


def _needed(t: FloatArray, topics: IntArray) -> FloatArray:
    """The u that a flip must reach to count: that of t, u^2 = T t^2 / (T - 1 + t^2)."""
    squares = np.square(np.minimum(t, 1 / EQUAL))
    needed: FloatArray = np.sqrt(topics * squares / (topics - 1 + squares)) * (1 - TIE)
    return needed


def _p_of(reached: IntArray, draws: int, rows: _Centred) -> FloatArray:
    """The p of each row alone, from the number of flips that reach its t."""
    p: FloatArray = np.maximum((1 + reached) / (1 + draws), 2.0 ** (1 - rows.topics))
    return np.where(rows.t > 0, p, 1.0)


def _largest_t(drawn: FloatArray, topics: IntArray) -> FloatArray:
    """The largest t of any run in each flip; with equally many topics, that of the largest u."""
    if not len(drawn):
        return np.zeros(drawn.shape[1])
    if (topics == topics[0]).all():
        return t_of(drawn.max(axis=0), topics[0])
    largest: FloatArray = t_of(drawn, topics[:, np.newaxis]).max(axis=0)
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
