"""The standard error of a mean difference, widened by what few topics cannot show.

An error made from few topics does not know the topics that were not drawn: where two runs differ
on one topic in ten, many samples of ten topics hold no difference at all. The widened error is
the one that two more topics would give, one a typical difference above the mean and one below.

>>> rows = np.array([[0.1, 0, 0, 0.5, -0.2, 0, 0.3, 0.1], [0, 0, 0, 0, 0, 0, 0, 0]])
>>> spread = Spread.of(Units.of(rows))
>>> spread.errors(spread.family_size(half_range=0.5)).round(4).tolist()
[0.0813, 0.0552]
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, sqrt

import numpy as np

from evaluation.ragged import FloatArray, IntArray
from evaluation.significance.differences import EQUAL
from evaluation.significance.units import Units

# How far the size of a row may be above its own: by this over the number of its differences.
REACH = 30


@dataclass(frozen=True, eq=False)
class Spread:
    """What the errors of a family are made of, one entry for each of its rows.

    `counts` are the units n of a row, `changed` those K that are not 0, `squares` the centred sum
    of squares q, `leanings` the sum of the centred values: 0, but for groups of unequal size.
    `largest` is the largest distance of a unit from 0.
    """

    counts: IntArray
    means: FloatArray
    changed: IntArray
    squares: FloatArray
    leanings: FloatArray
    largest: FloatArray

    @classmethod
    def of(cls, units: Units) -> Spread:
        squares = np.square(units.centred).sum(axis=1)
        return cls(
            counts=units.counts,
            means=units.means,
            changed=units.changed,
            squares=np.where(squares <= units.counts * EQUAL**2, 0.0, squares),
            leanings=units.centred.sum(axis=1),
            largest=units.largest,
        )

    @property
    def sums(self) -> FloatArray:
        """s of each row: the sum of (d - m / 2)^2 over the differences d that are not 0."""
        parts = self.means * self.leanings + self.changed * np.square(self.means) / 4
        return np.where(self.changed > 0, np.maximum(self.squares + parts, 0.0), 0.0)

    @property
    def deviation(self) -> float:
        """The median over the rows of the standard deviation of a difference; 0 without rows."""
        if not len(self.squares):
            return 0.0
        return float(np.median(np.sqrt(self.squares / np.maximum(self.counts - 1, 1))))

    def family_size(self, half_range: float | None = None) -> float:
        """f: the size of a difference in the family, with one of half the range added.

        Without a fixed range the largest difference of the family takes its place; 0 where there
        is none. Rows can have any order: the sum is exact.
        """
        half = float(self.largest.max(initial=0.0)) if half_range is None else half_range
        return sqrt((fsum(self.sums) + half**2) / (int(self.changed.sum()) + 1))

    def own_sizes(self, half_range: float | None = None) -> FloatArray:
        """f of each row as a family of one."""
        half = self.largest if half_range is None else half_range
        sizes: FloatArray = np.sqrt((self.sums + np.square(half)) / (self.changed + 1))
        return sizes

    def errors(self, size: FloatArray | float) -> FloatArray:
        """e = sqrt((q + 2 G^2) / ((n + 1) (n + 2))); 0 only where no run differs from another.

        `size` is f. The size of a row is its own, o = sqrt(s / K), or that of the family if that
        is larger, at most (1 + 30 / K) o. G is min(2, (n / 4)^(1/4)) times that.
        """
        counts = self.counts.astype(np.float64)
        changed = np.maximum(self.changed, 1)
        own = np.sqrt(self.sums / changed)
        sizes = np.minimum(np.maximum(size, own), own * (1 + REACH / changed))
        sizes = np.where(self.changed > 0, sizes, size) * widening(counts)
        errors: FloatArray = np.sqrt(
            (self.squares + 2 * np.square(sizes)) / ((counts + 1) * (counts + 2))
        )
        return errors


def widening(topics: FloatArray | float) -> FloatArray:
    """How many typical differences the two added topics are from the mean.

    >>> widening(np.array([4, 50, 100.0])).round(3).tolist()
    [1.0, 1.88, 2.0]
    """
    factor: FloatArray = np.minimum(2.0, np.sqrt(np.sqrt(np.asarray(topics) / 4)))
    return factor
