"""The units that a test flips: single topics, or groups of topics that share their luck.

The turns of one conversation, the queries of one user or the questions about one document are not
independent, so a test by topic sees differences that are none. A group counts as one unit.

>>> differences = np.array([[0.1, 0.3, 0.2, 0, -0.1, 0.1, 0.2, 0.1, 0.4, 0]])
>>> units = Units.of(differences, np.array([0, 1, 1, 2, 2, 2, 3, 4, 4, 5]))
>>> units.centred.round(3).tolist()
[[-0.017, 0.147, -0.255, 0.04, 0.147, -0.075]]
>>> round(float(units.means[0]), 2), units.counts.tolist(), units.degrees.round(3).tolist()
(0.13, [6], [4.054])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.ragged import BoolArray, FloatArray, IntArray
from evaluation.significance.differences import EQUAL

# Below this number of units there is no verdict: centred flips are wrong too often.
FEWEST_TOPICS = 6
# Groups of very unequal size leave fewer degrees of freedom than this.
FEWEST_DEGREES = 3


@dataclass(frozen=True, eq=False)
class Units:
    """Rows of float64[R, T] as what a test flips, without their means.

    `means` are over the topics of a row, `topics` counts them and `counts` the units. `centred`
    float64[R, U] is 0 where a row lacks the unit, which `defined` tells. With G units, n_j topics
    in unit j and T topics, it is (G / T) sqrt((1 - 1/G) / (1 - n_j / T)) times the sum of the
    centred topics, so that its squares give the CR2 error of the mean (Bell and McCaffrey, Survey
    Methodology 2002). `degrees` are the degrees of freedom that unequal groups leave: G - 1 for
    topics and for groups of one size.
    """

    centred: FloatArray
    defined: BoolArray
    means: FloatArray
    topics: IntArray
    counts: IntArray
    degrees: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, groups: IntArray | None = None) -> Units:
        """NaN is undefined. `groups` int[T] has the group of each topic, from 0 in their order."""
        defined = ~np.isnan(rows)
        topics = np.count_nonzero(defined, axis=1)
        filled = np.where(defined, rows, 0.0)
        means = filled.sum(axis=1) / np.maximum(topics, 1)
        means[np.abs(means) <= EQUAL] = 0.0
        centred = np.where(defined, filled - means[:, np.newaxis], 0.0)
        if groups is None:
            return cls(centred, defined, means, topics, topics, topics - 1.0)
        members = np.equal.outer(groups, np.arange(groups.max(initial=-1) + 1)).astype(np.float64)
        sizes = defined @ members
        counts = np.count_nonzero(sizes, axis=1)
        # A row without a topic has no unit, and one of a single group nothing to compare it with.
        total, units = np.maximum(topics, 1)[:, np.newaxis], np.maximum(counts, 1)[:, np.newaxis]
        others = np.where(sizes < total, 1 - sizes / total, 1.0)
        factors = units / total * np.sqrt((1 - 1 / units) / others)
        degrees = _degrees(sizes / total, others)
        return cls(factors * (centred @ members), sizes > 0, means, topics, counts, degrees)

    @property
    def values(self) -> FloatArray:
        """float64[R, U]: the mean of a row plus each centred unit, so that they vary as units do.

        >>> Units.of(np.array([[0.1, 0.3, 0.2, 0.4]]), np.array([0, 0, 1, 1])).values.round(2)
        array([[0.2, 0.3]])
        """
        values: FloatArray = self.means[:, np.newaxis] + self.centred
        return values

    @property
    def decided(self) -> BoolArray:
        """bool[R]: whether there are enough units for a verdict."""
        enough: BoolArray = (self.counts >= FEWEST_TOPICS) & (self.degrees >= FEWEST_DEGREES)
        return enough

    @property
    def changed(self) -> IntArray:
        """int[R]: in how many units a row is not 0."""
        values = np.abs(self.values)
        changed: IntArray = np.count_nonzero((values > EQUAL) & self.defined, axis=1)
        return changed

    @property
    def largest(self) -> FloatArray:
        """float64[R]: the largest distance of a unit from 0."""
        values = np.abs(self.values)
        largest: FloatArray = np.where(self.defined, values, 0.0).max(axis=1, initial=0.0)
        return largest


def move_t(t: FloatArray, degrees: FloatArray, new: FloatArray) -> FloatArray:
    """The t >= 0 on `new` degrees of freedom that is as improbable as t on `degrees`.

    >>> move_t(np.array([3.5, 2.0]), np.array([5.0, 5.0]), np.array(49.0)).round(6).tolist()
    [2.464273, 1.666775]
    """
    if np.all(degrees == new):
        return t
    moved: FloatArray = -scipy.special.stdtrit(new, scipy.special.stdtr(degrees, -t))
    return np.where(t > 0, np.where(np.isinf(t), np.inf, moved), 0.0)


def _degrees(shares: FloatArray, others: FloatArray) -> FloatArray:
    """float64[R]: 1 over the sum of squares of M_ij / T, from the share of topics in each unit."""
    found, row = np.unique(shares, axis=0, return_inverse=True)
    degrees = np.empty(len(found))
    for place, share in enumerate(found):
        rest = others[np.argmax(row == place)]
        matrix = (np.diag(share) - np.outer(share, share)) / np.sqrt(np.outer(rest, rest))
        squares = float(np.square(matrix).sum())
        degrees[place] = 1 / squares if squares > 0 else 0.0
    return degrees[row.reshape(-1)]
