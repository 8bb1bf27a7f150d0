"""Guards of an adaptive order, so that no run or team decides alone what is judged.

Orders that learn from grades were unfair to some pooled runs in practice (Voorhees, On Building
Fair and Reusable Test Collections using Bandit Techniques, CIKM 2018). The log keeps every
document handed out and every mark, in the order in which they came, and replays exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from evaluation.pooling.orders import Candidates, DepthOrder, Draw, Order, start_order
from evaluation.pooling.pools import chance_of
from evaluation.ragged import BoolArray, FloatArray, IntArray

Reason: TypeAlias = Literal["warm-up", "least seen", "random", "order"]


@dataclass(frozen=True, slots=True)
class Guards:
    """What an adaptive order has to keep to.

    The first `warm_up` documents of a topic are those of a depth pool. After them every
    `every`-th document is the best of the run with the fewest documents handed out: fair to runs,
    but not random. At most `in_a_row` documents in a row are drawn from runs of one team, while
    another team has any. `sample` documents of a topic are a simple random sample of its
    candidates, drawn by the seed before the order starts and handed out in between; only they say
    what the order missed (`estimate_relevant`).
    """

    warm_up: int = 20
    every: int = 5
    in_a_row: int = 2
    sample: int = 0

    def most_sampled(self, documents: int) -> int:
        """Return how many documents of the random part come among the first `documents`.

        >>> [Guards().most_sampled(documents) for documents in (20, 25, 60)]
        [0, 1, 8]
        """
        return max(0, (documents - 1) // self.every - (self.warm_up - 1) // self.every)


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A document handed out, the run from which it was drawn, and why."""

    docno: bytes
    run: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Marked:
    """A document whose grade is known; a later mark replaces an earlier one.

    None: an assessor took the grade back, or cannot judge the document.
    """

    docno: bytes
    is_relevant: bool | None


Event: TypeAlias = HandedOut | Marked


class ReplayError(ValueError):
    """A log that its order does not repeat."""


class GuardedOrder:
    """An order with guards, drawn in batches.

    `teams` names the team of each run. `log` has all events, `sample` the documents that were
    drawn at random, in random order. A batch depends on the seed and the events before it only:
    two batches without marks between them equal one of both sizes.
    """

    def __init__(
        self, order: Order, teams: Sequence[str], guards: Guards | None = None, seed: int = 0
    ) -> None:
        self.order = order
        self.guards = guards or Guards()
        found = order.candidates
        shuffled = sorted(found.docnos, key=lambda docno: chance_of(seed, found.topic, docno))
        self.sample = tuple(shuffled[: self.guards.sample])
        self.log: list[Event] = []
        self._teams = np.array([sorted(set(teams)).index(team) for team in teams], np.int64)
        self._warm_up = DepthOrder(order.candidates)
        self._number = {docno: place for place, docno in enumerate(order.candidates.docnos)}
        self._last_runs: list[int] = []

    def draw_batch(self, size: int) -> list[HandedOut]:
        """Hand out the next documents: `size`, or fewer where the candidates end."""
        batch: list[HandedOut] = []
        while len(batch) < size and self.order.is_open.any():
            batch.append(self._choose())
            self.take_event(batch[-1])
        return batch

    def take_mark(self, docno: bytes, is_relevant: bool | None) -> None:
        """Learn a grade, also of a document judged before; KeyError outside the candidates."""
        self.take_event(Marked(docno, is_relevant))

    def _choose(self) -> HandedOut:
        allowed = self._allowed_runs()
        place = len(self._last_runs)
        if place < self.guards.warm_up:
            return self._handed_out(self._draw(self._warm_up, allowed), "warm-up")
        if (place + 1) % self.guards.every == 0:
            return self._handed_out(self._draw_least_seen(allowed), "least seen")
        sampled = self._draw_sampled() if place % self.guards.every == 0 else None
        if sampled is not None:
            return self._handed_out(sampled, "random")
        return self._handed_out(self._draw(self.order, allowed), "order")

    def _allowed_runs(self) -> BoolArray:
        """bool[R]: all runs, without the team that has had its draws in a row."""
        last = self._teams[self._last_runs[-self.guards.in_a_row :]]
        if len(last) < self.guards.in_a_row or len(set(last.tolist())) > 1:
            return np.ones(len(self._teams), bool)
        others = self._teams != last[0]
        has_open = bool((self.order.open_of_run[others] > 0).any())
        return others if has_open else np.ones(len(self._teams), bool)

    def _draw(self, order: Order, allowed: BoolArray) -> Draw:
        draw = order.next_draw(allowed)
        assert draw is not None
        return draw

    def _draw_least_seen(self, allowed: BoolArray) -> Draw:
        order = self.order
        seen = order.candidates.is_retrieved.sum(axis=1) - order.open_of_run
        has_open = allowed & (order.open_of_run > 0)
        return order.first_open(int(np.where(has_open, seen, np.iinfo(np.int64).max).argmin()))

    def _draw_sampled(self) -> Draw | None:
        """The next document of the sample, from the run that ranks it best; None if all are out."""
        for docno in self.sample:
            document = self._number[docno]
            if self.order.is_open[document]:
                run = int(self.order.candidates.rank_or_last[:, document].argmin())
                return Draw(document, run)
        return None

    def _handed_out(self, draw: Draw, reason: Reason) -> HandedOut:
        return HandedOut(self.order.candidates.docnos[draw.document], draw.run, reason)

    def take_event(self, event: Event) -> None:
        """Note what was handed out or marked, as a log has it."""
        document = self._number[event.docno]
        if isinstance(event, HandedOut):
            draw = Draw(document, event.run)
            self.order.hand_out(draw, is_own=event.reason == "order")
            self._warm_up.hand_out(draw)
            self._last_runs.append(event.run)
        else:
            self.order.take_grade(document, event.is_relevant)
            self._warm_up.take_grade(document, event.is_relevant)
        self.log.append(event)


@dataclass(frozen=True)
class OrderSettings:
    """What an adaptive order of a topic is made from, besides its documents."""

    order: str
    seed: int
    teams: tuple[str, ...]
    guards: Guards = Guards()

    def start(self, candidates: Candidates) -> GuardedOrder:
        order = start_order(self.order, candidates, self.seed)
        return GuardedOrder(order, self.teams, self.guards, self.seed)


def resume(settings: OrderSettings, candidates: Candidates, log: Sequence[Event]) -> GuardedOrder:
    """Return an order that has taken all events of a log, ready for the next batch."""
    order = settings.start(candidates)
    for event in log:
        order.take_event(event)
    return order


def replay(settings: OrderSettings, candidates: Candidates, log: Sequence[Event]) -> GuardedOrder:
    """Draw again all that a log has; ReplayError at the first document that differs."""
    order = settings.start(candidates)
    for number, event in enumerate(log, 1):
        if isinstance(event, Marked):
            order.take_mark(event.docno, event.is_relevant)
        elif order.draw_batch(1) != [event]:
            raise ReplayError(f"event {number} of the log: the order hands out another document")
    return order


@dataclass(frozen=True, slots=True)
class RelevantEstimate:
    """How many of the candidates are relevant, from a random sample, with exact ends."""

    estimate: float
    low: int
    high: int


def estimate_relevant(
    candidates: int, sampled: int, relevant: int, level: float = 0.95
) -> RelevantEstimate:
    """Estimate the relevant documents of a topic from those of a random sample.

    The estimate is candidates x relevant / sampled. The ends hold every number with which as few,
    and as many, relevant documents in the sample are not improbable: both tails of the
    hypergeometric distribution are above (1 - level) / 2. ValueError for counts that cannot be.

    >>> estimate_relevant(200, 20, 3), estimate_relevant(200, 20, 0).high
    (RelevantEstimate(estimate=30.0, low=8, high=73), 32)
    """
    if not 0 <= relevant <= sampled <= candidates or not sampled:
        raise ValueError("of the candidates some are sampled, and of these some are relevant")
    possible = np.arange(relevant, candidates - (sampled - relevant) + 1)
    counts = np.arange(sampled + 1)
    logarithms = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, candidates + 1)))])

    def log_choices(total: IntArray, chosen: IntArray) -> FloatArray:
        """The logarithm of the number of ways to choose; -inf where there is none."""
        rest = total - chosen
        ways = logarithms[total] - logarithms[chosen] - logarithms[np.maximum(rest, 0)]
        return np.where(rest >= 0, ways, -np.inf)

    chances = np.exp(
        log_choices(possible[:, np.newaxis], counts)
        + log_choices(candidates - possible[:, np.newaxis], sampled - counts)
        - log_choices(np.array(candidates), np.array(sampled))
    )
    fewer, more = chances[:, : relevant + 1].sum(axis=1), chances[:, relevant:].sum(axis=1)
    held = possible[np.minimum(fewer, more) > (1 - level) / 2]
    return RelevantEstimate(candidates * relevant / sampled, int(held[0]), int(held[-1]))
