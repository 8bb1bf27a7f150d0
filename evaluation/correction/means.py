"""Means by a machine, corrected by the people who judged a sample with known probabilities.

Every document of a frame has the machine's value, those of the sample also that of people. The
mean of a run is a weighted sum over the frame; the sample says how far the machine's sum is off.
Labels from people are taken as the truth.

>>> one, two = np.array([1.0, 1, 1, 0]), np.array([0.0, 1, 1, 1])
>>> correction = Correction.of(
...     np.stack([one, two]) / 3,
...     machine=np.array([1.0, 1, 0, 0]),
...     topic=np.zeros(4, int),
...     stratum=np.array([0, 0, 1, 1]),
...     sampled=np.arange(4),
...     people=np.array([1.0, 0, 0, 1]),
... )
>>> correction.by_labels.value.round(4).tolist(), correction.by_labels.margin.tolist()
([0.3333, 0.3333], [0.0, 0.0])
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.correction.sampling import COVERS
from evaluation.ragged import FloatArray, IntArray, ratio
from evaluation.significance.differences import EQUAL
from evaluation.significance.units import FEWEST_DEGREES, Units

# The share of the weight of a run that may lie outside the frame.
MOST_UNCOVERED = 0.05


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimated means or differences: `value`, its `error`, and `degrees` of freedom, alike shaped.

    The error is NaN where the labels do not give one.
    """

    value: FloatArray
    error: FloatArray
    degrees: FloatArray

    @cached_property
    def margin(self) -> FloatArray:
        """Half of the length of the 95 % interval; 0 where everything was judged."""
        t = scipy.special.stdtrit(np.maximum(self.degrees, EQUAL), 0.975)
        return np.where(self.error == 0, 0.0, t * self.error)


@dataclass(frozen=True, eq=False)
class StratumMoments:
    """Sums over the sample of each stratum: `first` float64[R, H] and `second` float64[R, H]."""

    first: FloatArray
    second: FloatArray


@dataclass(frozen=True, eq=False)
class Correction:
    """A frame with the machine's values and a sample with those of people: R runs, N documents.

    weights: R x N, a scipy.sparse matrix; the mean of a run is the sum of weight times value.
    machine: float64[N]. topic: int[N], of `topics`. stratum: int[N], of H strata.
    sampled: int[n], the documents that people judged; people: float64[n], their values.
    A document that a person could not judge is not among them.
    slope: how far the machine is followed, 0 to 1, estimated from the sample.
    """

    weights: Any
    machine: FloatArray
    topic: IntArray
    topics: int
    stratum: IntArray
    sampled: IntArray
    people: FloatArray
    slope: float

    @classmethod
    def of(
        cls,
        weights: Any,
        machine: FloatArray,
        topic: IntArray,
        stratum: IntArray,
        sampled: IntArray,
        people: FloatArray,
        topics: int | None = None,
        slope: float | None = None,
    ) -> Correction:
        """Estimate the slope, unless it is given.

        ValueError where a stratum has no judged document, or one of several: join them before
        (`join_strata`).
        """
        count = int(topic.max(initial=-1)) + 1 if topics is None else topics
        sparse = scipy.sparse.csr_array(weights)
        found = cls(sparse, machine, topic, count, stratum, sampled, people, slope or 0.0)
        if (found.judged < np.minimum(found.sizes, 2)).any():
            raise ValueError("a stratum has fewer than two judged documents")
        if slope is not None:
            return found
        return cls(sparse, machine, topic, count, stratum, sampled, people, found._find_slope())

    @cached_property
    def sizes(self) -> IntArray:
        """int[H]: the documents of each stratum."""
        return np.bincount(self.stratum)

    @cached_property
    def judged(self) -> IntArray:
        """int[H]: how many of them people judged."""
        return np.bincount(self.stratum[self.sampled], minlength=len(self.sizes))

    @cached_property
    def sample_weights(self) -> FloatArray:
        """float64[R, n]: the weights of the sampled documents."""
        dense: FloatArray = self.weights[:, self.sampled].toarray()
        return dense

    @cached_property
    def members(self) -> FloatArray:
        """float64[n, H]: 1 where a sampled document is of a stratum."""
        numbers = self.stratum[self.sampled]
        return np.equal.outer(numbers, np.arange(len(self.sizes))).astype(np.float64)

    @cached_property
    def scales(self) -> FloatArray:
        """float64[H]: N^2 (1 - n / N) / n; 0 where all of a stratum is judged."""
        return self.sizes * ratio(self.sizes - self.judged, self.judged)

    @property
    def errors(self) -> FloatArray:
        """float64[n]: what the value of people adds to that of the machine, times the slope."""
        return self.people - self.slope * self.machine[self.sampled]

    def _find_slope(self) -> float:
        """One slope for the board: the covariance of people and machine over the variance.

        With it the variances of all runs together are smallest. 1 where the machine's values do
        not vary within strata, so that the sample cannot say.
        """
        mu, y = self.machine[self.sampled], self.people
        square = np.square(self.sample_weights)
        weight = self.sample_weights
        counts = np.maximum(self.judged, 1)
        with_mu, with_y = (weight * each @ self.members for each in (mu, y))
        both = (square * (mu * y)) @ self.members - with_mu * with_y / counts
        own = (square * (mu * mu)) @ self.members - with_mu**2 / counts
        factor = self.scales / np.maximum(self.judged - 1, 1)
        above, below = float((both @ factor).sum()), float((own @ factor).sum())
        total = float(((square * (mu * mu)) @ self.members @ factor).sum())
        if below <= EQUAL * total or total == 0:
            return 1.0
        return min(max(above / below, 0.0), 1.0)

    @property
    def by_machine(self) -> FloatArray:
        """float64[R]: the means by the machine alone."""
        means: FloatArray = self.weights @ self.machine
        return means

    @cached_property
    def moments(self) -> StratumMoments:
        rows = self.sample_weights * self.errors
        return StratumMoments(rows @ self.members, np.square(rows) @ self.members)

    @cached_property
    def _values(self) -> FloatArray:
        expansion = ratio(self.sizes, self.judged)
        values: FloatArray = self.slope * self.by_machine + self.moments.first @ expansion
        return values

    @cached_property
    def by_labels(self) -> Estimates:
        """The mean of each run that people would have given on these topics, [R]."""
        return estimate(self, self._values, self.moments)

    def subtract(self, rows: IntArray, others: IntArray) -> Estimates:
        """The differences of pairs of runs, from the differences of their weights, [P].

        A document that both have at one rank cancels out. `rows` and `others` are int[P].
        """
        moments = self.subtract_moments(rows, others)
        values = self._values[rows] - self._values[others]
        return estimate(self, values, moments)

    def subtract_moments(self, rows: IntArray, others: IntArray) -> StratumMoments:
        """The sums over the sample of each stratum for pairs of runs, [P, H]."""
        first = self.moments.first[rows] - self.moments.first[others]
        second = self.moments.second[rows] + self.moments.second[others]
        errors = self.sample_weights * self.errors
        for number in range(len(self.sizes)):
            own = errors[:, self.members[:, number] > 0]
            second[:, number] -= 2 * (own @ own.T)[rows, others]
        return StratumMoments(first, np.maximum(second, 0.0))

    @cached_property
    def by_topic(self) -> FloatArray:
        """z float64[R, T]: what each topic says of the mean of each run."""
        columns = (np.arange(len(self.topic)), self.topic)
        shape = (len(self.topic), self.topics)
        of_topic = scipy.sparse.csr_array((self.slope * self.machine, columns), shape)
        expansion = ratio(self.sizes, self.judged)[self.stratum[self.sampled]]
        sampled = np.equal.outer(self.topic[self.sampled], np.arange(self.topics))
        known: FloatArray = (self.weights @ of_topic).toarray()
        corrections = (self.sample_weights * (expansion * self.errors)) @ sampled.astype(float)
        by_topic: FloatArray = self.topics * (known + corrections)
        return by_topic

    def over_topics(self, groups: IntArray | None = None) -> Estimates:
        """The mean of each run over topics like these, with the noise of labels and topics, [R].

        `groups` int[T] are conversations, which then are the units; below six of them, or of very
        unequal length, there is no error.
        """
        units = Units.of(self.by_topic, groups)
        squares = np.square(units.centred).sum(axis=1)
        return _estimate_units(units, self._values, squares, groups)

    def subtract_over_topics(
        self, rows: IntArray, others: IntArray, groups: IntArray | None = None
    ) -> Estimates:
        """The differences of pairs of runs over topics like these, [P]."""
        units = Units.of(self.by_topic, groups)
        table = units.centred @ units.centred.T
        own = np.diagonal(table)
        squares = np.maximum(own[rows] + own[others] - 2 * table[rows, others], 0.0)
        values = self._values[rows] - self._values[others]
        return _estimate_units(units, values, squares, groups)


def estimate(correction: Correction, values: FloatArray, moments: StratumMoments) -> Estimates:
    """Estimates [R] from the sums over the sample of each stratum.

    V = sum of N^2 (1 - n / N) s^2 / n with V^2 / sum of V_h^2 / (n_h - 1) degrees of freedom
    (Cochran, Sampling Techniques, 1977, 5.9; Satterthwaite 1946).
    """
    within = variances_within(moments, correction.judged)
    error, degrees = sum_variances(within, correction.sizes, correction.judged)
    return Estimates(values, error, degrees)


def sum_variances(
    within: FloatArray, sizes: IntArray, counts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """The error and degrees of freedom [R] of sums, from variances within strata [R, H].

    `sizes` and `counts` int[H] are the documents of each stratum and those judged.
    """
    variances = within * (sizes * ratio(sizes - counts, counts))
    total = variances.sum(axis=1)
    squares = (variances**2 / np.maximum(counts - 1, 1)).sum(axis=1)
    return np.sqrt(total), ratio(total**2, squares)


def variances_within(moments: StratumMoments, counts: IntArray) -> FloatArray:
    """The sample variance of each stratum, float64[R, H]; what rounding alone left is 0."""
    squares = moments.second - moments.first**2 / np.maximum(counts, 1)
    squares = np.where(squares <= EQUAL * moments.second, 0.0, squares)
    within: FloatArray = squares / np.maximum(counts - 1, 1)
    return within


def _estimate_units(
    units: Units, values: FloatArray, squares: FloatArray, groups: IntArray | None
) -> Estimates:
    count = units.centred.shape[1]
    degrees = float(units.degrees[0]) if len(units.degrees) else 0.0
    enough = units.decided[0] if groups is not None and len(units.counts) else count > 1
    if not enough or degrees <= 0 or (groups is not None and degrees < FEWEST_DEGREES):
        unknown = np.full(len(values), np.nan)
        return Estimates(values, unknown, np.full(len(values), degrees))
    errors = np.sqrt(squares / (count * (count - 1)))
    return Estimates(values, errors, np.full(len(values), degrees))


def join_strata(
    keys: FloatArray, stratum: IntArray, sampled: IntArray
) -> tuple[IntArray, list[tuple[int, int]]]:
    """Join each stratum that lacks two judged documents with the nearest one.

    `keys` float64[H, 2] are grades and ranges of cover; a neighbour of the same grade is nearer
    than any of another. Returns the strata int[N], renumbered, and the pairs that were joined.

    >>> keys = np.array([[0.0, 0], [0, 1], [2, 0]])
    >>> join_strata(keys, np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 2, 4, 5]))
    (array([0, 0, 0, 0, 1, 1]), [(1, 0)])
    """
    stratum, joined = stratum.copy(), []
    apart = np.abs(keys[:, np.newaxis] - keys) @ np.array([len(COVERS), 1.0])
    for _ in keys:
        sizes = np.bincount(stratum, minlength=len(keys))
        judged = np.bincount(stratum[sampled], minlength=len(keys))
        short = np.flatnonzero((sizes > 0) & (judged < np.minimum(sizes, 2)))
        others = np.flatnonzero(sizes > 0)
        if not len(short) or len(others) < 2:
            break
        one = int(short[0])
        others = others[others != one]
        nearest = int(others[np.argmin(apart[one, others])])
        stratum[stratum == one] = nearest
        joined.append((one, nearest))
    return np.unique(stratum, return_inverse=True)[1].reshape(-1), joined
