"""The scale on which a measure is tested, so that a verdict is about what the board averages.

>>> gmap = scale_of("geometric mean")
>>> round(float(gmap.printed(gmap.tested(np.array([0.0])))[0]), 6), gmap.neutral
(1e-05, 1.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from evaluation.ragged import FloatArray

# The value that stands for less, as in trec_eval's gm_map.
SMALLEST = 1e-5

Unit: TypeAlias = Literal["mean", "total", "ratio"]


@dataclass(frozen=True)
class Scale:
    """How scores of topics are tested, and the unit in which a difference is printed.

    A mean is tested and printed unchanged. A sum is tested by its mean and printed as a total.
    A geometric mean is tested by ln max(value, 1e-5) and printed as a ratio: 1 is no difference.
    """

    unit: Unit = "mean"

    @property
    def neutral(self) -> float:
        """The printed value of no difference."""
        return 1.0 if self.unit == "ratio" else 0.0

    def tested(self, scores: FloatArray) -> FloatArray:
        """The values of topics that a test takes."""
        if self.unit != "ratio":
            return scores
        logarithms: FloatArray = np.log(np.maximum(scores, SMALLEST))
        return logarithms

    def printed(self, difference: FloatArray, topics: FloatArray | int = 1) -> FloatArray:
        """A mean of tested differences over this many topics, in the unit of the scale."""
        if self.unit == "ratio":
            ratio: FloatArray = np.exp(difference)
            return ratio
        return difference * topics if self.unit == "total" else difference


MEAN = Scale()
UNITS: dict[str, Unit] = {"sum": "total", "geometric mean": "ratio"}


def scale_of(aggregate: str) -> Scale:
    """The scale of a measure, by how it aggregates topics (`Definition.aggregate`)."""
    return Scale(UNITS.get(aggregate, "mean"))
