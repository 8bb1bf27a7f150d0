"""A budget in two rounds: the same number of documents per topic first, then where it pays.

After the first round the rest goes to topics that still had relevant documents at their end. A
topic with twice as many of them among its last documents gets twice as many of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evaluation.ragged import BoolArray

FIRST_SHARE = 0.6
# The relevant documents among so many at the end of a topic say whether more are to come.
LAST = 20


def first_round(budget: int) -> int:
    """Return how many documents of each topic the first round has.

    >>> [first_round(budget) for budget in (1, 25, 100)]
    [1, 15, 60]
    """
    return math.ceil(round(FIRST_SHARE * budget, 6))


def count_gain(is_relevant: BoolArray) -> int:
    """Return how many of the last documents of a topic are relevant, in the order of judging."""
    return int(np.count_nonzero(is_relevant[-LAST:]))


def share_rest(rest: int, gains: Sequence[int], room: Sequence[int]) -> list[int]:
    """Return how many documents of the rest each topic gets, at most its `room`.

    One after the other, each goes to the topic with the most gain per document that it has then
    got (D'Hondt). Topics without gain get none, even if something is left.

    >>> share_rest(8, gains=[6, 2, 0], room=[40, 40, 40])
    [6, 2, 0]
    >>> share_rest(8, gains=[6, 2, 0], room=[3, 4, 40])
    [3, 4, 0]
    """
    given = [0] * len(gains)
    for _ in range(rest):
        open_topics = [
            topic for topic, gain in enumerate(gains) if gain and given[topic] < room[topic]
        ]
        if not open_topics:
            break
        best = max(open_topics, key=lambda topic: gains[topic] / (given[topic] + 1))
        given[best] += 1
    return given
