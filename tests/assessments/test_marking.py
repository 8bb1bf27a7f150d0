"""Marks are added, never changed, and each is counted once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import IntegrityError, transaction

from leaderboard.actions.assessments import close_assessment, pause_assessment
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.judgments import settle_marks
from leaderboard.assessments.marking import MarkError, SentMark, record_mark
from leaderboard.assessments.queues import lease_documents, measure_progress
from leaderboard.models import Assessment, AssignedDocument, Assignment, Mark


@pytest.fixture
def documents(assignment: Assignment) -> list[AssignedDocument]:
    draw_documents(assignment)
    return list(assignment.documents.all())


def test_a_grade_moves_the_queue_on(assignment, documents):
    first, second, *_ = documents
    record_mark(assignment, SentMark(first.pk, grade=2))
    assert lease_documents(assignment, "tab", most=1).documents == [second]
    assert measure_progress(assignment).done == 1


def test_a_mark_that_is_sent_again_is_one_mark(assignment, documents):
    answer = SentMark(documents[0].pk, grade=2)
    assert record_mark(assignment, answer) == record_mark(assignment, answer)
    assert Mark.objects.count() == 1


def test_a_key_is_not_taken_for_another_answer(assignment, documents):
    answer = SentMark(documents[0].pk, grade=2)
    record_mark(assignment, answer)
    with pytest.raises(MarkError, match="another mark"):
        record_mark(assignment, replace(answer, grade=1))


def test_an_undo_is_a_mark_and_brings_the_document_back(assignment, documents):
    first = documents[0]
    mark = record_mark(assignment, SentMark(first.pk, grade=2))
    record_mark(assignment, SentMark(first.pk, kind="undo", replaces=mark.key))
    assert lease_documents(assignment, "tab", most=1).documents == [first]
    assert Mark.objects.count() == 2
    assert settle_marks(assignment.assessor.assessment) == []


def test_a_document_is_graded_again_after_an_undo(assignment, documents):
    first = documents[0]
    mark = record_mark(assignment, SentMark(first.pk, grade=2))
    record_mark(assignment, SentMark(first.pk, kind="undo", replaces=mark.key))
    record_mark(assignment, SentMark(first.pk, grade=0))
    assert [found.grade for found in settle_marks(assignment.assessor.assessment)] == [0]


def test_a_document_kept_for_later_comes_at_the_end(assignment, documents):
    first, *others = documents
    record_mark(assignment, SentMark(first.pk, kind="later"))
    assert lease_documents(assignment, "tab", most=9).documents == [*others, first]
    record_mark(assignment, SentMark(first.pk, grade=1))
    assert first.marks.last().replaces.kind == "later"


def test_a_judged_document_is_judged_again_only_by_naming_its_mark(assignment, documents):
    first = documents[0]
    mark = record_mark(assignment, SentMark(first.pk, grade=2))
    with pytest.raises(MarkError, match="another tab"):
        record_mark(assignment, SentMark(first.pk, grade=1))
    assert record_mark(assignment, SentMark(first.pk, grade=1, replaces=mark.key)).replaces == mark


def test_who_cannot_judge_says_why(assignment, documents):
    with pytest.raises(MarkError, match="why"):
        record_mark(assignment, SentMark(documents[0].pk, kind="cannot"))
    record_mark(assignment, SentMark(documents[0].pk, kind="cannot", reason="language"))
    assert measure_progress(assignment).cannot == 1


@pytest.mark.parametrize("grade", [3, -1, None])
def test_only_grades_of_the_scale_are_taken(assignment, documents, grade):
    with pytest.raises(MarkError, match="grades are 0, 1, 2"):
        record_mark(assignment, SentMark(documents[0].pk, grade=grade))


def test_a_paused_assessment_takes_no_marks(assignment, documents, ada):
    pause_assessment(assignment.assessor.assessment, ada)
    with pytest.raises(MarkError, match="paused"):
        record_mark(assignment, SentMark(documents[0].pk, grade=1))


def test_a_mark_that_comes_while_the_judging_closes_is_refused(assignment, documents, ada):
    """The assignment was read before, as in a request that runs beside the one that closes."""
    assessment = assignment.assessor.assessment
    record_mark(assignment, SentMark(documents[0].pk, grade=1))
    same = Assessment.objects.get(pk=assessment.pk)
    close_assessment(same, ada, "v1", is_early=True)
    with pytest.raises(MarkError, match="closed"):
        record_mark(assignment, SentMark(documents[1].pk, grade=1))
    assert Mark.objects.count() == 1


def test_two_tabs_never_show_the_same_document(assignment, documents):
    one = lease_documents(assignment, "one", most=2).documents
    other = lease_documents(assignment, "other", most=2).documents
    assert [*one, *other] == documents


def test_the_database_lets_one_mark_follow_another(assignment, documents):
    mark = record_mark(assignment, SentMark(documents[0].pk, grade=2))
    mark.pk, mark.key = None, "second"
    with pytest.raises(IntegrityError), transaction.atomic():
        mark.save(force_insert=True)


def test_a_tab_is_handed_only_what_it_lacks(assignment, documents):
    first = lease_documents(assignment, "tab", most=2).documents
    held = [document.pk for document in first]
    assert lease_documents(assignment, "tab", held, most=3).documents == documents[2:3]
    assert lease_documents(assignment, "tab", held, most=9).is_all
