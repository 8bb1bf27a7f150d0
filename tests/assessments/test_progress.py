"""Progress is counted by the database, whatever the size of the pool."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.actions.assessments import settle_document
from leaderboard.assessments.judgments import find_outcome
from leaderboard.assessments.progress import find_disputes, measure_assessment, measure_share
from leaderboard.models import Mark
from tests.assessments.marks import judge_everything
from tests.builders import make_assessment


@pytest.fixture
def twice(pool, ada, dan, eve):
    """Dan finds nothing relevant, Eve everything, so they differ on all eleven documents."""
    assessment = make_assessment(pool, ada, dan, eve, overlap="all", overlap_size=2)
    judge_everything(assessment, lambda document: 0, only="A1")
    judge_everything(assessment, lambda document: 2, seconds=[20], only="A2")
    return assessment


def test_nothing_is_judged_at_first(assessment):
    found = measure_assessment(assessment)
    assert (found.num_graded, found.num_pooled, found.share, found.ends_on) == (0, 11, 0, None)


def test_a_cell_counts_what_an_assessor_has_done_of_a_topic(assessment, assignment):
    judge_everything(assessment)
    cell = measure_assessment(assessment).topics[0].cells[0]
    assert (cell.turn, cell.done, cell.all, cell.is_done) == (1, 4, 4, True)


def test_documents_are_counted_once_however_many_judged_them(twice):
    found = measure_assessment(twice)
    assert (found.num_graded, found.num_twice, found.num_done) == (11, 11, 22)
    assert measure_share(twice) == 1


def test_an_assessor_has_a_pace_and_the_assessment_has_hours(twice):
    found = measure_assessment(twice)
    assert [column.seconds for column in found.assessors] == [40, 20]
    assert (found.seconds, found.hours) == (30, pytest.approx(11 * 60 / 3600))


def test_the_relevant_share_is_that_of_first_opinions(twice):
    found = measure_assessment(twice)
    shares = [line.opinions.relevant_share for line in found.topics]
    first = {line.topic.number: [c.turn for c in line.cells] for line in found.topics}
    assert shares == [float(first[number] == [2, 1]) for number in "123"]


def test_a_settled_document_is_no_dispute_any_more(twice, ada):
    dispute = find_disputes(twice)[0]
    topic = twice.track.collection.topics.get(pk=dispute.topic)
    settle_document(twice, ada, topic, dispute.docno, 1)
    assert dispute not in find_disputes(twice)
    assert len(find_disputes(twice)) == len(find_outcome(twice).open_disagreements) == 10


def test_the_end_comes_from_the_marks_of_the_last_days(pool, ada, dan):
    """Eight of eleven marks in four days: two a day, so the other three take two days more."""
    assessment = make_assessment(pool, ada, dan)
    now = timezone.now()
    judge_everything(assessment)
    for mark in Mark.objects.all()[8:]:
        mark.document.__class__.objects.filter(pk=mark.document_id).update(state="waiting")
        mark.delete()
    Mark.objects.update(at=now - timedelta(days=4))
    assessment.opened_at = now - timedelta(days=4)
    found = measure_assessment(assessment, now)
    assert (found.daily, found.num_left) == (2, 3)
    assert found.ends_on == found.today + timedelta(days=2)


def test_a_larger_pool_needs_no_more_queries(twice, django_assert_max_num_queries):
    measure_assessment(twice)
    with django_assert_max_num_queries(15):
        measure_assessment(twice)
