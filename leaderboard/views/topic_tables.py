"""What a topic's page shows, as tables for other programs."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpResponse

from leaderboard.analysis import TopicBreakdown, TopicSummary
from leaderboard.boards.columns import Cell
from leaderboard.views.tables import csv_file, grades_csv


def answers_csv(name: str, breakdown: TopicBreakdown) -> HttpResponse:
    """A line for each run on the topic."""
    lines = [
        [
            each.rank,
            each.run.pk,
            each.run.tag,
            each.run.team.name,
            each.score,
            each.first_relevant,
            each.relevant_in_top,
            each.unjudged_in_top,
            each.retrieved,
        ]
        for each in breakdown.answers
    ]
    head = ["rank", "run", "tag", "team", breakdown.measure, "first_relevant"]
    return csv_file(name, [*head, "relevant_in_top_10", "unjudged_in_top_10", "retrieved"], lines)


def grades_of_topic_csv(name: str, breakdown: TopicBreakdown) -> HttpResponse:
    return grades_csv(name, breakdown.grades)


def judged_documents_csv(name: str, breakdown: TopicBreakdown) -> HttpResponse:
    """A line for each judged document, a column of ranks for each run, by its tag."""
    runs = [each.run for each in breakdown.answers]
    lines: list[list[Cell]] = [
        [each.docno, each.grade, len(each.finders), *(each.ranks.get(run.pk) for run in runs)]
        for each in breakdown.documents
    ]
    head = ["docno", "grade", "found_in_top_100", *(run.tag for run in runs)]
    return csv_file(name, head, lines)


def unjudged_csv(name: str, breakdown: TopicBreakdown) -> HttpResponse:
    """A line for each document of the first tens that nobody judged."""
    lines = [[each.docno, each.runs, each.best_rank] for each in breakdown.unjudged]
    return csv_file(name, ["docno", "runs_in_top_10", "best_rank"], lines)


def summaries_csv(name: str, summaries: Iterable[TopicSummary]) -> HttpResponse:
    """A line for each topic of the list: its judgments, and how the runs did."""
    lines = [
        [
            each.topic.number,
            each.topic.title or each.topic.description,
            each.judged,
            each.relevant,
            each.worst,
            each.median,
            each.best,
            each.best_run.tag if each.best_run is not None else None,
            each.own,
        ]
        for each in summaries
    ]
    ends = ["worst", "median", "best", "best_run", "own"]
    return csv_file(name, ["topic", "title", "judged", "relevant", *ends], lines)
