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
from evaluation.ragged import BoolArray

Reason: TypeAlias = Literal["warm-up", "least seen", "order"]


@dataclass(frozen=True, slots=True)
class Guards:
    """What an adaptive order has to keep to.

    The first `warm_up` documents of a topic are those of a depth pool. After them every
    `every`-th document is the best of the run with the fewest documents handed out. At most
    `in_a_row` documents in a row are drawn from runs of one team, while another team has any.
    """

    warm_up: int = 20
    every: int = 5
    in_a_row: int = 2


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

    `teams` names the team of each run. `log` has all events. A batch depends on the seed and
    the events before it only: two batches without marks between them equal one of both sizes.
    """

    def __init__(self, order: Order, teams: Sequence[str], guards: Guards | None = None) -> None:
        self.order = order
        self.guards = guards or Guards()
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
        return GuardedOrder(order, self.teams, self.guards)


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
