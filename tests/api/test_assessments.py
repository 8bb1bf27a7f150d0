"""/api/v1/tracks/{slug}/assessments: organisers plan, open, watch and close the judging."""

from __future__ import annotations

import json

import pytest

from leaderboard.actions.assessments import add_assessor
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.models import Assessment, Assignment, Mark, Pool, User
from tests.api.conftest import Program
from tests.builders import OTHER_RUN, make_collection, make_pool, make_run, make_track, upload

PATH = "/api/v1/tracks/bread/assessments"
ONE = f"{PATH}/judging-1"
PLAN = {
    "pool": "pool-1",
    "overlap": "none",
    "guideline": "Judge what is *written*.",
    "scale": [{"grade": 0, "name": "Not relevant"}, {"grade": 1, "name": "Relevant"}],
}


def make_scene(ada: User, ben: User, cat: User) -> Pool:
    """A blind track with a pool of seven documents that nobody judged."""
    track = make_track(make_collection(ada, qrels=None), disclosure="blind")
    runs = [make_run(track, ben), make_run(track, cat, OTHER_RUN)]
    return make_pool(track, ada, runs)


@pytest.fixture
def pool(scene: Pool) -> Pool:
    return scene


@pytest.fixture
def assessment(pool: Pool, ada_api: Program) -> Assessment:
    """Planned by a program, and not open yet."""
    assert ada_api.post(PATH, PLAN).status_code == 201
    return Assessment.objects.get()


@pytest.fixture
def judged(assessment: Assessment, dan: User, eve: User, ada_api: Program) -> Assessment:
    """Dan and Eve judge, and Dan has given one grade."""
    for user in (dan, eve):
        add_assessor(assessment, user)
    assert ada_api.post(f"{ONE}/open").json()["state"] == "open"
    own = Assignment.objects.get(topic__number="1")
    draw_documents(own)
    record_mark(own, SentMark(own.documents.get(docno="d1").pk, grade=1, key="k"))
    return assessment


def test_a_pool_is_planned_to_be_judged(pool, ada_api):
    answer = ada_api.post(PATH, PLAN | {"rule": "majority", "due_on": "2026-12-24"})
    told = answer.json()
    assert (answer.status_code, told["name"], told["state"]) == (201, "judging-1", "draft")
    assert (told["rule"], told["due_on"], told["overlap_size"]) == ("majority", "2026-12-24", 10)
    assert told["guideline"]["text"] == PLAN["guideline"]
    assert [grade["grade"] for grade in told["guideline"]["scale"]] == [1, 0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pool", "pool-9"),
        ("overlap", "some"),
        ("overlap_size", 0),
        ("scale", [{"grade": 0, "name": "Not relevant"}]),
        ("topics_per_assessor", "many"),
    ],
)
def test_a_field_that_is_wrong_is_named(pool, ada_api, field, value):
    answer = ada_api.post(PATH, PLAN | {field: value})
    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (422, field)


def test_two_equal_grades_are_no_scale(pool, ada_api):
    answer = ada_api.post(PATH, PLAN | {"scale": [{"grade": 1, "name": "Yes"}] * 2})
    assert answer.json()["message"] == "A scale has at least two different grades from 0 to 9."


def test_a_pool_is_judged_once_at_a_time(assessment, ada_api):
    answer = ada_api.post(PATH, PLAN)
    assert (answer.status_code, answer.json()["code"]) == (409, "E_CONFLICT")


def test_organisers_list_assessments_and_read_one(judged, ada_api):
    assert [each["name"] for each in ada_api.get(PATH).json()["items"]] == ["judging-1"]
    counts = ada_api.get(ONE).json()["counts"]
    assert counts == {"documents": 11, "judged": 1, "cannot": 0, "to_settle": 0}


def test_only_organisers_know_of_it(judged, ben_api, anybody_api):
    for address in (PATH, ONE, f"{ONE}/assignments", f"{ONE}/marks"):
        assert {ben_api.get(address).status_code, anybody_api.get(address).status_code} == {404}


def test_nothing_opens_without_an_assessor(assessment, ada_api):
    answer = ada_api.post(f"{ONE}/open")
    assert answer.json()["message"] == "Invite at least one assessor first."


def test_a_pause_ends_when_it_is_resumed(judged, ada_api):
    assert ada_api.post(f"{ONE}/pause").json()["state"] == "paused"
    assert ada_api.post(f"{ONE}/pause").status_code == 409
    assert ada_api.post(f"{ONE}/resume").json()["state"] == "open"


def test_closing_early_is_confirmed_and_makes_judgments(judged, ada_api):
    assert ada_api.post(f"{ONE}/close", {"version": "v1"}).status_code == 409
    answer = ada_api.post(f"{ONE}/close", {"version": "v1", "early": True})
    receipt = {"version": "v1", "state": "queued", "url": "/api/v1/collections/bread/judgments/v1"}
    assert (answer.status_code, answer.json()) == (202, receipt)
    told = ada_api.get(ONE).json()
    assert (told["state"], told["version"]) == ("closed", "v1")


def test_judgments_are_never_replaced(judged, ada_api):
    ada_api.post(f"{ONE}/close", {"version": "v1", "early": True})
    Assessment.objects.update(state="open")
    answer = ada_api.post(f"{ONE}/close", {"version": "v1", "early": True})
    assert answer.json()["message"].startswith("version: already exists")


def test_assignments_are_listed_under_pseudonyms(judged, ada_api):
    rows = ada_api.get(f"{ONE}/assignments").json()["items"]
    assert [(row["assessor"], row["topic"], row["turn"]) for row in rows] == [
        *(("A1", "1", 1), ("A2", "2", 1), ("A2", "3", 1))
    ]
    assert rows[0]["progress"] == {"waiting": 3, "later": 0, "judged": 1, "cannot": 0}
    assert "dan" not in json.dumps(rows)


def test_what_is_left_of_a_topic_is_reassigned(judged, ada_api):
    first = ada_api.get(f"{ONE}/assignments").json()["items"][0]
    rows = ada_api.post(f"{ONE}/assignments", {"assignment": first["id"], "to": "A2"}).json()
    left = rows["items"][-1]
    assert (left["assessor"], left["topic"], left["progress"]["waiting"]) == ("A2", "1", 3)


@pytest.mark.parametrize(
    ("body", "field"),
    [({"assignment": 10**9, "to": "A2"}, "assignment"), ({"to": "A2"}, "assignment")],
)
def test_an_assignment_that_is_not_here_is_not_reassigned(judged, ada_api, body, field):
    answer = ada_api.post(f"{ONE}/assignments", body)
    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (422, field)


def test_a_stranger_gets_no_assignment(judged, ada_api):
    first = ada_api.get(f"{ONE}/assignments").json()["items"][0]
    answer = ada_api.post(f"{ONE}/assignments", {"assignment": first["id"], "to": "A3"})
    assert answer.json()["message"] == "to: is not an assessor who can judge"


def test_new_assessors_are_given_what_nobody_has(judged, ada_api):
    Assignment.objects.filter(drawn_at=None).delete()
    assert len(ada_api.post(f"{ONE}/assignments").json()["items"]) == 3


def read(answer) -> str:
    return b"".join(answer.streaming_content).decode()


def test_marks_are_downloaded_under_pseudonyms(judged, ada_api):
    [mark] = map(json.loads, read(ada_api.get(f"{ONE}/marks")).splitlines())
    assert (mark["assessor"], mark["docno"], mark["grade"]) == ("A1", "d1", 1)
    assert read(ada_api.get(f"{ONE}/marks?format=trec")) == "1 A1 d1 1\n"


def test_who_judges_reads_no_marks_until_the_end(judged, ada, ada_api):
    add_assessor(judged, ada)
    answer = ada_api.get(f"{ONE}/marks")
    assert (answer.status_code, answer.json()["code"]) == (403, "E_PERM")
    ada_api.post(f"{ONE}/close", {"version": "v1", "early": True})
    assert ada_api.get(f"{ONE}/marks").status_code == 200


def send(program: Program, **texts: str):
    files = [upload(f"{name}.qrels", text) for name, text in texts.items()]
    return program.send(f"{ONE}/marks", file=files)


def test_marks_made_elsewhere_are_imported_from_a_file_per_assessor(assessment, ada_api):
    answer = send(ada_api, ann="1 0 d1 1\n", bob="1 0 d1 0\n2 0 d4 1\n")
    assert answer.json() == {"marks": 3, "assessors": ["ann", "bob"], "problems": []}
    assert ada_api.get(ONE).json()["counts"]["to_settle"] == 1


def test_one_wrong_line_keeps_all_marks_out(assessment, ada_api):
    answer = send(ada_api, ann="1 0 d1 1\n", bob="1 0 d1 0\n1 0 d99 1\n")
    assert (answer.status_code, answer.json()["code"]) == (422, "E_NOT_POOLED")
    [problem] = answer.json()["problems"]
    assert (problem["line"], problem["found"]) == (2, "d99")
    assert problem["message"].startswith("bob.qrels: ")
    assert not Mark.objects.exists()


def test_only_organisers_act(assessment, ben):
    program = Program(ben)
    acts = [(act, {}) for act in ("open", "pause", "resume", "assignments")]
    for act, body in [*acts, ("close", {"version": "v1"})]:
        assert program.post(f"{ONE}/{act}", body).status_code == 403
    assert send(program, ann="1 0 d1 1\n").status_code == 403
