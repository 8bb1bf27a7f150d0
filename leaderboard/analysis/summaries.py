"""A summary of every topic: its judgments and the scores of the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Count
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from evaluation.answers.any_measure import parse_measure
from evaluation.conventions import POOLED
from leaderboard.analysis.scores import (
    FEW_TOPICS,
    Scores,
    find_extremes,
    load_topics_at,
    read_scores,
)
from leaderboard.analysis.topic_choice import EVERY_TOPIC, ChosenTopics
from leaderboard.boards.standings import Board
from leaderboard.display.charts import UNIT, Axis, AxisColumn, grade_bar
from leaderboard.display.csv_tables import TOPIC_COLUMNS, CsvTable, tabulate
from leaderboard.models import Edition, Judgment, Run, Topic
from leaderboard.scoring.judgments import topic_mask


@dataclass(frozen=True)
class JudgedTopic:
    """A topic with the number of documents by grade, and how many are relevant."""

    topic: Topic
    grades: dict[int, int]
    relevant: int

    @property
    def judged(self) -> int:
        return sum(number for grade, number in self.grades.items() if grade != POOLED)


@dataclass(frozen=True)
class TopicSummary:
    """An evaluated topic; scores are NaN if the measure is undefined for every run."""

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
        """How many documents were pooled but not judged."""
        return sum(self.grades.values()) - self.judged

    def _from(self, lowest: int) -> int:
        return sum(number for grade, number in self.grades.items() if grade >= lowest)


@dataclass(frozen=True)
class GradeLine:
    """How many documents have a grade, as a bar."""

    grade: int
    says: str
    bar: SafeString


def grade_lines(grades: Mapping[int, int], top: int, threshold: int) -> list[GradeLine]:
    """Return a line for each grade, the highest first, including unused grades."""
    most = max(grades.values(), default=1)
    return [
        GradeLine(
            grade,
            _grade_meaning(grade, threshold),
            grade_bar(grades.get(grade, 0), most, grade, top),
        )
        for grade in range(top, min([0, *grades]) - 1, -1)
    ]


def _grade_meaning(grade: int, threshold: int) -> str:
    if grade == POOLED:
        return "pooled, not judged"
    return "relevant" if grade >= threshold else "not relevant"


def tabulate_grades(grades: Mapping[int, int]) -> CsvTable:
    """Return the number of documents of each grade, the highest first."""
    return CsvTable(["grade", "documents"], sorted(grades.items(), reverse=True))


def tabulate_judged(edition: Edition, topics: Sequence[JudgedTopic]) -> CsvTable:
    """Return a line for each topic, a column for each grade that occurs."""
    given = sorted((int(grade) for grade in edition.judgment_set.grade_counts), reverse=True)
    columns = [
        *TOPIC_COLUMNS,
        ("judged", "judged"),
        ("relevant", "relevant"),
        *(
            (f"grade {grade}", lambda topic, grade=grade: topic.grades.get(grade, 0))
            for grade in given
        ),
    ]
    return tabulate(topics, columns)


def count_judgments(edition: Edition) -> JudgmentCounts:
    counts = edition.judgment_set.grade_counts
    grades = {int(grade): number for grade, number in counts.items()}
    return JudgmentCounts(grades, edition.track.relevance_threshold)


@dataclass(frozen=True)
class Summaries:
    """The topics of a board, by their places among the evaluated ones.

    A collection may have thousands of topics, so only those that a page shows are read.
    """

    board: Board
    scores: Scores

    def in_order(self, order: str, chosen: ChosenTopics = EVERY_TOPIC) -> list[int]:
        """Return the chosen places in one of ORDERS, the highest first, or in collection order."""
        places: list[int] = list(range(self.scores.values.shape[1]))
        if order in ORDERS:
            # NaN sorts last.
            places = np.argsort(-ORDERS[order](self), kind="stable").tolist()
        if chosen.places is None:
            return places
        positions = np.flatnonzero(topic_mask(self.scores.edition)).tolist()
        return [place for place in places if positions[place] in chosen.places]

    @property
    def best(self) -> NDArray[np.float64]:
        return find_extremes(self.scores.values, self._direction)[1]

    @property
    def _direction(self) -> int:
        return parse_measure(self.scores.measure).direction

    def num_judged(self, lowest: int = 0) -> NDArray[np.float64]:
        """Count the documents of each topic with this grade or a higher one."""
        edition = self.scores.edition
        judgments = Judgment.objects.filter(judgment_set=edition.judgment_set_id)
        counts = judgments.filter(grade__gte=lowest).values_list("topic__position")
        found = np.zeros(len(edition.mask))
        for position, number in counts.annotate(Count("pk")).order_by():
            found[position] = number
        return found[topic_mask(edition)]

    def at(self, places: Sequence[int]) -> list[TopicSummary]:
        """Return the summaries of the topics at these places."""
        scores = replace(self.scores, values=self.scores.values[:, list(places)])
        worst, best = find_extremes(scores.values, self._direction)
        own = next((standing.run for standing in self.board.ranked if standing.is_own), None)
        of_own = scores.of(own) if own in scores.runs else None
        topics = load_judged_topics(scores.edition, load_topics_at(scores.edition, places))
        return [
            TopicSummary(
                topic=topic.topic,
                judged=topic.judged,
                relevant=topic.relevant,
                worst=float(worst[column]),
                median=float(scores.median[column]),
                best=float(best[column]),
                best_run=_first_with(best[column], scores.values[:, column], scores.runs),
                own=None if of_own is None else float(of_own[column]),
            )
            for column, topic in enumerate(topics)
        ]


def _first_with(score: np.float64, scores: NDArray[np.float64], runs: Sequence[Run]) -> Run | None:
    """Return the first run with this score; None if the score is undefined."""
    return next((runs[row] for row in np.flatnonzero(scores == score)), None)


def tabulate_summaries(summaries: Iterable[TopicSummary]) -> CsvTable:
    """Return a line for each topic: its judgments, and how the runs did."""
    columns = [
        *TOPIC_COLUMNS,
        ("judged", "judged"),
        ("relevant", "relevant"),
        ("worst", "worst"),
        ("median", "median"),
        ("best", "best"),
        ("best_run", "best_run.tag"),
        ("own", "own"),
    ]
    return tabulate(summaries, columns)


def range_axis(summaries: Sequence[TopicSummary]) -> AxisColumn:
    """Return the axis from the worst to the best run, from 0 to 1 if all values fit."""
    values = [end for each in summaries for end in (each.worst, each.best) if np.isfinite(end)]
    beyond = values and (min(values) < 0 or max(values) > 1)
    return AxisColumn(Axis.around(min(values), max(values)) if beyond else UNIT, "range")


def build_summaries(board: Board) -> Summaries:
    runs = [standing.run for standing in board.standings]
    return Summaries(board, read_scores(board.edition, board.measure, runs))


def build_topic_summaries(board: Board) -> list[TopicSummary]:
    """Return the summary of every evaluated topic."""
    summaries = build_summaries(board)
    return summaries.at(summaries.in_order(""))


def load_judged_topics(edition: Edition, topics: list[Topic]) -> list[JudgedTopic]:
    """These topics with their judgments, counted by the database."""
    threshold = edition.track.relevance_threshold
    judgments = Judgment.objects.filter(judgment_set=edition.judgment_set_id)
    if len(topics) <= FEW_TOPICS:
        judgments = judgments.filter(topic__in=topics)
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


# The orders of the list of topics; a topic without a value comes last.
ORDERS: dict[str, Callable[[Summaries], NDArray[np.float64]]] = {
    "judged": lambda summaries: summaries.num_judged(),
    "relevant": lambda summaries: summaries.num_judged(
        summaries.board.sight.track.relevance_threshold
    ),
    "median": lambda summaries: summaries.scores.median,
    "best": lambda summaries: summaries.best,
}
