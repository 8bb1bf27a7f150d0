"""Answers judged by programs: a pool of pairs, its plan, marks, and the layer it makes."""

from __future__ import annotations

from typing import Any

import pytest

from leaderboard.actions.assessments import add_assessor
from leaderboard.models import Assessment, Assignment, MarkLayer, Pool, Track, User
from tests.api.conftest import Program
from tests.builders import make_collection, make_run, make_track, work
from tests.scoring.test_answer_runs import ANSWERS, RISES
from tests.scoring.test_marks import make_nuggets

POOLS = "/api/v1/tracks/bread/pools"
JUDGING = "/api/v1/tracks/bread/assessments"
PLAN = {"pool": "pool-1", "overlap": "none"}


def make_scene(ada, ben, cat) -> Track:
    track = make_track(make_collection(ada), run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track)
    return track


def pool(ada_api: Program, method: str) -> None:
    """Pooled and approved by a program."""
    assert ada_api.post(POOLS, {"method": method, "size": 2}).status_code == 202
    work()
    assert ada_api.post(f"{POOLS}/pool-1/approve", {}).json()["state"] == "kept"


def judge(ada_api: Program, dan) -> list[Assignment]:
    assert ada_api.post(JUDGING, PLAN).status_code == 201
    add_assessor(Assessment.objects.get(), dan)
    assert ada_api.post(f"{JUDGING}/judging-1/open").json()["state"] == "open"
    return list(Assignment.objects.order_by("topic__position"))


def test_a_program_pools_answers_with_nuggets(scene, ada_api):
    told = ada_api.post(POOLS, {"method": "answers"}).json()
    assert (told["state"], told["about"], told["nuggets"]) == ("queued", "nuggets", "v1")
    work()
    [told] = ada_api.get(POOLS).json()["items"]
    assert (told["state"], told["summary"]["documents"]) == ("proposed", 4)
    assert ada_api.delete(f"{POOLS}/pool-1").status_code == 204
    assert not Pool.objects.exists()


def test_a_program_lets_pairs_be_drawn(scene, ada_api):
    assert ada_api.post(POOLS, {"method": "citations", "drawn": 10}).json()["drawn"] == 10
    work()
    told = ada_api.get(f"{POOLS}/pool-1").json()["summary"]
    assert {"strata", "seed", "drawn"} <= set(told["frame"])


def test_a_pool_is_of_runs_of_the_track(scene, ada_api):
    answer = ada_api.post(POOLS, {"method": "answers", "runs": ["nothing"]})
    assert answer.json()["message"] == "runs: is no accepted run of this track"


def test_pools_are_for_organisers(scene, ada_api, ben_api):
    pool(ada_api, "answers")
    assert ben_api.get(POOLS).status_code == ben_api.get(f"{POOLS}/pool-1").status_code == 404
    assert ben_api.post(POOLS, {"method": "answers"}).status_code == 403


def test_the_pairs_of_a_pool_are_a_file(scene, ada_api):
    pool(ada_api, "citations")
    file = b"".join(ada_api.get(f"{POOLS}/pool-1/file?format=txt").streaming_content)
    assert len(file.splitlines()) == 6


def answer_all(program: Program, assignment: Assignment, grade: int) -> dict[str, Any]:
    path = f"/api/v1/assignments/{assignment.pk}"
    found = program.get(f"{path}/next?most=20").json()["documents"]
    marks = [
        {"document": each["document"], "grade": grade, "key": f"k{each['document']}"}
        for each in found
    ]
    assert program.post(f"{path}/marks", {"tab": "api", "marks": marks}).status_code == 200
    return found[0]


@pytest.mark.parametrize("method", ["answers", "citations"])
def test_answers_are_judged_from_the_plan_to_the_layer(scene, ada_api, dan, method):
    pool(ada_api, method)
    assignments = judge(ada_api, dan)
    first, *_ = [answer_all(Program(dan), each, 2) for each in assignments]
    if method == "answers":
        assert (first["asked"]["nugget"], first["text"][:11]) == ("yeast", "Wild yeast ")
    else:
        assert first["asked"]["sentence"] and first["text"].startswith("Loaf ")
    answer = ada_api.post(f"{JUDGING}/judging-1/close", {"version": "people-1"})
    assert answer.json()["url"] == "/api/v1/tracks/bread/layers/people-1"
    work()
    layer = MarkLayer.objects.get()
    assert (layer.state, layer.num_marks) == ("ready", 4 if method == "answers" else 6)
    assert ada_api.get(f"{JUDGING}/judging-1").json()["layer"] == "people-1"
    file = ada_api.get("/api/v1/tracks/bread/layers/people-1/file").streaming_content
    assert b" support\n" in b"".join(file)


def test_answers_have_labels_of_their_own(scene, ada_api):
    pool(ada_api, "answers")
    scale = [{"grade": grade, "name": f"Grade {grade}"} for grade in (1, 0)]
    answer = ada_api.post(JUDGING, PLAN | {"scale": scale})
    assert (answer.status_code, answer.json()["message"][:6]) == (422, "scale:")
    told = ada_api.post(JUDGING, PLAN).json()
    names = [each["name"] for each in told["guideline"]["scale"]]
    assert names == ["In full", "In part", "Not here", "Contradicts"]
    assert RISES[0] not in told["guideline"]["text"]


def test_a_program_asks_a_third_assessor_where_two_differ(scene, ada_api, dan, eve):
    pool(ada_api, "citations")
    plan = {**PLAN, "overlap": "all", "overlap_size": 2, "rule": "agreed"}
    assert ada_api.post(JUDGING, plan).status_code == 201
    for judge in (dan, eve):
        add_assessor(Assessment.objects.get(), judge)
    ada_api.post(f"{JUDGING}/judging-1/open")
    for assignment in Assignment.objects.order_by("pk"):
        answer_all(Program(assignment.assessor.user), assignment, assignment.turn)
    path = f"{JUDGING}/judging-1/third-opinions"
    assert "Invite another one" in ada_api.post(path).json()["message"]
    add_assessor(Assessment.objects.get(), User.objects.create_user("fay"))
    assert ada_api.post(path).json() == {"given": 6, "left": 0}
