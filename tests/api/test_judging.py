"""/api/v1/assessments and /api/v1/assignments: a program judges, and learns nothing else."""

from __future__ import annotations

import json

import pytest

from leaderboard.actions.assessments import close_assessment, pause_assessment
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.models import Assessment, AssignedDocument, Assignment, Mark, User
from tests.api.conftest import Program
from tests.builders import (
    OTHER_RUN,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    make_track,
    make_user,
)


def make_scene(ada: User, ben: User, cat: User) -> Assessment:
    """Cat judges all topics of an open track, and Eve gives second opinions."""
    track = make_track(make_collection(ada))
    runs = [make_run(track, ben), make_run(track, make_user("dan"), OTHER_RUN)]
    pool = make_pool(track, ada, runs)
    return make_assessment(pool, ada, cat, make_user("eve"), overlap="all", overlap_size=2)


@pytest.fixture
def assessment(scene: Assessment) -> Assessment:
    return scene


@pytest.fixture
def assignment(assessment: Assessment) -> Assignment:
    """Topic 3 for Cat: d10 and d11."""
    return Assignment.objects.get(assessor__name="A1", topic__number="3")


@pytest.fixture
def path(assignment: Assignment) -> str:
    return f"/api/v1/assignments/{assignment.pk}"


def next_of(program: Program, path: str, query: str = "") -> list[int]:
    return [each["document"] for each in program.get(f"{path}/next{query}").json()["documents"]]


def test_an_assessor_lists_what_there_is_to_judge(assessment, cat_api):
    [told] = cat_api.get("/api/v1/assessments").json()["items"]
    assert (told["track"], told["name"], told["assessor"]) == ("bread", "judging-1", "A1")
    assert told["guideline"]["text"] == "Judge what is *written*."
    first = told["assignments"][0]
    assert (first["topic"], first["title"]) == ("1", "sourdough bread")
    assert first["progress"] == {"waiting": 1, "later": 0, "judged": 0, "cannot": 0}


def test_a_plan_is_listed_without_topics(assessment, cat_api):
    Assessment.objects.update(state="draft")
    [told] = cat_api.get("/api/v1/assessments").json()["items"]
    assert (told["state"], told["assignments"]) == ("draft", [])


def test_who_judges_nothing_has_an_empty_list(assessment, ben_api):
    assert ben_api.get("/api/v1/assessments").json() == {"items": [], "next": None}


def test_the_next_documents_come_with_their_texts(assignment, cat_api, path):
    answer = cat_api.get(f"{path}/next").json()
    keys = list(assignment.documents.values_list("pk", flat=True))
    assert [each["document"] for each in answer["documents"]] == keys
    assert answer["guideline"] == 1
    assert answer["documents"][0]["text"].endswith("of twelve, baked slowly.")


def test_two_tabs_are_given_different_documents(cat_api, path):
    one, other = next_of(cat_api, path, "?tab=1&most=1"), next_of(cat_api, path, "?tab=2")
    assert len(one) == len(other) == 1 and one != other


def send(program: Program, path: str, *marks: dict) -> dict:
    return program.post(f"{path}/marks", {"marks": list(marks)}).json()


def test_a_mark_is_answered_with_its_result_and_the_next_documents(cat_api, path):
    first, second = next_of(cat_api, path)
    answer = send(cat_api, path, {"document": first, "grade": 2, "key": "k1", "seconds": 4})
    assert answer["results"] == [{"key": "k1", "document": first, "code": "", "message": ""}]
    assert [each["document"] for each in answer["documents"]] == [second]
    assert answer["progress"] == {"waiting": 1, "later": 0, "judged": 1, "cannot": 0}


def test_a_mark_that_is_sent_again_counts_once(cat_api, path):
    mark = {"document": next_of(cat_api, path)[0], "grade": 2, "key": "k1"}
    assert send(cat_api, path, mark)["results"] == send(cat_api, path, mark)["results"]
    assert Mark.objects.count() == 1


def test_each_mark_that_is_not_stored_says_why_and_the_others_count(cat_api, path):
    first, second = next_of(cat_api, path)
    answer = send(
        cat_api,
        path,
        {"document": first, "grade": 7, "key": "k1"},
        {"document": 10**12, "grade": 1, "key": "k2"},
        {"document": first, "grade": 1, "key": "k3"},
        {"document": first, "grade": 2, "key": "k4"},
        {"document": second, "grade": 0, "key": "k5"},
    )
    codes = [result["code"] for result in answer["results"]]
    assert codes == ["E_FIELD", "E_NOT_FOUND", "", "E_CONFLICT", ""]


def test_no_mark_is_taken_in_a_pause(assessment, ada, cat_api, path):
    mark = {"document": next_of(cat_api, path)[0], "grade": 1, "key": "k1"}
    pause_assessment(assessment, ada)
    answer = send(cat_api, path, mark)
    assert (answer["results"][0]["code"], answer["documents"]) == ("E_CLOSED", [])
    told = cat_api.get(f"{path}/next")
    assert (told.status_code, told.json()["code"]) == (409, "E_CLOSED")


@pytest.mark.parametrize(
    ("field", "value"), [("key", "a key"), ("kind", "guess"), ("grade", "high"), ("document", 0)]
)
def test_marks_that_cannot_be_read_are_named(cat_api, path, field, value):
    mark = {"document": 1, "grade": 1, "key": "k1"} | {field: value}
    answer = cat_api.post(f"{path}/marks", {"marks": [mark]})
    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (422, f"marks.0.{field}")


def test_an_undo_brings_the_document_back(cat_api, path):
    first = next_of(cat_api, path)[0]
    send(cat_api, path, {"document": first, "grade": 1, "key": "k1"})
    undo = {"document": first, "kind": "undo", "key": "k2", "replaces": "k1"}
    assert send(cat_api, path, undo)["documents"][0]["document"] == first


def test_own_marks_are_listed_with_those_replaced(cat_api, path):
    first = next_of(cat_api, path)[0]
    send(cat_api, path, {"document": first, "grade": 1, "key": "k1", "spans": [[0, 4]]})
    send(cat_api, path, {"document": first, "grade": 2, "key": "k2", "replaces": "k1"})
    old, new = cat_api.get(f"{path}/marks").json()["items"]
    assert (old["grade"], old["spans"], old["replaces"]) == (1, [[0, 4]], "")
    assert (new["grade"], new["document"], new["replaces"]) == (2, first, "k1")


def test_a_topic_is_finished_once_every_document_has_an_answer(cat_api, path):
    assert cat_api.post(f"{path}/finish").status_code == 409
    keys = next_of(cat_api, path)
    send(cat_api, path, *({"document": key, "grade": 0, "key": f"k{key}"} for key in keys))
    assert cat_api.post(f"{path}/finish").json()["finished_at"] is not None
    assert cat_api.get(f"{path}/next").json()["message"] == "You have finished this topic."


@pytest.mark.parametrize("name", ["ada", "ben", "eve"])
def test_an_assignment_exists_for_its_assessor_alone(assessment, path, name):
    """Ada organises the track, Ben has a run in it, and Eve judges the same topic."""
    program = Program(User.objects.get(username=name))
    answers = [program.get(f"{path}/next"), program.get(f"{path}/marks")]
    answers += [program.post(f"{path}/marks", {"marks": []}), program.post(f"{path}/finish")]
    assert [answer.status_code for answer in answers] == [404] * 4


def test_who_was_removed_judges_no_more(assessment, cat_api, path):
    assessment.assessors.update(removed_at=assessment.created_at)
    assert cat_api.get(f"{path}/next").status_code == 404
    assert cat_api.get("/api/v1/assessments").json()["items"] == []


def every_answer(program: Program, path: str) -> str:
    """What the calls of an assessor answer together."""
    documents = program.get(f"{path}/next").json()
    marks = [
        {"document": each["document"], "grade": 1, "key": f"k{number}"}
        for number, each in enumerate(documents["documents"])
    ]
    sent = program.post(f"{path}/marks", {"marks": marks}).json()
    finished = program.post(f"{path}/finish").json()
    listed = [program.get(each).json() for each in (f"{path}/marks", "/api/v1/assessments")]
    return json.dumps([documents, sent, finished, *listed])


def test_no_answer_names_a_docno_a_run_a_rank_or_another_opinion(assignment, cat_api, path):
    """Eve's mark, its words and its assessor are as hidden as what the runs say."""
    second = Assignment.objects.get(assessor__name="A2", topic__number="3")
    draw_documents(second)
    record_mark(second, SentMark(second.documents.first().pk, grade=2, rationale="secret"))
    told = every_answer(cat_api, path)
    hidden = ("docno", '"d10"', '"d11"', "ben-bm25", "other", "secret", "A2", "eve", "rank")
    assert [word for word in hidden if word in told] == []
    for word in ("score", "turn", "repeat", "lookalikes", "place", "pool"):
        assert f'"{word}"' not in told


def test_answers_to_an_assessor_do_not_depend_on_other_opinions(assignment, cat_api, path):
    """Those of an untouched pool and those after Eve judged everything are the same."""
    before = cat_api.get(f"{path}/next").json(), cat_api.get("/api/v1/assessments").json()
    second = Assignment.objects.get(assessor__name="A2", topic__number="3")
    draw_documents(second)
    for document in second.documents.all():
        record_mark(second, SentMark(document.pk, grade=2))
    assert before == (cat_api.get(f"{path}/next").json(), cat_api.get("/api/v1/assessments").json())


BOARD = "/api/v1/tracks/bread/leaderboard"


def test_an_assessor_reads_no_score_of_the_track_until_it_is_closed(assessment, ada, cat_api):
    run = assessment.track.runs.first()
    addresses = [BOARD, f"/api/v1/runs/{run.pk}", f"/api/v1/runs/{run.pk}/topics"]
    addresses.append("/api/v1/collections/bread/judgments/v1")
    assert {cat_api.get(address).status_code for address in addresses} == {404}
    own = Assignment.objects.filter(assessor__name="A1").first()
    draw_documents(own)
    record_mark(own, SentMark(AssignedDocument.objects.first().pk, grade=1))
    close_assessment(assessment, ada, "v2", is_early=True)
    assert {cat_api.get(address).status_code for address in addresses} == {200}


def test_an_assessor_of_a_team_sees_runs_without_scores(assessment, cat_api, ben):
    assessment.assessors.filter(name="A1").update(user=ben)
    run = make_run(assessment.track, ben, OTHER_RUN.replace("other", "mine"))
    answer = Program(ben).get(f"/api/v1/runs/{run.pk}").json()
    assert "scores" not in answer and "verdict" not in answer
