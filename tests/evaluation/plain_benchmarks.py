"""The statistics of a benchmark a second time, with loops over collections, topics and flips."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any


@dataclass(frozen=True)
class PlainCollection:
    """The scores of each system, topic by topic, and the keys of the topics."""

    scores: list[list[float]]
    topics: list[Any]

    def differences(self, system: int, other: int) -> list[float]:
        pairs = zip(self.scores[system], self.scores[other], strict=True)
        return [one - two for one, two in pairs]


def mean_of(values: list[float]) -> float:
    return sum(values) / len(values)


def benchmark_mean(collections: list[PlainCollection], system: int) -> float:
    return mean_of([mean_of(each.scores[system]) for each in collections])


def error_of(rows: list[list[float]]) -> float:
    """The standard error of the mean of the means of these rows."""
    squared = 0.0
    for row in rows:
        mean, n = mean_of(row), len(row)
        squared += sum((value - mean) ** 2 for value in row) / (n - 1) / n
    return math.sqrt(squared) / len(rows)


def t_of_rows(rows: list[list[float]]) -> float:
    return abs(mean_of([mean_of(row) for row in rows])) / error_of(rows)


def flip(row: list[float], topics: list[Any], sign_of: dict[Any, float]) -> list[float]:
    mean = mean_of(row)
    return [sign_of[topic] * (value - mean) for value, topic in zip(row, topics, strict=True)]


def largest_t(
    collections: list[PlainCollection], pairs: list[tuple[int, int]], sign_of: dict[Any, float]
) -> float:
    found = []
    for system, other in pairs:
        rows = [flip(c.differences(system, other), c.topics, sign_of) for c in collections]
        found.append(t_of_rows(rows))
    return max(found)


def p_of_pairs(
    collections: list[PlainCollection], signs: list[list[float]]
) -> dict[tuple[int, int], float]:
    """The p of each pair, adjusted for all, from one list of signs per flip."""
    keys = sorted({topic for each in collections for topic in each.topics})
    pairs = list(combinations(range(len(collections[0].scores)), 2))
    maxima = [largest_t(collections, pairs, dict(zip(keys, own, strict=True))) for own in signs]
    found = {}
    for system, other in pairs:
        t = t_of_rows([each.differences(system, other) for each in collections])
        reached = sum(largest >= t * (1 - 1e-9) for largest in maxima)
        found[system, other] = max((1 + reached) / (1 + len(maxima)), 2.0 ** (1 - len(keys)))
    return found
