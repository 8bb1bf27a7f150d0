"""Tables of systems by collections with missing cells: which part of one has every cell.

Nothing is imputed. Systems are compared on a part of the table without a missing cell, and there
are three ways to choose it: keep every collection, keep every system, or keep most cells.

>>> known = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 1]], dtype=bool)
>>> for rule in get_args(Rule):
...     part = find_complete_part(known, rule)
...     print(rule, part.systems.tolist(), part.collections.tolist())
largest [0, 1, 2] [0, 1]
systems [] [0, 1, 2, 3]
collections [0, 1, 2, 3] [1]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from evaluation.ragged import BoolArray, FloatArray, IntArray

# Keep most cells, every collection, or every system.
Rule: TypeAlias = Literal["largest", "systems", "collections"]
RULES: tuple[Rule, ...] = get_args(Rule)
# A comparison has this many systems at the least.
FEWEST_SYSTEMS = 2


@dataclass(frozen=True, eq=False)
class CompletePart:
    """The places of systems and collections, ascending, between which no cell is missing."""

    systems: IntArray
    collections: IntArray

    @property
    def num_cells(self) -> int:
        return len(self.systems) * len(self.collections)

    def of(self, scores: FloatArray) -> FloatArray:
        """Return the cells of the part, float64[systems, collections]."""
        part: FloatArray = scores[np.ix_(self.systems, self.collections)]
        return part


def find_complete_part(known: BoolArray, rule: Rule) -> CompletePart:
    """Return the part of bool[systems, collections] that a rule keeps."""
    systems, collections = (np.arange(size) for size in known.shape)
    if rule == "systems":
        return CompletePart(np.flatnonzero(known.all(axis=1)), collections)
    if rule == "collections":
        return CompletePart(systems, np.flatnonzero(known.all(axis=0)))
    return _find_largest(known)


def _find_largest(known: BoolArray) -> CompletePart:
    """Return the part with most cells among those that one order of collections gives.

    The collection that most systems have is first. Each next one is that which most systems have
    of those that have all before it; ties go to the earlier collection. This need not be the
    largest part that there is, which nobody can find in short.
    """
    systems = np.arange(known.shape[0])
    # How many of the systems have each collection; of those that are chosen nothing is asked.
    counts, is_left = known.sum(axis=0), np.ones(known.shape[1], dtype=bool)
    best = CompletePart(systems[:0], systems[:0])
    while is_left.any():
        most = counts[is_left].max()
        chosen = int((~is_left).sum())
        if most < FEWEST_SYSTEMS or _most_cells(counts[is_left], chosen) <= best.num_cells:
            break
        # All that lose no system come at once, the first of the others alone.
        added = np.flatnonzero(is_left & (counts == most))
        if most < len(systems):
            added = added[:1]
            has = known[systems, added[0]]
            counts -= known[systems[~has]].sum(axis=0)
            systems = systems[has]
        is_left[added] = False
        if len(systems) * (chosen + len(added)) > best.num_cells:
            best = CompletePart(systems, np.flatnonzero(~is_left))
    return best


def _most_cells(counts: IntArray, chosen: int) -> int:
    """Return a bound of the cells of a part to come: no collection ever has more systems."""
    falling = np.sort(counts)[::-1]
    return int((falling * (chosen + 1 + np.arange(len(falling)))).max())


def count_points(values: FloatArray) -> FloatArray:
    """Return the Borda points of each row of float64[systems, collections]; more is better.

    >>> count_points(np.array([[0.3, 0.2], [0.1, 0.2], [0.2, 0.1]]))
    array([3.5, 1.5, 1. ])
    """
    points: FloatArray = points_on_each(values).sum(axis=1)
    return points


def points_on_each(values: FloatArray) -> FloatArray:
    """Return the points of each system on each collection, float64[systems, collections].

    A system gets a point for each that it is ahead of, and half a point for each other of the same
    value.
    """
    points = np.zeros(values.shape)
    for column, own in enumerate(values.T):
        ordered = np.sort(own)
        behind, not_ahead = (np.searchsorted(ordered, own, side) for side in ("left", "right"))
        points[:, column] = (behind + not_ahead - 1) / 2
    return points
