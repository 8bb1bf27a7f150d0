"""Marks for tests: assessors who judge what they were given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle

from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.assessments.queues import lease_documents
from leaderboard.models import Assessment, AssignedDocument, Assignment

Grades = Callable[[AssignedDocument], int]


def judge_in_order(assignment: Assignment, grade: Grades, most: int = 1000) -> None:
    """Let the assessor judge the documents of a topic as they come, at most so many."""
    draw_documents(assignment)
    for _ in range(most):
        handed = lease_documents(assignment, "tab", most=1).documents
        if not handed:
            return
        for document in handed:
            record_mark(assignment, SentMark(document.pk, grade=grade(document), seconds=40))


def judge_everything(
    assessment: Assessment,
    grade: Grades = lambda document: 1,
    seconds: Sequence[float] = (40,),
    only: str = "",
) -> None:
    """Let the assessors, or the `only` one of this pseudonym, judge every document they have."""
    times = cycle(seconds)
    given = Assignment.objects.filter(assessor__assessment=assessment).order_by("pk")
    for assignment in given.filter(assessor__name=only) if only else given:
        draw_documents(assignment)
        for document in assignment.documents.unjudged():
            answer = SentMark(document.pk, grade=grade(document), seconds=next(times))
            record_mark(assignment, answer)
