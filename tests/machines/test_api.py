"""Programs of organisers export documents for prompts, import answers and fill holes."""

from __future__ import annotations

import json

from leaderboard.models import JudgmentSet
from tests.api.conftest import Program
from tests.builders import upload, work
from tests.machines.answers import CARD, LINES, import_answers

PATH = "/api/v1/collections/bread"


def send(program, text=LINES, **more):
    sent = {**CARD, "version": "gpt", "file": upload("answers.jsonl", text), **more}
    return program.send(f"{PATH}/machine-judgments", **sent)


def test_answers_become_a_version_with_its_card(ada, collection):
    program = Program(ada)
    answer = send(program, judged_on="2026-11-02")
    assert answer.status_code == 202
    assert answer.json()["counts"] == {"asked": 5, "graded": 4, "failed": 1}
    assert {note["code"] for note in answer.json()["problems"]} == {"W_NO_GRADE"}
    work()
    found = program.get(f"{PATH}/judgments/gpt").json()
    assert (found["state"], found["made_by"]) == ("ready", "machine")
    assert found["machine"]["num_failed"] == 1 and found["machine"]["judged_on"] == "2026-11-02"
    assert found["machine"]["prompt_hash"].startswith(found["machine"]["name"][-5:-1])


def test_wrong_lines_are_named_and_nothing_is_imported(ada, collection):
    answer = send(Program(ada), '{"id": "77 d1", "grade": 1}\n')
    assert (answer.status_code, answer.json()["code"]) == (422, "E_UNKNOWN_TOPIC")
    assert answer.json()["problems"][0]["line"] == 1
    assert not JudgmentSet.objects.filter(version="gpt").exists()


def test_a_card_needs_a_model_and_a_prompt(ada, collection):
    assert send(Program(ada), model="").json()["message"].startswith("model: ")
    assert send(Program(ada), prompt="").json()["message"].startswith("prompt: ")


def test_filled_holes_name_their_sources(ada, collection):
    import_answers(collection)
    program = Program(ada)
    body = {"people": "v1", "machine": "machine", "version": "both"}
    assert program.post(f"{PATH}/fill-unjudged", body).status_code == 202
    work()
    found = program.get(f"{PATH}/judgments/both").json()
    assert found["made_by"] == "both"
    counts = {"num_by_people": 8, "num_by_machine": 1}
    assert found["sources"] == {"people": "v1", "machine": "machine", **counts}


def test_a_version_that_is_not_there_fills_no_holes(ada, collection):
    body = {"people": "v1", "machine": "gpt", "version": "both"}
    answer = Program(ada).post(f"{PATH}/fill-unjudged", body)
    assert (answer.status_code, answer.json()["code"]) == (422, "E_FIELD")


def test_programs_get_documents_ready_for_prompting(ada, collection):
    lines = Program(ada).get(f"{PATH}/judgments/v1/prompts").getvalue().splitlines()
    assert json.loads(lines[0])["id"] == "1 d1" and len(lines) == 8
