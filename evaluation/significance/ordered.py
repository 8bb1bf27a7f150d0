"""Systems on collections in an order, such as snapshots of the web: who holds, and who loses.

The numbers of a change are those of LongEval. All of them are losses: where more is better, they
are positive if a system is worse on the later collection than on the first.

>>> change = describe_change(first=0.5, later=0.4, pivot_first=0.4, pivot_later=0.36)
>>> round(change.result_delta, 4), round(change.relative_change, 4)
(0.1, 0.2)
>>> round(change.relative_improvement_delta, 4), round(change.effect_ratio, 4)
(0.1389, 0.4)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.significance.across import (
    Collected,
    compare_over_collections,
    tested_together,
)
from evaluation.significance.differences import EQUAL, Interval
from evaluation.significance.pairwise import PAIR_DRAWS
from evaluation.significance.scales import MEAN, Scale
from evaluation.significance.units import FEWEST_TOPICS


@dataclass(frozen=True)
class Change:
    """How a system changes from the first collection to a later one; None where undefined.

    `result_delta` is the first mean less the later one, and `relative_change` its share of the
    first. `average` is the mean of both. With the relative improvement RI over a pivot system,
    (mean - pivot) / pivot, `relative_improvement_delta` is RI on the first less RI on the later
    collection; `effect_ratio` is the later lead over the pivot as a share of the first lead.
    """

    result_delta: float
    relative_change: float | None
    average: float
    relative_improvement_delta: float | None = None
    effect_ratio: float | None = None


def describe_change(
    first: float,
    later: float,
    pivot_first: float | None = None,
    pivot_later: float | None = None,
) -> Change:
    """Return the change of a mean from the first collection to a later one.

    The relative improvement and the effect ratio are those of Breuer et al. (SIGIR 2020), as
    Keller, Breuer and Schaer take them for time (CLEF 2024).
    """
    change = Change(
        result_delta=first - later,
        relative_change=_divide(first - later, first),
        average=(first + later) / 2,
    )
    if pivot_first is None or pivot_later is None:
        return change
    before = _divide(first - pivot_first, pivot_first)
    after = _divide(later - pivot_later, pivot_later)
    return replace(
        change,
        relative_improvement_delta=None if before is None or after is None else before - after,
        effect_ratio=_divide(later - pivot_later, first - pivot_first),
    )


def _divide(value: float, by: float) -> float | None:
    return value / by if abs(by) > EQUAL else None


@dataclass(frozen=True)
class Loss:
    """How the lead of a system over the baseline changes from the first collection to a later one.

    `difference` is the later lead less the first one: below 0, the system loses more than the
    baseline where more is better. p and the interval hold for all systems and all later
    collections at once; they are None where there are too few topics. A geometric mean has the
    ratio of both leads, which are ratios too.
    """

    difference: float
    low: float | None
    high: float | None
    p: float | None

    @property
    def interval(self) -> Interval | None:
        if self.low is None or self.high is None:
            return None
        return Interval(self.low, self.high)


def compare_losses(
    collections: Sequence[Collected],
    baseline: int = 0,
    level: float = 0.95,
    scale: Scale = MEAN,
    draws: int = PAIR_DRAWS,
) -> list[list[Loss | None]]:
    """Test whether each system loses more than the baseline, on each collection after the first.

    The rows of all collections are the same systems; for each later collection there is one loss
    for each of them, None for the baseline. The change of a lead is the sum of the later mean
    difference and the first one turned round, so it is tested as the mean over two collections
    is: by flips, with widened errors and the largest t over all systems. Topics with the same key
    flip together. Later collections are adjusted by Bonferroni, so that p and interval agree.
    There is no test where a collection has fewer than six topics or groups, and none of sums:
    ValueError.
    """
    tested = tested_together(collections, scale)
    first, *rest = tested
    turned = replace(first, scores=-first.scores)
    plain = Scale(half_range=scale.half_range)
    found: list[list[Loss | None]] = []
    for later in rest:
        compared = compare_over_collections(
            [turned, later],
            baseline,
            level=1 - (1 - level) / len(rest),
            scale=plain,
            draws=draws,
        )
        decides = all(_has_enough(each) for each in (first, later))
        found.append(
            [
                None
                if system == baseline or each.difference is None
                else _loss(
                    *(each.difference, each.low, each.high, each.p_adjusted),
                    times=len(rest) if decides else 0,
                    scale=scale,
                )
                for system, each in enumerate(compared)
            ]
        )
    return found


def _has_enough(collected: Collected) -> bool:
    return len(collected.keys) >= FEWEST_TOPICS and collected.can_decide()


def _loss(
    difference: float,
    low: float | None,
    high: float | None,
    p: float | None,
    times: int,
    scale: Scale,
) -> Loss:
    """Return the change of a lead from half of it, which is the mean over two collections."""
    whole = np.array([2 * difference, 2 * (low or 0.0), 2 * (high or 0.0)])
    printed, least, most = scale.printed(whole).tolist()
    if not times or p is None or low is None or high is None:
        return Loss(printed, None, None, None)
    return Loss(printed, least, most, min(1.0, times * p))
