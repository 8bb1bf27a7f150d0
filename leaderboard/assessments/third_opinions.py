"""Third opinions: what two assessors differ on goes to another one, who judges it blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.assessments.distribution import (
    LoadedAssessor,
    Opinion,
    count_opinions,
    find_workers,
    take,
)
from leaderboard.assessments.pool_documents import documents_to_judge
from leaderboard.assessments.progress import find_disputes
from leaderboard.models import Assessment, AssignedDocument, Assignment, Topic


@dataclass(frozen=True)
class ThirdOpinions:
    """What third assessors are asked: new and longer assignments, and how many are left over."""

    assignments: list[Assignment]
    num_given: int
    num_left: int


def find_unasked(assessment: Assessment) -> dict[int, list[str]]:
    """Return the disagreements that nobody else was asked about, by the key of the topic."""
    asked = {
        (assignment.topic_id, docno)
        for assignment in Assignment.objects.of(assessment).filter(settles=True)
        for docno in assignment.docnos
    }
    found: dict[int, list[str]] = {}
    for dispute in find_disputes(assessment):
        if (dispute.topic, dispute.docno) not in asked:
            found.setdefault(dispute.topic, []).append(dispute.docno)
    return {topic: sorted(docnos) for topic, docnos in found.items()}


def count_unasked(assessment: Assessment) -> int:
    """Return how many disagreements a third assessor can be asked about."""
    if assessment.rule != Assessment.Rule.AGREED or assessment.state == Assessment.State.CLOSED:
        return 0
    return sum(map(len, find_unasked(assessment).values()))


def plan_third_opinions(assessment: Assessment) -> ThirdOpinions:
    """Give each disagreement to the assessor with the fewest documents who may judge it; unsaved.

    Who has judged a topic never settles it. Who settles some of it already gets the rest.
    """
    unasked, workers = find_unasked(assessment), find_workers(assessment)
    topics = Topic.objects.in_bulk(unasked)
    planned: list[Assignment] = []
    num_left = 0
    for key, docnos in unasked.items():
        worker = _find_third(assessment, topics[key], docnos, workers)
        if worker is None:
            num_left += len(docnos)
            continue
        planned.append(_give(worker, topics[key], docnos))
    num_asked = sum(map(len, unasked.values()))
    return ThirdOpinions(planned, num_asked - num_left, num_left)


def _find_third(
    assessment: Assessment,
    topic: Topic,
    docnos: Sequence[str],
    workers: Sequence[LoadedAssessor],
) -> LoadedAssessor | None:
    """Return who settles this topic; nobody settles what only the own team found."""
    pooled = [each for each in documents_to_judge(assessment.pool, topic) if each.docno in docnos]
    settling = Assignment.objects.of(assessment).filter(topic=topic, settles=True)
    known = set(settling.values_list("assessor", flat=True))
    free = [
        worker
        for worker in workers
        if (topic.pk not in worker.topics or worker.assessor.pk in known)
        and not any(document.is_only_of(worker.team) for document in pooled)
    ]

    def turn(worker: LoadedAssessor) -> tuple[bool, int, int]:
        return worker.assessor.pk not in known, worker.documents, worker.assessor.pk

    return min(free, key=turn, default=None)


def _give(worker: LoadedAssessor, topic: Topic, docnos: list[str]) -> Assignment:
    """Return a new assignment, or the one of this assessor with more documents."""
    known = Assignment.objects.filter(assessor=worker.assessor, topic=topic).first()
    if known is None:
        made = take(worker, Opinion(topic, _next_turn(worker, topic)), docnos)
        made.settles = True
        return made
    known.docnos = [*known.docnos, *docnos]
    known.num_documents += len(docnos)
    known.finished_at = None
    return known


def _next_turn(worker: LoadedAssessor, topic: Topic) -> int:
    """Return the turn after all opinions that the design asks for."""
    assessment = worker.assessor.assessment
    return max(2, count_opinions(assessment, [topic])[topic]) + 1


def save_third_opinions(planned: Sequence[Assignment]) -> None:
    """Save assignments; one that is in order already has its new documents at the end."""
    for assignment in planned:
        assignment.save()
        if assignment.drawn_at is None:
            continue
        own = assignment.documents.values_list("docno", flat=True)
        new = [docno for docno in assignment.docnos if docno not in set(own)]
        last = assignment.documents.count()
        AssignedDocument.objects.bulk_create(
            AssignedDocument(assignment=assignment, docno=docno, place=place)
            for place, docno in enumerate(new, last + 1)
        )
