"""Charts of the run page, built from its breakdown."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from leaderboard.analysis.precision import DepthLine, Precision
from leaderboard.analysis.runs import MeasureLine, RunBreakdown, TopicLine
from leaderboard.boards.exports import export_cell
from leaderboard.boards.receipts import escape_formula
from leaderboard.boards.standings import Board
from leaderboard.display import charts
from leaderboard.display.charts import Bar, Mark, RecallCurves
from leaderboard.display.charts.bars import BINS
from leaderboard.models import Run, Topic
from leaderboard.pages.page_urls import topic_url_builder

# The orders of a run's topics, and what its scores can be compared with.
ORDERS = ("difference", "topic", "difficulty")
REFERENCES = ("baseline", "median")
# With more topics than this the bars have no table; the values are in a file.
MOST_ROWS = 500
# The columns of the file of all topics.
CSV_COLUMNS = (
    "topic",
    "title",
    "relevant",
    "score",
    "rank",
    "baseline",
    "from_baseline",
    "median",
    "from_median",
    "worst",
    "best",
    "best_run",
)


@dataclass(frozen=True)
class SummaryRow:
    line: MeasureLine
    cell: SafeString


@dataclass(frozen=True)
class TopicRow:
    line: TopicLine
    cell: SafeString
    is_best: bool
    # The difference from the baseline or the median, as the reader chose.
    difference: float | None


@dataclass(frozen=True)
class HistogramStep:
    """One bar of the histogram: the number of topics of the run and of the baseline."""

    low: float
    high: float
    own: int
    other: int | None


@dataclass(frozen=True)
class RunCharts:
    """Charts of a run page: its measures among all runs, and its topics against the baseline."""

    board: Board
    run: Run
    breakdown: RunBreakdown
    order: str = "difference"
    wanted: str = "baseline"

    @property
    def orders(self) -> tuple[str, ...]:
        return ORDERS

    @property
    def references(self) -> tuple[str, ...]:
        """What the topics can be compared with."""
        return REFERENCES if self.compared else ("median",)

    @property
    def against(self) -> str:
        return self.wanted if self.wanted in self.references else self.references[0]

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
        return sorted(self.breakdown.topics, key=keys[self.order])

    @cached_property
    def unit_column(self) -> charts.Column:
        """The axis from 0 to 1; measures outside this range have no chart."""
        return charts.Column(charts.UNIT, "unit")

    @property
    def unit_head(self) -> SafeString:
        return charts.column_head(self.unit_column)

    @property
    def summary(self) -> list[SummaryRow]:
        return [SummaryRow(line, self._dots_cell(line)) for line in self.breakdown.lines]

    def _dots_cell(self, line: MeasureLine) -> SafeString:
        values = [*line.others.values(), line.mean or 0.0]
        if line.mean is None or min(values) < 0 or max(values) > 1:
            return SafeString("")
        baseline = self.board.baseline
        marks = [
            Mark(
                mean,
                self._tag_of(run_id),
                "baseline" if self._is_run(run_id, baseline) else "other",
            )
            for run_id, mean in line.others.items()
        ]
        return charts.dots_cell(self.unit_column, [*marks, Mark(line.mean, self.run.tag, "own")])

    def _tag_of(self, run_id: str) -> str:
        return next(
            standing.run.tag for standing in self.board.standings if standing.run.pk == run_id
        )

    @staticmethod
    def _is_run(run_id: str, run: Run | None) -> bool:
        return run is not None and run.pk == run_id

    @property
    def compared(self) -> bool:
        """Return whether there is a baseline other than this run."""
        return self.breakdown.baseline_values is not None and self.board.baseline != self.run

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
    def tabled(self) -> bool:
        """Return whether a table below the bars lists their values."""
        return len(self.breakdown.topics) <= MOST_ROWS

    @property
    def bars(self) -> SafeString:
        """Draw the difference from the baseline or the median, one bar per topic."""
        bars = [
            Bar(
                line.topic.number,
                self.difference_of(line) or 0.0,
                line.topic.title or line.topic.description,
                self.ranking_address(line.topic),
            )
            for line in self.differing
        ]
        other = self.board.baseline if self.against == "baseline" else "the median"
        title = f"{self.board.measure} of {self.run.tag} minus {other}, by topic"
        return charts.difference_bars(bars, title)

    @property
    def histogram(self) -> SafeString | None:
        """Draw the distribution of topic scores; only for measures between 0 and 1."""
        values = self.breakdown.values
        if not np.isfinite(values).any() or np.nanmin(values) < 0 or np.nanmax(values) > 1:
            return None
        others = self.breakdown.baseline_values if self.compared else None
        return charts.histogram(
            values,
            self.run.tag,
            f"Topics by {self.board.measure}",
            others,
            str(self.board.baseline) if self.compared else "",
        )

    @property
    def spread(self) -> list[HistogramStep]:
        """Return the values of the histogram; the last step includes both its ends."""
        edges = np.linspace(0, 1, BINS + 1)
        others = self.breakdown.baseline_values if self.compared else None
        own = _count_by_step(self.breakdown.values, edges)
        other = [None] * BINS if others is None else _count_by_step(others, edges)
        return [HistogramStep(*step) for step in zip(edges, edges[1:], own, other, strict=False)]

    @cached_property
    def _range_column(self) -> charts.Column:
        return charts.Column(charts.UNIT, "range")

    @property
    def range_head(self) -> SafeString:
        return charts.column_head(self._range_column)

    def rows(self, lines: Sequence[TopicLine]) -> list[TopicRow]:
        """Return table rows for the lines of one page."""
        return [
            TopicRow(
                line, self._range_cell(line), line.best_run == self.run, self.difference_of(line)
            )
            for line in lines
        ]

    def _range_cell(self, line: TopicLine) -> SafeString:
        values = (line.worst, line.median, line.best)
        if not all(0 <= value <= 1 for value in values) or not np.isfinite(line.score):
            return SafeString("")
        return charts.range_cell(self._range_column, *values, line.score)

    @cached_property
    def _ranking_address(self) -> Callable[[str], str]:
        return topic_url_builder("ranking", self.board.choice.carried, self.run.pk)

    def ranking_address(self, topic: Topic) -> str:
        return self._ranking_address(topic.number)

    @property
    def topics_as_csv(self) -> str:
        """Return every topic at full precision as CSV, in the order of the page."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(CSV_COLUMNS)
        for line in self.lines:
            cells = (
                line.topic.number,
                line.topic.title or line.topic.description,
                line.num_relevant,
                line.score,
                line.rank,
                line.baseline,
                line.difference,
                line.median,
                line.from_median,
                line.worst,
                line.best,
                line.best_run.tag,
            )
            writer.writerow(escape_formula(export_cell(cell)) for cell in cells)
        return out.getvalue()


def _count_by_step(values: NDArray[np.float64], edges: NDArray[np.float64]) -> list[int]:
    counts: list[int] = np.histogram(values[np.isfinite(values)], bins=edges)[0].tolist()
    return counts


def _last_if_nan(value: float) -> float:
    return math.inf if math.isnan(value) else value


@dataclass(frozen=True)
class LevelLine:
    """The precision at one level of recall."""

    recall: float
    own: float
    median: float
    best: float


@dataclass(frozen=True)
class PrecisionCharts:
    """The precision of a run by recall and by depth, among the runs of its board."""

    run: Run
    precision: Precision

    @property
    def best_run(self) -> Run:
        return self.precision.best_run

    @property
    def band(self) -> NDArray[np.float64]:
        """The curves of all runs of the board."""
        return self.precision.by_recall

    @property
    def curves(self) -> SafeString:
        best = self.best_run if self.best_run != self.run else None
        drawn = RecallCurves(
            self.run.tag,
            self.precision.curve_of(self.run),
            self.band,
            best.tag if best is not None else "",
            self.precision.curve_of(best) if best is not None else None,
        )
        return charts.recall_curves(drawn, f"Precision of {self.run.tag} at eleven recall levels")

    @property
    def levels(self) -> list[LevelLine]:
        columns = (
            np.linspace(0, 1, self.band.shape[1]).round(1),
            self.precision.curve_of(self.run),
            np.median(self.band, axis=0),
            self.precision.curve_of(self.best_run),
        )
        values = zip(*(column.tolist() for column in columns), strict=True)
        return [LevelLine(*line) for line in values]

    @property
    def depths(self) -> list[DepthLine]:
        return self.precision.depth_lines(self.run)
