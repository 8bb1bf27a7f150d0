"""The charts of a run's page, drawn from its breakdown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

import numpy as np
from django.urls import reverse
from django.utils.safestring import SafeString

from leaderboard import charts
from leaderboard.breakdowns.runs import MeasureLine, RunBreakdown, TopicLine
from leaderboard.charts import Bar, Mark
from leaderboard.models import Run, Topic
from leaderboard.standings import Board

# The orders in which the topics of a run can be looked at.
ORDERS: dict[str, Callable[[TopicLine], float]] = {
    "difference": lambda line: -(line.difference or 0.0),
    "topic": lambda line: line.topic.position,
    "difficulty": lambda line: line.median,
}


@dataclass(frozen=True)
class SummaryRow:
    line: MeasureLine
    cell: SafeString


@dataclass(frozen=True)
class TopicRow:
    line: TopicLine
    cell: SafeString
    is_best: bool


@dataclass(frozen=True)
class Portrait:
    """What a run's page draws: its measures among all runs, its topics against the baseline."""

    board: Board
    run: Run
    breakdown: RunBreakdown
    order: str = "difference"

    @property
    def orders(self) -> list[str]:
        return list(ORDERS)

    @cached_property
    def unit(self) -> charts.Column:
        """The axis from 0 to 1; measures beyond it draw no cell."""
        return charts.Column(charts.UNIT, "unit")

    @property
    def unit_head(self) -> SafeString:
        return charts.column_head(self.unit)

    @property
    def summary(self) -> list[SummaryRow]:
        return [SummaryRow(line, self._dots(line)) for line in self.breakdown.lines]

    def _dots(self, line: MeasureLine) -> SafeString:
        values = [*line.others.values(), line.mean or 0.0]
        if line.mean is None or min(values) < 0 or max(values) > 1:
            return SafeString("")
        baseline = self.board.baseline
        marks = [
            Mark(mean, self._tag(run_id), "baseline" if self._is(run_id, baseline) else "other")
            for run_id, mean in line.others.items()
        ]
        return charts.dots_cell(self.unit, [*marks, Mark(line.mean, self.run.tag, "own")])

    def _tag(self, run_id: str) -> str:
        return next(each.run.tag for each in self.board.standings if each.run.pk == run_id)

    @staticmethod
    def _is(run_id: str, run: Run | None) -> bool:
        return run is not None and run.pk == run_id

    @property
    def compared(self) -> bool:
        """Whether there is a baseline other than this run."""
        return self.breakdown.baseline_values is not None and self.board.baseline != self.run

    @property
    def bars(self) -> SafeString:
        """The difference from the baseline, a bar a topic."""
        lines = sorted(self.breakdown.topics, key=ORDERS[self.order])
        bars = [
            Bar(
                line.topic.number,
                line.difference,
                line.topic.title,
                self.ranking_address(line.topic),
            )
            for line in lines
            if line.difference is not None and np.isfinite(line.difference)
        ]
        title = f"{self.board.measure} of {self.run.tag} minus {self.board.baseline}, by topic"
        return charts.difference_bars(bars, title)

    @property
    def histogram(self) -> SafeString | None:
        """How the scores by topic are spread; only for measures between 0 and 1."""
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

    @cached_property
    def _range(self) -> charts.Column:
        return charts.Column(charts.UNIT, "range")

    @property
    def range_head(self) -> SafeString:
        return charts.column_head(self._range)

    @property
    def topics(self) -> list[TopicRow]:
        lines = sorted(self.breakdown.topics, key=ORDERS[self.order])
        return [TopicRow(line, self._span(line), line.best_run == self.run) for line in lines]

    def _span(self, line: TopicLine) -> SafeString:
        values = (line.worst, line.median, line.best)
        if not all(0 <= value <= 1 for value in values) or not np.isfinite(line.score):
            return SafeString("")
        return charts.range_cell(self._range, *values, line.score)

    def ranking_address(self, topic: Topic) -> str:
        address = reverse("ranking", args=[self.run.pk])
        return f"{address}?{urlencode({'number': topic.number})}"
