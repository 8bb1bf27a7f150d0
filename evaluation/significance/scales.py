"""The scale on which a measure is tested, so that a verdict is about what the board averages.

>>> from evaluation.measures import parse_measure
>>> gmap = scale_of(parse_measure("GMAP"))
>>> round(float(gmap.printed(gmap.tested(np.array([0.0])))[0]), 6), gmap.neutral
(1e-05, 1.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal, Protocol, TypeAlias

import numpy as np

from evaluation.measures import Definition
from evaluation.ragged import FloatArray

# The value that stands for less, as in trec_eval's gm_map.
SMALLEST = 1e-5

Unit: TypeAlias = Literal["mean", "total", "ratio"]


class Averaged(Protocol):
    """A measure with a score per topic, of rankings or of answers, as the tests see it."""

    @property
    def definition(self) -> Definition: ...

    @property
    def direction(self) -> int: ...

    @property
    def range(self) -> tuple[float, float]: ...

    def aggregate(self, scores: FloatArray) -> float: ...


@dataclass(frozen=True)
class Scale:
    """How scores of topics are tested, and the unit in which a difference is printed.

    A mean is tested and printed unchanged. A sum is tested by its mean and printed as a total.
    A geometric mean is tested by ln max(value, 1e-5) and printed as a ratio: 1 is no difference.
    `half_range` is half of the range of what is tested, None where it has no fixed range.
    """

    unit: Unit = "mean"
    half_range: float | None = None

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

    def tested_region(self, region: float, topics: int) -> float:
        """A region of equivalence on the tested scale: r of a ratio is 1 / (1 + r) to 1 + r.

        >>> Scale("total").tested_region(5, topics=50)
        0.1
        >>> round(Scale("ratio").tested_region(0.1, topics=50), 4)
        0.0953
        """
        if self.unit == "ratio":
            return float(np.log1p(region))
        return region / topics if self.unit == "total" else region


MEAN = Scale()
UNITS: dict[str, Unit] = {"sum": "total", "geometric mean": "ratio"}


def scale_of(measure: Averaged) -> Scale:
    """The scale of a measure, by how it aggregates topics.

    >>> from evaluation.measures import parse_measure
    >>> scale_of(parse_measure("AP")).half_range, scale_of(parse_measure("DCG@10")).half_range
    (0.5, None)
    """
    unit = UNITS.get(measure.definition.aggregate, "mean")
    low, high = measure.range
    is_fixed = unit != "ratio" and isfinite(high - low)
    return Scale(unit, (high - low) / 2 if is_fixed else None)
