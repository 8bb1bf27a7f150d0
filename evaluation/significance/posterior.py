"""The probability that one run is better than another, after a comparison of the two.

It is for a pair named in advance and the run that is ahead: never from an adjusted p.

>>> import numpy as np
>>> darwin = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])
>>> round(posterior_of(darwin).better, 6)
0.975149
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.ragged import FloatArray, IntArray
from evaluation.significance.differences import EQUAL, summarise
from evaluation.significance.scales import Averaged, scale_of
from evaluation.significance.units import Units
from evaluation.significance.widening import Spread


@dataclass(frozen=True, slots=True)
class Posterior:
    """Probabilities of the true mean difference: above the region, in it, below. Their sum is 1."""

    better: float
    within: float
    worse: float


def posterior_of_pair(
    run: FloatArray,
    other: FloatArray,
    measure: Averaged,
    region: float = 0.0,
    groups: IntArray | None = None,
) -> Posterior | None:
    """Return how probable it is that a run is better than another, equivalent or worse.

    float64[T] each, topics undefined for one of them excluded. `region` is in the unit in which
    a difference is printed, and `groups` int[T] has the group of each topic. None below six
    topics, or groups of similar size, where there is no verdict either, and where nothing is known
    of the size of a difference.
    """
    scale = scale_of(measure)
    gains = measure.direction * (scale.tested(run) - scale.tested(other))
    defined = np.isfinite(gains)
    gains, groups = gains[defined], None if groups is None else groups[defined]
    if not Units.of(gains[np.newaxis], groups).decided[0]:
        return None
    region = scale.tested_region(region, len(gains))
    return posterior_of(gains, region, scale.half_range, groups)


def posterior_of(
    differences: FloatArray,
    region: float = 0.0,
    half_range: float | None = None,
    groups: IntArray | None = None,
) -> Posterior | None:
    """Return how probable it is that the first run is better, equivalent or worse.

    `differences` is float64[T], the scores of the first run minus those of the second, NaN topics
    excluded. Differences from -region to region count as equivalent. With normal differences and
    the prior 1 / variance, the mean difference has a t distribution on n - 1 degrees of freedom
    around the observed one, so with region 0 the run ahead is better with probability 1 - p / 2,
    p of the paired t-test. With a region the error is the widened one, since few topics alike do
    not make two runs equivalent; `half_range` is half of the range of the scores. With `groups`
    int[T] the error is that of whole groups, on the degrees of freedom they leave. None where all
    topics are equal and the scores have no range. ValueError below two topics or for a negative
    region (Jeffreys, Theory of Probability; Sakai, SIGIR 2017).

    >>> import numpy as np
    >>> found = posterior_of(np.array([0.1, 0.3, 0.2]), region=0.1)
    >>> round(found.better, 4), round(found.within, 4), round(found.worse, 4)
    (0.872, 0.107, 0.021)
    """
    summary = summarise(differences)
    if summary.topics < 2:
        raise ValueError("a probability needs two topics")
    if region < 0:
        raise ValueError(f"the region of equivalence cannot be negative: {region}")
    error, degrees = summary.deviation / summary.topics**0.5, summary.topics - 1.0
    if groups is not None:
        units = Units.of(differences[np.newaxis], groups)
        count, degrees = int(units.counts[0]), float(units.degrees[0])
        error = float(np.square(units.centred).sum() / (count * (count - 1))) ** 0.5
    if region:
        spread = Spread.of(Units.of(differences[np.newaxis], groups))
        error = float(spread.errors(spread.family_size(half_range))[0])
        if not error:
            return None
    if not error:
        better = 0.5 if abs(summary.mean) <= EQUAL else float(summary.mean > 0)
        return Posterior(better, 0.0, 1 - better)
    better = float(scipy.special.stdtr(degrees, (summary.mean - region) / error))
    worse = float(scipy.special.stdtr(degrees, (-region - summary.mean) / error))
    return Posterior(better, max(0.0, 1.0 - better - worse), worse)
