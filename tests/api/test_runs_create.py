"""POST /api/v1/tracks/{slug}/runs"""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.test import override_settings
from django.utils import timezone

from leaderboard.models import Benchmark, Run, Team, Track
from tests.api.conftest import Program
from tests.builders import OTHER_RUN, RUN, make_run, make_track, upload, work

RUNS = "/api/v1/tracks/bread/runs"


def changed(track: Track, **fields: object) -> None:
    Track.objects.filter(pk=track.pk).update(**fields)


def test_a_run_whose_bytes_arrived_is_created_and_queued(track, ben_api):
    answer = ben_api.send_run(RUN)
    run = Run.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {
        "id": run.pk,
        "state": "queued",
        "done": False,
        "url": f"/api/v1/runs/{run.pk}",
    }
    work()
    assert ben_api.get(f"/api/v1/runs/{run.pk}").json()["state"] == "scored"


def test_the_same_bytes_again_are_the_same_run(track, ben_api):
    first = ben_api.send_run(RUN)
    second = ben_api.send_run(RUN)
    answer = second.json()
    assert answer.pop("message").startswith("You already submitted this file on")
    assert (second.status_code, answer) == (200, first.json())
    assert Run.objects.count() == 1


def test_the_same_key_again_is_the_same_run(track, ben_api):
    first = ben_api.send_run(RUN, key="night-1")
    assert ben_api.send_run(RUN, key="night-1").json()["id"] == first.json()["id"]


def test_a_key_that_came_with_other_bytes_is_a_conflict(track, ben_api):
    ben_api.send_run(RUN, key="night-1")
    answer = ben_api.send_run(OTHER_RUN, key="night-1")
    assert (answer.status_code, answer.json()["code"]) == (409, "E_CONFLICT")


def test_the_bytes_of_a_withdrawn_run_make_a_new_run(track, ben_api):
    first = ben_api.send_run(RUN).json()["id"]
    ben_api.delete(f"/api/v1/runs/{first}")
    assert ben_api.send_run(RUN).status_code == 201


def test_content_is_refused_by_the_worker_and_not_by_the_request(track, ben_api):
    answer = ben_api.send_run("1 Q0 d1 1 nan ben\n")
    assert answer.status_code == 201
    work()
    run = ben_api.get(answer.json()["url"]).json()
    assert (run["state"], run["done"]) == ("refused", True)
    assert (run["problems"][0]["code"], run["problems"][0]["line"]) == ("E_SCORE", 1)


def test_what_is_said_beside_the_file_is_kept(track, ben_api):
    facts = {"kind": "feedback", "model": "BM25", "k1": 0.9}
    answer = ben_api.send_run(RUN, tag="ben-bm25", description="First", facts=json.dumps(facts))
    run = ben_api.get(answer.json()["url"]).json()
    assert (run["tag"], run["description"], run["facts"]) == ("ben-bm25", "First", facts)


@pytest.mark.parametrize("facts", ["[1]", "{", '{"a": {"b": 1}}', '{"a": NaN}', '{"a": "\\u0000"}'])
def test_facts_are_a_flat_json_object(track, ben_api, facts):
    answer = ben_api.send_run(RUN, facts=facts)
    assert (answer.status_code, answer.json()["code"]) == (422, "E_FIELD")
    assert answer.json()["message"].startswith("facts: ")


def test_a_kind_that_nobody_knows_is_a_wrong_field(track, ben_api):
    answer = ben_api.send_run(RUN, facts='{"kind": "magic"}')
    assert answer.json()["message"] == "facts: `kind` must be one of automatic, feedback, manual"


def test_a_request_without_a_file_names_the_field(track, ben_api):
    answer = ben_api.send(RUNS, tag="x")
    assert answer.status_code == 422
    assert answer.json() == {
        "code": "E_FIELD",
        "message": "file: is missing",
        "problems": [
            {
                "code": "E_FIELD",
                "severity": "error",
                "line": None,
                "message": "file: is missing",
                "found": "",
                "hint": "",
                "count": 1,
                "fix": "",
                "suggested": "",
            }
        ],
    }


def test_two_files_are_refused(track, ben_api):
    answer = ben_api.send(RUNS, file=[upload("a.txt", RUN), upload("b.txt", OTHER_RUN)])
    assert (answer.status_code, answer.json()["code"]) == (422, "E_FIELD")
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("description", "x" * 5001), ("description", "a\0b"), ("tag", "a\0b"), ("tag", "x" * 129)],
)
def test_text_that_cannot_be_stored_names_its_field(track, ben_api, field, value):
    answer = ben_api.send_run(RUN, **{field: value})
    assert answer.status_code == 422
    assert answer.json()["message"].startswith(f"{field}: ")


def test_a_key_has_at_most_80_characters(track, ben_api):
    answer = ben_api.send_run(RUN, key="k" * 81)
    assert answer.status_code == 422
    assert answer.json()["message"].startswith("Idempotency-Key: ")


def test_unknown_fields_set_nothing(track, ben_api):
    fields = {"state": "scored", "score": "1.0", "team": "other", "is_staff": "true"}
    answer = ben_api.send_run(RUN, **fields)
    run = Run.objects.get()
    assert answer.status_code == 201
    assert (run.state, run.team.name, run.submitted_by.is_staff) == ("queued", "ben", False)


def test_an_organiser_submits_as_the_organisers_team(track, ada_api):
    ada_api.send_run(RUN)
    assert Run.objects.get().team.of_organisers


def test_an_organiser_submits_for_a_team_of_the_track(track, ben, ada_api):
    make_run(track, ben, OTHER_RUN)
    ada_api.send_run(RUN, team="ben")
    assert {run.team.name for run in Run.objects.all()} == {"ben"}


def test_a_team_that_is_not_there_is_a_wrong_field(track, ada_api):
    answer = ada_api.send_run(RUN, team="nobody")
    assert answer.json()["message"] == "team: is not a team of this track"
    assert not Team.objects.filter(name="nobody").exists()


def test_a_track_by_invitation_has_no_team_for_a_stranger(track, cat_api):
    Benchmark.objects.update(joining="invitation")
    answer = cat_api.send_run(RUN)
    assert (answer.status_code, answer.json()["code"]) == (403, "E_NO_TEAM")


def test_a_closed_track_takes_no_run(track, ben_api):
    changed(track, closes_at=timezone.now() - timedelta(days=1))
    answer = ben_api.send_run(RUN)
    assert (answer.status_code, answer.json()["code"]) == (403, "E_CLOSED")


def test_a_used_up_total_is_forbidden(track, ben_api):
    changed(track, quota_total=1)
    ben_api.send_run(RUN)
    answer = ben_api.send_run(OTHER_RUN)
    assert (answer.status_code, answer.json()["code"]) == (403, "E_QUOTA")


def test_a_used_up_day_says_when_the_next_begins(track, ben_api):
    changed(track, quota_per_day=1)
    ben_api.send_run(RUN)
    answer = ben_api.send_run(OTHER_RUN)
    assert (answer.status_code, answer.json()["code"]) == (429, "E_QUOTA")
    assert 0 < int(answer["Retry-After"]) <= 24 * 3600 + 1


def test_a_tag_of_the_team_is_refused_where_the_track_says_so(track, ben_api):
    changed(track, repeated_tags="refuse")
    ben_api.send_run(RUN, tag="ben-bm25")
    answer = ben_api.send_run(OTHER_RUN, tag="ben-bm25")
    assert (answer.status_code, answer.json()["code"]) == (409, "E_CONFLICT")


@override_settings(RUN_UPLOAD_LIMIT=100)
def test_a_file_over_the_limit_is_too_large(track, ben_api):
    answer = ben_api.send_run(RUN)
    assert (answer.status_code, answer.json()["code"]) == (413, "E_SIZE")


def test_a_body_far_over_the_limit_is_not_even_read(track, ben_api):
    answer = ben_api.client.post(
        RUNS,
        b"",
        "multipart/form-data; boundary=b",
        headers=ben_api.headers | {"Content-Length": "999999999999"},
    )
    assert (answer.status_code, answer.json()["code"]) == (413, "E_SIZE")


def test_a_track_that_one_may_not_see_does_not_exist(collection, ben_api):
    make_track(collection, slug="secret", visibility="members", joining="invitation")
    answer = ben_api.send_run(RUN, slug="secret")
    assert (answer.status_code, answer.json()["code"]) == (404, "E_NOT_FOUND")


def test_a_token_that_only_reads_submits_nothing(track, ben):
    answer = Program(ben, ["read"]).send_run(RUN)
    assert (answer.status_code, answer.json()["code"]) == (403, "E_PERM")
    assert not Run.objects.exists()


def test_a_run_replaces_another_of_its_team_once_it_is_checked(track, ben_api, bens_run):
    answer = ben_api.send_run(OTHER_RUN, replaces=bens_run.pk)
    work()
    new = ben_api.get(answer.json()["url"]).json()
    old = ben_api.get(f"/api/v1/runs/{bens_run.pk}").json()
    assert (answer.status_code, new["replaces"]) == (201, bens_run.pk)
    assert old["withdrawn_reason"] == "replaced by other"


def test_a_run_of_another_team_is_not_replaced(track, cat_api, bens_run):
    answer = cat_api.send_run(OTHER_RUN, replaces=bens_run.pk)
    assert (answer.status_code, answer.json()["message"][:9]) == (422, "replaces:")
