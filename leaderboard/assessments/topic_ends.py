"""The end of a topic: how its grades lie, what waits, and which of them disagree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain, groupby

from leaderboard.assessments.kinds import read_items
from leaderboard.models import AssignedDocument, Assignment, Mark
from leaderboard.models.assessments import GradeText

State = AssignedDocument.State


@dataclass(frozen=True)
class GradeCount:
    """How often an assessor gave a grade on a topic."""

    grade: GradeText
    documents: int
    percent: int


@dataclass(frozen=True)
class SeenDocument:
    """A document that the assessor may look at once more, under its place."""

    key: int
    place: int
    grade: int | None
    beginning: str


@dataclass(frozen=True)
class TopicEnd:
    """What an assessor looks at before finishing a topic."""

    counts: list[GradeCount]
    cannot: int
    later: list[SeenDocument]
    # Documents with nearly the same text and different grades, those alike together.
    contradictions: list[list[SeenDocument]]


def find_topic_end(assignment: Assignment) -> TopicEnd:
    """Return how far the grades of a topic are consistent; nothing of other assessors."""
    documents = list(assignment.documents.select_related("mark").order_by("place"))
    judged = [document for document in documents if document.state == State.JUDGED]
    grades = Counter(grade_of(document) for document in judged)
    later = [document for document in documents if document.state == State.LATER]
    contradictions = find_contradictions(judged)
    shown = describe_documents(assignment, [*later, *chain.from_iterable(contradictions)])
    return TopicEnd(
        counts=[
            GradeCount(grade, grades[grade.grade], 100 * grades[grade.grade] // max(len(judged), 1))
            for grade in assignment.assessor.assessment.guideline.scale
        ],
        cannot=sum(document.state == State.CANNOT for document in documents),
        later=[shown[document.pk] for document in later],
        contradictions=[[shown[document.pk] for document in group] for group in contradictions],
    )


def describe_documents(
    assignment: Assignment, documents: list[AssignedDocument]
) -> dict[int, SeenDocument]:
    """Return the documents by key as the page lists them."""
    items = read_items(assignment, documents)
    return {
        document.pk: SeenDocument(
            document.pk, document.place, grade_of(document), items[document.pk].beginning
        )
        for document in documents
    }


def find_contradictions(judged: list[AssignedDocument]) -> list[list[AssignedDocument]]:
    """Return the groups of near-duplicates that have different grades."""
    alike = [document for document in judged if document.lookalikes is not None]
    alike.sort(key=lambda document: (document.lookalikes, document.place))
    groups = [list(group) for _, group in groupby(alike, key=lambda found: found.lookalikes)]
    return [group for group in groups if len({grade_of(document) for document in group}) > 1]


def grade_of(document: AssignedDocument) -> int | None:
    mark: Mark | None = document.mark
    return None if mark is None else mark.grade
