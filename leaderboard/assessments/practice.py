"""Practice before a topic: documents whose grades are settled, which never count."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.pooling.pools import chance_of
from leaderboard.assessments.items import JudgedItem
from leaderboard.assessments.kinds import kind_of_pool
from leaderboard.models import Assignment, Judgment, Pool, PracticeDocument, Topic

PRACTISED = 5


@dataclass(frozen=True)
class Practice:
    """A document to practise on, with its settled grade and the reason for it."""

    pool: Pool
    topic: Topic
    docno: str
    grade: int
    why: str = ""

    @property
    def item(self) -> JudgedItem:
        return kind_of_pool(self.pool).read(self.pool, self.topic, [self.docno], {})[self.docno]


@dataclass(frozen=True)
class Practised:
    """A practice document with the grade that the assessor gave it."""

    practice: Practice
    given: int

    @property
    def agrees(self) -> bool:
        return self.given == self.practice.grade


def list_practice(assignment: Assignment) -> list[Practice]:
    """Return up to five documents: those that organisers chose, the own topic's first.

    If they chose fewer, earlier judgments of the topic follow, each grade in its turn.
    """
    pool = assignment.assessor.assessment.pool
    chosen = [
        Practice(pool, row.topic, row.docno, row.grade, row.why)
        for row in PracticeDocument.objects.filter(assessment=assignment.assessor.assessment)
        .select_related("topic")
        .order_by("pk")
    ]
    chosen.sort(key=lambda practice: practice.topic != assignment.topic)
    return [*chosen, *_list_judged(assignment)][:PRACTISED]


def _list_judged(assignment: Assignment) -> list[Practice]:
    """Return judged documents of the topic, in random order but with different grades first."""
    assessment, topic = assignment.assessor.assessment, assignment.topic
    grades = {grade.grade for grade in assessment.guideline.scale}
    rows = Judgment.objects.filter(
        judgment_set=assessment.pool.judged_in_id, topic=topic, grade__in=grades
    ).values_list("docno", "grade")
    by_chance = sorted(
        rows,
        key=lambda row: chance_of(assessment.seed, topic.number.encode(), row[0].encode()),
    )
    seen: dict[int, int] = {}
    turns = []
    for docno, grade in by_chance:
        seen[grade] = seen.get(grade, 0) + 1
        turns.append((seen[grade], Practice(assessment.pool, topic, docno, grade)))
    return [practice for _, practice in sorted(turns, key=lambda turn: turn[0])]
