"""Bearer tokens, and GET /api/v1/me"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import ApiToken, Track
from tests.api.conftest import Program
from tests.builders import make_run

ME = "/api/v1/me"


def test_me_says_whose_token_it_is_and_what_it_may_do(track, ben, ben_api):
    make_run(track, ben)
    assert ben_api.get(ME).json() == {
        "user": "ben",
        "may_organise": ben.may_organise,
        "scopes": ["read", "submit"],
        "teams": [{"track": "bread", "team": "ben"}],
    }


def test_without_a_token_a_call_that_wants_one_is_unauthorised(anybody_api):
    answer = anybody_api.get(ME)
    assert (answer.status_code, answer.json()["code"]) == (401, "E_TOKEN")
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("header", ["Bearer nothing", "Bearer", "Basic YTpi", "rf_x", "Bearer \0"])
def test_a_token_that_is_none_is_unauthorised_even_where_none_is_needed(track, header):
    for path in (ME, "/api/v1/tracks/bread"):
        answer = Client().get(path, headers={"Authorization": header})
        assert (answer.status_code, answer.json()["code"]) == (401, "E_TOKEN")


def test_a_token_in_the_address_is_none(ben):
    _, secret = ApiToken.objects.issue(ben, ["read"])
    assert Client().get(f"{ME}?token={secret}&access_token={secret}").status_code == 401


def test_the_session_of_a_browser_reads_what_its_pages_show(blind_track, as_ada, as_cat):
    assert as_ada.get("/api/v1/tracks/blind/leaderboard").status_code == 200
    assert as_cat.get("/api/v1/tracks/blind/leaderboard").status_code == 404


def test_the_session_of_a_browser_is_no_token(track, as_ada):
    assert as_ada.get(ME).status_code == 401
    assert as_ada.post("/api/v1/tracks/bread/release").status_code == 401
    assert Track.objects.get().released_at is None


@pytest.mark.parametrize("field", ["revoked_at", "expires_at"])
def test_a_token_that_has_ended_is_unauthorised(ben, field):
    program = Program(ben)
    ApiToken.objects.update(**{field: timezone.now() - timedelta(seconds=1)})
    assert program.get(ME).status_code == 401


def test_a_token_of_a_user_who_has_left_is_unauthorised(ben, ben_api):
    ben.is_active = False
    ben.save()
    assert ben_api.get(ME).status_code == 401


def test_a_token_that_may_not_read_reads_nothing(ben):
    answer = Program(ben, ["submit"]).get(ME)
    assert (answer.status_code, answer.json()["code"]) == (403, "E_PERM")


def test_the_last_use_is_noted_to_the_minute(ben, ben_api):
    ben_api.get(ME)
    first = ApiToken.objects.get().last_used_at
    ben_api.get(ME)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    ben_api.get(ME)
    assert ApiToken.objects.get().last_used_at >= first


def test_writes_of_a_user_are_counted_and_reads_are_not(track, ben, cat_api, settings, monkeypatch):
    settings.API_WRITES_PER_MINUTE = 2
    monkeypatch.setattr("leaderboard.api.auth.current_second", lambda: 1_800_000_000)
    program = Program(ben)
    path = "/api/v1/benchmarks/bread/join"
    assert [program.post(path).status_code for _ in range(3)] == [200, 200, 429]
    assert program.get(ME).status_code == 200
    assert Program(ben).post(path).status_code == 429, "another token is no other user"
    assert cat_api.post(path).status_code == 200


def test_too_many_writes_say_when_to_come_back(track, ben_api, settings, monkeypatch):
    settings.API_WRITES_PER_MINUTE = 0
    monkeypatch.setattr("leaderboard.api.auth.current_second", lambda: 1_800_000_018)
    answer = ben_api.post("/api/v1/benchmarks/bread/join")
    assert (answer.status_code, answer.json()["code"]) == (429, "E_RATE")
    assert answer["Retry-After"] == "42"
