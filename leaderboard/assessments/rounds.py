"""The ends of topics whose order chooses: proposals to stop, and the second round of a budget.

A proposal has no consequence: people finish a topic, and people start the second round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation.pooling import MissesInARow, count_gain, share_rest
from leaderboard.assessments.pool_documents import topics_to_judge
from leaderboard.assessments.progress import relevant_from
from leaderboard.models import Assessment, AssignedDocument, Assignment
from leaderboard.models.assessments import DocumentState

STOP = MissesInARow(20, at_least=30)


@dataclass(frozen=True)
class StopProposal:
    """A topic that could be finished: its budget is used, or the last documents are misses."""

    assignment: Assignment
    reason: Literal["budget", "misses"]
    judged: int
    misses: int


@dataclass(frozen=True)
class TopicShare:
    """A topic with its present assignment, and what each judged document is, in order."""

    assignment: Assignment
    hits: Sequence[bool]
    num_given: int
    num_done: int

    @property
    def is_judged(self) -> bool:
        """Whether every document of its budget so far has an answer."""
        return self.num_done >= self.num_given

    @property
    def misses(self) -> int:
        """How many of the last documents in a row are not relevant."""
        return next((n for n, hit in enumerate(reversed(self.hits)) if hit), len(self.hits))


def find_shares(assessment: Assessment) -> list[TopicShare]:
    """Return the topics that somebody judges; a reassigned one with all of its documents."""
    given = Assignment.objects.filter(assessor__assessment=assessment, turn=1)
    given = given.select_related("topic", "assessor").order_by("topic__position", "pk")
    documents: dict[int, list[tuple[str, int | None]]] = {}
    rows = AssignedDocument.objects.filter(assignment__in=given).kept().order_by("pk")
    for topic, *found in rows.values_list("assignment__topic", "state", "mark__grade"):
        documents.setdefault(topic, []).append((found[0], found[1]))
    by_topic: dict[int, list[Assignment]] = {}
    for assignment in given:
        by_topic.setdefault(assignment.topic_id, []).append(assignment)
    least = relevant_from(assessment)
    return [
        TopicShare(
            assignment=own[-1],
            hits=[grade >= least for _, grade in documents.get(topic, []) if grade is not None],
            num_given=sum(assignment.num_documents for assignment in own),
            num_done=sum(
                state in (DocumentState.JUDGED, DocumentState.CANNOT)
                for state, _ in documents.get(topic, [])
            ),
        )
        for topic, own in by_topic.items()
    ]


def find_stop_proposals(assessment: Assessment) -> list[StopProposal]:
    """Return the topics that could be finished, where the order chooses the documents."""
    if not assessment.chooses or assessment.state == Assessment.State.CLOSED:
        return []
    found = []
    for share in find_shares(assessment):
        judged = len(share.hits)
        is_dry = judged >= STOP.at_least and share.misses >= STOP.misses
        if share.assignment.finished_at is None and (share.is_judged or is_dry):
            reason: Literal["budget", "misses"] = "budget" if share.is_judged else "misses"
            found.append(StopProposal(share.assignment, reason, share.num_done, share.misses))
    return found


@dataclass(frozen=True)
class SecondRound:
    """The rest of a budget, and how many documents of it each assignment would get."""

    rest: int
    extra: dict[int, int]

    @property
    def num_documents(self) -> int:
        return sum(self.extra.values())


def plan_second_round(assessment: Assessment) -> SecondRound | None:
    """Share out the rest of the budget; None unless the first round of every topic is judged."""
    if not assessment.learns or assessment.budget is None or assessment.second_round_at:
        return None
    shares = find_shares(assessment)
    if not shares or not all(share.is_judged for share in shares):
        return None
    pooled = {number: len(found) for number, found in topics_to_judge(assessment.pool).items()}
    sizes = [pooled[share.assignment.topic.number] for share in shares]
    wanted = sum(min(size, assessment.budget) for size in sizes)
    rest = wanted - sum(share.num_given for share in shares)
    gains = [count_gain(np.array(share.hits, bool)) for share in shares]
    room = [size - share.num_given for size, share in zip(sizes, shares, strict=True)]
    extra = share_rest(rest, gains, room)
    return SecondRound(
        rest,
        {
            share.assignment.pk: number
            for share, number in zip(shares, extra, strict=True)
            if number
        },
    )
