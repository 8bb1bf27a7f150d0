"""POST and GET /api/v1/collections/{slug}/judgments"""

from __future__ import annotations

from leaderboard.models import Collection, JudgmentSet
from tests.api.conftest import Program
from tests.builders import INTENTS, QRELS, STRATA, SUBTOPICS, upload, work

PATH = "/api/v1/collections/bread/judgments"


def send(program: Program, text: str = QRELS, version: str = "v2", **fields: str):
    return program.send(PATH, file=upload("qrels2.txt", text), version=version, **fields)


def test_a_new_version_stands_beside_the_old_one(collection, ada_api):
    answer = send(ada_api, note="Second pool.")
    assert (answer.status_code, answer.json()) == (
        202,
        {"version": "v2", "state": "queued", "url": f"{PATH}/v2"},
    )
    work()
    judgment_set = ada_api.get(f"{PATH}/v2").json()
    assert (judgment_set["state"], judgment_set["note"]) == ("ready", "Second pool.")
    assert judgment_set["counts"]["judgments"] == 8
    assert ada_api.get(f"{PATH}/v1").json()["state"] == "ready"


def test_who_asks_first_gets_a_preview(collection, ada_api):
    send(ada_api, confirm="ask")
    work()
    judgment_set = ada_api.get(f"{PATH}/v2").json()
    assert (judgment_set["state"], judgment_set["preview"]["count"]) == ("preview", 8)


def test_content_is_refused_by_the_worker(collection, ada_api):
    assert send(ada_api, "1 0 d1 high\n").status_code == 202
    work()
    judgment_set = ada_api.get(f"{PATH}/v2").json()
    assert (judgment_set["state"], judgment_set["problems"][0]["code"]) == ("refused", "E_REL")


def test_a_version_is_used_once(collection, ada_api):
    answer = send(ada_api, version="v1")
    assert answer.json()["message"] == "version: already exists; judgments are never replaced"
    assert JudgmentSet.objects.count() == 1


def test_fields_that_are_wrong_are_named(collection, ada_api):
    assert send(ada_api, version="v 2").json()["message"].startswith("version: ")
    assert send(ada_api, note="x" * 2001).json()["message"].startswith("note: ")
    assert ada_api.send(PATH, version="v2").json()["message"] == "file: is missing"


def test_judgments_wait_for_their_collection(collection, ada_api):
    Collection.objects.update(state="importing")
    answer = send(ada_api)
    assert (answer.status_code, answer.json()["code"]) == (409, "E_CONFLICT")


def test_only_organisers_bring_judgments(track, cat, anybody_api):
    assert send(Program(cat)).status_code == 403
    assert send(anybody_api).status_code == 401


def test_readers_see_the_judgments_behind_a_board_and_no_others(track, ada_api, anybody_api):
    send(ada_api)
    work()
    assert set(anybody_api.get(f"{PATH}/v1").json()) == {"version", "state", "counts", "sha256"}
    assert anybody_api.get(f"{PATH}/v2").status_code == 404
    sets = anybody_api.get("/api/v1/collections/bread").json()["judgment_sets"]
    assert [each["version"] for each in sets] == ["v1"]


def test_what_waits_is_confirmed_with_a_mapping(collection, ada_api):
    send(ada_api, confirm="ask")
    work()
    answer = ada_api.post(f"{PATH}/v2/confirm", {"grade_map": {"3": 2}, "relevant_from": 2})
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    work()
    judgment_set = ada_api.get(f"{PATH}/v2").json()
    assert (judgment_set["state"], judgment_set["relevant_from"]) == ("ready", 2)
    assert judgment_set["counts"]["grades"] == {"0": 3, "1": 3, "2": 2}


def test_only_what_waits_is_confirmed(collection, ada_api):
    answer = ada_api.post(f"{PATH}/v1/confirm")
    assert (answer.status_code, answer.json()["code"]) == (409, "E_CONFLICT")
    assert ada_api.post(f"{PATH}/v9/confirm").status_code == 404


def test_only_organisers_confirm_judgments(track, cat, anybody_api):
    assert Program(cat).post(f"{PATH}/v1/confirm").status_code == 403
    assert anybody_api.post(f"{PATH}/v1/confirm").status_code == 401


def test_columns_that_can_be_read_in_two_ways_wait_for_an_answer(collection, ada_api):
    send(ada_api, "1 1 d1 1\n1 2 d2 0\n", joining="replace")
    work()
    (question,) = ada_api.get(f"{PATH}/v2").json()["questions"]
    assert question["of"] == "judgments"
    assert ada_api.post(f"{PATH}/v2/confirm").json()["code"] == "E_CONFLICT"
    ada_api.post(f"{PATH}/v2/confirm", {"format": "trec"})
    work()
    assert ada_api.get(f"{PATH}/v2").json()["state"] == "ready"


def test_the_columns_may_be_named_when_they_are_sent(collection, ada_api):
    send(ada_api, "d1 1 2\nd4 2 1\n", format="docno topic grade", joining="replace")
    assert send(ada_api, version="v3", format="pdf").json()["message"].startswith("format: ")
    work()
    assert ada_api.get(f"{PATH}/v2").json()["counts"]["judgments"] == 2


def test_what_waits_is_replaced_by_another_file(collection, ada_api):
    send(ada_api, confirm="ask", joining="replace")
    work()
    answer = ada_api.send(f"{PATH}/v2/replace", file=upload("better", "1 0 d1 1\n"))
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    work()
    assert ada_api.get(f"{PATH}/v2").json()["state"] == "preview"
    ada_api.post(f"{PATH}/v2/confirm")
    work()
    assert ada_api.get(f"{PATH}/v2").json()["counts"]["judgments"] == 1


def test_what_waits_is_taken_away(collection, ada_api):
    send(ada_api, confirm="ask")
    work()
    assert ada_api.delete(f"{PATH}/v2").status_code == 204
    assert ada_api.get(f"{PATH}/v2").status_code == 404


def test_imported_judgments_are_neither_replaced_nor_taken_away(collection, ada_api):
    assert ada_api.delete(f"{PATH}/v1").json()["code"] == "E_CONFLICT"
    answer = ada_api.send(f"{PATH}/v1/replace", file=upload("better", "1 0 d1 1\n"))
    assert (answer.status_code, answer.json()["code"]) == (409, "E_CONFLICT")


def test_subtopics_come_with_their_probabilities(collection, ada_api):
    file, intents = upload("qrels2.txt", SUBTOPICS), upload("intents.txt", INTENTS)
    assert ada_api.send(PATH, file=file, intents=intents, version="v2").status_code == 202
    work()
    counts = ada_api.get(f"{PATH}/v2").json()["counts"]
    assert (counts["judgments"], counts["subtopics"], counts["intents"]) == (9, 7, 5)


def test_a_sample_is_asked_for_by_name_and_counts_its_strata(collection, ada_api):
    send(ada_api, STRATA, format="strata")
    work()
    judgment_set = ada_api.get(f"{PATH}/v2").json()
    assert judgment_set["counts"]["strata"] == 5
    assert judgment_set["preview"]["strata"]["undrawn"] == 3


def test_ordinary_judgments_count_neither(collection, ada_api):
    assert ada_api.get(f"{PATH}/v1").json()["counts"].keys() == {
        *("judgments", "topics", "relevant", "grades")
    }


def test_a_track_is_refused_measures_that_its_judgments_cannot_give(track, ada_api):
    answer = ada_api.patch("/api/v1/tracks/bread", {"measures": ["AP", "ERR-IA@10"]})
    assert answer.status_code == 422
    assert "ERR-IA needs judgments of subtopics, and v1 has none" in answer.json()["message"]


def test_a_file_of_some_topics_waits_until_it_is_called_a_part(collection, ada_api):
    """Before, the other topics lost their judgments without a word."""
    send(ada_api, "3 0 d9 2\n")
    work()
    waiting = ada_api.get(f"{PATH}/v2").json()
    assert [each["name"] for each in waiting["questions"]] == ["joining"]
    ada_api.post(f"{PATH}/v2/confirm", {"joining": "join", "grade_map": {}})
    work()
    joined = ada_api.get(f"{PATH}/v2").json()
    assert (joined["counts"]["judgments"], joined["joined_to"]) == (9, "v1")


def test_a_part_is_added_to_the_version_that_is_named(collection, ada_api):
    send(ada_api, "3 0 d9 3\n", joining="join")
    work()
    send(ada_api, "3 0 d10 3\n", version="v3", joining="join", joined_to="v1")
    work()
    assert ada_api.get(f"{PATH}/v3").json()["counts"]["judgments"] == 9
    refused = send(ada_api, "3 0 d10 3\n", version="v4", joining="join", joined_to="v9")
    assert refused.json()["message"] == "joined_to: is not a version of this collection"


def test_whose_grade_counts_can_be_said_with_the_file(collection, ada_api):
    send(ada_api, "3 0 d6 1\n3 0 d8 3\n", joining="join", conflict_rule="higher")
    work()
    joined = ada_api.get(f"{PATH}/v2").json()
    assert (joined["state"], joined["counts"]["grades"]["3"]) == ("ready", 2)
