"""Where the systems of a benchmark differ: on which tracks, and where their order turns.

Everything is made of a board, so of the tracks whose scores its viewer sees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from evaluation.agreement.orders import kendall_tau_b
from evaluation.answers.any_measure import parse_measure
from evaluation.significance import scale_of
from evaluation.significance.differences import EQUAL
from leaderboard.boards.benchmark_boards import (
    BenchmarkBoard,
    BenchmarkColumn,
    SystemRow,
    mean_of_known,
)
from leaderboard.display.csv_tables import CsvTable
from leaderboard.scoring.contests import explain_missing_mean
from leaderboard.scoring.verdicts import LEVEL

# The baseline of a reader who wants differences from the mean of all systems.
MEAN_SYSTEM = "mean"
# Among how many of the first systems turned pairs are listed, and what else can be asked for.
FIRST, FIRST_OPTIONS = 10, (5, 10, 20, 50)
# A gap as large as this share of all gaps has the full colour; the rest would pale beside outliers.
FULL_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class Gap:
    """What a system has on one track, and how far that is from the reference there.

    `strength` is the share of the full colour, from -1 (worse) to 1 (better). `p` is that of the
    track's own test, by Holm over the tracks; `verdict` is better, worse or "".
    """

    value: float | None
    difference: float | None = None
    strength: float = 0.0
    p: float | None = None
    verdict: str = ""


@dataclass(frozen=True)
class DifferenceRow:
    """A system with its gap on every column, and the one of its mean if the board has means."""

    row: SystemRow
    overall: Gap | None
    gaps: list[Gap] = field(repr=False)


@dataclass(frozen=True, slots=True)
class TurnedPair:
    """Two systems whose order on a track is not the benchmark's: `ahead` leads on the track."""

    ahead: SystemRow
    behind: SystemRow
    difference: float
    unit: str


@dataclass(frozen=True)
class TrackOrder:
    """How the order of systems on a track agrees with that of the benchmark.

    `tau` is Kendall's tau_b over all complete systems, None where one order has ties only;
    `pairs` are the turned ones among the first systems, the largest difference first.
    """

    column: BenchmarkColumn
    tau: float | None
    pairs: list[TurnedPair]


@dataclass(frozen=True)
class BenchmarkDifferences:
    """The systems of a board, held against its baseline or the mean of its systems."""

    board: BenchmarkBoard
    against_mean: bool
    first: int = FIRST

    @property
    def baseline(self) -> SystemRow | None:
        """The system that the others are held against; None for the mean of systems."""
        return None if self.against_mean else self.board.baseline

    @cached_property
    def averaged(self) -> list[SystemRow]:
        """The systems whose mean is the reference without a baseline."""
        return self.board.rows or self.board.incomplete

    @cached_property
    def reference(self) -> list[float | None]:
        """The value on every column that differences are taken from."""
        if self.baseline is not None:
            return self.baseline.values
        return [
            mean_of_known(row.values[place] for row in self.averaged)
            for place in range(len(self.board.columns))
        ]

    @property
    def reference_mean(self) -> float | None:
        """The mean of the reference over all columns; None where the board has no mean."""
        if self.board.no_mean or None in self.reference:
            return None
        return mean_of_known(self.reference)

    @property
    def has_means(self) -> bool:
        return self.reference_mean is not None and len(self.board.columns) > 1

    @cached_property
    def has_marks(self) -> bool:
        """Whether the benchmark's comparison says which gaps are significant."""
        tests = self.board.tests
        return self.baseline is not None and tests is not None and bool(tests.alone)

    @cached_property
    def rows(self) -> list[DifferenceRow]:
        """The systems that the reader's filters leave; the incomplete ones last."""
        shown = [*self.board.shown, *self.board.shown_incomplete]
        return [self._row(row) for row in shown if row is not self.baseline]

    @cached_property
    def full(self) -> list[float]:
        """The gap of full colour on every column, as it is tested.

        Columns of one range share it, so that equal colours are equal differences.
        """
        systems = self.board.rows + self.board.incomplete
        found = [
            [
                abs(gap)
                for row in systems
                if (gap := _tested_gap(column, row.values[place], self.reference[place]))
            ]
            for place, column in enumerate(self.board.columns)
        ]
        if self.shares_colours:
            found = [[gap for column in found for gap in column]] * len(found)
        return [float(np.quantile(gaps, FULL_SHARE)) if gaps else 0.0 for gaps in found]

    @property
    def shares_colours(self) -> bool:
        return not explain_missing_mean(column.measure for column in self.board.columns)

    def _row(self, row: SystemRow) -> DifferenceRow:
        p = self._p_of(row)
        gaps = [
            self._gap(place, row.values[place], p[place])
            for place in range(len(self.board.columns))
        ]
        return DifferenceRow(row, self._overall(row) if self.has_means else None, gaps)

    def _p_of(self, row: SystemRow) -> Sequence[float | None]:
        tests = self.board.tests
        if not self.has_marks or tests is None or not row.is_complete:
            return [None] * len(self.board.columns)
        return tests.alone[self.board.name_in_contest(row)]

    def _gap(self, place: int, value: float | None, p: float | None) -> Gap:
        column, reference = self.board.columns[place], self.reference[place]
        tested = _tested_gap(column, value, reference)
        if tested is None:
            return Gap(value)
        full = self.full[place]
        share = max(-1.0, min(1.0, tested / full)) if full else 0.0
        strength = column.direction * share
        verdict = ""
        if p is not None and p <= LEVEL + EQUAL and strength:
            verdict = "better" if strength > 0 else "worse"
        return Gap(value, subtract(column, value, reference), strength, p, verdict)

    def _overall(self, row: SystemRow) -> Gap:
        """Return the gap of the mean, with what the tests of the benchmark say of it."""
        if row.mean is None or self.reference_mean is None:
            return Gap(row.mean)
        column = self.board.columns[0]
        against = row.against if self.baseline is not None else None
        difference = subtract(column, row.mean, self.reference_mean)
        if against is not None and against.difference is not None:
            difference = against.difference
        tested = _tested_gap(column, row.mean, self.reference_mean) or 0.0
        share = max(-1.0, min(1.0, tested / self.full[0])) if self.full[0] else 0.0
        p = against.p_adjusted if against is not None else None
        verdict = row.verdict if row.verdict in ("better", "worse") and against else ""
        return Gap(row.mean, difference, column.direction * share, p, verdict)

    @cached_property
    def orders(self) -> list[TrackOrder]:
        """The tracks, the one whose order differs most from that of the benchmark first."""
        if len(self.board.rows) < 2 or len(self.board.columns) < 2:
            return []
        found = [self._order(place) for place in range(len(self.board.columns))]
        return sorted(found, key=lambda order: (order.tau is None, order.tau))

    def _order(self, place: int) -> TrackOrder:
        column, rows = self.board.columns[place], self.board.rows
        sums = np.array([_place_value(self.board, row) for row in rows])
        own = np.array([row.values[place] for row in rows], dtype=np.float64) * column.direction
        tau = kendall_tau_b(own, sums)
        pairs = [
            _turned(column, rows[lower], rows[upper], place)
            for upper, lower in combinations(range(min(self.first, len(rows))), 2)
            if sums[upper] - sums[lower] > EQUAL and own[lower] - own[upper] > EQUAL
        ]
        pairs.sort(key=lambda pair: -abs(_logged(pair.difference, pair.unit)))
        return TrackOrder(column, tau, pairs)

    @property
    def table(self) -> CsvTable:
        """A line for every system and column."""
        head = "system version team track measure score reference difference p"
        return CsvTable(head.split(), [line for row in self.rows for line in self._lines(row)])

    def _lines(self, row: DifferenceRow) -> Iterable[list[str | float | None]]:
        system = row.row
        named = [system.name, system.version.label, system.team]
        for column, gap, reference in zip(
            self.board.columns, row.gaps, self.reference, strict=True
        ):
            yield [*named, column.slug, column.measure, gap.value, reference, gap.difference, gap.p]

    @property
    def turned_table(self) -> CsvTable:
        """A line for every turned pair."""
        head = "track measure tau ahead ahead_version behind behind_version difference"
        return CsvTable(
            head.split(),
            [
                [
                    order.column.slug,
                    order.column.measure,
                    order.tau,
                    *(pair.ahead.name, pair.ahead.version.label),
                    *(pair.behind.name, pair.behind.version.label),
                    pair.difference,
                ]
                for order in self.orders
                for pair in order.pairs
            ],
        )


def subtract(column: BenchmarkColumn, value: float | None, reference: float | None) -> float | None:
    """Return a value less another, in the unit of the column's measure."""
    if value is None or reference is None:
        return None
    if unit_of(column) == "ratio":
        return value / reference if reference else None
    return value - reference


def unit_of(column: BenchmarkColumn) -> str:
    return scale_of(parse_measure(column.measure)).unit


def _tested_gap(
    column: BenchmarkColumn, value: float | None, reference: float | None
) -> float | None:
    difference = subtract(column, value, reference)
    if difference is None or (unit_of(column) == "ratio" and difference <= 0):
        return None
    gap = _logged(difference, unit_of(column))
    return gap if abs(gap) > EQUAL else 0.0


def _logged(difference: float, unit: str) -> float:
    return math.log(difference) if unit == "ratio" and difference > 0 else difference


def _place_value(board: BenchmarkBoard, row: SystemRow) -> float:
    """Return what ranks a system in the benchmark: its mean, or its points without one."""
    if row.mean is None:
        return row.borda or 0.0
    return board.columns[0].direction * row.mean


def _turned(column: BenchmarkColumn, ahead: SystemRow, behind: SystemRow, place: int) -> TurnedPair:
    difference = subtract(column, ahead.values[place], behind.values[place])
    return TurnedPair(ahead, behind, difference or 0.0, unit_of(column))
