"""The scores of a run on every measure and on every topic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from evaluation.answers.any_measure import parse_measure
from leaderboard.analysis.scores import Scores, find_extremes, read_scores
from leaderboard.analysis.topic_choice import ChosenTopics
from leaderboard.boards.standings import Board
from leaderboard.display.charts import UNIT, AxisColumn, ChartMark, dots_cell, histogram, range_cell
from leaderboard.display.charts.bars import BINS
from leaderboard.display.csv_tables import TOPIC_COLUMNS, CsvTable, tabulate
from leaderboard.models import Run, Topic
from leaderboard.scoring.judgments import load_judgments

# The orders of a run's topics, and what its scores can be compared with.
ORDERS = ("difference", "topic", "difficulty")
REFERENCES = ("baseline", "median")
# With more topics than this the bars have no table; the values are in a file.
MOST_ROWS = 500
# The axes of both tables; measures outside 0 to 1 have no chart.
UNIT_AXIS, RANGE_AXIS = AxisColumn(UNIT, "unit"), AxisColumn(UNIT, "range")


@dataclass(frozen=True)
class MeasureLine:
    """One measure of a run among the runs of its board, each a mark of the chart.

    Without a mean the run has no rank; without one of any run there is no best either.
    """

    measure: str
    mean: float | None
    rank: int | None
    of: int
    marks: list[ChartMark]
    median: float | None
    best: float | None
    best_run: Run | None

    @property
    def cell(self) -> SafeString:
        values = [mark.value for mark in self.marks]
        if self.mean is None or min(values) < 0 or max(values) > 1:
            return SafeString()
        return dots_cell(UNIT_AXIS, self.marks)


@dataclass(frozen=True)
class TopicLine:
    """A topic of a run; scores are NaN, and the others None, where the measure is undefined."""

    topic: Topic
    score: float
    rank: int | None
    baseline: float | None
    median: float
    worst: float
    best: float
    best_run: Run | None
    num_relevant: int
    # +1 where higher is better, -1 where lower is.
    direction: int

    @property
    def difference(self) -> float | None:
        return None if self.baseline is None else self.score - self.baseline

    @property
    def from_median(self) -> float:
        return self.score - self.median

    @property
    def from_best(self) -> float:
        return self.score - self.best

    @property
    def lost(self) -> float:
        """How much better the best run of the topic is; NaN if the measure is undefined."""
        return -self.direction * self.from_best

    @property
    def cell(self) -> SafeString:
        values = (self.worst, self.median, self.best)
        if not all(0 <= value <= 1 for value in values) or not np.isfinite(self.score):
            return SafeString()
        return range_cell(RANGE_AXIS, *values, self.score)


@dataclass(frozen=True)
class RunBreakdown:
    """A run on every measure and on every topic, in the order that the reader chose."""

    board: Board
    run: Run
    measures: list[MeasureLine]
    topics: list[TopicLine]
    values: NDArray[np.float64]
    baseline_values: NDArray[np.float64] | None
    order: str = ORDERS[0]
    wanted: str = REFERENCES[0]

    @property
    def has_baseline(self) -> bool:
        """Whether there is a baseline other than this run."""
        return self.baseline_values is not None and self.board.baseline != self.run

    @property
    def references(self) -> tuple[str, ...]:
        """What the topics can be compared with."""
        return REFERENCES if self.has_baseline else ("median",)

    @property
    def against(self) -> str:
        return self.wanted if self.wanted in self.references else self.references[0]

    def of(self, chosen: ChosenTopics) -> RunBreakdown:
        """Return the same on the chosen topics; measures are those of all topics."""
        if chosen.places is None:
            return self
        keeps = [chosen.has(line.topic) for line in self.topics]
        other = self.baseline_values
        return replace(
            self,
            topics=[line for line, keep in zip(self.topics, keeps, strict=True) if keep],
            values=self.values[keeps],
            baseline_values=None if other is None else other[keeps],
        )

    def first_measures(self, most: int) -> list[MeasureLine]:
        """Return the first measures; the one that ranks the board is always among them."""
        first = self.measures[:most]
        if any(line.measure == self.board.measure for line in first):
            return first
        ranking = [line for line in self.measures if line.measure == self.board.measure]
        return ranking + first[: most - len(ranking)]

    def difference_of(self, line: TopicLine) -> float | None:
        return line.difference if self.against == "baseline" else line.from_median

    @cached_property
    def lines(self) -> list[TopicLine]:
        """The topics in the order that the reader chose."""
        keys: dict[str, Callable[[TopicLine], float]] = {
            "difference": lambda line: _last_if_nan(-(self.difference_of(line) or 0.0)),
            "topic": lambda line: line.topic.position,
            "difficulty": lambda line: _last_if_nan(line.direction * line.median),
        }
        return sorted(self.topics, key=keys[self.order])

    @property
    def differing(self) -> list[TopicLine]:
        """The topics on which the difference is defined."""
        return [
            line
            for line in self.lines
            if (difference := self.difference_of(line)) is not None and np.isfinite(difference)
        ]

    @property
    def differs(self) -> bool:
        return any(self.difference_of(line) for line in self.differing)

    @property
    def has_table(self) -> bool:
        """Whether a table below the bars lists their values."""
        return len(self.topics) <= MOST_ROWS

    @property
    def histogram(self) -> SafeString | None:
        """Draw the distribution of topic scores; only for measures between 0 and 1."""
        values = self.values
        if not np.isfinite(values).any() or np.nanmin(values) < 0 or np.nanmax(values) > 1:
            return None
        title = f"Topics by {self.board.measure}"
        if not self.has_baseline:
            return histogram(values, self.run.tag, title)
        return histogram(
            values, self.run.tag, title, self.baseline_values, str(self.board.baseline)
        )

    @property
    def spread(self) -> list[tuple[float, float, int, int | None]]:
        """The steps of the histogram: both ends, and the topics of this run and the baseline.

        The last step includes both its ends.
        """
        edges = np.linspace(0, 1, BINS + 1)
        own, other = _count_by_step(self.values, edges), [None] * BINS
        if self.has_baseline:
            other = _count_by_step(self.baseline_values, edges)
        return list(zip(edges[:-1], edges[1:], own, other, strict=True))

    @property
    def tables(self) -> dict[str, CsvTable]:
        measures = [
            ("measure", "measure"),
            ("run", "mean"),
            ("rank", "rank"),
            ("of", "of"),
            ("median", "median"),
            ("best", "best"),
            ("best_run", "best_run.tag"),
        ]
        return {
            "measures": tabulate(self.measures, measures),
            "spread": CsvTable(["from", "to", "topics", "topics of the baseline"], self.spread),
        }

    @property
    def topic_table(self) -> CsvTable:
        """Every topic at full precision, in the order of the page."""
        columns = [
            *TOPIC_COLUMNS,
            ("relevant", "num_relevant"),
            ("score", "score"),
            ("rank", "rank"),
            ("baseline", "baseline"),
            ("from_baseline", "difference"),
            ("median", "median"),
            ("from_median", "from_median"),
            ("worst", "worst"),
            ("best", "best"),
            ("best_run", "best_run.tag"),
        ]
        return tabulate(self.lines, columns)


def _count_by_step(values: NDArray[np.float64], edges: NDArray[np.float64]) -> list[int]:
    counts: list[int] = np.histogram(values[np.isfinite(values)], bins=edges)[0].tolist()
    return counts


def _last_if_nan(value: float) -> float:
    return math.inf if math.isnan(value) else value


def build_run_breakdown(board: Board, run: Run, order: str = "", wanted: str = "") -> RunBreakdown:
    """Return the scores of a run on every measure, and on every topic by the ranking one."""
    runs = [standing.run for standing in board.standings]
    scores = read_scores(board.edition, board.measure, runs)
    baseline = board.baseline if board.baseline in scores.runs else None
    return RunBreakdown(
        board=board,
        run=run,
        measures=[_measure_line(board, run, measure) for measure in board.measures],
        topics=_topic_lines(board, scores, run, baseline),
        values=scores.of(run),
        baseline_values=None if baseline is None else scores.of(baseline),
        order=order if order in ORDERS else ORDERS[0],
        wanted=wanted,
    )


def _measure_line(board: Board, run: Run, measure: str) -> MeasureLine:
    direction = parse_measure(measure).direction
    means = {
        standing.run: mean
        for standing in board.standings
        if (mean := standing.scores[measure]) is not None
    }
    mean = means.get(run)
    marks = [
        ChartMark(value, other.tag, "baseline" if other == board.baseline else "other")
        for other, value in means.items()
        if other != run
    ]
    rank = None
    if mean is not None:
        marks.append(ChartMark(mean, run.tag, "own"))
        rank = sum(direction * value > direction * mean for value in means.values()) + 1
    best_run = max(means, key=lambda other: direction * means[other], default=None)
    return MeasureLine(
        measure=measure,
        mean=mean,
        rank=rank,
        of=len(means),
        marks=marks,
        median=float(np.median(list(means.values()))) if means else None,
        best=None if best_run is None else means[best_run],
        best_run=best_run,
    )


def _topic_lines(board: Board, scores: Scores, run: Run, baseline: Run | None) -> list[TopicLine]:
    direction = parse_measure(board.measure).direction
    relevant = load_judgments(board.edition.pk).num_relevant(board.sight.track.relevance_threshold)
    own = scores.of(run)
    good = np.where(np.isnan(scores.values), -np.inf, direction * scores.values)
    best_rows, ranks = good.argmax(axis=0), (good > direction * own).sum(axis=0) + 1
    worst, best = find_extremes(scores.values, direction)
    against = None if baseline is None else scores.of(baseline)
    return [
        TopicLine(
            topic=topic,
            score=float(own[place]),
            rank=None if np.isnan(own[place]) else int(ranks[place]),
            baseline=None if against is None else float(against[place]),
            median=float(scores.median[place]),
            worst=float(worst[place]),
            best=float(best[place]),
            best_run=None if np.isnan(best[place]) else scores.runs[best_rows[place]],
            num_relevant=int(relevant[place]),
            direction=direction,
        )
        for place, topic in enumerate(scores.topics)
    ]
