"""Systems of a benchmark on dates in their order: how each changes, and who loses most.

Everything is made of a board, so of the tracks whose scores its viewer sees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from evaluation.answers.any_measure import parse_measure
from evaluation.significance import (
    Change,
    Interval,
    Loss,
    describe_change,
    interval_of_score,
    scale_of,
)
from evaluation.significance.differences import EQUAL
from leaderboard.analysis.benchmark_differences import unit_of
from leaderboard.boards.benchmark_boards import (
    EVERY_PHASE,
    BenchmarkBoard,
    BenchmarkChoice,
    BenchmarkColumn,
    SystemRow,
    find_benchmark_board,
)
from leaderboard.boards.disclosure import BenchmarkSight
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import Cell, CsvTable
from leaderboard.scoring.contest_tests import ContestTests, load_tests
from leaderboard.scoring.contests import Contest, Part, explain_missing_mean
from leaderboard.scoring.scores import score_matrix
from leaderboard.scoring.verdicts import LEVEL


@dataclass(frozen=True)
class DatedScore:
    """What a system has on one date, and how it changed since the first."""

    column: BenchmarkColumn
    value: float | None
    interval: Interval | None = None
    change: Change | None = None
    loss: Loss | None = None
    # Of the loss: "worse" if the system loses significantly more than the pivot.
    verdict: str = ""

    @property
    def described(self) -> dict[str, Any]:
        """The same as JSON; missing values are null."""
        change, loss, interval = self.change, self.loss, self.interval
        return {
            "track": self.column.slug,
            "score": self.value,
            "low": interval.low if interval is not None else None,
            "high": interval.high if interval is not None else None,
            **{each.name: getattr(change, each.name, None) for each in fields(Change)},
            "loss": loss.difference if loss is not None else None,
            "loss_low": loss.low if loss is not None else None,
            "loss_high": loss.high if loss is not None else None,
            "p": loss.p if loss is not None else None,
            "verdict": self.verdict or None,
        }


@dataclass(frozen=True)
class SystemLine:
    """A system with its score on every date, in order."""

    row: SystemRow
    scores: list[DatedScore] = field(repr=False)

    @property
    def mean(self) -> float | None:
        """The mean over all dates."""
        values = [score.value for score in self.scores if score.value is not None]
        return sum(values) / len(values) if len(values) == len(self.scores) else None

    @property
    def kind(self) -> Kind:
        if self.row.is_baseline:
            return "baseline"
        return "own" if self.row.is_own else "other"


@dataclass(frozen=True)
class BoardAsOf:
    """The board as of a date: on how many collections, of how many systems, and who leads it."""

    date: str
    collections: int
    systems: int
    leaders: list[SystemRow]

    @property
    def described(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "date": self.date,
            "tracks": self.collections,
            "systems": self.systems,
            "first": [row.version.pk for row in self.leaders],
        }


@dataclass(frozen=True)
class Series:
    """The dates of a benchmark in order; the baseline of its board is the pivot."""

    board: BenchmarkBoard
    # The slug of the later date that a reader compares with the first.
    to: str = ""

    @cached_property
    def places(self) -> list[int]:
        """The columns with a date, in its order."""
        columns = self.board.columns
        dated = [place for place, column in enumerate(columns) if column.sight.track.dated]
        return sorted(dated, key=lambda place: columns[place].sight.track.date_key)

    @property
    def columns(self) -> list[BenchmarkColumn]:
        return [self.board.columns[place] for place in self.places]

    @property
    def has_one_measure(self) -> bool:
        return len({parse_measure(column.measure) for column in self.columns}) == 1

    @property
    def unit(self) -> str:
        return unit_of(self.columns[0])

    @property
    def says_something(self) -> bool:
        """Whether there are two dates by one measure, and a system."""
        return len(self.places) > 1 and self.has_one_measure and bool(self.lines)

    @property
    def pivot(self) -> SystemRow | None:
        return self.board.baseline

    @property
    def later(self) -> BenchmarkColumn:
        """The later date asked for, or else the last."""
        asked = (column for column in self.columns[1:] if column.slug == self.to)
        return next(asked, self.columns[-1])

    @cached_property
    def contest(self) -> Contest | None:
        """The systems on all dates, held against the pivot; None where nothing is tested."""
        rows, columns = self.board.rows, self.columns
        if len(columns) < 2 or not self.has_one_measure or self.pivot is None or len(rows) < 2:
            return None
        shows_scores = all(column.sight.can_see_scores for column in columns)
        if not shows_scores or explain_missing_mean(column.measure for column in columns):
            return None
        ordered = sorted(rows, key=lambda row: row.version.pk)
        return Contest(
            tuple(Part(column.edition, column.measure) for column in columns),
            tuple(tuple(row.runs[column.track_id] for column in columns) for row in ordered),
            self._name(self.pivot),
            benchmark=self.board.sight.benchmark,
            in_order=True,
        )

    def _name(self, row: SystemRow) -> str:
        return row.runs[self.columns[0].track_id]

    @cached_property
    def tests(self) -> ContestTests | None:
        return None if self.contest is None else load_tests(self.contest)

    @property
    def is_untested(self) -> bool:
        """Whether a job has yet to test the losses."""
        return self.contest is not None and self.tests is None

    @cached_property
    def lines(self) -> list[SystemLine]:
        """The systems that the reader's filters leave, complete ones first."""
        shown = [*self.board.shown, *self.board.shown_incomplete]
        intervals = [self._find_intervals(place, shown) for place in self.places]
        return [
            SystemLine(row, [self._score(number, row, intervals[number]) for number in self._order])
            for row in shown
        ]

    @property
    def _order(self) -> range:
        return range(len(self.places))

    def _find_intervals(self, place: int, rows: Iterable[SystemRow]) -> dict[str, Interval | None]:
        """Return the interval of each score on a date, if its scores by topic are shown."""
        column = self.board.columns[place]
        if not column.sight.can_see_scores:
            return {}
        valued = {
            row.key: row.runs[column.track_id] for row in rows if row.values[place] is not None
        }
        scores = score_matrix(column.edition, column.measure, list(valued.values()))
        measure = parse_measure(column.measure)
        return {
            key: interval_of_score(own, measure) for key, own in zip(valued, scores, strict=True)
        }

    def _score(
        self, number: int, row: SystemRow, intervals: dict[str, Interval | None]
    ) -> DatedScore:
        place, first = self.places[number], self.places[0]
        column, value = self.board.columns[place], row.values[place]
        found = DatedScore(column, value, intervals.get(row.key))
        before = row.values[first]
        if number == 0 or value is None or before is None:
            return found
        pivot = self.pivot.values if self.pivot is not None and not row.is_baseline else None
        change = describe_change(
            *(before, value),
            *((pivot[first], pivot[place]) if pivot is not None else ()),
        )
        loss = self._find_loss(number, row)
        return replace(found, change=change, loss=loss, verdict=_verdict(column, loss))

    def _find_loss(self, number: int, row: SystemRow) -> Loss | None:
        if self.tests is None or not row.is_complete or not self.tests.losses:
            return None
        return self.tests.losses[number - 1].get(self._name(row))

    @property
    def now(self) -> list[tuple[SystemLine, DatedScore]]:
        """Each system with its change to the later date asked for."""
        number = self.columns.index(self.later)
        return [(line, line.scores[number]) for line in self.lines]

    @property
    def boards(self) -> list[BoardAsOf]:
        """The board as of each date; nobody leads over phases, which have no mean together."""
        return [self._board_as_of(date) for date in dict.fromkeys(self._dates)]

    @property
    def _dates(self) -> list[str]:
        return [column.sight.track.dated for column in self.columns]

    def _board_as_of(self, date: str) -> BoardAsOf:
        columns = self.board.columns
        places = [place for place in self.places if columns[place].sight.track.is_by(date)]
        every = [*self.board.rows, *self.board.incomplete]
        means: dict[int, float] = {}
        for number, row in enumerate(every):
            values = [value for place in places if (value := row.values[place]) is not None]
            if len(values) == len(places):
                means[number] = columns[places[0]].direction * sum(values) / len(values)
        best = max(means.values(), default=0.0)
        has_mean = not explain_missing_mean(columns[place].measure for place in places)
        is_ranked = has_mean and len({columns[place].sight.track.phase for place in places}) == 1
        leaders = [every[number] for number, mean in means.items() if best - mean <= EQUAL]
        return BoardAsOf(date, len(places), len(means), leaders if is_ranked else [])

    @property
    def table(self) -> CsvTable:
        """A line for every system and date."""
        head = "system version team track date measure score low high"
        head += " result_delta relative_change average relative_improvement_delta effect_ratio"
        head += " loss loss_low loss_high p"
        lines = (_line(line, score) for line in self.lines for score in line.scores)
        return CsvTable(head.split(), list(lines) if self.says_something else [])


def _verdict(column: BenchmarkColumn, loss: Loss | None) -> str:
    """Return better or worse if a system gains or loses significantly beside the pivot."""
    if loss is None or loss.p is None or loss.low is None or loss.p > LEVEL + EQUAL:
        return ""
    neutral = scale_of(parse_measure(column.measure)).neutral
    return "better" if column.direction * (loss.difference - neutral) > 0 else "worse"


def _line(line: SystemLine, score: DatedScore) -> list[Cell]:
    row, column = line.row, score.column
    described = score.described
    named: list[Cell] = [row.name, row.version.label, row.team]
    placed: list[Cell] = [column.slug, column.sight.track.dated, column.measure]
    del described["track"], described["verdict"]
    return [*named, *placed, *described.values()]


def describe_series(found: Series) -> dict[str, Any]:
    """Return the whole series as JSON."""
    pivot = found.pivot
    return {
        "benchmark": found.board.sight.benchmark.slug,
        "dates": [
            {
                "track": column.slug,
                "date": column.sight.track.dated,
                "measure": column.measure,
                "topics": column.edition.num_evaluated,
            }
            for column in found.columns
        ],
        "boards": [each.described for each in found.boards],
        "pivot": pivot.version.pk if pivot is not None else None,
        "tests_ready": found.tests is not None,
        "systems": [
            {
                "system": line.row.version.system_id,
                "name": line.row.name,
                "version": line.row.version.pk,
                "label": line.row.version.label,
                "team": line.row.team,
                "mean": line.mean,
                "scores": [score.described for score in line.scores],
            }
            for line in (found.lines if found.says_something else [])
        ],
    }


def find_series(sight: BenchmarkSight, choice: BenchmarkChoice, to: str = "") -> Series:
    """Return the dates of a benchmark, of all phases unless the reader names one."""
    dated = [seen.track.slug for seen in sight.sights if seen.track.dated]
    phase = EVERY_PHASE if choice.phase is None else choice.phase
    tracks = choice.tracks or tuple(dated)
    choice = replace(choice, phase=phase, tracks=tracks)
    return Series(find_benchmark_board(sight, choice, tested=False), to)
