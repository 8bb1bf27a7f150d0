"""Who judges which topic: opinions shared out by rule, so that nobody has much more to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.pooling import first_round
from evaluation.pooling.pools import chance_of
from leaderboard.assessments.kinds import kind_of_judging
from leaderboard.assessments.pool_documents import (
    PooledDocument,
    documents_to_judge,
    topics_to_judge,
)
from leaderboard.models import Assessment, Assessor, Assignment, Membership, Topic

# The fewest documents of a topic in a sample; a topic with fewer is in it as a whole.
SMALLEST_SAMPLE = 5


@dataclass
class LoadedAssessor:
    """An assessor with what the assessor has to judge so far."""

    assessor: Assessor
    team: int | None
    topics: set[int] = field(default_factory=set)
    documents: int = 0


@dataclass(frozen=True)
class Opinion:
    """One opinion that a topic needs: the first, the second, and so on."""

    topic: Topic
    turn: int


def opinions_needed(assessment: Assessment) -> list[Opinion]:
    """Return the opinions that the topics of the pool need, first ones first."""
    counted = count_opinions(assessment, find_topics(assessment))
    needed = [
        Opinion(topic, turn)
        for topic, opinions in counted.items()
        for turn in range(1, opinions + 1)
    ]
    return sorted(needed, key=lambda opinion: opinion.turn)


def find_topics(assessment: Assessment) -> list[Topic]:
    """Return the topics of the pool that have documents to judge."""
    numbers = topics_to_judge(assessment.pool)
    return list(assessment.track.collection.topics.filter(number__in=list(numbers)))


def count_opinions(assessment: Assessment, topics: Sequence[Topic]) -> dict[Topic, int]:
    """Return how many assessors judge each topic, or a sample of it."""
    overlap = Assessment.Overlap
    if assessment.overlap == overlap.ALL:
        return dict.fromkeys(topics, assessment.overlap_size)
    if assessment.overlap == overlap.SAMPLE:
        return dict.fromkeys(topics, 2)
    once = dict.fromkeys(topics, 1)
    if assessment.overlap == overlap.TOPICS:
        return once | dict.fromkeys(_draw_topics(assessment, topics), 2)
    return once


def _draw_topics(assessment: Assessment, topics: Sequence[Topic]) -> list[Topic]:
    """Return the topics that have a second opinion, drawn by the seed."""

    def chance(topic: Topic) -> bytes:
        return chance_of(assessment.seed, topic.number.encode(), b"")

    return sorted(topics, key=chance)[: assessment.overlap_size]


def count_sampled(size: int, percent: int) -> int:
    """Return how many of the documents of a topic a second assessor judges.

    >>> [count_sampled(size, 10) for size in (3, 20, 200)]
    [3, 5, 20]
    """
    return min(size, max(SMALLEST_SAMPLE, math.ceil(size * percent / 100)))


def select_documents(
    assessment: Assessment, topic: Topic, turn: int, team: int | None
) -> list[PooledDocument]:
    """Return what a member of this team judges as this opinion of a topic.

    Never a document that only the own team found.  A sample is drawn by the seed alone, so it
    does not depend on what anybody judged.
    """
    documents = documents_to_judge(assessment.pool, topic)
    own = [document for document in documents if not document.is_only_of(team)]
    if turn == 1 or assessment.overlap != Assessment.Overlap.SAMPLE:
        return own
    number, kind = topic.number.encode(), kind_of_judging(assessment)
    size = count_sampled(len(documents), assessment.overlap_size)

    def chance(found: PooledDocument) -> bytes:
        return chance_of(assessment.seed, number, kind.unit_of(found.docno).encode())

    return sorted(own, key=chance)[:size]


def plan_assignments(assessment: Assessment) -> list[Assignment]:
    """Return the assignments that are still to be made, not saved.

    Each opinion goes to the assessor with the fewest documents who may take another topic.  What
    only the team of that assessor found goes to somebody else.  An opinion for which nobody is
    left stays open.
    """
    workers = find_workers(assessment)
    taken = _find_taken(assessment)
    planned = []
    for opinion in opinions_needed(assessment):
        if (opinion.topic.pk, opinion.turn) in taken:
            continue
        planned += _assign(assessment, opinion, workers)
    return planned


def find_workers(assessment: Assessment) -> list[LoadedAssessor]:
    """Return the assessors who can judge with their teams and what they have already."""
    assessors = list(assessment.assessors.available())
    teams = find_teams(assessment, assessors)
    workers = {found.pk: LoadedAssessor(found, teams.get(found.user_id)) for found in assessors}
    for assignment in Assignment.objects.filter(assessor__in=assessors):
        workers[assignment.assessor_id].topics.add(assignment.topic_id)
        workers[assignment.assessor_id].documents += assignment.num_documents
    return list(workers.values())


def find_teams(assessment: Assessment, assessors: Iterable[Assessor]) -> dict[int | None, int]:
    """Return the team of each user among the assessors who takes part in the track."""
    users = [found.user_id for found in assessors]
    members = Membership.objects.filter(benchmark=assessment.track.benchmark_id, user__in=users)
    return dict(members.values_list("user", "team"))


def _find_taken(assessment: Assessment) -> set[tuple[int, int]]:
    """Return topic and turn of the opinions that somebody has."""
    assignments = Assignment.objects.filter(assessor__assessment=assessment)
    return set(assignments.values_list("topic", "turn"))


def _assign(
    assessment: Assessment, opinion: Opinion, workers: list[LoadedAssessor]
) -> list[Assignment]:
    if assessment.chooses:
        return _assign_whole(assessment, opinion, workers)
    worker = _find_free(assessment, opinion.topic, workers)
    if worker is None:
        return []
    documents = select_documents(assessment, opinion.topic, opinion.turn, worker.team)
    made = [take(worker, opinion, [found.docno for found in documents], all_of_rule=True)]
    every = topics_to_judge(assessment.pool)[opinion.topic.number]
    left = [found for found in every if found.is_only_of(worker.team)]
    if opinion.turn == 1 and left:
        other = _find_free(
            assessment, opinion.topic, [each for each in workers if each.team != worker.team]
        )
        if other is not None:
            made.append(take(other, opinion, [found.docno for found in left]))
    return made


def _assign_whole(
    assessment: Assessment, opinion: Opinion, workers: Iterable[LoadedAssessor]
) -> list[Assignment]:
    """Give a topic whose order chooses to an assessor whose team found nothing alone in it."""
    documents = topics_to_judge(assessment.pool)[opinion.topic.number]
    fit = [
        worker
        for worker in workers
        if not any(document.is_only_of(worker.team) for document in documents)
    ]
    worker = _find_free(assessment, opinion.topic, fit)
    if worker is None:
        return []
    docnos = [document.docno for document in documents]
    # Only their number counts: the order chooses them one batch after the other.
    return [take(worker, opinion, docnos[: first_budget(assessment)], all_of_rule=True)]


def first_budget(assessment: Assessment) -> int | None:
    """Return how many documents of a topic are given at first; None for all of them."""
    if not assessment.learns or assessment.budget is None or assessment.second_round_at:
        return assessment.budget
    return first_round(assessment.budget)


def _find_free(
    assessment: Assessment, topic: Topic, workers: Iterable[LoadedAssessor]
) -> LoadedAssessor | None:
    """Return the assessor with the fewest documents who may take the topic."""
    free = [
        worker
        for worker in workers
        if topic.pk not in worker.topics and len(worker.topics) < assessment.topics_per_assessor
    ]
    return min(free, key=lambda worker: (worker.documents, worker.assessor.pk), default=None)


def take(
    worker: LoadedAssessor, opinion: Opinion, docnos: list[str], all_of_rule: bool = False
) -> Assignment:
    """Give an opinion to an assessor; list its documents unless the rule says which they are."""
    worker.topics.add(opinion.topic.pk)
    worker.documents += len(docnos)
    return Assignment(
        assessor=worker.assessor,
        topic=opinion.topic,
        turn=opinion.turn,
        num_documents=len(docnos),
        docnos=[] if all_of_rule else docnos,
    )


def missing_opinions(assessment: Assessment) -> list[Opinion]:
    """Return the opinions that nobody has yet."""
    taken = _find_taken(assessment)
    return [
        opinion
        for opinion in opinions_needed(assessment)
        if (opinion.topic.pk, opinion.turn) not in taken
    ]


def find_team(assessor: Assessor) -> int | None:
    """Return the team of the assessor in the track, if the assessor takes part in it."""
    return find_teams(assessor.assessment, [assessor]).get(assessor.user_id)


def documents_by_topic(assessment: Assessment) -> Mapping[str, int]:
    """Return how many documents of each topic are to be judged."""
    sizes = {number: len(found) for number, found in topics_to_judge(assessment.pool).items()}
    if assessment.budget is None or not assessment.chooses:
        return sizes
    return {number: min(size, assessment.budget) for number, size in sizes.items()}
