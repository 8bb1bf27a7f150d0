"""Which pair a voter sees next: any at random, or rather one whose vote tells most.

Every pair keeps the probability with which it was drawn. With `weights` of P pairs and `left`
int[P], the topics on which the voter has not seen each, a pair has weight x left over their sum,
and its topics are equally probable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.ragged import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """The place of a pair, and the probability of it and of one of its topics together."""

    place: int
    probability: float


def weigh_by_information(points: FloatArray, played: FloatArray) -> FloatArray:
    """float64[P]: how much one more vote on each pair lowers the error of its share.

    `points` are the votes for the first run of each pair, ties half, of those `played`. The error
    is that of the share of points with half a point added to each side (Chiang and others,
    Chatbot Arena, 2024).

    >>> weigh_by_information(np.array([0.0, 5.0, 9.0]), np.array([0.0, 10.0, 10.0])).round(4)
    array([0.1464, 0.0064, 0.0044])
    """
    share = (points + 0.5) / (played + 1)
    spread = np.sqrt(share * (1 - share))
    weights: FloatArray = spread * (1 / np.sqrt(played + 1) - 1 / np.sqrt(played + 2))
    return weights


def draw_pair(weights: FloatArray, left: IntArray, at: float) -> DrawnPair | None:
    """Return the pair that a random number `at` from 0 to 1 chooses; None where none is left.

    >>> draw_pair(np.array([1.0, 3.0]), np.array([2, 2]), 0.5)
    DrawnPair(place=1, probability=0.375)
    >>> draw_pair(np.array([1.0, 3.0]), np.array([1, 0]), 0.9)
    DrawnPair(place=0, probability=1.0)
    """
    shares = weights * left
    total = float(shares.sum())
    if not total > 0:
        return None
    ends = np.cumsum(shares)
    place = int(np.searchsorted(ends, at * ends[-1], side="right"))
    place = min(place, int(np.flatnonzero(shares)[-1]))
    return DrawnPair(place, float(weights[place] / total))
