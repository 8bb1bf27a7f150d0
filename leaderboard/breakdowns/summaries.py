"""Every topic in a line: what was judged, and how the runs did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from django.db.models import Count
from numpy.typing import NDArray

from evaluation.measures import parse_measure
from leaderboard.breakdowns.scores import Scores, read_scores
from leaderboard.models import Edition, Judgment, Run, Topic
from leaderboard.standings import Board


@dataclass(frozen=True)
class JudgedTopic:
    """How many documents of a topic have each grade, and how many of them are relevant."""

    topic: Topic
    grades: dict[int, int]
    relevant: int

    @property
    def judged(self) -> int:
        return sum(number for grade, number in self.grades.items() if grade >= 0)


@dataclass(frozen=True)
class TopicSummary:
    """An evaluated topic; values are NaN where the measure is undefined for every run."""

    topic: Topic
    judged: int
    relevant: int
    worst: float
    median: float
    best: float
    best_run: Run | None
    # The score of the reader's best run on the board.
    own: float | None


@dataclass(frozen=True)
class JudgmentCounts:
    """How many documents have each grade, over all topics."""

    grades: dict[int, int]
    threshold: int

    @property
    def judged(self) -> int:
        return self._from(0)

    @property
    def relevant(self) -> int:
        return self._from(self.threshold)

    @property
    def passed_over(self) -> int:
        """In the pool, and not judged."""
        return sum(self.grades.values()) - self.judged

    def _from(self, lowest: int) -> int:
        return sum(number for grade, number in self.grades.items() if grade >= lowest)


def judgment_counts(edition: Edition) -> JudgmentCounts:
    counts = edition.judgment_set.grade_counts
    grades = {int(grade): number for grade, number in counts.items()}
    return JudgmentCounts(grades, edition.track.relevance_threshold)


def topic_summaries(board: Board) -> list[TopicSummary]:
    """Every evaluated topic with its judgments and how the runs did."""
    scores = read_scores(board.edition, board.measure, [each.run for each in board.standings])
    direction = parse_measure(board.measure).direction
    worst, best, places = _ends(scores, direction)
    own = next((each.run for each in board.ranked if each.is_own), None)
    of_own = scores.of(own) if own in scores.runs else None
    counts = judged_topics(board.edition, scores.topics)
    return [
        TopicSummary(
            topic=each.topic,
            judged=each.judged,
            relevant=each.relevant,
            worst=float(worst[place]),
            median=float(scores.median[place]),
            best=float(best[place]),
            best_run=scores.runs[places[place]] if np.isfinite(best[place]) else None,
            own=None if of_own is None else float(of_own[place]),
        )
        for place, each in enumerate(counts)
    ]


def _ends(
    scores: Scores, direction: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """The worst and the best value of every topic, and whose row the best is."""
    num_topics = scores.values.shape[1]
    if not scores.runs:
        nothing = np.full(num_topics, np.nan)
        return nothing, nothing, np.zeros(num_topics, dtype=np.int64)
    good = direction * scores.values
    undefined = np.isnan(good).all(axis=0)
    high = np.where(np.isnan(good), -np.inf, good)
    low = np.where(np.isnan(good), np.inf, good)
    best, worst = direction * high.max(axis=0), direction * low.min(axis=0)
    best[undefined] = worst[undefined] = np.nan
    return worst, best, high.argmax(axis=0)


def judged_topics(edition: Edition, topics: list[Topic]) -> list[JudgedTopic]:
    """These topics with their judgments, counted by the database."""
    threshold = edition.track.relevance_threshold
    judgments = Judgment.objects.filter(judgment_set=edition.judgment_set_id)
    counts: dict[int, dict[int, int]] = {topic.pk: {} for topic in topics}
    rows = judgments.values_list("topic_id", "grade").annotate(Count("pk"))
    for topic_id, grade, number in rows.order_by("grade"):
        counts.setdefault(topic_id, {})[grade] = number
    return [
        JudgedTopic(
            topic=topic,
            grades=counts[topic.pk],
            relevant=sum(n for grade, n in counts[topic.pk].items() if grade >= threshold),
        )
        for topic in topics
    ]


# The orders in which topics can be looked at; a topic without a value comes last.
ORDERS: dict[str, Callable[[TopicSummary], tuple[bool, float]]] = {
    "judged": lambda each: (False, -each.judged),
    "relevant": lambda each: (False, -each.relevant),
    "median": lambda each: (bool(np.isnan(each.median)), -each.median),
    "best": lambda each: (bool(np.isnan(each.best)), -each.best),
}


def in_order(summaries: list[TopicSummary], order: str) -> list[TopicSummary]:
    """By one of ORDERS, the highest first; in the order of the collection otherwise."""
    return sorted(summaries, key=ORDERS[order]) if order in ORDERS else summaries
