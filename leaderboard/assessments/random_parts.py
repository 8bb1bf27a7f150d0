"""The random part of an order that learns: what it says of the documents that were not judged.

Some documents of each topic are drawn by the seed before the order starts. Unlike those that the
order chose, they are a sample of the whole pool, so they bound what the order missed.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.pooling import RelevantEstimate, estimate_relevant
from leaderboard.assessments.distribution import first_budget
from leaderboard.assessments.learning import GUARDS
from leaderboard.assessments.progress import relevant_from
from leaderboard.models import Assessment, AssignedDocument, Assignment, Topic
from leaderboard.models.assessments import DocumentState


@dataclass(frozen=True)
class RandomPart:
    """The random documents of a topic: how many were drawn, have an answer, and are relevant.

    They were drawn from `candidates`; `found` relevant documents of the topic are known, whoever
    chose them.
    """

    topic: Topic
    drawn: int
    candidates: int
    answered: int
    graded: int
    relevant: int
    found: int

    @property
    def estimate(self) -> RelevantEstimate | None:
        """How many documents of the pool are relevant; None until all have an answer."""
        if self.answered < self.drawn or not self.graded:
            return None
        return estimate_relevant(self.candidates, self.graded, self.relevant)


def fit_random_part(assessment: Assessment) -> int:
    """Return how many random documents of a topic the order can hand out, up to those asked for."""
    if not assessment.learns:
        return 0
    budget = first_budget(assessment)
    most = assessment.random_part if budget is None else GUARDS.most_sampled(budget)
    return min(assessment.random_part, most)


def find_random_parts(assessment: Assessment) -> list[RandomPart]:
    """Return the random part of each topic whose judging has begun, in the order of topics."""
    given = Assignment.objects.filter(assessor__assessment=assessment, num_candidates__isnull=False)
    drawn = [each for each in given.select_related("topic") if each.random_part]
    documents = AssignedDocument.objects.of(assessment).kept()
    rows = documents.filter(assignment__topic__in=[each.topic_id for each in drawn])
    answers: dict[int, dict[str, tuple[str, int | None]]] = {}
    for topic, docno, *answer in rows.values_list(
        "assignment__topic", "docno", "state", "mark__grade"
    ):
        answers.setdefault(topic, {})[docno] = (answer[0], answer[1])
    least = relevant_from(assessment)
    return [_describe(each, answers.get(each.topic_id, {}), least) for each in drawn]


def _describe(
    assignment: Assignment, answers: dict[str, tuple[str, int | None]], least: int
) -> RandomPart:
    own = [answers[docno] for docno in assignment.random_part if docno in answers]
    grades = [grade for _, grade in own if grade is not None]
    known = [grade for _, grade in answers.values() if grade is not None]
    return RandomPart(
        topic=assignment.topic,
        drawn=len(assignment.random_part),
        candidates=assignment.num_candidates or 0,
        answered=sum(state in (DocumentState.JUDGED, DocumentState.CANNOT) for state, _ in own),
        graded=len(grades),
        relevant=sum(grade >= least for grade in grades),
        found=sum(grade >= least for grade in known),
    )
