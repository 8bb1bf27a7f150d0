"""A topic by runs: who found what, what was judged, and what nobody looked at."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from evaluation.measures import parse_measure
from leaderboard.breakdowns.rankings import Titles, docnos_of, grades_of, neighbours
from leaderboard.breakdowns.scores import Scores, read_scores
from leaderboard.models import Edition, Judgment, Run, Topic
from leaderboard.standings import Board

TOP = 10
NEVER_JUDGED = 10


@dataclass(frozen=True)
class TopicSummary:
    topic: Topic
    judged: int
    relevant: int
    median: float
    best: float
    best_run: Run | None


def topic_summaries(board: Board) -> list[TopicSummary]:
    """Every evaluated topic with its judgments and how the runs did."""
    scores = read_scores(board.edition, board.measure, [each.run for each in board.standings])
    grades = grades_by_topic(board.edition)
    threshold = board.edition.track.relevance_threshold
    direction = parse_measure(board.measure).direction
    summaries = []
    for place, topic in enumerate(scores.topics):
        column = direction * scores.values[:, place]
        judged = grades.get(topic.pk, [])
        defined = column.size and not np.isnan(column).all()
        best = int(np.nanargmax(column)) if defined else None
        summaries.append(
            TopicSummary(
                topic=topic,
                judged=len(judged),
                relevant=sum(grade >= threshold for grade in judged),
                median=float(scores.median[place]) if defined else np.nan,
                best=np.nan if best is None else float(scores.values[best, place]),
                best_run=None if best is None else scores.runs[best],
            )
        )
    return summaries


def grades_by_topic(edition: Edition) -> dict[int, list[int]]:
    grades: dict[int, list[int]] = {}
    rows = Judgment.objects.filter(judgment_set=edition.judgment_set_id)
    for topic_id, grade in rows.values_list("topic_id", "grade"):
        grades.setdefault(topic_id, []).append(grade)
    return grades


@dataclass(frozen=True)
class Answer:
    """What one run retrieved for the topic in view."""

    run: Run
    rank: int | None
    score: float
    is_baseline: bool
    is_own: bool
    first_relevant: int | None
    # Grades of the first ten; None where nobody judged.
    top_grades: list[int | None]
    retrieved: int

    @property
    def relevant_in_top(self) -> int:
        return sum(grade is not None and grade > 0 for grade in self.top_grades)

    @property
    def unjudged_in_top(self) -> int:
        return sum(grade is None or grade < 0 for grade in self.top_grades)


@dataclass(frozen=True)
class JudgedDocument:
    docno: str
    title: str
    grade: int
    # The rank in each answer, in their order; None where it was not retrieved.
    ranks: list[int | None]

    @property
    def found(self) -> int:
        return sum(rank is not None and rank <= 100 for rank in self.ranks)


@dataclass(frozen=True)
class UnjudgedDocument:
    docno: str
    title: str
    runs: int
    best_rank: int


@dataclass(frozen=True)
class TopicBreakdown:
    topic: Topic
    previous: Topic | None
    next: Topic | None
    evaluated: bool
    grades: dict[int, int]
    relevant: int
    median: float
    answers: list[Answer]
    judged: list[JudgedDocument]
    never_judged: list[UnjudgedDocument]

    @property
    def num_judged(self) -> int:
        return sum(self.grades.values())


def topic_breakdown(board: Board, topic: Topic) -> TopicBreakdown:
    """What every run of the board retrieved for a topic, and what was judged."""
    scores = read_scores(board.edition, board.measure, [each.run for each in board.standings])
    grades = grades_of(board.edition, topic)
    retrieved = {run.pk: docnos_of(run, topic) for run in scores.runs}
    answers = _answers(board, scores, topic, grades, retrieved)
    titles = Titles(board.edition.track.collection)
    before, after = neighbours(topic)
    return TopicBreakdown(
        topic=topic,
        previous=before,
        next=after,
        evaluated=topic in scores.topics,
        grades=dict(sorted(Counter(grades.values()).items(), reverse=True)),
        relevant=sum(grade >= board.edition.track.relevance_threshold for grade in grades.values()),
        median=float(scores.median[scores.topics.index(topic)])
        if topic in scores.topics and scores.runs
        else np.nan,
        answers=answers,
        judged=_judged_documents(grades, answers, retrieved, titles),
        never_judged=_never_judged(grades, retrieved, titles),
    )


def _answers(
    board: Board,
    scores: Scores,
    topic: Topic,
    grades: dict[str, int],
    retrieved: dict[str, list[str]],
) -> list[Answer]:
    if topic not in scores.topics:
        return []
    column = scores.values[:, scores.topics.index(topic)]
    direction = parse_measure(board.measure).direction
    threshold = board.edition.track.relevance_threshold
    good = np.where(np.isnan(column), -np.inf, direction * column)
    answers = []
    for place in np.argsort(-good, kind="stable"):
        run = scores.runs[place]
        docnos = retrieved[run.pk]
        relevant = (
            rank for rank, docno in enumerate(docnos, start=1) if grades.get(docno, -1) >= threshold
        )
        answers.append(
            Answer(
                run=run,
                rank=None if np.isnan(column[place]) else int((good > good[place]).sum()) + 1,
                score=float(column[place]),
                is_baseline=run == board.baseline,
                is_own=board.sight.owns(run),
                first_relevant=next(relevant, None),
                top_grades=[grades.get(docno) for docno in docnos[:TOP]],
                retrieved=len(docnos),
            )
        )
    return answers


def _judged_documents(
    grades: dict[str, int],
    answers: list[Answer],
    retrieved: dict[str, list[str]],
    titles: Titles,
) -> list[JudgedDocument]:
    ranks = {
        run_id: {docno: rank for rank, docno in enumerate(docnos, start=1) if docno in grades}
        for run_id, docnos in retrieved.items()
    }
    named = titles.of(grades)
    documents = [
        JudgedDocument(
            docno, named.get(docno, ""), grade, [ranks[each.run.pk].get(docno) for each in answers]
        )
        for docno, grade in grades.items()
    ]
    return sorted(documents, key=lambda each: (-each.grade, -each.found, each.docno))


def _never_judged(
    grades: dict[str, int], retrieved: dict[str, list[str]], titles: Titles
) -> list[UnjudgedDocument]:
    """The documents that most runs have in their first ten and nobody has judged."""
    runs: Counter[str] = Counter()
    best: dict[str, int] = {}
    for docnos in retrieved.values():
        for rank, docno in enumerate(docnos[:TOP], start=1):
            if grades.get(docno, -1) < 0:
                runs[docno] += 1
                best[docno] = min(rank, best.get(docno, rank))
    first = sorted(runs, key=lambda docno: (-runs[docno], best[docno], docno))[:NEVER_JUDGED]
    named = titles.of(first)
    return [
        UnjudgedDocument(docno, named.get(docno, ""), runs[docno], best[docno]) for docno in first
    ]
