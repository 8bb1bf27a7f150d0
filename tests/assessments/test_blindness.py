"""Whoever judges sees no score, no run and no docno until the judging is closed."""

from __future__ import annotations

import re

import pytest

from leaderboard.actions.assessments import close_assessment, remove_assessor
from leaderboard.models import Assignment, Mark, Run
from tests.builders import OTHER_RUN, make_assessment, make_pool, make_run, signed_in, work

# As a page or the API prints it; milliseconds of a time have digits before the point.
SCORE = re.compile(r"(?<!\d)0?\.(69|80)")
DOCNO = re.compile(r"\bd(?:[1-9]|1[0-2])\b")


@pytest.fixture
def judged(track, ada, ben, cat, dan):
    """An open track with scores, of which Ben, who takes part, and Dan judge what is left."""
    runs = [make_run(track, ben), make_run(track, cat, OTHER_RUN)]
    pool = make_pool(track, ada, runs, size=4)
    return make_assessment(pool, ada, ben, dan, allows_participants=True)


def words_of(client, address: str) -> str:
    answer = client.get(address, follow=True)
    return answer.content.decode() if answer.status_code == 200 else ""


def addresses_of(assessment, user) -> list[str]:
    own = Assignment.objects.filter(assessor__user=user, assessor__assessment=assessment)
    keys = [assignment.pk for assignment in own]
    pages = [f"/judging/{key}/{page}" for key in keys for page in ("before/", "?tab=a", "end/")]
    return ["/judging/", f"/judging/join/{assessment.invitation}/", *pages]


def test_no_address_of_an_assessor_names_a_document_or_a_run(judged, ben):
    client = signed_in(ben)
    for assignment in Assignment.objects.filter(assessor__user=ben):
        client.post(f"/judging/{assignment.pk}/before/", {"start": "yes"})
    tags = set(Run.objects.values_list("tag", flat=True))
    for address in addresses_of(judged, ben):
        page = words_of(client, address)
        assert page, address
        assert not DOCNO.search(page), address
        assert not any(re.search(rf"\b{tag}\b", page) for tag in tags), address


def test_answers_to_marks_name_no_document_either(judged, ben):
    client = signed_in(ben)
    assignment = Assignment.objects.filter(assessor__user=ben).first()
    body = '{"tab": "a", "marks": [], "have": []}'
    answer = client.post(f"/judging/{assignment.pk}/marks/", body, "application/json")
    assert answer.json()["next"]
    assert not DOCNO.search(answer.content.decode())


@pytest.mark.parametrize(
    "address",
    [
        "/benchmarks/bread/board/",
        "/benchmarks/bread/board/?as=everybody",
        "/benchmarks/bread/feed.xml",
        "/benchmarks/bread/badge.svg",
        "/benchmarks/bread/topics/",
        "/benchmarks/bread/topic/?number=1",
        "/benchmarks/bread/significance/",
        "/benchmarks/bread/judgments/",
        "/benchmarks/bread/document/?docno=d1",
        "/benchmarks/bread/runs/",
        "/runs/",
        "/runs/{run}/",
        "/runs/{run}/topics/",
        "/",
        "/api/v1/tracks/bread/leaderboard",
        "/api/v1/runs/{run}",
    ],
)
def test_a_participant_who_judges_sees_no_score(judged, ben, address):
    """Ben's run has an AP of .694 and an nDCG@10 of .809 on this track."""
    run = Run.objects.get(tag="ben-bm25")
    page = words_of(signed_in(ben), address.format(run=run.pk))
    assert not SCORE.search(page)


def test_the_scores_are_there_for_everyone_else(judged, cat):
    assert ".694" in words_of(signed_in(cat), "/benchmarks/bread/board/")


def test_runs_of_others_are_hidden_from_an_assessor(judged, ben):
    run = Run.objects.get(tag="other")
    assert signed_in(ben).get(f"/runs/{run.pk}/").status_code == 404


def test_scores_come_back_when_the_judging_is_closed(judged, ada, ben):
    assignment = Assignment.objects.filter(assessor__user=ben).first()
    client = signed_in(ben)
    client.post(f"/judging/{assignment.pk}/before/", {"start": "yes"})
    client.get(f"/judging/{assignment.pk}/?tab=a")
    document = assignment.documents.first()
    sent = {"tab": "a", "key": "k", "document": document.pk, "grade": 1}
    client.post(f"/judging/{assignment.pk}/marks/", sent)
    assert Mark.objects.count() == 1
    close_assessment(judged, ada, "v2", is_early=True)
    work()
    assert ".694" in words_of(client, "/benchmarks/bread/board/")


def test_scores_come_back_for_whom_the_organisers_take_off(judged, ada, ben):
    remove_assessor(judged.assessors.get(user=ben), ada)
    assert ".694" in words_of(signed_in(ben), "/benchmarks/bread/board/")


def test_a_notice_to_a_team_that_judges_says_no_score(judged, ben):
    notices = words_of(signed_in(ben), "/account/notices/")
    assert ".69" not in notices


def test_no_answer_to_an_assessor_says_why_a_document_came(pool, ada, dan):
    """An order that learns keeps the run and the reason of each document."""
    assessment = make_assessment(pool, ada, dan, order="thompson", budget=2)
    client = signed_in(dan)
    for assignment in Assignment.objects.all():
        client.post(f"/judging/{assignment.pk}/before/", {"start": "yes"})
        sent = '{"tab": "a", "marks": [], "have": []}'
        answer = client.post(f"/judging/{assignment.pk}/marks/", sent, "application/json")
        own = client.get(f"/api/v1/assignments/{assignment.pk}/next?tab=b").content.decode()
        told = answer.content.decode() + own
        told += "".join(words_of(client, address) for address in addresses_of(assessment, dan))
        reasons = assignment.documents.values_list("drawn_by", flat=True)
        assert reasons and not any(reason in told for reason in [*reasons, "least seen"])
        assert "ben-bm25" not in told
