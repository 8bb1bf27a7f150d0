"""The pages of an assessor, without JavaScript and as the script of the page asks."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from leaderboard.models import Assessment, AssignedDocument, Assignment, Mark
from tests.builders import make_assessment, signed_in
from tests.pages.reading import page_at, words


@pytest.fixture
def as_dan(dan):
    return signed_in(dan)


@pytest.fixture
def started(as_dan, assignment: Assignment):
    """Dan has read the guideline of topic 1."""
    as_dan.post(f"/judging/{assignment.pk}/before/", {"start": "yes"})
    return as_dan


def page_of(client, assignment) -> str:
    return client.get(f"/judging/{assignment.pk}/", {"tab": "a"}).content.decode()


def send(client, assignment, marks, have=(), tab="a") -> dict:
    body = json.dumps({"tab": tab, "marks": marks, "have": list(have)})
    answer = client.post(f"/judging/{assignment.pk}/marks/", body, content_type="application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_my_judging_lists_the_topics(as_dan, assessment):
    page = as_dan.get("/judging/").content.decode()
    assert "sourdough bread" in page and "0 of 4" in page


def test_my_judging_begins_where_the_assessor_stopped(started, assignment):
    page_of(started, assignment)
    document = assignment.documents.first()
    send(started, assignment, [{"key": "a" * 32, "document": document.pk, "grade": 1}])
    page = started.get("/judging/").content.decode()
    current = page[page.index('id="current"') : page.index('id="next"')]
    assert "sourdough bread" in current and "1 of 4 documents" in current
    assert f'href="/judging/{assignment.pk}/">Continue' in current


def test_my_judging_says_how_much_time_is_left_at_the_own_pace(started, assignment):
    page_of(started, assignment)
    document = assignment.documents.first()
    mark = {"key": "a" * 32, "document": document.pk, "grade": 1, "seconds": 120}
    send(started, assignment, [mark])
    page = words(started.get("/judging/").text)
    assert "about 20 min left" in page and "you stopped here now" in page


def test_where_everything_is_judged_the_page_thanks(as_dan, assignment):
    Assignment.objects.update(finished_at=timezone.now())
    assert "Nothing left to judge. Thank you." in as_dan.get("/judging/").text


def test_after_a_topic_the_next_one_is_the_main_button(as_dan, assignment):
    Assignment.objects.filter(pk=assignment.pk).update(finished_at=timezone.now())
    page = words(as_dan.get("/judging/").text)
    assert page.count("Next topic") == 1


def test_finished_topics_are_folded_and_lead_nowhere(as_dan, assignment):
    Assignment.objects.filter(pk=assignment.pk).update(finished_at=timezone.now())
    page = as_dan.get("/judging/").content.decode()
    assert "sourdough bread" in page[page.index("Show the finished topics") :]
    assert f"/judging/{assignment.pk}/" not in page


def test_the_guideline_comes_first(as_dan, assignment):
    answer = as_dan.get(f"/judging/{assignment.pk}/", {"tab": "a"})
    assert answer["Location"] == f"/judging/{assignment.pk}/before/"
    page = as_dan.get(answer["Location"]).content.decode()
    assert "<em>written</em>" in page and "Start judging" in page


def test_the_page_shows_a_document_and_the_grades(started, assignment):
    page = page_of(started, assignment)
    assert "of twelve, baked slowly" in page
    assert all(name in page for name in ("Answers it", "Touches it", "Not relevant"))


def test_the_page_names_no_document_and_no_run(started, assignment):
    page = page_of(started, assignment)
    assert all(docno not in page.split() for docno in ("d1", "d2", "d3", "d9"))
    assert "ben-bm25" not in page and "other" not in page.split()


def test_a_topic_is_judged_by_forms_alone(started, assignment):
    page_of(started, assignment)
    for grade in (2, 0, 1, 0):
        document = AssignedDocument.objects.unjudged().filter(assignment=assignment).first()
        sent = {"tab": "a", "key": f"k{document.pk}", "document": document.pk, "grade": grade}
        answer = started.post(f"/judging/{assignment.pk}/marks/", sent, follow=True)
    assert "Every document has an answer" in answer.content.decode()
    started.post(f"/judging/{assignment.pk}/end/")
    assignment.refresh_from_db()
    assert assignment.finished_at is not None


def test_an_undo_by_form_shows_the_document_again(started, assignment):
    page_of(started, assignment)
    document = assignment.documents.first()
    sent = {"tab": "a", "key": "one", "document": document.pk, "grade": 2}
    started.post(f"/judging/{assignment.pk}/marks/", sent)
    undo = {"tab": "a", "key": "two", "document": document.pk, "kind": "undo", "replaces": "one"}
    started.post(f"/judging/{assignment.pk}/marks/", undo)
    assert f'data-document="{document.pk}"' in page_of(started, assignment)


def test_an_answer_brings_the_next_three_documents(started, assignment):
    page_of(started, assignment)
    first, *others = assignment.documents.all()
    answer = send(started, assignment, [{"key": "k", "document": first.pk, "grade": 1}])
    assert answer["results"] == [{"key": "k", "code": ""}]
    assert [one["document"] for one in answer["next"]] == [other.pk for other in others]
    assert answer["progress"] == {"done": 1, "all": 4, "later": 0}


def test_marks_that_are_sent_again_are_counted_once(started, assignment):
    page_of(started, assignment)
    documents = assignment.documents.all()
    marks = [{"key": f"k{one.pk}", "document": one.pk, "grade": 1} for one in documents]
    first = send(started, assignment, marks)
    assert send(started, assignment, marks)["results"] == first["results"]
    assert Mark.objects.count() == 4


def test_a_mark_that_is_not_taken_says_why_and_holds_up_no_other(started, assignment):
    page_of(started, assignment)
    first, second, *_ = assignment.documents.all()
    marks = [
        {"key": "a", "document": first.pk, "grade": 7},
        {"key": "b", "document": second.pk, "grade": 1},
    ]
    codes = [result["code"] for result in send(started, assignment, marks)["results"]]
    assert codes == ["E_FIELD", ""]


@pytest.mark.parametrize(
    "body",
    [
        "no json",
        "[]",
        '{"tab": "a"}',
        '{"tab": "", "marks": [], "have": []}',
        '{"tab": "a", "marks": [{"grade": 1}], "have": []}',
        '{"tab": "a", "marks": [], "have": ["x"]}',
        '{"tab": "a", "marks": [], "have": [99999999999999999999999]}',
    ],
)
def test_what_cannot_be_read_is_refused(started, assignment, body):
    address = f"/judging/{assignment.pk}/marks/"
    assert started.post(address, body, content_type="application/json").status_code == 422


@pytest.mark.parametrize("document", [0, -1, 2**70])
def test_a_document_that_is_not_there_is_not_found(started, assignment, document):
    answer = send(started, assignment, [{"key": "k", "document": document, "grade": 1}])
    assert answer["results"][0]["code"] == "E_NOT_FOUND"


@pytest.mark.parametrize("address", ["", "before/", "end/"])
def test_nobody_else_sees_an_assignment(as_ada, as_ben, assignment, address):
    assert as_ben.get(f"/judging/{assignment.pk}/{address}").status_code == 404
    assert as_ada.get(f"/judging/{assignment.pk}/{address}").status_code == 404


def test_practice_answers_at_once_and_never_counts(as_dan, assignment, ada):
    assignment.assessor.assessment.practice_documents.create(
        topic=assignment.topic, docno="d12", grade=0, why="It is about slow baking"
    )
    page = as_dan.post(f"/judging/{assignment.pk}/before/", {"grade": "2"}, follow=True)
    assert "It is about slow baking" in page.content.decode()
    assert "You agree on 0 of 1 practice documents" in page.content.decode()
    assert not Mark.objects.exists()


def test_notes_are_kept(started, assignment):
    started.post(f"/judging/{assignment.pk}/notes/", {"notes": "Small loaves count."})
    assert "Small loaves count." in page_of(started, assignment)


def test_an_invitation_makes_an_assessor(as_cat, cat, pool, ada, dan):
    assessment = make_assessment(pool, ada, dan, allows_participants=True)
    as_cat.post(f"/judging/join/{assessment.invitation}/")
    assert assessment.assessors.get(user=cat).name == "A2"


def test_teams_cannot_judge_unless_the_organisers_allow_it(as_ben, assessment):
    page = as_ben.post(f"/judging/join/{assessment.invitation}/").content.decode()
    assert "Teams of this track cannot judge it" in page


def test_an_assessor_downloads_the_own_hours(started, assignment):
    page_of(started, assignment)
    document = assignment.documents.first()
    send(started, assignment, [{"key": "k", "document": document.pk, "grade": 1, "seconds": 36}])
    table = started.get("/judging/progress.csv").content.decode().splitlines()
    assert len(table) == 4
    assert table[1].split(",")[3:7] == ["4", "1", "0", "36.0"]


def test_the_link_of_assessors_says_what_there_is_to_do(assessment, client):
    page = words(page_at(client, f"/judging/join/{assessment.invitation}/"))
    assert "You are invited by ada to judge documents for Bread track" in page
    assert "under a pseudonym" in page and "Create an account and begin" in page


def test_the_link_of_a_judging_that_has_ended_says_so(assessment, client, as_cat):
    Assessment.objects.update(state="closed")
    for reader in (client, as_cat):
        answer = reader.get(f"/judging/join/{assessment.invitation}/")
        assert answer.status_code == 410 and "has ended" in words(answer.text)
