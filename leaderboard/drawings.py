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

from leaderboard import charts
from leaderboard.breakdowns import Answer, TopicBreakdown, TopicSummary
from leaderboard.breakdowns.topics import JudgedDocument
from leaderboard.charts import Column, Mark
from leaderboard.charts.drawing import Kind
from leaderboard.models import Run, Track


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
class JudgedLine:
    """A judged document with its rank in each of the columns, None where it was not retrieved.

    `finder` is the run that alone has it among its first hundred.
    """

    document: JudgedDocument
    ranks: list[int | None]
    finder: Run | None


def judged_lines(breakdown: TopicBreakdown) -> list[JudgedLine]:
    runs = {each.run.pk: each.run for each in breakdown.answers}
    return [
        JudgedLine(
            document=each,
            ranks=[each.ranks.get(column.run.pk) for column in breakdown.columns],
            finder=runs[each.finders[0]] if len(each.finders) == 1 < len(runs) else None,
        )
        for each in breakdown.judged
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
