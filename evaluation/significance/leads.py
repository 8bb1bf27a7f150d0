"""The lead of one system over another in a benchmark: on how many collections, and whether on all.

A mean over collections can come from one of them. A lead says on which collections a system is
ahead, on which significantly, and what is left of the difference without each one.

>>> base = np.array([1, 2, 1, 3, 1, 2, 1, 2, 3, 1]) / 10
>>> scores = [np.array([base, base + gain]) for gain in (0.3, -0.01, -0.02)]
>>> collections = [Collected(rows, [(n, t) for t in range(10)]) for n, rows in enumerate(scores)]
>>> lead = compute_lead(collections, 1, 0)
>>> round(lead.difference, 2), lead.ahead, lead.behind, lead.significantly_behind
(0.09, 1, 2, 2)
>>> [round(rest, 3) for rest in lead.without], lead.relies_on, lead.is_turned
([-0.015, 0.14, 0.145], 0, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation.ragged import FloatArray, IntArray
from evaluation.significance.across import Collected, tested_together
from evaluation.significance.adjusting import holm
from evaluation.significance.baseline import max_t, max_t_alone
from evaluation.significance.differences import EQUAL
from evaluation.significance.pairwise import PAIR_DRAWS, compare_all_pairs
from evaluation.significance.scales import MEAN, Scale, Unit

# What a collection's own test of a pair is adjusted for. "alone": the pair was chosen before its
# scores were seen. "asked": all pairs that are asked for. "all": all pairs of systems, for a pair
# that was chosen by its scores.
LeadFamily = Literal["alone", "asked", "all"]


@dataclass(frozen=True, slots=True)
class Lead:
    """The difference of one system from another over K collections, and where it comes from.

    `difference` is the mean of `differences`, those of the collections, and `p_adjusted` that of
    the benchmark's own test. `without` is the mean difference without each collection, empty for
    one collection. All are in the `unit` of the measure: a ratio of 1 is no difference.
    `p_alone` is the p of each collection's own test of this pair, adjusted for the family that
    was asked for and by Holm over the collections; None where a collection has too few topics for
    a verdict.
    The system is ahead where it is better. `relies_on` is the place of the collection without
    which most of the difference is lost, None where no removal makes it smaller; `is_turned` says
    that without it the difference is gone, or is in favour of the other system.
    """

    difference: float
    p_adjusted: float | None
    differences: tuple[float, ...]
    without: tuple[float, ...]
    p_alone: tuple[float | None, ...]
    ahead: int
    behind: int
    equal: int
    significantly_ahead: int
    significantly_behind: int
    relies_on: int | None
    is_turned: bool
    unit: Unit = "mean"


def compute_lead(
    collections: Sequence[Collected],
    system: int,
    other: int,
    p_adjusted: float | None = None,
    level: float = 0.95,
    direction: int = 1,
    scale: Scale = MEAN,
) -> Lead:
    """The lead of one system over another; `p_adjusted` comes from the test of the benchmark.

    Topics that some system has no score for are left out, as in that test. ValueError for sums,
    and where a collection has no topic left.
    """
    return compute_leads(collections, [(system, other)], [p_adjusted], level, direction, scale)[0]


def compute_leads(
    collections: Sequence[Collected],
    pairs: Sequence[tuple[int, int]],
    p_adjusted: Sequence[float | None],
    level: float = 0.95,
    direction: int = 1,
    scale: Scale = MEAN,
    draws: int = PAIR_DRAWS,
    family: LeadFamily = "alone",
) -> list[Lead]:
    """`compute_lead` of every pair of systems, each with its p from the test of the benchmark.

    `family` is what the test of a pair on a collection is adjusted for, before Holm.
    """
    tested = tested_together(collections, scale)
    if not all(each.topics for each in tested):
        raise ValueError("a collection has no topic with a score of every system")
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    gaps = [(each.scores[first] - each.scores[second]).mean(axis=1) for each in tested]
    differences = np.stack(gaps, axis=1)
    differences[np.abs(differences) <= EQUAL] = 0.0
    p = _test_collections(tested, first, second, level, draws, family, scale)
    columns = zip(differences, p, p_adjusted, strict=True)
    return [_describe(gap, own, given, level, direction, scale) for gap, own, given in columns]


def _test_collections(
    collections: Sequence[Collected],
    first: IntArray,
    second: IntArray,
    level: float,
    draws: int,
    family: LeadFamily,
    scale: Scale,
) -> FloatArray:
    """float64[pairs, K]: p by Holm over the collections; NaN where there can be no verdict."""
    found = np.full((len(first), len(collections)), np.nan)
    decided = [k for k, each in enumerate(collections) if each.can_decide(level)]
    for place in decided:
        found[:, place] = _p_of_pairs(
            collections[place], first, second, draws, family, scale.half_range
        )
    for own in found:
        own[decided] = holm(own[decided])
    return found


def _p_of_pairs(
    collected: Collected,
    first: IntArray,
    second: IntArray,
    draws: int,
    family: LeadFamily,
    half_range: float | None,
) -> FloatArray:
    """float64[pairs]: the p of pairs of systems, adjusted for their family."""
    scores, groups = collected.in_order.scores, collected.in_order.members
    if family == "all":
        pairs = compare_all_pairs(scores, draws=draws, half_range=half_range, groups=groups)
        p: FloatArray = pairs.p[first, second]
        return p
    rows = scores[first] - scores[second]
    if family == "asked":
        tested = max_t(rows, draws=draws, half_range=half_range, groups=groups)
        return np.array([outcome.p_adjusted for outcome in tested])
    return max_t_alone(rows, draws, half_range, groups)


def _describe(
    gaps: FloatArray,
    p: FloatArray,
    p_adjusted: float | None,
    level: float,
    direction: int,
    scale: Scale,
) -> Lead:
    """The lead from the difference on each collection, float64[K], and its p there."""
    mean, signs = _unless_rounding(gaps.mean()), np.sign(gaps) * direction
    without = _without_each(gaps)
    relies_on, is_turned = _find_support(mean, without)
    # A comparison with NaN is false: without a verdict nothing is significant.
    significant = p <= 1 - level + EQUAL
    return Lead(
        difference=float(scale.printed(mean)),
        p_adjusted=p_adjusted,
        differences=tuple(scale.printed(gaps).tolist()),
        without=tuple(scale.printed(without).tolist()),
        p_alone=tuple(None if np.isnan(own) else own for own in p.tolist()),
        ahead=int(np.count_nonzero(signs > 0)),
        behind=int(np.count_nonzero(signs < 0)),
        equal=int(np.count_nonzero(signs == 0)),
        significantly_ahead=int(np.count_nonzero(significant & (signs > 0))),
        significantly_behind=int(np.count_nonzero(significant & (signs < 0))),
        relies_on=relies_on,
        is_turned=is_turned,
        unit=scale.unit,
    )


def _without_each(gaps: FloatArray) -> FloatArray:
    """The mean without each one; none where there is only one."""
    if len(gaps) < 2:
        return np.zeros(0)
    without: FloatArray = (gaps.sum() - gaps) / (len(gaps) - 1)
    return _unless_rounding(without)


def _find_support(mean: FloatArray, without: FloatArray) -> tuple[int | None, bool]:
    """The collection whose removal leaves least of the difference, and whether it turns it."""
    if not len(without) or mean == 0:
        return None, False
    left = np.sign(mean) * without
    place = int(left.argmin())
    if left[place] >= abs(mean) - EQUAL:
        return None, False
    return place, bool(left[place] <= 0)


def _unless_rounding(values: FloatArray) -> FloatArray:
    return np.where(np.abs(values) <= EQUAL, 0.0, values)
