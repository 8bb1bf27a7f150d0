"""POST /api/v1/tracks/{slug}/release"""

from __future__ import annotations

import pytest

from tests.api.conftest import Program
from tests.builders import make_run


def test_after_the_release_everybody_sees_the_scores(blind_track, ben, ada_api, anybody_api):
    run = make_run(blind_track, ben)
    assert anybody_api.get(f"/api/v1/runs/{run.pk}").status_code == 404
    answer = ada_api.post("/api/v1/tracks/blind/release")
    assert (answer.status_code, answer.json()["released_at"] is None) == (200, False)
    assert anybody_api.get(f"/api/v1/runs/{run.pk}").json()["state"] == "scored"


@pytest.mark.parametrize("disclosure", ["open", "leaderboard"])
def test_another_disclosure_is_no_way_round_the_release(blind_track, ben, ada_api, disclosure):
    make_run(blind_track, ben)
    answer = ada_api.patch("/api/v1/tracks/blind", {"disclosure": disclosure, "name": "Loaves"})
    assert (answer.status_code, answer.json()["code"]) == (409, "E_CONFLICT")
    assert "/benchmarks/blind/manage/release/" in answer.json()["message"]
    blind_track.refresh_from_db()
    assert (blind_track.disclosure, blind_track.name) == ("blind", "Blind track")


def test_after_the_release_the_disclosure_may_be_any(blind_track, ben, ada_api):
    make_run(blind_track, ben)
    ada_api.post("/api/v1/tracks/blind/release")
    assert ada_api.patch("/api/v1/tracks/blind", {"disclosure": "open"}).status_code == 200


def test_a_release_happens_once(blind_track, ada_api):
    first = ada_api.post("/api/v1/tracks/blind/release").json()
    assert ada_api.post("/api/v1/tracks/blind/release").json() == first


def test_only_organisers_release(blind_track, ben, anybody_api):
    assert Program(ben).post("/api/v1/tracks/blind/release").status_code == 403
    assert anybody_api.post("/api/v1/tracks/blind/release").status_code == 401
    blind_track.refresh_from_db()
    assert blind_track.released_at is None
