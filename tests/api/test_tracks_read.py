"""GET /api/v1/tracks and /api/v1/tracks/{slug}"""

from __future__ import annotations

from leaderboard.models import Track
from tests.builders import make_run, make_track


def test_anybody_reads_a_public_track(track, anybody_api):
    answer = anybody_api.get("/api/v1/tracks/bread").json()
    assert (answer["name"], answer["collection"], answer["judgments"]) == (
        "Bread track",
        "bread",
        "v1",
    )
    assert answer["edition"] == str(track.edition_id)
    assert "invitation" not in answer


def test_a_blind_track_does_not_tell_of_its_judgments(blind_track, ben_api, ada_api):
    hidden = {"judgments", "edition", "baseline", "invitation"}
    assert not hidden & set(ben_api.get("/api/v1/tracks/blind").json())
    assert hidden <= set(ada_api.get("/api/v1/tracks/blind").json())


def test_a_private_track_is_for_those_inside(collection, ben_api, ada_api, anybody_api):
    make_track(collection, slug="secret", visibility="members", joining="invitation")
    for program, found in ((ada_api, True), (ben_api, False), (anybody_api, False)):
        status = program.get("/api/v1/tracks/secret").status_code
        listed = [each["slug"] for each in program.get("/api/v1/tracks").json()["items"]]
        assert (status, listed) == ((200, ["secret"]) if found else (404, []))


def test_tracks_are_listed_in_pages(collection, anybody_api):
    for slug in ("c", "a", "b"):
        make_track(collection, slug=slug)
    page = anybody_api.get("/api/v1/tracks?limit=2").json()
    assert ([each["slug"] for each in page["items"]], page["next"]) == (["a", "b"], "b")
    page = anybody_api.get("/api/v1/tracks?limit=2&after=b").json()
    assert ([each["slug"] for each in page["items"]], page["next"]) == (["c"], None)


def test_a_track_says_where_it_stands(track, anybody_api):
    Track.objects.update(closes_at="2020-01-01T00:00:00Z")
    assert anybody_api.get("/api/v1/tracks/bread").json()["state"] == "closed"


def test_a_team_reads_what_it_may_still_send_and_until_when(collection, ben, ben_api, anybody_api):
    make_run(make_track(collection, quota_per_day=3), ben)
    quota = ben_api.get("/api/v1/tracks/bread").json()["quota"]
    assert quota.pop("resets_at").endswith("T00:00:00Z")
    assert quota == {"today": 3, "left_today": 2, "in_all": None, "left_in_all": None}
    assert "quota" not in anybody_api.get("/api/v1/tracks/bread").json()
