"""Comparison of every run with one baseline: differences, intervals, tests, adjusted p.

>>> scores = np.array([[0.2, 0.3, 0.4], [0.3, 0.5, 0.7], [0.2, 0.3, 0.4]])
>>> better, same = compare_with_baseline(scores[1:], scores[0])
>>> better.p, better.p_adjusted, better.wins, better.losses, better.ties
(0.25, 0.5, 3, 0, 0)
>>> same.difference, same.p, same.p_adjusted, same.effect_size
(0.0, 1.0, 1.0, 0.0)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from evaluation.ragged import FloatArray
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
from evaluation.significance.randomisation import max_t, sign_flip_results

Test: TypeAlias = Literal["sign_flip", "t", "wilcoxon", "sign", "bootstrap"]
Correction: TypeAlias = Literal["holm", "benjamini_hochberg", "max_t", "none"]

# The names of each test on pages and in tables, and of the interval shown with it.
TESTS: dict[str, str] = {
    "sign_flip": "two-sided paired randomisation test (sign flips)",
    "t": "two-sided paired t-test",
    "wilcoxon": "two-sided Wilcoxon signed-rank test",
    "sign": "two-sided sign test",
    "bootstrap": "two-sided bootstrap-shift test",
}
INTERVALS: dict[str, str] = dict.fromkeys(TESTS, "paired t interval") | {
    "bootstrap": "BCa bootstrap interval"
}


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a run from the baseline, over the `topics` where both have a score.

    `difference` is the mean of run minus baseline, `low` and `high` its confidence interval,
    `effect_size` d_z = mean / sd of the differences: 0 where there is no difference, None where
    all topics differ by the same amount. `p` is None for the baseline itself and below two
    topics. `undefined` counts the excluded topics. A number that is undefined is None, never
    NaN.
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


def compare_with_baseline(
    scores: FloatArray,
    baseline: int | FloatArray,
    test: Test = "sign_flip",
    level: float = 0.95,
    correction: Correction = "holm",
    direction: int = 1,
) -> list[Difference]:
    """Compare every row of `scores` float64[R, T] with the baseline, a row number or float64[T].

    Topics are in the same order in every row; NaN is undefined. All tests form one family,
    over which p is adjusted. With `direction` -1 lower scores win; the sign of the
    difference does not change. Unknown names and `max_t` with another test raise ValueError.

    >>> compare_with_baseline(np.array([[0.5], [0.7]]), baseline=0)[1].p is None
    True
    """
    if test not in TESTS or correction not in ("holm", "benjamini_hochberg", "max_t", "none"):
        raise ValueError(f"no such test or correction: {test}, {correction}")
    if correction == "max_t" and test != "sign_flip":
        raise ValueError("max_t adjusts the sign-flip test")
    scores = np.asarray(scores, dtype=np.float64)
    own = baseline if isinstance(baseline, int | np.integer) else None
    differences = scores - (scores[own] if own is not None else np.asarray(baseline))
    enough = np.count_nonzero(~np.isnan(differences), axis=1) >= 2
    tested = [run for run in np.flatnonzero(enough).tolist() if run != own]
    results, intervals = _tested(differences[tested], test, level)
    adjusted = _adjusted(differences[tested], results, correction)
    outcomes = zip(results, intervals, adjusted, strict=True)
    outcome_of = dict(zip(tested, outcomes, strict=True))
    described = zip(summaries(differences), _signs(differences, direction), strict=True)
    return [
        _described(summary, signs, scores.shape[1], outcome_of.get(run))
        for run, (summary, signs) in enumerate(described)
    ]


Outcome: TypeAlias = tuple[TestResult, Interval, float]


def _tested(
    differences: FloatArray, test: Test, level: float
) -> tuple[list[TestResult], list[Interval]]:
    if test == "bootstrap":
        both = bootstraps(differences, level)
        return [result.test for result in both], [result.interval for result in both]
    intervals = [interval_around(summary, level) for summary in summaries(differences)]
    if test == "sign_flip":
        return sign_flip_results(differences), intervals
    one: Callable[[FloatArray], TestResult]
    one = {"t": paired_t, "wilcoxon": wilcoxon, "sign": sign_test}[test]
    return [one(row) for row in differences], intervals


def _adjusted(
    differences: FloatArray, results: list[TestResult], correction: Correction
) -> list[float]:
    p = np.array([result.p for result in results])
    if correction == "holm":
        p = holm(p)
    elif correction == "benjamini_hochberg":
        p = benjamini_hochberg(p)
    elif correction == "max_t":
        p = max_t(differences)
    return [float(adjusted) for adjusted in p]


def _signs(differences: FloatArray, direction: int) -> list[tuple[int, int, int]]:
    """Wins, losses and ties of every row."""
    signs = np.sign(whole(differences)) * direction
    wins, losses = np.count_nonzero(signs > 0, axis=1), np.count_nonzero(signs < 0, axis=1)
    ties = np.count_nonzero(~np.isnan(differences), axis=1) - wins - losses
    return list(zip(wins.tolist(), losses.tolist(), ties.tolist(), strict=True))


def _described(
    summary: Summary, signs: tuple[int, int, int], topics: int, outcome: Outcome | None
) -> Difference:
    result, interval, adjusted = outcome or (None, None, None)
    wins, losses, ties = signs
    return Difference(
        difference=summary.mean if summary.topics else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        p=result.p if result else None,
        p_adjusted=adjusted,
        effect_size=_effect_size(summary.mean, summary.deviation),
        wins=wins,
        losses=losses,
        ties=ties,
        topics=summary.topics,
        undefined=topics - summary.topics,
        exact=result.exact if result else False,
    )


def _effect_size(mean: float, deviation: float) -> float | None:
    if np.isnan(deviation):
        return None
    if deviation == 0:
        return 0.0 if abs(mean) <= EQUAL else None
    return mean / deviation
