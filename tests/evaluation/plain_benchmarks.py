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


def size_of(row: list[float]) -> tuple[float, int]:
    """The squares of the differences that are not 0, from half of the mean, and their number."""
    mean, changed = mean_of(row), [value for value in row if abs(value) > 1e-12]
    return sum((value - mean / 2) ** 2 for value in changed), len(changed)


def widened_error(row: list[float], family: list[list[float]], half: float | None = None) -> float:
    """The error of a mean with two more topics, a typical difference of the family apart."""
    sizes = [size_of(each) for each in family]
    largest = max(abs(value) for each in family for value in each)
    half = largest if half is None else half
    total, count = (sum(column) for column in zip(*sizes, strict=True))
    size = math.sqrt((total + half**2) / (count + 1))
    own_total, own_count = size_of(row)
    if own_count:
        own = math.sqrt(own_total / own_count)
        size = min(max(size, own), own * (1 + 30 / own_count))
    mean, n = mean_of(row), len(row)
    away = size * min(2, (n / 4) ** 0.25)
    added = [*row, mean + away, mean - away]
    return math.sqrt(sum((value - mean) ** 2 for value in added) / (n + 1) / (n + 2))


def error_over_collections(rows: list[list[float]], families: list[list[list[float]]]) -> float:
    """The widened error of the mean of the means of these rows, each one of its family."""
    pairs = zip(rows, families, strict=True)
    return math.sqrt(sum(widened_error(*pair) ** 2 for pair in pairs)) / len(rows)


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
    families = [[each.differences(*pair) for pair in pairs] for each in collections]
    for system, other in pairs:
        rows = [each.differences(system, other) for each in collections]
        t = abs(mean_of([mean_of(row) for row in rows])) / error_over_collections(rows, families)
        reached = sum(largest >= t * (1 - 1e-9) for largest in maxima)
        found[system, other] = max((1 + reached) / (1 + len(maxima)), 2.0 ** (1 - len(keys)))
    return found
