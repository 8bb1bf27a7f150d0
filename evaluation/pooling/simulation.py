"""Judging simulated on judgments that exist: what an order finds before judging ends.

Candidates are the judged documents in a depth pool of the runs, and their grades are the answers
of the assessor. Each order is cut where judging ends, and the runs are scored on what was judged
until then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from evaluation.agreement import kendall_tau_b, tau_ap
from evaluation.conventions import HOUSE, POOLED, Convention
from evaluation.judging import JudgedRun, Judgments, judge, prepare
from evaluation.measures import Measure
from evaluation.pooling.guards import Guards, OrderSettings
from evaluation.pooling.orders import ORDERS, Candidates, Order, start_order
from evaluation.pooling.pools import Pooled, gathered
from evaluation.ragged import BoolArray, FloatArray, IntArray
from evaluation.reading.runs.reader import Run


class Ending(Protocol):
    """When judging of a topic ends."""

    def count_judged(self, is_relevant: BoolArray) -> int:
        """Return how many documents are judged, given what each is in the order of judging."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Judging ends after a number of documents per topic."""

    documents: int

    def __str__(self) -> str:
        return f"{self.documents} document{'s' if self.documents > 1 else ''}"

    def count_judged(self, is_relevant: BoolArray) -> int:
        return min(self.documents, len(is_relevant))


@dataclass(frozen=True, slots=True)
class MissesInARow:
    """Judging ends at `misses` non-relevant documents in a row, `at_least` documents judged.

    >>> MissesInARow(2, at_least=1).count_judged(np.array([False, True, False, False, True]))
    4
    """

    misses: int
    at_least: int = 30

    def __str__(self) -> str:
        return f"{self.misses} misses in a row" if self.misses > 1 else "1 miss"

    def count_judged(self, is_relevant: BoolArray) -> int:
        in_a_row = 0
        for judged, hit in enumerate(is_relevant.tolist(), 1):
            in_a_row = 0 if hit else in_a_row + 1
            if judged >= self.at_least and in_a_row >= self.misses:
                return judged
        return len(is_relevant)


@dataclass(frozen=True, slots=True)
class BoardLikeness:
    """How a board is ordered beside that of all candidates: tau_b, and tau_AP with it as reference.

    None where undefined.
    """

    tau: float | None
    tau_ap: float | None


@dataclass(frozen=True)
class SimulatedOrder:
    """What an order found before judging ended, over all topics; means over the seeds.

    `judged` is the share of the candidates, `found` the share of the relevant ones, NaN where
    there is none; `boards` has one entry per measure.
    """

    order: str
    ending: Ending
    judged: float
    found: float
    boards: tuple[BoardLikeness, ...]


@dataclass(frozen=True, eq=False)
class Simulation:
    """Runs and judgments to simulate judging with, and how runs are scored.

    `depth` is that of the pool, `rel` the grade from which a document is relevant. Runs are
    scored on `cutoff` documents, without unjudged ones if `is_condensed`. ValueError for
    judgments with strata or subtopics.
    """

    runs: Sequence[Run]
    judgments: Judgments
    measures: Sequence[Measure]
    depth: int = 100
    rel: int = 1
    cutoff: int | None = None
    is_condensed: bool = False
    convention: Convention = HOUSE

    def __post_init__(self) -> None:
        if self.judgments.strata or self.judgments.subtopics:
            raise ValueError("a simulation needs judgments with one grade per document")

    def simulate(
        self,
        orders: Sequence[str],
        endings: Sequence[Ending],
        seeds: int = 5,
        teams: Sequence[str] | None = None,
        guards: Guards | None = None,
    ) -> Iterator[SimulatedOrder]:
        """Judge in each order until each ending; orders without chance use one seed.

        With `guards`, `teams` names the team of each run, by default each its own.
        """
        named = tuple(teams or map(str, range(len(self.runs))))
        for name in orders:
            used = range(seeds if ORDERS[name].is_random else 1)
            judged = [self._judge_all(name, seed, named, guards) for seed in used]
            for ending in endings:
                yield _mean([self._outcome(name, ending, topics) for topics in judged])

    @cached_property
    def candidates(self) -> tuple[Candidates, ...]:
        """The judged documents of the depth pool of each topic."""
        found = gathered(self.runs, self.depth, self.judgments.topics)
        return tuple(
            Candidates.of(
                topic,
                [
                    Pooled(d, places)
                    for d, places in found[topic].items()
                    if grades.get(d, POOLED) != POOLED
                ],
                len(self.runs),
            )
            for topic, grades in zip(self.judgments.topics, self.judgments.grades, strict=True)
        )

    @property
    def num_relevant(self) -> int:
        """How many candidates are relevant."""
        return sum(int(np.count_nonzero(of_topic)) for of_topic in self._relevant)

    @cached_property
    def full_boards(self) -> FloatArray:
        """float64[measures, runs]: the boards once all candidates are judged."""
        return self.score([np.arange(len(each.docnos)) for each in self.candidates])

    def score(self, judged: Sequence[IntArray]) -> FloatArray:
        """float64[measures, runs]: the boards by some candidates of each topic, by number."""
        is_judged = np.zeros(sum(len(grades) for grades in self.judgments.grades), bool)
        for numbers, chosen in zip(self._document_numbers, judged, strict=True):
            is_judged[numbers[chosen]] = True
        judgments = self._only(is_judged)
        records = [self._record(run, is_judged, judgments) for run in self._numbered_runs]
        return np.array(
            [[measure.aggregate(measure.scores(record)) for record in records]
             for measure in self.measures]
        )  # fmt: skip

    @cached_property
    def _numbered_runs(self) -> list[JudgedRun]:
        """The runs, whose grades are the numbers of their documents over all topics.

        They are matched with the judgments only once, although they are scored many times.
        """
        qrels = replace(self.judgments.qrels, grades=self._numbers)
        numbered = prepare(qrels, self.judgments.topics)
        return [judge(run, numbered, self.cutoff, self.convention) for run in self.runs]

    @cached_property
    def _numbers(self) -> dict[bytes, dict[bytes, int]]:
        """The number of each judged document of each topic, counted over all topics."""
        numbers: dict[bytes, dict[bytes, int]] = {}
        first = 0
        for topic, grades in zip(self.judgments.topics, self.judgments.grades, strict=True):
            numbers[topic] = {docno: first + place for place, docno in enumerate(grades)}
            first += len(grades)
        return numbers

    @cached_property
    def _document_numbers(self) -> list[IntArray]:
        """For each topic the number of each candidate."""
        return [
            np.array([self._numbers[each.topic][docno] for docno in each.docnos], np.int64)
            for each in self.candidates
        ]

    @cached_property
    def _relevant(self) -> list[BoolArray]:
        """For each topic whether each candidate is relevant."""
        return [self.judgments.documents.grade[n] >= self.rel for n in self._document_numbers]

    def _only(self, is_judged: BoolArray) -> Judgments:
        """Return the judgments of some documents, on the same scale and for the same topics."""
        kept = {
            topic: {d: grades[d] for d, number in self._numbers[topic].items() if is_judged[number]}
            for topic, grades in zip(self.judgments.topics, self.judgments.grades, strict=True)
        }
        qrels = replace(self.judgments.qrels, grades=kept)
        return prepare(qrels, self.judgments.topics, self.judgments.top_grade)

    def _record(self, run: JudgedRun, is_judged: BoolArray, judgments: Judgments) -> JudgedRun:
        keep = is_judged[run.grade]
        record = replace(
            run,
            topic=run.topic[keep],
            rank=run.rank[keep],
            grade=self.judgments.documents.grade[run.grade[keep]],
            judgments=judgments,
        )
        return record.condensed() if self.is_condensed else record

    def _judge_all(
        self, name: str, seed: int, teams: tuple[str, ...], guards: Guards | None
    ) -> list[IntArray]:
        """Return the numbers of the candidates of each topic in the order of judging."""
        return [
            _judge(start_order(name, each, seed), is_relevant)
            if guards is None
            else _judge_guarded(OrderSettings(name, seed, teams, guards), each, is_relevant)
            for each, is_relevant in zip(self.candidates, self._relevant, strict=True)
        ]

    def _outcome(self, name: str, ending: Ending, orders: Sequence[IntArray]) -> SimulatedOrder:
        """Cut the order of each topic where judging ends."""
        hits = [is_relevant[o] for is_relevant, o in zip(self._relevant, orders, strict=True)]
        ends = [ending.count_judged(of_topic) for of_topic in hits]
        relevant = sum(map(np.count_nonzero, hits))
        found = sum(np.count_nonzero(h[:end]) for h, end in zip(hits, ends, strict=True))
        boards = self.score([order[:end] for order, end in zip(orders, ends, strict=True)])
        return SimulatedOrder(
            order=name,
            ending=ending,
            judged=sum(ends) / max(1, sum(map(len, hits))),
            found=found / relevant if relevant else np.nan,
            boards=tuple(
                BoardLikeness(
                    kendall_tau_b(board, full),
                    tau_ap(measure.direction * board, measure.direction * full),
                )
                for measure, board, full in zip(
                    self.measures, boards, self.full_boards, strict=True
                )
            ),
        )


def _judge(order: Order, is_relevant: BoolArray) -> IntArray:
    """Judge all documents of a topic, one at a time."""
    judged = []
    while (draw := order.next_draw()) is not None:
        order.hand_out(draw)
        order.take_grade(draw.document, bool(is_relevant[draw.document]))
        judged.append(draw.document)
    return np.array(judged, np.int64)


def _judge_guarded(
    settings: OrderSettings, candidates: Candidates, is_relevant: BoolArray
) -> IntArray:
    order = settings.start(candidates)
    number = {docno: place for place, docno in enumerate(candidates.docnos)}
    judged = []
    while batch := order.draw_batch(1):
        document = number[batch[0].docno]
        order.take_mark(batch[0].docno, bool(is_relevant[document]))
        judged.append(document)
    return np.array(judged, np.int64)


def _mean(outcomes: Sequence[SimulatedOrder]) -> SimulatedOrder:
    """The means of what several seeds of one order gave."""
    return replace(
        outcomes[0],
        judged=float(np.mean([each.judged for each in outcomes])),
        found=float(np.mean([each.found for each in outcomes])),
        boards=tuple(
            BoardLikeness(
                _mean_or_none([each.tau for each in of_measure]),
                _mean_or_none([each.tau_ap for each in of_measure]),
            )
            for of_measure in zip(*(each.boards for each in outcomes), strict=True)
        ),
    )


def _mean_or_none(values: Sequence[float | None]) -> float | None:
    """The mean, None where a value is undefined."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if len(defined) == len(values) else None
