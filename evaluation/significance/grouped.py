"""The scores of a run by groups of topics, such as conversations, and by place in the group.

They describe a run. Verdicts come from tests that flip whole groups (`units.py`): the turns of one
conversation share their luck, so a group says less than as many topics of their own.

>>> numbers, groups = ["31_1", "31_2", "31_10", "4_1"], ["31", "31", "31", "4"]
>>> places_in_groups(numbers, groups).tolist()
[1, 2, 3, 1]
>>> split_scores(np.array([1.0, 0.5, np.nan, 0.2]), np.array([1, 2, 3, 1]))
{1: array([1. , 0.2]), 2: array([0.5]), 3: array([], dtype=float64)}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from evaluation.ragged import FloatArray, IntArray

NUMBERS = re.compile(r"(\d+)")


def natural_order(numbers: Sequence[str]) -> list[int]:
    """The order of topics in which 31_2 comes before 31_10.

    >>> natural_order(["b2", "a10", "a9"])
    [2, 1, 0]
    """

    def key(place: int) -> list[tuple[int, int, str]]:
        parts = NUMBERS.split(numbers[place])
        return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]

    return sorted(range(len(numbers)), key=key)


def places_in_groups(numbers: Sequence[str], groups: Sequence[Hashable]) -> IntArray:
    """int[T]: the place of each topic in its group, from 1: the depth of a turn.

    Topics of a group follow their numbers, read as numbers where they have digits.
    """
    places, seen = np.zeros(len(numbers), dtype=np.int64), Counter[Hashable]()
    for topic in natural_order(numbers):
        seen[groups[topic]] += 1
        places[topic] = seen[groups[topic]]
    return places


def split_scores(scores: FloatArray, labels: Sequence[Any] | IntArray) -> dict[Any, FloatArray]:
    """The defined scores of float64[T] by label, the labels in ascending order."""
    named = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    found: dict[Any, list[float]] = {label: [] for label in sorted(set(named))}
    for label, score in zip(named, scores.tolist(), strict=True):
        if score == score:
            found[label].append(score)
    return {label: np.array(own, dtype=np.float64) for label, own in found.items()}
