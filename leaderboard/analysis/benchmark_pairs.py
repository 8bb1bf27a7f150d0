"""Two systems of a benchmark side by side: where one is ahead, how sure, and what makes its lead.

Everything is made of a board, so of the tracks whose scores its viewer sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evaluation.significance import Difference, Lead, compare_over_collections
from evaluation.significance.differences import EQUAL
from leaderboard.analysis.benchmark_differences import subtract, unit_of
from leaderboard.boards.benchmark_boards import (
    BenchmarkBoard,
    BenchmarkColumn,
    SystemRow,
)
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.scoring.contests import (
    Contest,
    Part,
    decide_all_pairs,
    decide_between,
    explain_missing_mean,
    lead_of_each,
)
from leaderboard.scoring.verdicts import LEVEL


@dataclass(frozen=True)
class PairOnTrack:
    """Two systems on one track.

    `own` is the difference of b from a there with its interval, and p adjusted over the tracks by
    Holm; None where the track has no test. `without` is the difference of the means without this
    track.
    """

    column: BenchmarkColumn
    a: float | None
    b: float | None
    run_a: str
    run_b: str
    own: Difference | None = None
    without: float | None = None

    @property
    def difference(self) -> float | None:
        """The difference of b from a, in the unit of the measure."""
        return subtract(self.column, self.b, self.a) if self.own is None else self.own.difference

    @property
    def unit(self) -> str:
        return unit_of(self.column)

    @property
    def p(self) -> float | None:
        return None if self.own is None else self.own.p_adjusted

    @property
    def side(self) -> str:
        """`better` where b is, `worse` where a is, "" where both are equal or one has no score."""
        if self.a is None or self.b is None or abs(self.b - self.a) <= EQUAL:
            return ""
        return "better" if self.column.direction * (self.b - self.a) > 0 else "worse"

    @property
    def ahead(self) -> str:
        """Who is ahead: a, b, or "" for neither."""
        return {"better": "b", "worse": "a", "": ""}[self.side]

    @property
    def verdict(self) -> str:
        """What the track's own test says of b: better, worse, not significant, or "" untested."""
        if self.p is None:
            return ""
        is_significant = self.p <= LEVEL + EQUAL
        return (is_significant and self.side) or "not significant"


@dataclass(frozen=True)
class Together:
    """The means of two systems over their tracks: the difference of b from a, and its test.

    `num_family` is the number of systems whose pairs p is adjusted for; None where it is adjusted
    for the comparisons with the baseline.
    """

    difference: float
    low: float | None
    high: float | None
    p: float | None
    num_family: int | None
    unit: str


@dataclass(frozen=True)
class SystemPair:
    """Two systems over the tracks of a board that both answer."""

    board: BenchmarkBoard
    a: SystemRow
    b: SystemRow

    @property
    def choosable(self) -> list[SystemRow]:
        return self.board.rows + self.board.incomplete

    @cached_property
    def shared(self) -> list[int]:
        """The places of the columns on which both have a score."""
        values = zip(self.a.values, self.b.values, strict=True)
        return [place for place, both in enumerate(values) if None not in both]

    @cached_property
    def columns(self) -> list[BenchmarkColumn]:
        return [self.board.columns[place] for place in self.shared]

    @property
    def is_whole(self) -> bool:
        """Whether both answer every column of the board."""
        return len(self.shared) == len(self.board.columns)

    @property
    def shares_axis(self) -> bool:
        """Whether the scores on the shared tracks have one range and direction."""
        return bool(self.columns) and not explain_missing_mean(
            column.measure for column in self.columns
        )

    @property
    def has_mean(self) -> bool:
        """Whether a mean over the shared tracks says something."""
        return self.shares_axis and self.board.no_mean != "phases"

    @property
    def mean_a(self) -> float | None:
        return self._mean(self.a)

    @property
    def mean_b(self) -> float | None:
        return self._mean(self.b)

    def _mean(self, row: SystemRow) -> float | None:
        if not self.has_mean:
            return None
        return float(np.mean([row.values[place] for place in self.shared]))

    @cached_property
    def lines(self) -> list[PairOnTrack]:
        """A line for every column of the board, in its order."""
        tested = dict(zip(self.shared, self._tested_lines(), strict=True)) if self.shared else {}
        return [tested.get(place) or self._line(place) for place in range(len(self.board.columns))]

    def _line(self, place: int) -> PairOnTrack:
        column, a, b = self.board.columns[place], self.a.values[place], self.b.values[place]
        run_a, run_b = (row.runs.get(column.track_id, "") for row in (self.a, self.b))
        return PairOnTrack(column, a, b, run_a, run_b)

    def _tested_lines(self) -> list[PairOnTrack]:
        plain = [self._line(place) for place in self.shared]
        if self._duel is None or self._leads is None:
            return plain
        lead = self._leads[0]
        without: Sequence[float | None] = lead.without or [None] * len(plain)
        tested = zip(plain, self._alone(self._duel), lead.p_alone, without, strict=True)
        return [
            replace(line, own=replace(own, p_adjusted=p), without=rest)
            for line, own, p, rest in tested
        ]

    def _alone(self, duel: Contest) -> list[Difference]:
        """Return the difference of b from a on each shared track, with its interval there."""
        return [
            compare_over_collections([each], direction=duel.direction, scale=duel.scale)[1]
            for each in duel.collected
        ]

    @cached_property
    def _duel(self) -> Contest | None:
        """The contest of a and b on the shared tracks; None where there is no test of them."""
        shows = all(column.sight.can_see_scores for column in self.columns)
        if not self.has_mean or not shows or self.a is self.b:
            return None
        runs = tuple(
            tuple(row.runs[column.track_id] for column in self.columns) for row in (self.a, self.b)
        )
        parts = tuple(Part(column.edition, column.measure) for column in self.columns)
        duel = Contest(parts, runs, baseline=runs[0][0])
        return duel if duel.has_topics else None

    @cached_property
    def _leads(self) -> list[Lead] | None:
        """The lead of b over a, and that of a over b."""
        duel = self._duel
        if duel is None:
            return None
        p = self.together.p if self.together is not None else None
        a, b = duel.names
        return lead_of_each(duel, [(b, a), (a, b)], [p, p])

    @cached_property
    def together(self) -> Together | None:
        """The test of the two means; None where there is none."""
        if self._duel is None:
            return None
        return self._against_baseline() or self._among_all(self._duel)

    def _against_baseline(self) -> Together | None:
        """Return the board's own comparison if one of the two is its baseline."""
        if self.board.compares_all or not self.is_whole:
            return None
        found = self.b.against if self.a.is_baseline else None
        if self.b.is_baseline and self.a.against is not None:
            found = self.a.against.reversed()
        if found is None or found.difference is None:
            return None
        return Together(found.difference, found.low, found.high, found.p_adjusted, None, found.unit)

    def _among_all(self, duel: Contest) -> Together:
        """Return the pair with p adjusted for all pairs of the board, or else alone."""
        contest, tests = self.board.contest, self.board.tests
        if contest and tests and tests.pairs and self.a.is_complete and self.b.is_complete:
            family = len(contest.rows)
            decided = decide_between(contest, tests.pairs, duel.names).decisions
        else:
            family, decided = 2, decide_all_pairs(duel)
        found, p = decided.interval(1, 0), None
        ends = [decided.difference(1, 0)]
        if found is not None:
            ends += [found.low, found.high]
            p = decided.p_of(1, 0)
        difference, *rest = duel.scale.printed(np.array(ends)).tolist()
        low, high = rest or (None, None)
        return Together(difference, low, high, p, family, duel.scale.unit)

    @property
    def leader(self) -> SystemRow | None:
        """The system with the better mean; None where the means are equal or there is none."""
        if self.lead is None:
            return None
        return self.b if self._leads and self.lead is self._leads[0] else self.a

    @property
    def other(self) -> SystemRow:
        return self.a if self.leader is self.b else self.b

    @cached_property
    def lead(self) -> Lead | None:
        """The lead of the system with the better mean over the other."""
        if self._duel is None or self._leads is None:
            return None
        neutral = self._duel.scale.neutral
        gap = (self._leads[0].difference - neutral) * self._duel.direction
        if abs(gap) <= EQUAL:
            return None
        return self._leads[0] if gap > 0 else self._leads[1]

    @property
    def counts(self) -> tuple[int, int, int]:
        """On how many tracks b is ahead, a is ahead, and both are equal."""
        sides = [line.side for line in self.lines if line.difference is not None]
        return sides.count("better"), sides.count("worse"), sides.count("")

    @property
    def table(self) -> CsvTable:
        columns = [
            ("track", "column.slug"),
            ("measure", "column.measure"),
            ("a", "a"),
            ("b", "b"),
            ("difference", "difference"),
            ("low", "own.low"),
            ("high", "own.high"),
            ("changed", "own.changed"),
            ("topics", "own.topics"),
            ("p", "p"),
            ("ahead", "ahead"),
            ("mean_without", "without"),
        ]
        return tabulate(self.lines, columns)


def find_pair(board: BenchmarkBoard, a: str, b: str) -> SystemPair | None:
    """Return the two systems asked for by the ids of their versions; None below two systems.

    Without an id b is the best system and a is the baseline, or else the next best one.
    """
    rows = board.rows + board.incomplete
    if len(rows) < 2:
        return None
    by_id = {str(row.version.pk): row for row in rows}
    chosen_b, chosen_a = by_id.get(b), by_id.get(a)
    if chosen_b is None:
        chosen_b = next(row for row in rows if row is not chosen_a)
    if chosen_a is None:
        baseline = board.baseline if board.baseline is not chosen_b else None
        chosen_a = baseline or next(row for row in rows if row is not chosen_b)
    return SystemPair(board, chosen_a, chosen_b)
