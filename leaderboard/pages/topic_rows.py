"""The rows of the page of a topic.

Cells are built in Python because a board of hundreds of runs has thousands of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from django.utils.safestring import SafeString, mark_safe

from leaderboard.analysis import RunOnTopic, TopicBreakdown
from leaderboard.analysis.recall import TopicRecall
from leaderboard.analysis.topics import FOUND, TOP, JudgedDocument
from leaderboard.boards.standings import Board
from leaderboard.display import charts
from leaderboard.display.charts import ChartMark, RecallCurves
from leaderboard.display.numbers import MISSING, count, exact, score
from leaderboard.display.signs import badge
from leaderboard.models import Run
from leaderboard.pages.page_urls import page_url, run_url_pattern
from leaderboard.scoring.kinds import kind_of


def urls_on_topic(breakdown: TopicBreakdown, carried: Mapping[str, str], page: str) -> list[str]:
    """Return the URL of each run's page for the topic, its ranking or its answer."""
    address = run_url_pattern(page, carried, number=breakdown.topic.number)
    return [address.format(each.run.pk) for each in breakdown.answers]


def topic_strip(breakdown: TopicBreakdown, board: Board) -> SafeString:
    """Draw the runs as dots on one axis; each dot links to its ranking or answer."""
    urls = urls_on_topic(breakdown, board.choice.carried, _page_of(board))
    marks = [
        ChartMark(each.score, str(each.run), each.kind, href)
        for each, href in zip(breakdown.answers, urls, strict=True)
    ]
    runs = f"{len(marks):,} runs" if breakdown.is_cut else "every run"
    title = f"{breakdown.measure} of {runs} on topic {breakdown.topic}"
    return charts.strip_chart(marks, title, breakdown.median)


def draw_topic_recall(recall: TopicRecall) -> SafeString:
    """Draw precision by recall on a topic."""
    run, best = recall.run, recall.best
    has_other = best != run
    drawn = RecallCurves(
        str(run),
        recall.curve_of(run),
        recall.by_recall,
        str(best) if has_other else "",
        recall.curve_of(best) if has_other else None,
        [(step.recall, step.precision) for step in recall.steps],
    )
    return charts.recall_curves(drawn, f"Precision of {run} at eleven recall levels")


def answer_rows(breakdown: TopicBreakdown, board: Board, top_grade: int) -> SafeString:
    """Return a table row for each run, with its top 10 documents as squares."""
    chosen = board.choice.carried
    run = escape(run_url_pattern("run", chosen))
    asked = {"measure": breakdown.measure, "number": breakdown.topic.number}
    computed = escape(page_url("computed", chosen, board.sight.track.address, **asked))
    page = _page_of(board)
    urls = map(escape, urls_on_topic(breakdown, chosen, page))
    return mark_safe(
        "\n".join(
            f"<tr{_row_class(each)}>"
            f'<td class="num">{MISSING if each.rank is None else each.rank}</td>'
            f'<th scope="row"><a href="{run.format(each.run.pk)}">'
            f"<bdi>{escape(str(each.run))}</bdi></a>"
            f'<span class="opt">{_render_badges(each)}</span>'
            f'<small class="phone"><a href="{url}">{page}</a></small></th>'
            f'<td class="opt"><bdi>{escape(str(each.run.team))}</bdi></td>'
            f'<td class="num best"><a class="number" href="{computed}&amp;run={each.run.pk}"'
            f' title="{exact(each.score)}">{score(each.score)}</a></td>'
            f'<td class="num opt">{count(each.first_relevant)}</td>'
            f"<td>{charts.grade_squares(each.top_grades, top_grade)}</td>"
            f'<td class="num opt">{each.relevant_in_top}</td>'
            f'<td class="num opt">{each.unjudged_in_top}</td>'
            f'<td class="opt"><a href="{url}">{page}</a></td></tr>'
            for each, url in zip(breakdown.answers, urls, strict=True)
        )
    )


def _page_of(board: Board) -> str:
    """Return the page of a run on one topic."""
    return kind_of(board.sight.track).topic_page


def _row_class(answer: RunOnTopic) -> str:
    kind = "own" if answer.is_own else answer.kind
    return f' class="{kind}"' if kind != "other" else ""


def _render_badges(answer: RunOnTopic) -> str:
    words = {"yours": answer.is_own, "baseline": answer.is_baseline}
    return "".join(f" {badge(word)}" for word, holds in words.items() if holds)


def judged_lines(
    breakdown: TopicBreakdown,
) -> list[tuple[JudgedDocument, SafeString, Run | None]]:
    """Return each judged document, its ranks, and the only run with it in the first 100, if one."""
    runs = {each.run.pk: each.run for each in breakdown.answers}
    return [
        (
            document,
            _rank_cells([document.ranks.get(column.run.pk) for column in breakdown.columns]),
            runs[document.finders[0]] if len(document.finders) == 1 < len(runs) else None,
        )
        for document in breakdown.judged
    ]


def _rank_cells(ranks: list[int | None]) -> SafeString:
    return mark_safe(
        "".join(f'<td class="num{_rank_class(rank)}">{count(rank)}</td>' for rank in ranks)
    )


def _rank_class(rank: int | None) -> str:
    return " far" if rank is None or rank > FOUND else " near" if rank <= TOP else ""
