"""What the pages of a track draw and print in cells: made in Python, so that templates only print.

A board of hundreds of runs has thousands of cells; each is one short text here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
from django.urls import reverse
from django.utils.safestring import SafeString

from evaluation.measures import parse_measure
from leaderboard import charts
from leaderboard.breakdowns import Answer, Pair, TopicBreakdown, TopicSummary
from leaderboard.charts import Bar, Column, Mark, Point
from leaderboard.charts.drawing import Kind
from leaderboard.models import Run, Track
from leaderboard.standings import Board, Standing
from leaderboard.templatetags.numbers import exact, score, span

JUDGED_AT_10 = "Judged@10"
# So many measures beside the one that ranks have a column until the reader asks for others.
MEASURES_SHOWN = 4
# Beside the measures: rank, interval, run, team, axis, Judged@10, difference, p, W/L/T, date.
OTHER_COLUMNS = 10
DENSE = 40


@dataclass(frozen=True, slots=True)
class Value:
    """A measured number as a table prints it, with the page that says how it was computed."""

    text: str
    exact: str
    href: str
    is_best: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A standing as its row prints it."""

    standing: Standing
    classes: str
    interval: str
    score: Value
    axis: SafeString
    values: list[Value]
    judged: Value
    # The page that explains the difference from the baseline.
    compared: str
    badges: list[str]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a measure's column; `sorted` is the direction where the lines stand by it."""

    measure: str
    sorted: str


@dataclass(frozen=True)
class BoardTable:
    """The table of a board: the measures that have a column, and its lines."""

    ranks_by: Head
    measures: list[Head]
    optional: list[str]
    axis: SafeString
    lines: list[Line]

    @property
    def is_dense(self) -> bool:
        return len(self.lines) > DENSE

    @property
    def shown(self) -> list[str]:
        return [head.measure for head in self.measures]

    @property
    def num_columns(self) -> int:
        return OTHER_COLUMNS + 1 + len(self.measures)

    @property
    def all_columns(self) -> int:
        return OTHER_COLUMNS + 1 + len(self.optional)


def board_table(board: Board, asked: Sequence[str] = ()) -> BoardTable:
    """The lines that the reader's filters leave; `asked` are the measures to show."""
    others = board.others
    measures = [each for each in others if each in asked] or others[:MEASURES_SHOWN]
    return BoardTable(
        ranks_by=_head(board, board.measure),
        measures=[_head(board, measure) for measure in measures],
        optional=others,
        axis=charts.column_head(axis_of(board)),
        lines=_Liner(board, measures).lines(),
    )


def _head(board: Board, measure: str) -> Head:
    order = "descending" if parse_measure(measure).direction > 0 else "ascending"
    by = board.choice.sort if board.choice.sorted_otherwise else board.measure
    return Head(measure, order if measure == by else "")


def axis_of(board: Board) -> Column:
    """The axis of the measure that ranks, from the whole board, whatever is filtered."""
    means = [each.scores[board.measure] for each in board.ranked]
    baseline = board.standing_of(board.baseline) if board.baseline is not None else None
    return charts.board_column(
        np.array(means, dtype=float),
        _half(board),
        baseline.scores[board.measure] if baseline is not None else None,
    )


def _half(board: Board) -> float | None:
    return board.pairs.margin / 2 if board.pairs.margin is not None else None


class _Liner:
    """Makes the lines of one board; what they share is looked up once."""

    def __init__(self, board: Board, measures: list[str]) -> None:
        self.board = board
        self.measures = measures
        self.column = axis_of(board)
        self.best = board.best
        self.explained = reverse("computed", args=[board.sight.track.slug])
        self.compare = reverse("compare", args=[board.sight.track.slug])
        self.pooled = set(board.edition.judgment_set.pooled_runs.values_list("pk", flat=True))

    def lines(self) -> list[Line]:
        return [self._line(each) for each in self.board.shown]

    def _line(self, standing: Standing) -> Line:
        mean = standing.scores[self.board.measure]
        kind: Kind = "own" if standing.is_own else "other"
        kind = "baseline" if standing.is_baseline else kind
        return Line(
            standing=standing,
            classes=_classes(standing),
            interval=span(*standing.interval) if standing.interval is not None else "",
            score=self._value(standing, self.board.measure),
            axis=charts.mean_cell(self.column, mean, _half(self.board), kind),
            values=[self._value(standing, measure) for measure in self.measures],
            judged=self._explained(standing, JUDGED_AT_10, standing.judged_at_10),
            compared=self._compared(standing),
            badges=_badges(standing, self.pooled),
        )

    def _value(self, standing: Standing, measure: str) -> Value:
        value = standing.scores[measure]
        return self._explained(standing, measure, value, value == self.best[measure])

    def _explained(
        self, standing: Standing, measure: str, value: float | None, is_best: bool = False
    ) -> Value:
        query = urlencode({"run": standing.run.pk, "measure": measure})
        return Value(score(value, 3), exact(value), f"{self.explained}?{query}", is_best)

    def _compared(self, standing: Standing) -> str:
        if standing.against is None or self.board.baseline is None:
            return ""
        pair = {"a": self.board.baseline.pk, "b": standing.run.pk, "measure": self.board.measure}
        return f"{self.compare}?{urlencode(pair)}"


def _classes(standing: Standing) -> str:
    marks = {
        "own": standing.is_own,
        "baseline": standing.is_baseline,
        "break": standing.breaks_after,
    }
    return " ".join(name for name, holds in marks.items() if holds)


def _badges(standing: Standing, pooled: set[str]) -> list[str]:
    """What a run is, beside being the baseline or the reader's."""
    run = standing.run
    closes = run.track.closes_at
    marks = {
        str(run.kind): run.kind != Run.Kind.AUTOMATIC,
        "unpooled": bool(pooled) and run.pk not in pooled,
        "late": closes is not None and run.received_at > closes and not run.team.of_organisers,
    }
    return [name for name, holds in marks.items() if holds]


def address(name: str, track: Track, **query: str) -> str:
    """A page of a track with its parameters."""
    return f"{reverse(name, args=[track.slug])}?{urlencode(query)}"


def ranking_of(run: Run, number: str) -> str:
    return f"{reverse('ranking', args=[run.pk])}?{urlencode({'number': number})}"


def topic_strip(breakdown: TopicBreakdown) -> SafeString:
    """Every run on one line of values; a dot leads to its ranking."""
    marks = [
        Mark(each.score, str(each.run), _kind(each.is_own, each.is_baseline), href)
        for each in breakdown.answers
        if (href := ranking_of(each.run, breakdown.topic.number))
    ]
    return charts.strip(marks, f"{breakdown.measure} of every run on topic {breakdown.topic}")


def _kind(is_own: bool, is_baseline: bool) -> Kind:
    return "baseline" if is_baseline else "own" if is_own else "other"


@dataclass(frozen=True)
class AnswerLine:
    """A run on the topic in view, with its first ten documents as squares."""

    answer: Answer
    squares: SafeString
    ranking: str
    explained: str


def answer_lines(breakdown: TopicBreakdown, top_grade: int) -> list[AnswerLine]:
    return [
        AnswerLine(
            answer=each,
            squares=charts.grade_squares(each.top_grades, top_grade),
            ranking=ranking_of(each.run, breakdown.topic.number),
            explained=address(
                "computed", each.run.track, run=each.run.pk, measure=breakdown.measure
            ),
        )
        for each in breakdown.answers
    ]


@dataclass(frozen=True)
class GradeLine:
    """How many documents have a grade, as a bar."""

    grade: int
    says: str
    bar: SafeString


def grade_lines(grades: Mapping[int, int], top: int, threshold: int) -> list[GradeLine]:
    """Every grade from the top of the scale down, also those that nobody gave."""
    lowest = min([0, *grades])
    most = max(grades.values(), default=1)
    counts = {grade: grades.get(grade, 0) for grade in range(top, lowest - 1, -1)}
    return [
        GradeLine(grade, _says(grade, threshold), charts.grade_bar(number, most, grade, top))
        for grade, number in counts.items()
    ]


def _says(grade: int, threshold: int) -> str:
    if grade < 0:
        return "pooled, not judged"
    return "relevant" if grade >= threshold else "not relevant"


@dataclass(frozen=True)
class SummaryLine:
    """A topic of the list, with the span of its runs."""

    summary: TopicSummary
    cell: SafeString


@dataclass(frozen=True)
class SummaryTable:
    head: SafeString
    lines: list[SummaryLine]


def summary_table(summaries: Sequence[TopicSummary]) -> SummaryTable:
    """From worst to best in every topic, on an axis from 0 to 1 where values allow."""
    values = [end for each in summaries for end in (each.worst, each.best) if np.isfinite(end)]
    beyond = values and (min(values) < 0 or max(values) > 1)
    axis = charts.Axis.around(min(values), max(values)) if beyond else charts.UNIT
    column = Column(axis, "range")
    return SummaryTable(
        head=charts.column_head(column),
        lines=[
            SummaryLine(
                each, charts.range_cell(column, each.worst, each.median, each.best, each.own)
            )
            for each in summaries
        ],
    )


@dataclass(frozen=True)
class PairDrawing:
    """The charts of two runs beside each other; `b` is held to `a`."""

    pair: Pair
    order: str

    @property
    def title(self) -> str:
        return f"{self.pair.measure} of {self.pair.b} minus {self.pair.a}"

    @property
    def interval(self) -> SafeString | None:
        against = self.pair.against
        if against.difference is None or against.low is None or against.high is None:
            return None
        return charts.difference_interval(
            against.difference, against.low, against.high, f"{self.title}, 95 % interval"
        )

    @property
    def bars(self) -> SafeString:
        lines = self.pair.topics if self.order == "topic" else self.pair.falling
        bars = [
            Bar(each.topic.number, each.difference, each.topic.title, self.topic(each.topic.number))
            for each in lines
        ]
        above, below = str(self.pair.b), str(self.pair.a)
        if parse_measure(self.pair.measure).direction < 0:
            above, below = below, above
        title = f"{self.title}, by topic"
        return charts.difference_bars(bars, title, f"{above} better", f"{below} better")

    @property
    def scatter(self) -> SafeString | None:
        """Only for measures from 0 up where higher is better, as the square is drawn."""
        measure = parse_measure(self.pair.measure)
        if measure.direction < 0 or measure.range[0] < 0:
            return None
        points = [
            Point(each.topic.number, each.b, each.a, self.topic(each.topic.number))
            for each in self.pair.topics
            if np.isfinite(each.difference)
        ]
        title = f"{self.pair.measure} of both runs, by topic"
        return charts.scatter(points, title, str(self.pair.b), str(self.pair.a))

    def topic(self, number: str) -> str:
        query = {"number": number, "measure": self.pair.measure}
        return address("topic", self.pair.b.track, **query)
