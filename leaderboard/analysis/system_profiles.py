"""One system of a benchmark among the others: its place on every track, and its versions over time.

Everything is made of a board, so of the tracks whose scores its viewer sees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from leaderboard.analysis.benchmark_differences import subtract, unit_of
from leaderboard.boards.benchmark_boards import (
    EVERY_PHASE,
    EVERY_VERSION,
    BenchmarkBoard,
    BenchmarkChoice,
    BenchmarkColumn,
    SystemRow,
    find_benchmark_board,
    keep_newest,
)
from leaderboard.boards.disclosure import BenchmarkSight
from leaderboard.boards.rows import assign_ranks
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import CsvTable
from leaderboard.models import System
from leaderboard.scoring.contests import explain_missing_mean


@dataclass(frozen=True)
class TrackPlace:
    """Where a system stands on a track; `others` are the rows of all systems with a score there."""

    column: BenchmarkColumn
    place: int
    value: float
    rank: int
    run: str
    others: list[SystemRow]

    @property
    def values(self) -> list[float]:
        """The scores of all systems, in the order of `others`."""
        return [value for row in self.others if (value := row.values[self.place]) is not None]


@dataclass(frozen=True, slots=True)
class VersionScore:
    """The score of a version on a track, and how far it is from the version before."""

    value: float | None
    change: float | None
    unit: str
    side: str
    decimals: int


@dataclass(frozen=True)
class VersionStep:
    """A version of the system with its scores, and the best mean until then."""

    row: SystemRow
    scores: list[VersionScore]
    best: float | None

    @property
    def label(self) -> str:
        return str(self.row.version.label)

    @property
    def at(self) -> datetime:
        made: datetime = self.row.version.created_at
        return made

    @property
    def mean(self) -> float | None:
        return self.row.mean

    @property
    def kind(self) -> Kind:
        return "own" if self.row.is_own else "other"


@dataclass(frozen=True)
class SystemProfile:
    """A system on the tracks of all phases; `board` has all versions of all systems."""

    board: BenchmarkBoard
    system_id: int

    @cached_property
    def _rows(self) -> list[SystemRow]:
        return self.board.rows + self.board.incomplete

    @cached_property
    def newest(self) -> list[SystemRow]:
        """The version of every system that the board of the benchmark takes."""
        return keep_newest(self._rows, BenchmarkChoice())

    @cached_property
    def row(self) -> SystemRow | None:
        """The version of this system among them; None without a score that the viewer sees."""
        own = (row for row in self.newest if row.version.system_id == self.system_id)
        return next(own, None)

    @property
    def shares_axis(self) -> bool:
        return not explain_missing_mean(column.measure for column in self.board.columns)

    @cached_property
    def places(self) -> list[TrackPlace]:
        """The tracks that the system answers, in the order of the benchmark."""
        if self.row is None:
            return []
        found = (self._place(self.row, place) for place in range(len(self.board.columns)))
        return [place for place in found if place is not None]

    def _place(self, row: SystemRow, place: int) -> TrackPlace | None:
        value, column = row.values[place], self.board.columns[place]
        if value is None:
            return None
        others = [other for other in self.newest if other.values[place] is not None]
        others.sort(key=lambda other: -column.direction * (other.values[place] or 0.0))
        ranks = assign_ranks([other.values[place] for other in others])
        rank = ranks[others.index(row)]
        return TrackPlace(column, place, value, rank or 1, row.runs[column.track_id], others)

    @cached_property
    def steps(self) -> list[VersionStep]:
        """The versions with a score, the first one first; a change is that on its track."""
        own = [row for row in self._rows if row.version.system_id == self.system_id]
        own.sort(key=lambda row: (row.version.created_at, row.version.pk))
        steps: list[VersionStep] = []
        best: float | None = None
        before: list[float | None] = [None] * len(self.board.columns)
        direction = self.board.columns[0].direction if self.board.columns else 1
        for row in own:
            if row.mean is not None and (best is None or direction * (row.mean - best) > 0):
                best = row.mean
            scores = [
                _compare(column, value, last)
                for column, value, last in zip(self.board.columns, row.values, before, strict=True)
            ]
            steps.append(VersionStep(row, scores, best))
            before = [
                last if value is None else value
                for value, last in zip(row.values, before, strict=True)
            ]
        return steps

    @property
    def averaged(self) -> list[VersionStep]:
        """The versions with a mean over all tracks."""
        return [step for step in self.steps if step.mean is not None]

    @property
    def table(self) -> CsvTable:
        """A line for every version and track."""
        head = "system version made_at track measure score change rank systems"
        return CsvTable(head.split(), [line for step in self.steps for line in self._lines(step)])

    def _lines(self, step: VersionStep) -> Iterable[list[str | float | None]]:
        row = step.row
        places = {place.place: place for place in self.places} if row is self.row else {}
        named = [row.name, row.version.label, step.at.isoformat()]
        for number, (column, score) in enumerate(zip(self.board.columns, step.scores, strict=True)):
            place = places.get(number)
            among = (place.rank, len(place.others)) if place is not None else (None, None)
            yield [*named, column.slug, column.measure, score.value, score.change, *among]


def _compare(column: BenchmarkColumn, value: float | None, before: float | None) -> VersionScore:
    change, side = subtract(column, value, before), ""
    if value is not None and before is not None and value != before:
        side = "rise" if (value - before) * column.direction > 0 else "fall"
    return VersionScore(value, change, unit_of(column), side, column.decimals)


def build_profile(sight: BenchmarkSight, system: System) -> SystemProfile:
    """Build the profile of a system on the tracks whose scores the viewer sees."""
    choice = BenchmarkChoice(phase=EVERY_PHASE, versions=EVERY_VERSION)
    return SystemProfile(find_benchmark_board(sight, choice, tested=False), system.pk)
