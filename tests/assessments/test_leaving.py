"""Assessors take their data along, and their marks stay under a pseudonym."""

from __future__ import annotations

import pytest
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions.accounts import delete_account, export_account
from leaderboard.actions.assessments import share_out
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.judgments import load_marks
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.models import Assessment, Assignment, Mark
from tests.builders import signed_in


@pytest.fixture
def mark(assignment: Assignment) -> Mark:
    """Dan has judged d1 for topic 1, and kept a note on the topic."""
    draw_documents(assignment)
    Assignment.objects.filter(pk=assignment.pk).update(notes="Starters count.")
    first = assignment.documents.get(docno="d1")
    return record_mark(assignment, SentMark(first.pk, grade=2, rationale="It says so.", seconds=9))


def test_own_marks_are_exported_without_docnos_while_the_judging_goes_on(mark, dan):
    [told] = export_account(dan)["judging"]
    assert (told["track"], told["assessment"], told["pseudonym"]) == ("bread", "judging-1", "A1")
    assert told["notes"] == {"1": "Starters count."}
    [own] = told["marks"]
    assert (own["topic"], own["grade"], own["rationale"]) == ("1", 2, "It says so.")
    assert "docno" not in own


def test_own_marks_name_their_documents_once_the_judging_is_closed(mark, dan):
    Assessment.objects.update(state="closed")
    assert export_account(dan)["judging"][0]["marks"][0]["docno"] == "d1"


def test_nobody_exports_marks_of_others(mark, eve):
    assert export_account(eve)["judging"] == []


def test_marks_stay_under_the_pseudonym_and_notes_go(mark, assessment, dan):
    delete_account(dan)
    assert [(each.assessor, each.grade) for each in load_marks(assessment)] == [("A1", 2)]
    assert list(Assignment.objects.values_list("notes", flat=True)) == [""]
    assessor = assessment.assessors.get()
    assert assessor.user is None and assessor.removed_at is not None


def test_topics_that_a_deleted_user_did_not_begin_are_free_again(mark, assessment, ada, dan, eve):
    delete_account(dan)
    assessment.assessors.create(user=eve, name="A2")
    assert share_out(assessment, ada) == 2


def test_free_topics_are_shared_out_while_people_judge(mark, assessment, as_ada, dan, eve):
    page = "/benchmarks/bread/judging/judging-1/assessors/"
    assertNotContains(as_ada.get(page), "Share out")
    delete_account(dan)
    assertNotContains(as_ada.get(page), "Share out")
    assessment.assessors.create(user=eve, name="A2")
    assertContains(as_ada.get(page), "Share out")
    Assessment.objects.update(state="closed")
    assertNotContains(as_ada.get(page), "Share out")


def test_the_page_says_what_happens_to_marks(mark, dan):
    page = signed_in(dan).get("/account/delete/")
    assertContains(page, "Your 1 mark as an assessor stays under your pseudonym, without your name")
