"""The subtopics of a topic, and the ranks at which a run covers each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.judging import JudgedRun, Judgments, judge, prepare
from evaluation.measures.diversity import (
    relevant_entries,
    relevant_per_intent,
    subtopic_scores,
)
from evaluation.problems import Problems
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run as ReadRun
from leaderboard.boards.disclosure import Sight
from leaderboard.collections.stored_judgments import load_topic_qrels
from leaderboard.display.csv_tables import Columns, CsvTable, tabulate
from leaderboard.models import Edition, Topic

# How many ranks of a subtopic are listed.
RANKS = 10
TOP = 10


COLUMNS: Columns = [
    ("subtopic", "name"),
    ("probability", "probability"),
    ("relevant", "relevant"),
    ("retrieved", lambda line: len(line.ranks)),
    ("first_rank", "first_rank"),
    ("AP", "value"),
]


@dataclass(frozen=True)
class SubtopicLine:
    """A subtopic with its relevant documents, and the ranks of those that a run retrieves.

    `value` is average precision for this subtopic alone, None if it has no relevant document.
    """

    name: str
    probability: float | None
    relevant: int
    ranks: list[int]
    value: float | None

    @property
    def first_rank(self) -> int | None:
        return self.ranks[0] if self.ranks else None

    @property
    def shown_ranks(self) -> list[int]:
        return self.ranks[:RANKS]

    @property
    def more_ranks(self) -> int:
        return len(self.ranks) - len(self.shown_ranks)


@dataclass(frozen=True)
class Coverage:
    """The subtopics of a topic as a ranking covers them.

    `by_document` names the subtopics for which each retrieved document is relevant.
    """

    lines: list[SubtopicLine]
    by_document: Mapping[str, list[str]]

    @property
    def table(self) -> CsvTable:
        """A line for each subtopic, with the ranks at which the run covers it."""
        return tabulate(self.lines, COLUMNS)

    @property
    def has_probabilities(self) -> bool:
        return any(line.probability is not None for line in self.lines)

    @property
    def possible(self) -> int:
        """How many subtopics have a relevant document."""
        return sum(line.relevant > 0 for line in self.lines)

    @property
    def covered(self) -> int:
        """How many of them the ranking covers."""
        return sum(bool(line.ranks) for line in self.lines)

    @property
    def covered_in_top(self) -> int:
        """How many of them the first ten documents cover."""
        return sum(bool(line.ranks) and line.ranks[0] <= TOP for line in self.lines)


def find_visible_coverage(sight: Sight, topic: Topic, docnos: Sequence[str]) -> Coverage | None:
    """Return the subtopics that a ranking covers; None if there are none or none may be shown."""
    edition = sight.edition
    if edition is None or not edition.judgment_set.num_subtopics:
        return None
    qrels = load_topic_qrels(edition.judgment_set, topic)
    if not qrels.subtopics:
        return None
    judgments = prepare(qrels, top_grade=edition.judgment_set.top_grade)
    judged = judge_ranking(edition, judgments, docnos)
    rel: int = edition.settings["relevance_threshold"]
    return Coverage(
        list_subtopics(judged, rel),
        name_covered(judgments, docnos[: edition.settings["depth"]], rel),
    )


def judge_ranking(edition: Edition, judgments: Judgments, docnos: Sequence[str]) -> JudgedRun:
    """Judge the documents of one topic in this order."""
    ranking = Ranking([docno.encode() for docno in docnos], -np.arange(len(docnos), dtype=float))
    (number,) = judgments.topics
    run = ReadRun("shown", {number: ranking}, lines=0, problems=Problems())
    return judge(run, judgments, edition.settings["depth"])


def list_subtopics(judged: JudgedRun, rel: int) -> list[SubtopicLine]:
    """Return a line for each subtopic of the judgments of one topic, by their names."""
    intents, (likely,) = judged.judgments.intents, judged.judgments.probabilities or ({},)
    relevant = relevant_per_intent(judged.judgments, rel).tolist()
    values, entries = subtopic_scores(judged, rel).tolist(), relevant_entries(judged, rel, None)
    return [
        SubtopicLine(
            name=name.decode(),
            probability=likely.get(name),
            relevant=relevant[number],
            ranks=entries.rank[entries.intent == number].tolist(),
            value=values[number] if relevant[number] else None,
        )
        for number, name in enumerate(intents.names)
    ]


def name_covered(judgments: Judgments, docnos: Sequence[str], rel: int) -> dict[str, list[str]]:
    """Return for each of these documents the subtopics for which it is relevant."""
    (graded,) = judgments.subtopics
    return {
        docno: [name.decode() for name, grade in graded[docno.encode()].items() if grade >= rel]
        for docno in docnos
        if docno.encode() in graded
    }
