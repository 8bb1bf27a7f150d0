"""Charts and table cells of the topic pages.

Cells are built in Python because a board of hundreds of runs has thousands of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from django.utils.safestring import SafeString, mark_safe

from leaderboard.analysis import Answer, TopicBreakdown, TopicSummary
from leaderboard.analysis.recall import TopicRecall
from leaderboard.analysis.topics import FOUND, TOP, JudgedDocument
from leaderboard.boards.standings import Board
from leaderboard.display import charts
from leaderboard.display.charts import Column, Mark, RecallCurves
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.numbers import MISSING, count, exact, score
from leaderboard.models import Run
from leaderboard.pages.page_urls import page_url, run_url_pattern
from leaderboard.pages.run_charts import LevelLine
from leaderboard.pages.template_tags import badge


def ranking_urls(breakdown: TopicBreakdown, carried: Mapping[str, str]) -> list[str]:
    """Return the URL of each run's ranking for the topic."""
    page = run_url_pattern("ranking", carried, number=breakdown.topic.number)
    return [page.format(each.run.pk) for each in breakdown.answers]


def topic_strip(breakdown: TopicBreakdown, chosen: Mapping[str, str]) -> SafeString:
    """Draw every run as a dot on one axis; each dot links to its ranking."""
    marks = [
        Mark(each.score, str(each.run), _mark_kind(each.is_own, each.is_baseline), href)
        for each, href in zip(breakdown.answers, ranking_urls(breakdown, chosen), strict=True)
    ]
    return charts.strip_chart(marks, f"{breakdown.measure} of every run on topic {breakdown.topic}")


@dataclass(frozen=True)
class TopicRecallChart:
    """Precision by recall on a topic, as a drawing and as a table."""

    recall: TopicRecall

    @property
    def chart(self) -> SafeString:
        run, best = self.recall.run, self.recall.best
        has_other = best != run
        drawn = RecallCurves(
            str(run),
            self.recall.curve_of(run),
            self.recall.by_recall,
            str(best) if has_other else "",
            self.recall.curve_of(best) if has_other else None,
            [(step.recall, step.precision) for step in self.recall.steps],
        )
        return charts.recall_curves(drawn, f"Precision of {run} at eleven recall levels")

    @property
    def levels(self) -> list[LevelLine]:
        by_recall = self.recall.by_recall
        columns = (
            np.linspace(0, 1, by_recall.shape[1]).round(1),
            self.recall.curve_of(self.recall.run),
            np.median(by_recall, axis=0),
            self.recall.curve_of(self.recall.best),
        )
        values = zip(*(column.tolist() for column in columns), strict=True)
        return [LevelLine(*each) for each in values]


def _mark_kind(is_own: bool, is_baseline: bool) -> Kind:
    return "baseline" if is_baseline else "own" if is_own else "other"


def answer_rows(breakdown: TopicBreakdown, board: Board, top_grade: int) -> SafeString:
    """Return a table row for each run, with its top 10 documents as squares."""
    chosen = board.choice.carried
    run = escape(run_url_pattern("run", chosen))
    asked = {"measure": breakdown.measure, "number": breakdown.topic.number}
    computed = escape(page_url("computed", chosen, board.sight.track.slug, **asked))
    rankings = map(escape, ranking_urls(breakdown, chosen))
    return mark_safe(
        "\n".join(
            f"<tr{_row_class(each)}>"
            f'<td class="num">{MISSING if each.rank is None else each.rank}</td>'
            f'<th scope="row"><a href="{run.format(each.run.pk)}">'
            f"<bdi>{escape(str(each.run))}</bdi></a>"
            f'<span class="opt">{_render_badges(each)}</span>'
            f'<small class="phone"><a href="{ranking}">ranking</a></small></th>'
            f'<td class="opt"><bdi>{escape(str(each.run.team))}</bdi></td>'
            f'<td class="num best"><a class="number" href="{computed}&amp;run={each.run.pk}"'
            f' title="{exact(each.score)}">{score(each.score)}</a></td>'
            f'<td class="num opt">{count(each.first_relevant)}</td>'
            f"<td>{charts.grade_squares(each.top_grades, top_grade)}</td>"
            f'<td class="num opt">{each.relevant_in_top}</td>'
            f'<td class="num opt">{each.unjudged_in_top}</td>'
            f'<td class="opt"><a href="{ranking}">ranking</a></td></tr>'
            for each, ranking in zip(breakdown.answers, rankings, strict=True)
        )
    )


def _row_class(answer: Answer) -> str:
    kind = _mark_kind(answer.is_own, answer.is_baseline and not answer.is_own)
    return f' class="{kind}"' if kind != "other" else ""


def _render_badges(answer: Answer) -> str:
    words = {"yours": answer.is_own, "baseline": answer.is_baseline}
    return "".join(f" {badge(word)}" for word, holds in words.items() if holds)


@dataclass(frozen=True)
class JudgedLine:
    """A judged document with its rank in each run.

    `finder` is set if only one run has the document in its top 100.
    """

    document: JudgedDocument
    ranks: SafeString
    finder: Run | None


def judged_lines(breakdown: TopicBreakdown) -> list[JudgedLine]:
    runs = {each.run.pk: each.run for each in breakdown.answers}
    return [
        JudgedLine(
            document=each,
            ranks=_rank_cells([each.ranks.get(column.run.pk) for column in breakdown.columns]),
            finder=runs[each.finders[0]] if len(each.finders) == 1 < len(runs) else None,
        )
        for each in breakdown.judged
    ]


def _rank_cells(ranks: list[int | None]) -> SafeString:
    return mark_safe(
        "".join(f'<td class="num{_rank_class(rank)}">{count(rank)}</td>' for rank in ranks)
    )


def _rank_class(rank: int | None) -> str:
    return " far" if rank is None or rank > FOUND else " near" if rank <= TOP else ""


@dataclass(frozen=True)
class GradeLine:
    """How many documents have a grade, as a bar."""

    grade: int
    says: str
    bar: SafeString


def grade_lines(grades: Mapping[int, int], top: int, threshold: int) -> list[GradeLine]:
    """Return a line for each grade, the highest first, including unused grades."""
    lowest = min([0, *grades])
    most = max(grades.values(), default=1)
    counts = {grade: grades.get(grade, 0) for grade in range(top, lowest - 1, -1)}
    return [
        GradeLine(
            grade, _grade_meaning(grade, threshold), charts.grade_bar(number, most, grade, top)
        )
        for grade, number in counts.items()
    ]


def _grade_meaning(grade: int, threshold: int) -> str:
    if grade < 0:
        return "pooled, not judged"
    return "relevant" if grade >= threshold else "not relevant"


@dataclass(frozen=True)
class SummaryLine:
    """A topic of the list, with the range of its runs' scores."""

    summary: TopicSummary
    cell: SafeString


@dataclass(frozen=True)
class SummaryTable:
    head: SafeString
    lines: list[SummaryLine]


def summary_table(summaries: Sequence[TopicSummary]) -> SummaryTable:
    """Draw the range from worst to best run for each topic, from 0 to 1 if values fit."""
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
