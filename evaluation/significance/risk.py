"""Risk of a run beside a baseline: how much it loses on topics that the baseline did well.

A mean hides that a run gains much on some topics and loses much on others.

>>> gains = np.array([0.2, 0.1, -0.1, 0.0, 0.3])
>>> found = describe_risk(gains, alpha=1)
>>> round(found.urisk, 4), round(found.trisk, 4), found.wins, found.losses, found.ties, found.p
(0.08, 0.93, 3, 1, 1, 0.625)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.ragged import FloatArray
from evaluation.significance.differences import EQUAL, Interval
from evaluation.significance.paired import sign_test

# The share of topics on which a run does worst beside the baseline.
WORST = 0.1


@dataclass(frozen=True, slots=True)
class Risk:
    """What a run risks beside the baseline, over `topics` topics.

    `urisk` is the mean gain, each loss counted 1 + alpha times; `trisk` that over its standard
    error, None where it has none. `worst` is the mean gain of the tenth of the topics that lost
    most. `threshold` is the gain that a tenth of the topics does not exceed, and
    `threshold_interval` its 95 % interval, None below 36 topics. `p` is that of the exact sign
    test of wins against losses.
    """

    alpha: float
    topics: int
    urisk: float
    trisk: float | None
    worst: float
    threshold: float
    threshold_interval: Interval | None
    wins: int
    losses: int
    ties: int
    p: float


def describe_risk(gains: FloatArray, alpha: float = 1.0) -> Risk | None:
    """Describe the risk of the gains of a run over the baseline, float64[T], NaN excluded.

    Positive gains are wins. URisk = mean of g_t, (1 + alpha) g_t where g_t < 0 (Wang, Bennett and
    Collins-Thompson, SIGIR 2012); TRisk = URisk / (sd / sqrt(T)) of the same values (Dincer,
    Macdonald and Ounis, SIGIR 2014): below -2 the risk is significant, above 2 the gain. None
    without topics; ValueError for a negative alpha.
    """
    if not alpha >= 0:
        raise ValueError(f"alpha cannot be negative: {alpha}")
    gains = gains[~np.isnan(gains)]
    topics = len(gains)
    if not topics:
        return None
    gains = np.where(np.abs(gains) <= EQUAL, 0.0, gains)
    weighted = np.where(gains < 0, (1 + alpha) * gains, gains)
    urisk, error = float(weighted.mean()), 0.0
    if topics > 1:
        error = float(weighted.std(ddof=1)) / topics**0.5
    tested = sign_test(gains)
    wins, losses = (int(np.count_nonzero(sign * gains > 0)) for sign in (1, -1))
    worst, threshold = _find_worst(gains)
    return Risk(
        alpha=alpha,
        topics=topics,
        urisk=urisk,
        trisk=urisk / error if error > EQUAL else None,
        worst=worst,
        threshold=threshold,
        threshold_interval=_interval_of_threshold(gains),
        wins=wins,
        losses=losses,
        ties=topics - wins - losses,
        p=tested.p,
    )


def geo_risks(scores: FloatArray, alpha: float = 1.0) -> FloatArray:
    """GeoRisk of every run of float64[R, T], over the topics with a score of every run.

    sqrt(mean Phi(Z / T)), Z the sum over topics of z_it, those below 0 counted 1 + alpha times,
    z_it = (x_it - e_it) / sqrt(e_it), and e_it = run total x topic total / total of all. So the
    baseline is what all runs let expect, and the family is these runs. NaN where scores are
    negative or all 0 (Dincer, Macdonald and Ounis, SIGIR 2016).

    >>> geo_risks(np.array([[0.5, 0.5], [0.9, 0.1]])).round(4).tolist()
    [0.4886, 0.4489]
    """
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    total, topics = float(scores.sum()), scores.shape[1]
    if not topics or total <= 0 or (scores < 0).any():
        return np.full(len(scores), np.nan)
    expected = np.outer(scores.sum(axis=1), scores.sum(axis=0)) / total
    spread = np.sqrt(np.where(expected > 0, expected, 1.0))
    z = np.where(expected > 0, (scores - expected) / spread, 0.0)
    risks = np.where(z < 0, (1 + alpha) * z, z).sum(axis=1) / topics
    found: FloatArray = np.sqrt(scores.mean(axis=1) * scipy.special.ndtr(risks))
    return found


def _find_worst(gains: FloatArray) -> tuple[float, float]:
    """The mean of the tenth of the gains that is smallest, and the largest of them.

    Where a tenth of the topics is no whole number, the last one counts in part.
    """
    share = WORST * len(gains)
    ordered = np.sort(gains)
    threshold = float(ordered[ceil(share - EQUAL) - 1])
    below = float(np.minimum(ordered - threshold, 0.0).sum()) / share
    return threshold + below, threshold


def _interval_of_threshold(gains: FloatArray, level: float = 0.95) -> Interval | None:
    """The interval of the tenth percentile from two of the ordered gains, exact for any scores.

    The number of topics below the true percentile is binomial. An interval of the mean of the
    worst tenth would not hold: the usual one covers the true value too rarely.
    """
    topics = len(gains)
    below = scipy.special.bdtr(np.arange(topics), topics, WORST)
    tail = (1 - level) / 2
    low, high = np.searchsorted(below, tail), np.searchsorted(below, 1 - tail)
    if low < 1 or high >= topics:
        return None
    ordered = np.sort(gains)
    return Interval(float(ordered[low - 1]), float(ordered[high]))
