"""The gate of a new run: pass, worse, or cannot tell, by a margin beside a fixed reference.

A loss of up to the margin is accepted. The gate passes only what is shown not to lose more, and
it stops only what is shown to lose at all; what few topics cannot show is said to be unknown.

>>> d = np.array([0.1, -0.2, 0, 0, 0.05, 0, -0.3, 0.1, 0, 0, -0.05, 0.15])
>>> found = decide_gate(d, Gate(0.05), half_range=0.5)
>>> found.answer, round(found.low, 6), round(found.high, 6), found.needed
('cannot tell', -0.092377, 0.085395, 42)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isfinite, log
from typing import Literal, TypeAlias

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.ragged import FloatArray, IntArray
from evaluation.significance.differences import EQUAL
from evaluation.significance.planning import fewest
from evaluation.significance.units import Units
from evaluation.significance.widening import Spread

Answer: TypeAlias = Literal["pass", "worse", "cannot tell"]

# The chance that a loss of exactly the margin passes, that no loss is called worse (two-sided),
# and that a run truly equal passes with the topics that are said to be needed.
WRONG_PASS, WRONG_WORSE, POWER = 0.05, 0.05, 0.80
HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Gate:
    """What a new run has to show; the margin is a loss, in the unit of what is tested.

    `builds` is the budget of new runs that are held against one reference: with B of them, a run
    is stopped only beyond the 1 - .05 / B quantile. `look` counts the looks at one pair as topics
    are added, from 1; None for a single look.
    """

    margin: float
    builds: int = 1
    look: int | None = None

    def __post_init__(self) -> None:
        if not (self.margin > 0 and isfinite(self.margin)):
            raise ValueError("the margin is a number above 0")
        if self.builds < 1 or (self.look is not None and self.look < 1):
            raise ValueError("builds and looks are counted from 1")

    @property
    def pass_level(self) -> float:
        """The confidence of the lower bound: .95, or 1 - .05 / 2^k at the k-th look."""
        return 1 - WRONG_PASS / 2.0 ** (self.look or 0)

    @property
    def notice_level(self) -> float:
        """The confidence of the upper bound: .975, or 1 - .025 / 2^k at the k-th look."""
        return 1 - WRONG_WORSE / 2 / 2.0 ** (self.look or 0)

    @property
    def worse_level(self) -> float:
        """The confidence with which a run is stopped: 1 - .05 / B, but at least that of a notice.

        >>> Gate(0.05).worse_level, Gate(0.05, builds=50).worse_level
        (0.975, 0.999)
        """
        return max(self.notice_level, 1 - WRONG_WORSE / self.builds)


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The answer of a gate, with the gain of the new run over the reference in what is tested.

    `low` is the bound that has to be above -margin to pass and `high` the one that is below 0 for
    a notice; both are None below six units. `changed` of `topics` topics differ. `is_notice` says
    that one build in forty shows this by luck, `is_within` that a run is worse, but by less than
    the margin: it passes. `needed` is the number of topics with which an equal run would pass
    with probability .80: None where the answer is known, and where `helps` is false, since no
    number of topics would make it pass.
    """

    answer: Answer
    gain: float | None
    low: float | None
    high: float | None
    topics: int
    changed: int
    is_notice: bool = False
    is_within: bool = False
    needed: int | None = None
    helps: bool = True


def decide_gate(
    gains: FloatArray,
    gate: Gate,
    half_range: float | None = None,
    is_binary: bool = False,
    groups: IntArray | None = None,
) -> GateOutcome:
    """Hold a new run against a reference by its gains, float64[T]; NaN topics are excluded.

    The bounds are mean -+ t e with the widened error of the pair alone. Where every score is 0 or
    1, they are Tango's score bounds (Statistics in Medicine 1998). A run that changes no topic
    passes only where a loss of the margin would have shown with probability .95.
    """
    defined = ~np.isnan(gains)
    gains = gains[defined]
    if groups is not None:
        groups = np.unique(groups[defined], return_inverse=True)[1].reshape(-1)
    if not len(gains):
        return GateOutcome("cannot tell", None, None, None, 0, 0)
    units = Units.of(gains[np.newaxis], groups)
    mean, topics = float(units.means[0]), len(gains)
    changed = int(np.count_nonzero(np.abs(gains) > EQUAL))
    bounds = _find_bounds(gains, units, half_range, is_binary and groups is None)
    if bounds is None:
        least = _topics_without_change(gate.margin, half_range) if not changed else None
        return GateOutcome("cannot tell", mean, None, None, topics, changed, needed=least)
    low, high = bounds(-1, gate.pass_level), bounds(1, gate.notice_level)
    is_worse, passes = bounds(1, gate.worse_level) < 0, low > -gate.margin
    needed: int | None
    if not changed:
        least = _topics_without_change(gate.margin, half_range)
        passes = least is not None and topics >= least
        needed = None if passes else least
        answer: Answer = "pass" if passes else "cannot tell"
        return GateOutcome(answer, mean, low, high, topics, changed, needed=needed)
    answer = "pass" if passes else "worse" if is_worse else "cannot tell"
    helps = mean > -gate.margin
    needed = None
    if answer == "cannot tell" and helps:
        deviation = float(np.sqrt(np.square(units.centred).sum() / (units.counts[0] - 1)))
        found = topics_to_pass(deviation, gate.margin) * topics / int(units.counts[0])
        needed = max(ceil(found), topics + 1)
    return GateOutcome(
        answer,
        *(mean, low, high, topics, changed),
        is_notice=high < 0 and not is_worse,
        is_within=is_worse and passes,
        needed=needed,
        helps=answer != "cannot tell" or helps,
    )


def topics_to_pass(deviation: float, margin: float) -> int:
    """The fewest topics with which an equal run passes with probability .80.

    (t(.95, N - 1) + t(.80, N - 1)) sd / sqrt(N) <= margin.

    >>> [topics_to_pass(0.093, margin) for margin in (0.01, 0.02, 0.05)]
    [537, 136, 23]
    """

    def is_enough(topics: int) -> bool:
        quantiles = scipy.special.stdtrit(topics - 1, [1 - WRONG_PASS, POWER])
        return bool(quantiles.sum() * deviation <= margin * topics**0.5)

    return fewest(is_enough)


def _topics_without_change(margin: float, half_range: float | None) -> int | None:
    """With how many topics a loss of the margin on them would have shown; None without a range.

    >>> [_topics_without_change(margin, 0.5) for margin in (0.02, 0.05, 0.1)]
    [149, 59, 29]
    """
    if half_range is None:
        return None
    share = margin / (2 * half_range)
    return ceil(log(WRONG_PASS) / log(1 - share)) if share < 1 else 1


def _find_bounds(
    gains: FloatArray, units: Units, half_range: float | None, is_binary: bool
) -> Callable[[int, float], float] | None:
    """The bound below (-1) or above (1) the mean gain with a confidence; None below six units."""
    if not units.decided[0]:
        return None
    if is_binary:
        won, lost = (int(np.count_nonzero(sign * gains > EQUAL)) for sign in (1, -1))
        return lambda side, level: tango_bound(len(gains), won, lost, side, level)
    spread = Spread.of(units)
    error, mean = float(spread.errors(spread.family_size(half_range))[0]), float(units.means[0])
    if not error:
        return None
    degrees = float(units.degrees[0])
    return lambda side, level: mean + side * float(scipy.special.stdtrit(degrees, level)) * error


def tango_bound(topics: int, won: int, lost: int, side: int, level: float) -> float:
    """Tango's score bound of the mean gain in a measure that is 0 or 1 on each topic.

    For a true gain D, x is the most probable share of topics lost, and S(D) = (won - lost - n D)
    / sqrt(n (2 x + D (1 - D))). The bound is the D where S is the normal quantile of `level`.

    >>> [round(tango_bound(50, 3, 6, side, level), 6) for side, level in ((-1, 0.95), (1, 0.975))]
    [-0.167974, 0.066228]
    """
    z, observed = float(scipy.special.ndtri(level)), (won - lost) / topics

    def is_too_far(gain: float) -> bool:
        b = -won - lost + (2 * topics - won + lost) * gain
        c = -lost * gain * (1 - gain)
        share = (np.sqrt(max(b * b - 8 * topics * c, 0.0)) - b) / (4 * topics)
        spread = topics * (2 * share + gain * (1 - gain))
        away = abs(won - lost - topics * gain)
        return bool(away > z * np.sqrt(spread)) if spread > 0 else away > 0

    near, far = observed, float(side)
    if not is_too_far(far):
        return far
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        near, far = (near, middle) if is_too_far(middle) else (middle, far)
    return (near + far) / 2
