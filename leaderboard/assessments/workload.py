"""What judging a pool costs: documents, marks, and the hours that people need for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leaderboard.assessments.distribution import (
    count_opinions,
    count_sampled,
    documents_by_topic,
    find_topics,
)
from leaderboard.assessments.kinds import DOCUMENTS, kind_of_pool
from leaderboard.models import Assessment, Mark, Pool
from leaderboard.models.pools import ABOUT

# From so many marks of a kind on the pace of a collection is known.
FEWEST_MARKS = 30


@dataclass(frozen=True)
class ExpectedPace:
    """Seconds per document, and whether they were measured on this collection."""

    seconds: float
    is_measured: bool


@dataclass(frozen=True)
class Workload:
    """Documents to judge, marks with second opinions, and hours at a pace of `seconds`."""

    documents: int
    marks: int
    hours: float
    seconds: float
    is_measured: bool


def measure_workload(assessment: Assessment) -> Workload:
    """Return what an assessment of a pool costs; it need not be saved yet."""
    documents = documents_by_topic(assessment)
    pace = expect_pace(assessment.pool)
    marks = count_marks(assessment, documents)
    return Workload(
        documents=sum(documents.values()),
        marks=marks,
        hours=marks * pace.seconds / 3600,
        seconds=pace.seconds,
        is_measured=pace.is_measured,
    )


def count_marks(assessment: Assessment, documents: Mapping[str, int]) -> int:
    """Return how many answers the assessment asks for, repeats not counted."""
    if assessment.overlap == Assessment.Overlap.SAMPLE:
        return sum(
            size + count_sampled(size, assessment.overlap_size) for size in documents.values()
        )
    opinions = count_opinions(assessment, find_topics(assessment))
    return sum(documents[topic.number] * number for topic, number in opinions.items())


def expect_pace(pool: Pool) -> ExpectedPace:
    """Return the median seconds of the marks of this kind on a collection, or the usual ones."""
    kind = kind_of_pool(pool)
    same = [method for method in Pool.Method if ABOUT.get(method, DOCUMENTS.name) == kind.name]
    marks = Mark.objects.standing().filter(
        assessor__assessment__track__collection=pool.track.collection_id,
        assessor__assessment__pool__method__in=same,
    )
    seconds = list(marks.exclude(seconds=None).values_list("seconds", flat=True))
    if len(seconds) < FEWEST_MARKS:
        return ExpectedPace(kind.usual_seconds, is_measured=False)
    return ExpectedPace(float(np.median(seconds)), is_measured=True)
