"""Charts of the judgments page: grades of each topic, and score bounds of each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.utils.safestring import SafeString

from leaderboard.analysis.holes import HoleLine, HoleTable
from leaderboard.analysis.summaries import JudgedTopic
from leaderboard.boards.standings import Standing
from leaderboard.display import charts
from leaderboard.display.charts import Column
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.numbers import count
from leaderboard.models import Topic
from leaderboard.pages.page_urls import page_url

# The verdict between better and worse.
NOT_SIGNIFICANT = "not significant"


@dataclass(frozen=True)
class JudgedLine:
    """A topic with its number of judgments per grade, as counts and as a stacked bar."""

    topic: Topic
    judged: int
    relevant: int
    counts: list[int]
    stack: SafeString


def judged_lines(
    topics: Sequence[JudgedTopic], grades: Sequence[int], most: int
) -> list[JudgedLine]:
    """Return a line for each topic; `most` is the largest number of judged documents."""
    top = max([1, *grades])
    return [
        JudgedLine(
            topic=line.topic,
            judged=line.judged,
            relevant=line.relevant,
            counts=[line.grades.get(grade, 0) for grade in grades],
            stack=charts.grade_stack(line.grades, most, top),
        )
        for line in topics
    ]


@dataclass(frozen=True)
class JudgedShare:
    """Judged@k of a run, with the URL that explains it."""

    cutoff: int
    value: float
    explained: str


@dataclass(frozen=True)
class HoleRow:
    """A run with the bounds of its score and the other verdicts that are possible."""

    line: HoleLine
    score: SafeString
    difference: SafeString
    explained: str
    judged: list[JudgedShare]

    @property
    def becomes(self) -> str:
        """Say which other verdict is possible: "stands", "or worse" or "or any other"."""
        doubt = self.line.doubt
        if doubt is None or doubt.stands:
            return "stands" if doubt is not None else ""
        could = {doubt.verdict_low, doubt.verdict_high} - {doubt.verdict}
        # A verdict that can reach the other extreme can also become not significant.
        is_any = doubt.verdict != NOT_SIGNIFICANT and could != {NOT_SIGNIFICANT}
        return "or any other" if is_any or len(could) > 1 else f"or {could.pop()}"

    @property
    def takes(self) -> str:
        """Say how many documents could close or reverse the gap to the baseline: "3 of 40"."""
        doubt = self.line.doubt
        if doubt is None or doubt.needed is None:
            return "–" if doubt is None or not doubt.robust else "none can"
        return f"{count(doubt.needed)} of {count(doubt.among)}"


def _explanation_url(line: HoleLine, measure: str) -> str:
    """Return the URL that explains how a number of the line is computed."""
    run = line.standing.run
    return page_url("computed", {}, run.track.slug, run=run.pk, measure=measure)


@dataclass(frozen=True)
class HoleCharts:
    """The score bounds of all runs; each column of charts shares one axis."""

    table: HoleTable

    @property
    def score_head(self) -> SafeString:
        return charts.column_head(self._score_column)

    @property
    def difference_head(self) -> SafeString:
        return charts.column_head(self._difference_column)

    @property
    def rows(self) -> list[HoleRow]:
        return [
            HoleRow(
                line=line,
                score=charts.bounds_cell(
                    self._score_column,
                    line.low,
                    line.score,
                    line.high,
                    _mark_kind(line.standing),
                ),
                difference=self._difference_cell(line),
                explained=_explanation_url(line, self.table.measure),
                judged=[
                    JudgedShare(cutoff, share, _explanation_url(line, f"Judged@{cutoff}"))
                    for cutoff, share in line.judged_at.items()
                ],
            )
            for line in self.table.lines
        ]

    def _difference_cell(self, line: HoleLine) -> SafeString:
        if line.doubt is None:
            return SafeString("")
        doubt, own = line.doubt, _mark_kind(line.standing)
        return charts.bounds_cell(
            self._difference_column, doubt.low, doubt.difference, doubt.high, own
        )

    @cached_property
    def _score_column(self) -> Column:
        ends = [end for line in self.table.lines for end in (line.low, line.high)]
        return Column(_axis_around(ends), "scores")

    @cached_property
    def _difference_column(self) -> Column:
        doubts = [line.doubt for line in self.table.lines if line.doubt is not None]
        ends = [end for doubt in doubts for end in (doubt.low, doubt.high)]
        return Column(_axis_around([0.0, *ends]), "differences", dashed=0.0)


def _axis_around(values: Sequence[float]) -> charts.Axis:
    """Return an axis around the finite values, with at most four labels to fit the column."""
    known = [value for value in values if np.isfinite(value)] or [0.0]
    return charts.Axis.around(min(known), max(known), most=4)


def _mark_kind(standing: Standing) -> Kind:
    return "baseline" if standing.is_baseline else "own" if standing.is_own else "other"
