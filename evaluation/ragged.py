"""Arithmetic on rows that belong to topics: many short lists in flat arrays.

The rows of a topic are adjacent, in the order of the topics; a topic may have no rows. Sums
are added within a topic from its first row to its last, so a value does not depend on the other
topics or on their order.

    >>> rows = Ragged(np.array([0, 0, 0, 2]), topics=3)
    >>> rows.sum(np.array([1.0, 2.0, 4.0, 8.0])).tolist()
    [7.0, 0.0, 8.0]
    >>> rows.running_sum(np.array([1.0, 2.0, 4.0, 8.0])).tolist()
    [1.0, 3.0, 7.0, 8.0]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
AnyIntArray: TypeAlias = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Ragged:
    """`topic[i]` is the topic of row i, ascending; `topics` is how many topics there are."""

    topic: AnyIntArray
    topics: int

    @cached_property
    def starts(self) -> IntArray:
        """The first row of every topic, followed by the number of rows."""
        return np.searchsorted(self.topic, np.arange(self.topics + 1)).astype(np.int64)

    @cached_property
    def lengths(self) -> IntArray:
        """How many rows every topic has."""
        return np.diff(self.starts)

    @cached_property
    def position(self) -> IntArray:
        """The position of every row within its topic, from 1."""
        return np.arange(1, len(self.topic) + 1) - self.starts[self.topic]

    def count(self, mask: BoolArray) -> IntArray:
        """How many rows of every topic the mask selects."""
        return np.bincount(self.topic[mask], minlength=self.topics).astype(np.int64)

    def running_count(self, mask: BoolArray) -> IntArray:
        """For every row: the number of selected rows of its topic, up to and including it."""
        before = np.concatenate(([0], np.cumsum(mask, dtype=np.int64)))
        return before[1:] - before[self.starts[self.topic]]

    def sum(self, values: FloatArray) -> FloatArray:
        """The sum over the rows of every topic, added in order."""
        # An empty bincount returns integers, so convert it.
        return np.bincount(self.topic, weights=values, minlength=self.topics).astype(np.float64)

    def running_sum(self, values: FloatArray) -> FloatArray:
        """For every row: the sum over the rows of its topic, up to and including it."""
        return self._along_topics(values, np.add, 0.0)

    def running_product(self, values: FloatArray) -> FloatArray:
        """For every row: the product over the rows of its topic, up to and including it."""
        return self._along_topics(values, np.multiply, 1.0)

    def _along_topics(self, values: FloatArray, operation: np.ufunc, filler: float) -> FloatArray:
        # One row per topic: in one flat cumsum, the rounding would depend on other topics.
        shape = (self.topics, int(self.lengths.max(initial=0)))
        table = np.full(shape, filler)
        cell = (self.topic, self.position - 1)
        table[cell] = values
        result: FloatArray = operation.accumulate(table, axis=1)[cell]
        return result

    def highest(self, values: FloatArray, mask: BoolArray) -> FloatArray:
        """The highest selected value of every topic; 0 where none is selected."""
        result = np.zeros(self.topics)
        np.maximum.at(result, self.topic[mask], values[mask])
        return result

    def first(self, values: AnyIntArray, mask: BoolArray, otherwise: float) -> FloatArray:
        """The value at the first selected row of every topic, or `otherwise` without one."""
        result = np.full(self.topics, float(otherwise))
        topic, row = np.unique(self.topic[mask], return_index=True)
        result[topic] = values[mask][row]
        return result

    def value_at(self, values: FloatArray, length: AnyIntArray, topic: AnyIntArray) -> FloatArray:
        """`values` at the `length`-th row of a topic, for many topics; 0 where `length` is 0."""
        padded = np.append(values, 0.0)
        row = np.where(length > 0, self.starts[topic] + length - 1, len(values))
        result: FloatArray = padded[row]
        return result


def ratio(share: npt.ArrayLike, whole: npt.ArrayLike, otherwise: float = 0.0) -> FloatArray:
    """share / whole, and `otherwise` where the whole is 0.

    >>> ratio([1, 2], [4, 0]).tolist()
    [0.25, 0.0]
    """
    above, below = np.broadcast_arrays(np.asarray(share, float), np.asarray(whole, float))
    result = np.full(below.shape, otherwise)
    np.divide(above, below, out=result, where=below != 0)
    return result
