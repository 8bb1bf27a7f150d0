"""Every order of judging again in plain Python: which draws are right after a history.

Written from the papers, never from the numpy code. A draw is a docno with its run; where chance
decides between equals, all of them are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

CLOSE = 1e-9


@dataclass(frozen=True)
class Judged:
    docno: bytes
    run: int
    is_relevant: bool


@dataclass(frozen=True)
class Topic:
    """The rankings of all runs, and what was judged so far."""

    rankings: list[list[bytes]]
    history: list[Judged]

    def open(self) -> list[bytes]:
        seen = {each.docno for each in self.history}
        return sorted({d for ranking in self.rankings for d in ranking if d not in seen})

    def rank(self, run: int, docno: bytes) -> int | None:
        ranking = self.rankings[run]
        return ranking.index(docno) + 1 if docno in ranking else None

    def ranks(self, docno: bytes) -> Iterator[tuple[int, int]]:
        for run in range(len(self.rankings)):
            rank = self.rank(run, docno)
            if rank is not None:
                yield rank, run

    def head(self, run: int) -> bytes | None:
        """The best open document of a run."""
        still = self.open()
        return next((docno for docno in self.rankings[run] if docno in still), None)

    def heads_of_best(self, value: Callable[[int], object]) -> set[tuple[bytes, int]]:
        """The best open document of each run with the highest value."""
        runs = [run for run in range(len(self.rankings)) if self.head(run) is not None]
        best = max(map(value, runs))
        return {(self.head(run), run) for run in runs if value(run) == best}

    def from_best_run(self, docno: bytes) -> tuple[bytes, int]:
        return docno, min(self.ranks(docno))[1]


def depth(topic: Topic) -> set[tuple[bytes, int]]:
    _, run, docno = min((rank, run, d) for d in topic.open() for rank, run in topic.ranks(d))
    return {(docno, run)}


def fusion(topic: Topic) -> set[tuple[bytes, int]]:
    def score(docno):
        return sum(Fraction(1, 60 + rank) for rank, _ in topic.ranks(docno))

    return {topic.from_best_run(max(topic.open(), key=score))}


def hedge(topic: Topic) -> set[tuple[bytes, int]]:
    deepest = max(map(len, topic.rankings))

    def stake(rank):
        return 0.5 * math.fsum(1 / j for j in range(rank, deepest + 1))

    losses = [0.0] * len(topic.rankings)
    for each in topic.history:
        for rank, run in topic.ranks(each.docno):
            losses[run] += -stake(rank) if each.is_relevant else stake(rank)
    values = {
        docno: sum(0.1 ** losses[run] * stake(rank) for rank, run in topic.ranks(docno))
        for docno in topic.open()
    }
    best = max(values.values())
    return {topic.from_best_run(d) for d in values if values[d] >= best * (1 - CLOSE)}


def move_to_front(topic: Topic) -> set[tuple[bytes, int]]:
    if topic.history and topic.history[-1].is_relevant:
        run = topic.history[-1].run
        if topic.head(run) is not None:
            return {(topic.head(run), run)}
    misses = [each.run for each in topic.history if not each.is_relevant]
    return topic.heads_of_best(lambda run: -misses.count(run))


def judged_of(topic: Topic, run: int) -> list[bool]:
    return [each.is_relevant for each in topic.history if each.docno in topic.rankings[run]]


def max_mean(topic: Topic) -> set[tuple[bytes, int]]:
    def mean(run):
        found = judged_of(topic, run)
        return Fraction(1 + sum(found), 2 + len(found))

    return topic.heads_of_best(mean)


def thompson(topic: Topic) -> set[tuple[bytes, int]]:
    """Any run may win a draw; `chance_of_first` tells how often."""
    return topic.heads_of_best(lambda run: 0)


def chance_of_first(a: int, b: int, c: int, d: int) -> float:
    """The probability that a draw from Beta(a, b) is above one from Beta(c, d), whole numbers.

    X is above Y with the probability of the sum over i < a of
    B(c + i, b + d) / ((b + i) B(1 + i, b) B(c, d)) for P(X > Y).
    """

    def beta(x, y):
        return math.gamma(x) * math.gamma(y) / math.gamma(x + y)

    return sum(beta(c + i, b + d) / ((b + i) * beta(1 + i, b) * beta(c, d)) for i in range(a))


PLAIN_ORDERS: dict[str, Callable[[Topic], set[tuple[bytes, int]]]] = {
    "depth": depth,
    "fusion": fusion,
    "mtf": move_to_front,
    "maxmean": max_mean,
    "hedge": hedge,
    "thompson": thompson,
}
