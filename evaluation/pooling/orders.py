"""Orders of judging: which document of a topic is next, given the grades so far.

An order is asked for the next document, notified when that document is handed out, and notified
of its grade, which may come later. The same seed, documents and grades give the same order.

    >>> from evaluation.pooling.pools import Place, Pooled
    >>> pooled = [Pooled(b"d1", (Place(0, 1),)), Pooled(b"d2", (Place(0, 2), Place(1, 1)))]
    >>> order = start_order("depth", Candidates.of(b"7", pooled, runs=2))
    >>> first = order.next_draw()
    >>> first
    Draw(document=0, run=0)
    >>> order.hand_out(first)
    >>> order.take_grade(first.document, is_relevant=True)
    >>> order.next_draw()
    Draw(document=1, run=1)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from evaluation.pooling.budgets import reciprocal_ranks
from evaluation.pooling.pools import Pooled, chance_of
from evaluation.ragged import BoolArray, FloatArray, IntArray

LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Candidates:
    """The documents of a topic that can be judged: D documents in docno order, R runs.

    rank: int64[R, D], the rank of each document in each run, 0 where the run does not have it.
    fused: float64[D], the sum of 1 / (60 + rank) over the runs.
    """

    topic: bytes
    docnos: tuple[bytes, ...]
    rank: IntArray
    fused: FloatArray

    @classmethod
    def of(cls, topic: bytes, documents: Sequence[Pooled], runs: int) -> Candidates:
        """Take the documents of a pool with their places; each has a place in one run or more."""
        ordered = sorted(documents, key=lambda document: document.docno)
        rank = np.zeros((runs, len(ordered)), np.int64)
        for number, document in enumerate(ordered):
            for place in document.places:
                rank[place.run, number] = place.rank
        scores = [reciprocal_ranks(document.places)[0] for document in ordered]
        return cls(topic, tuple(each.docno for each in ordered), rank, np.array(scores, float))

    @property
    def runs(self) -> int:
        return len(self.rank)

    @cached_property
    def is_retrieved(self) -> BoolArray:
        """bool[R, D]: whether a run has a document."""
        return self.rank > 0

    @cached_property
    def rank_or_last(self) -> IntArray:
        """int64[R, D]: the ranks, `LAST` where a run does not have the document."""
        return np.where(self.is_retrieved, self.rank, LAST)

    @cached_property
    def ranked(self) -> tuple[tuple[int, ...], ...]:
        """For each run the numbers of its documents, best rank first."""
        return tuple(
            tuple(number for number in np.argsort(row, kind="stable").tolist() if row[number])
            for row in self.rank
        )


@dataclass(frozen=True, slots=True)
class Draw:
    """A document to judge, by number, and the run from which it is drawn."""

    document: int
    run: int


class Order(ABC):
    """An order of judging of one topic.

    `is_random` tells whether the seed has an effect.
    """

    is_random: ClassVar[bool] = False

    def __init__(self, candidates: Candidates, seed: int = 0) -> None:
        self.candidates = candidates
        self.seed = seed
        self.is_open = np.ones(len(candidates.docnos), bool)
        self.open_of_run: IntArray = candidates.is_retrieved.sum(axis=1)
        self.relevance: dict[int, bool] = {}
        self.num_handed_out = 0

    @abstractmethod
    def next_draw(self, allowed: BoolArray | None = None) -> Draw | None:
        """Return the next document without handing it out, None where none is left.

        `allowed` is bool[R], the runs from which to draw; None allows all.
        """

    def hand_out(self, draw: Draw, is_own: bool = True) -> None:
        """Note that a document is with an assessor; not `is_own` where a guard chose it."""
        self.num_handed_out += 1
        self._close(draw.document)

    def take_grade(self, document: int, is_relevant: bool | None) -> None:
        """Note the grade of a document; a second one replaces the first, None withdraws it."""
        self._close(document)
        before = self.relevance.get(document)
        if before is is_relevant:
            return
        if before is not None:
            self._count(document, before, -1)
            del self.relevance[document]
        if is_relevant is not None:
            self.relevance[document] = is_relevant
            self._count(document, is_relevant, 1)

    @abstractmethod
    def _count(self, document: int, is_relevant: bool, times: int) -> None:
        """Learn from a grade; `times` is -1 where a grade is withdrawn."""

    def first_open(self, run: int) -> Draw:
        """Return the best document of a run that is still open."""
        return Draw(next(d for d in self.candidates.ranked[run] if self.is_open[d]), run)

    def _close(self, document: int) -> None:
        if self.is_open[document]:
            self.is_open[document] = False
            self.open_of_run -= self.candidates.is_retrieved[:, document]

    def _generator(self) -> np.random.Generator:
        """Return the random numbers of the next draw, independent of those before."""
        key = chance_of(self.seed, self.candidates.topic, b"%d" % self.num_handed_out)
        return np.random.default_rng(int.from_bytes(key[:8]))


class DepthOrder(Order):
    """By best rank, then by run: all first documents, all second ones, and so on.

    Source: Sparck Jones and van Rijsbergen, Report on the Need for and Provision of an "Ideal"
    Information Retrieval Test Collection, 1975.
    """

    def next_draw(self, allowed: BoolArray | None = None) -> Draw | None:
        if not self.is_open.any():
            return None
        rank = np.where(self.is_open, self.candidates.rank_or_last, LAST)
        if allowed is not None:
            rank[~allowed] = LAST
        run, document = divmod(int(rank.argmin()), rank.shape[1])
        return Draw(document, run) if rank[run, document] < LAST else None

    def _count(self, document: int, is_relevant: bool, times: int) -> None:
        """Ranks alone decide."""


class DocumentOrder(Order):
    """Draws the document with the highest value, equal ones by docno.

    It counts as drawn from the run that ranks it best.
    """

    @abstractmethod
    def _values(self) -> FloatArray:
        """float64[D]"""

    def next_draw(self, allowed: BoolArray | None = None) -> Draw | None:
        is_open = self.is_open
        if allowed is not None:
            is_open = is_open & self.candidates.is_retrieved[allowed].any(axis=0)
        if not is_open.any():
            return None
        document = int(np.where(is_open, self._values(), -np.inf).argmax())
        rank = self.candidates.rank_or_last[:, document]
        if allowed is not None:
            rank = np.where(allowed, rank, LAST)
        return Draw(document, int(rank.argmin()))


class FusionOrder(DocumentOrder):
    """By the sum of 1 / (60 + rank) over the runs.

    Source: Cormack, Clarke and Buettcher, Reciprocal Rank Fusion, SIGIR 2009.
    """

    def _values(self) -> FloatArray:
        return self.candidates.fused

    def _count(self, document: int, is_relevant: bool, times: int) -> None:
        """Ranks alone decide."""


class HedgeOrder(DocumentOrder):
    """By the loss that a non-relevant document would cause, over the runs by their weights.

    A document at rank r of a run costs the run (1/r + ... + 1/Z) / 2 if it is not relevant and
    gains it as much if it is, Z the deepest rank. The weight of a run is 0.1 to its loss.
    Source: Aslam, Pavlu and Savell, A Unified Model for Metasearch, Pooling, and System
    Evaluation, CIKM 2003.
    """

    BETA = 0.1

    def __init__(self, candidates: Candidates, seed: int = 0) -> None:
        super().__init__(candidates, seed)
        self.loss = np.zeros(candidates.runs)

    @cached_property
    def _stakes(self) -> FloatArray:
        """float64[R, D]: what a run loses or gains by each document."""
        rank, deepest = self.candidates.rank, int(self.candidates.rank.max(initial=0))
        tails = np.cumsum(1 / np.arange(deepest, 0, -1))[::-1] / 2
        return np.concatenate(([0.0], tails))[rank]

    def _values(self) -> FloatArray:
        # Only ratios of weights matter: the lowest loss keeps them in range.
        weights = self.BETA ** (self.loss - self.loss.min(initial=np.inf))
        values: FloatArray = weights @ self._stakes
        return values

    def _count(self, document: int, is_relevant: bool, times: int) -> None:
        self.loss += (-times if is_relevant else times) * self._stakes[:, document]


class RunOrder(Order):
    """Draws the best open document of the run with the highest value, equal ones at random."""

    is_random = True

    @abstractmethod
    def _values(self, generator: np.random.Generator) -> FloatArray:
        """float64[R]"""

    def next_draw(self, allowed: BoolArray | None = None) -> Draw | None:
        has_open = self.open_of_run > 0
        if allowed is not None:
            has_open &= allowed
        if not has_open.any():
            return None
        generator = self._generator()
        values = np.where(has_open, self._values(generator), -np.inf)
        best = np.flatnonzero(values == values.max())
        run = best[generator.integers(len(best))] if len(best) > 1 else best[0]
        return self.first_open(int(run))


class MoveToFrontOrder(RunOrder):
    """Follows a run until a document is not relevant, then takes that with the fewest misses.

    A miss counts for the run from which the document was drawn. In a batch, a run is followed
    until a miss is known.
    Source: Cormack, Palmer and Clarke, Efficient Construction of Large Test Collections, SIGIR
    1998 (local move-to-front).
    """

    def __init__(self, candidates: Candidates, seed: int = 0) -> None:
        super().__init__(candidates, seed)
        self.misses = np.zeros(candidates.runs)
        self.run_of: dict[int, int] = {}
        self.front: int | None = None

    def next_draw(self, allowed: BoolArray | None = None) -> Draw | None:
        front = self.front
        if front is None or not self.open_of_run[front]:
            return super().next_draw(allowed)
        if allowed is not None and not allowed[front]:
            return super().next_draw(allowed)
        return self.first_open(front)

    def hand_out(self, draw: Draw, is_own: bool = True) -> None:
        super().hand_out(draw, is_own)
        self.run_of[draw.document] = draw.run
        if is_own:
            self.front = draw.run

    def _values(self, generator: np.random.Generator) -> FloatArray:
        return -self.misses

    def _count(self, document: int, is_relevant: bool, times: int) -> None:
        run = self.run_of.get(document)
        if is_relevant or run is None:
            return
        self.misses[run] += times
        if run == self.front and times > 0:
            self.front = None


class Bandit(RunOrder):
    """Counts for each run its judged documents and the relevant ones, whichever run drew them."""

    def __init__(self, candidates: Candidates, seed: int = 0) -> None:
        super().__init__(candidates, seed)
        self.hits = np.zeros(candidates.runs)
        self.misses = np.zeros(candidates.runs)

    def _count(self, document: int, is_relevant: bool, times: int) -> None:
        counts = self.hits if is_relevant else self.misses
        counts += times * self.candidates.is_retrieved[:, document]


class MaxMeanOrder(Bandit):
    """From the run with the highest mean of its Beta posterior, (1 + hits) / (2 + judged).

    Source: Losada, Parapar and Barreiro, Multi-Armed Bandits for Adjudicating Documents in
    Pooling-Based Evaluation of Information Retrieval Systems, Information Processing and
    Management 2017.
    """

    def _values(self, generator: np.random.Generator) -> FloatArray:
        means: FloatArray = (1 + self.hits) / (2 + self.hits + self.misses)
        return means


class ThompsonOrder(Bandit):
    """From the run with the highest draw from its posterior, Beta(1 + hits, 1 + misses).

    Source: Thompson, Biometrika 1933; for pools Losada, Parapar and Barreiro, Information
    Processing and Management 2017.
    """

    def _values(self, generator: np.random.Generator) -> FloatArray:
        return generator.beta(1 + self.hits, 1 + self.misses)


ORDERS: dict[str, type[Order]] = {
    "depth": DepthOrder,
    "fusion": FusionOrder,
    "mtf": MoveToFrontOrder,
    "maxmean": MaxMeanOrder,
    "hedge": HedgeOrder,
    "thompson": ThompsonOrder,
}


def start_order(name: str, candidates: Candidates, seed: int = 0) -> Order:
    """Begin an order of `ORDERS` by its name; KeyError for another name."""
    return ORDERS[name](candidates, seed)
