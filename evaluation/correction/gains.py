"""Who gains from the machine: tests that a run's machine-minus-people difference is the largest.

A machine that grades too high lifts all runs. A run gains where it lifts this one more than the
others, by more than a margin, since honest gains differ a little too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.correction.means import Correction, Estimates, StratumMoments, estimate
from evaluation.ragged import FloatArray, ratio
from evaluation.significance.adjusting import holm

# A gain counts beyond this share of the range of the measure: honest ones reached .041.
MARGIN = 0.05
# Below this many labels no run was found in simulations, not even one that the judge re-ranked.
FEWEST_LABELS = 1000
# The gain, as a share of the range, for which power is printed.
SOUGHT = 0.1


@dataclass(frozen=True, eq=False)
class Gains:
    """How much more each run gains from the machine than the others in the mean, [R].

    `p` is one-sided, of a run that was named before judging; `adjusted` holds for all runs
    together (Holm). `power` is the probability to find a run of median error whose gain is
    `sought`: `named` before judging, or `any_run` of the board.
    """

    gains: Estimates
    margin: float
    sought: float
    p: FloatArray
    adjusted: FloatArray
    named: float
    any_run: float


def compare_gains(correction: Correction, highest: float, margin: float = MARGIN) -> Gains:
    """Test each run of a board against the mean of the others.

    `highest` is the largest possible value of the measure, and the margin is a share of it. The
    contrast of weights c = w - mean of the others' w gives D, the sum over strata of
    N mean(c (machine - people)), by the sample alone; p = P(t > (D - margin) / error). ValueError
    below two runs.
    """
    runs = correction.sample_weights.shape[0]
    if runs < 2:
        raise ValueError("a run gains in comparison with others")
    own = replace(correction, slope=1.0)
    weights = own.sample_weights
    contrasts = weights - (weights.sum(axis=0) - weights) / (runs - 1)
    rows = -contrasts * own.errors
    moments = StratumMoments(rows @ own.members, np.square(rows) @ own.members)
    values = moments.first @ ratio(own.sizes, own.judged)
    gains = estimate(own, values, moments)
    beyond = margin * highest
    p = _tail(values - beyond, gains.error, gains.degrees)
    named, any_run = (
        find_power(gains, SOUGHT * highest - beyond, level) for level in (0.05, 0.05 / runs)
    )
    return Gains(gains, beyond, SOUGHT * highest, p, holm(p), named, any_run)


def find_power(gains: Estimates, excess: float, level: float) -> float:
    """The probability that a run with this gain beyond the margin is found at a level of p.

    Its error and degrees of freedom are the medians of the board; noncentral t.
    """
    error, degrees = float(np.median(gains.error)), float(np.median(gains.degrees))
    if error == 0:
        return float(excess > 0)
    critical = scipy.special.stdtrit(degrees, 1 - level)
    return 1 - float(scipy.special.nctdtr(degrees, excess / error, critical))


def _tail(excess: FloatArray, errors: FloatArray, degrees: FloatArray) -> FloatArray:
    """P(T > excess / error); without an error 0 where the excess is positive, else 1."""
    known = errors > 0
    t = ratio(excess, errors)
    tail: FloatArray = scipy.special.stdtr(np.where(known, degrees, 1.0), -t)
    return np.where(known, tail, np.where(excess > 0, 0.0, 1.0))
