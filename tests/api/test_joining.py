"""POST /api/v1/benchmarks/{slug}/join, for a benchmark with one track"""

from __future__ import annotations

from leaderboard.models import Membership, Team
from tests.api.conftest import Program
from tests.builders import make_track

JOIN = "/api/v1/benchmarks/bread/join"


def joined(team):
    return {"benchmark": "bread", "team": team, "tracks": ["bread"]}


def test_everybody_joins_an_open_track_with_a_team_of_their_own(track, ben_api):
    answer = ben_api.post(JOIN, {"team": "Crumbs"})
    assert (answer.status_code, answer.json()) == (200, joined("Crumbs"))


def test_without_a_name_the_team_is_called_after_its_user(track, ben_api):
    answer = ben_api.client.generic("POST", JOIN, headers=ben_api.headers)
    assert answer.json() == joined("ben")


def test_who_has_a_team_keeps_it(track, ben_api):
    ben_api.post(JOIN, {"team": "Crumbs"})
    assert ben_api.post(JOIN, {"team": "Others"}).json()["team"] == "Crumbs"
    assert Membership.objects.count() == 1


def test_a_name_that_is_taken_is_a_wrong_field(track, ben_api, cat_api):
    ben_api.post(JOIN, {"team": "Crumbs"})
    answer = cat_api.post(JOIN, {"team": "crumbs "})
    assert (answer.status_code, answer.json()["code"]) == (422, "E_FIELD")
    assert answer.json()["message"].startswith("team: ")


def test_names_that_cannot_be_are_wrong_fields(track, ben_api):
    for name in ("organisers", "x" * 81, "a\0b", "a\u202eb"):
        assert ben_api.post(JOIN, {"team": name}).status_code == 422


def test_an_invitation_opens_a_track_that_is_not_public(collection, ben_api, cat_api):
    track = make_track(collection, slug="secret", visibility="members", joining="invitation")
    path = "/api/v1/benchmarks/secret/join"
    assert ben_api.post(path, {"invitation": track.benchmark.invitation}).status_code == 200
    assert cat_api.post(path, {"invitation": "guessed"}).status_code == 404
    assert ben_api.get("/api/v1/tracks/secret").status_code == 200


def test_the_code_of_a_team_opens_a_track_that_is_not_public(collection, ben_api, cat_api):
    track = make_track(collection, slug="secret", visibility="members", joining="invitation")
    path = "/api/v1/benchmarks/secret/join"
    ben_api.post(path, {"invitation": track.benchmark.invitation})
    answer = cat_api.post(path, {"team_code": Team.objects.get().invitation})
    assert (answer.status_code, answer.json()["team"]) == (200, "ben")


def test_a_public_track_by_invitation_takes_nobody_else(collection, cat_api):
    make_track(collection, slug="invited", joining="invitation")
    answer = cat_api.post("/api/v1/benchmarks/invited/join")
    assert (answer.status_code, answer.json()["code"]) == (403, "E_NO_TEAM")


def test_joining_wants_a_token_that_submits(track, ben, anybody_api):
    assert anybody_api.post(JOIN).status_code == 401
    assert Program(ben, ["read"]).post(JOIN).status_code == 403
