"""Results that others report, by programs of organisers."""

from __future__ import annotations

from leaderboard.models import ReportedScores
from tests.builders import make_result_lines, upload, work

PATH = "/api/v1/benchmarks/bread/reported-results"
GROUPS = "collection,group\na,Retrieval\n"


def send(program, **fields):
    file = upload("results.jsonl", make_result_lines(one=0.5))
    return program.send(PATH, source="results.example.org", file=file, **fields)


def test_results_are_imported_without_a_preview(track, ada_api):
    assert send(ada_api, groups=upload("groups.csv", GROUPS)).status_code == 202
    work()
    found = ada_api.get(f"{PATH}/v1").json()
    assert (found["state"], found["scores"]) == ("ready", 1)
    assert found["status"] == "reported, not recomputed"
    assert ReportedScores.objects.get().collections == [["a", "Retrieval"]]


def test_a_preview_can_be_asked_for_and_confirmed(track, ada_api):
    send(ada_api, confirm="ask")
    work()
    found = ada_api.get(PATH).json()["items"][0]
    assert (found["state"], found["preview"]["cells"], found["scores"]) == ("preview", 1, None)
    assert ada_api.post(f"{PATH}/v1/confirm").status_code == 202
    work()
    assert ada_api.get(f"{PATH}/v1").json()["scores"] == 1


def test_groups_that_cannot_be_read_are_refused(track, ada_api):
    answer = send(ada_api, groups=upload("groups.csv", "name\n"))
    assert answer.status_code == 422 and "E_GROUPS" in answer.content.decode()


def test_what_is_not_imported_is_deleted(track, ada_api):
    send(ada_api, confirm="ask")
    work()
    assert ada_api.delete(f"{PATH}/v1").status_code == 204
    assert ada_api.get(f"{PATH}/v1").status_code == 404
