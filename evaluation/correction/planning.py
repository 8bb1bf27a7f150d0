"""What more labels would give: the half-width of intervals at other sizes of the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.correction.means import Correction, Estimates, sum_variances, variances_within
from evaluation.correction.sampling import share_labels
from evaluation.ragged import FloatArray, IntArray

LABELS = (200, 500, 1000, 2000)
# Labels from which a plan is made.
FEWEST_LABELS = 100
# How many pairs of runs are looked at, in place of all.
MOST_PAIRS = 2000
# Measured half-widths of P@10 by labels: of a mean, and of the difference of two runs.
MEASURED = {200: (0.203, 0.280), 500: (0.113, 0.158), 1000: (0.074, 0.105)}


@dataclass(frozen=True, slots=True)
class PlannedLabels:
    """The median half-widths that this many labels give: of a mean, and of a difference."""

    labels: int
    mean: float
    difference: float


def plan_labels(
    correction: Correction, cover: IntArray, labels: Sequence[int] = LABELS
) -> list[PlannedLabels]:
    """Plan samples of the same frame, with the variances that its labels show so far.

    `cover` int[N] is the number of runs that have each document. More labels than the frame has
    documents are all of them.
    """
    runs = correction.sample_weights.shape[0]
    rows, others = pick_pairs(runs)
    squares = np.bincount(correction.stratum, weights=cover.astype(np.float64) ** 2)
    spreads = np.sqrt(squares / correction.sizes)
    of_runs = variances_within(correction.moments, correction.judged)
    of_pairs = variances_within(correction.subtract_moments(rows, others), correction.judged)
    planned = []
    for number in labels:
        quota = share_labels(correction.sizes, spreads, number)
        mean, difference = (
            _median_margin(within, correction.sizes, quota) for within in (of_runs, of_pairs)
        )
        planned.append(PlannedLabels(int(quota.sum()), mean, difference))
    return planned


def pick_pairs(runs: int, most: int = MOST_PAIRS) -> tuple[IntArray, IntArray]:
    """All pairs of runs, or evenly spaced ones where there are more than `most`.

    >>> pick_pairs(3)
    (array([0, 0, 1]), array([1, 2, 2]))
    """
    rows, others = np.triu_indices(runs, 1)
    step = max(1, -(-len(rows) // most))
    return rows[::step], others[::step]


def _median_margin(within: FloatArray, sizes: IntArray, quota: IntArray) -> float:
    if not len(within):
        return 0.0
    error, degrees = sum_variances(within, sizes, quota)
    return float(np.median(Estimates(error, error, degrees).margin))
