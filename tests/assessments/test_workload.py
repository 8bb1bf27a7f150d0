"""The price of an assessment, against counts by hand: topics of 4, 2 and 5 documents."""

from __future__ import annotations

import pytest

from leaderboard.assessments.pool_documents import topics_to_judge
from leaderboard.assessments.workload import measure_workload
from leaderboard.models import Assessment
from tests.assessments.marks import judge_everything
from tests.builders import make_assessment, make_user

SIZES = {"1": 4, "2": 2, "3": 5}


def test_the_pool_has_these_topics(pool):
    sizes = {number: len(found) for number, found in topics_to_judge(pool).items()}
    assert sizes == SIZES


@pytest.mark.parametrize(
    ("overlap", "size", "marks"),
    [("none", 0, 11), ("sample", 10, 22), ("all", 3, 33), ("topics", 3, 22), ("topics", 0, 11)],
)
def test_second_opinions_add_marks(pool, overlap, size, marks):
    planned = Assessment(track=pool.track, pool=pool, overlap=overlap, overlap_size=size)
    assert measure_workload(planned).marks == marks
    assert measure_workload(planned).documents == 11


def test_hours_come_from_the_pace_of_the_field_before_there_are_marks(pool):
    found = measure_workload(Assessment(track=pool.track, pool=pool, overlap="none"))
    assert (found.seconds, found.is_measured) == (45, False)
    assert found.hours == pytest.approx(11 * 45 / 3600)


def test_hours_come_from_the_median_of_thirty_marks(pool, ada, dan, eve):
    judged = make_assessment(pool, ada, dan, eve, make_user("fay"), overlap="all", overlap_size=3)
    judge_everything(judged, seconds=[10, 20, 60])
    found = measure_workload(judged)
    assert (found.seconds, found.is_measured) == (20, True)
    assert found.hours == pytest.approx(33 * 20 / 3600)
