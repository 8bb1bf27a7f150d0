"""Nuggets written by programs: the rules of the pages, step by step, and the frozen version."""

from __future__ import annotations

from typing import Any

import pytest

from leaderboard.actions import nugget_writing as verbs
from leaderboard.models import NuggetVersion, Track, WritingStep
from tests.api.conftest import Program
from tests.builders import work
from tests.pages.test_nugget_writing import make_scene as make_draft

DRAFT = "/api/v1/tracks/bread/nugget-draft"
TOPIC = f"{DRAFT}/topic?topic=1"


def make_scene(ada, ben, cat) -> Track:
    return make_draft(ada, ben, cat)


def step(program: Program, act: str, **fields: Any) -> Any:
    return program.post(f"{DRAFT}/steps?topic=1", {"act": act, **fields})


def texts(answer: Any) -> list[str]:
    return [nugget["text"] for nugget in answer.json()["nuggets"]]


def test_a_program_sees_each_topic_of_the_draft(scene, ada_api):
    told = ada_api.get(DRAFT).json()
    assert told["based_on"] == "v1"
    assert told["topics"][0] == {"topic": "1", "nuggets": 2, "steps": 0}


def test_a_revised_nugget_of_a_machine_keeps_both_texts(scene, ada_api):
    words = {"text": "yeast", "seen": "yeast and salt"}
    [first, _] = step(ada_api, "revise", key="a", **words).json()["nuggets"]
    assert (first["text"], first["originals"]) == ("yeast", ["yeast and salt"])
    assert first["origin"] == "machine gpt-x, edited by people"


def test_who_read_an_older_text_is_refused(scene, ada_api):
    step(ada_api, "revise", key="a", text="yeast", seen="yeast and salt")
    late = step(ada_api, "revise", key="a", text="salt", seen="yeast and salt")
    assert (late.status_code, late.json()["code"]) == (409, "E_CONFLICT")
    assert "changed this nugget to" in late.json()["message"]


def test_nuggets_are_proposed_split_merged_removed_and_undone(scene, ada_api):
    step(ada_api, "propose", text="an oven", importance="okay", documents=["d1", "d1"])
    assert texts(step(ada_api, "split", key="a", texts=["yeast", "salt"]))[:2] == ["yeast", "salt"]
    keys = [nugget["key"] for nugget in ada_api.get(TOPIC).json()["nuggets"]]
    merged = step(ada_api, "merge", keys=keys[:2], text="both")
    assert texts(merged) == ["both", "a day", "an oven"]
    assert texts(step(ada_api, "remove", key=keys[2])) == ["both", "an oven"]
    assert texts(step(ada_api, "undo")) == ["both", "a day", "an oven"]
    assert [each["act"] for each in ada_api.get(TOPIC).json()["steps"]] == [
        *("merge", "split", "propose")
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"act": "propose"}, "propose.text: is missing"),
        ({"act": "propose", "text": "x" * 501}, "propose.text"),
        ({"act": "propose", "text": "x", "importance": "grand"}, "propose.importance"),
        ({"act": "split", "key": "a", "texts": ["one"]}, "split.texts"),
        ({"act": "rename"}, "act"),
    ],
)
def test_a_step_that_makes_no_sense_is_refused(scene, ada_api, fields, said):
    answer = ada_api.post(f"{DRAFT}/steps?topic=1", fields)
    assert answer.status_code == 422 and said in answer.json()["message"]
    assert not WritingStep.objects.exists()


def test_a_topic_is_one_of_the_track(scene, ada_api):
    answer = ada_api.post(f"{DRAFT}/steps?topic=99", {"act": "undo"})
    assert answer.json()["message"] == "topic: is no topic of this track"


def test_a_draft_is_begun_frozen_and_discarded(scene, ada_api):
    step(ada_api, "propose", text="an oven")
    assert ada_api.post(f"{DRAFT}/freeze", {"version": "v2"}).status_code == 202
    work()
    assert NuggetVersion.objects.get(version="v2").num_nuggets == 3
    assert ada_api.get(DRAFT).status_code == 404
    assert ada_api.post(DRAFT, {"based_on": "v2"}).json()["topics"][0]["nuggets"] == 3
    assert ada_api.post(DRAFT, {}).status_code == 409
    assert ada_api.delete(DRAFT).status_code == 204


def test_drafts_are_for_organisers(scene, ben_api):
    assert ben_api.get(DRAFT).status_code == ben_api.get(TOPIC).status_code == 404
    assert ben_api.post(DRAFT, {}).status_code == 403


def test_what_people_write_on_the_page_is_seen_by_programs(scene: Track, ada, ada_api):
    topic = scene.collection.topics.get(number="1")
    verbs.remove(scene.nugget_drafts.get(), ada, topic, "a")
    [last] = ada_api.get(TOPIC).json()["steps"]
    assert (last["act"], last["ended"], last["by"]) == ("remove", ["a"], "ada")
