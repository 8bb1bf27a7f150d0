"""POST /api/v1/tracks/{slug}/deadlines"""

from __future__ import annotations

import pytest

from leaderboard.models import Track
from tests.builders import OTHER_RUN, make_run, make_track

LATER = {"team": "ben", "closes_at": "2029-12-02T12:00:00Z", "reason": "a fire"}
DEADLINES = "/api/v1/tracks/bread/deadlines"


@pytest.fixture
def dated(collection, ben, cat) -> Track:
    """A track that is due in 2029, on which Ben and Cat have teams."""
    track = make_track(collection, closes_at="2029-12-01T12:00:00Z")
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    return track


def test_one_team_alone_has_and_reads_the_later_deadline(dated, ada_api, ben_api, cat_api):
    answer = ada_api.post(DEADLINES, LATER).json()
    assert answer == {"track": "bread", "team": "ben", "deadline": "2029-12-02T12:00:00Z"}
    read = [api.get("/api/v1/tracks/bread").json() for api in (ben_api, cat_api)]
    assert [track.get("your_deadline") for track in read] == ["2029-12-02T12:00:00Z", None]
    assert {track["closes_at"] for track in read} == {"2029-12-01T12:00:00Z"}


def test_null_ends_it(dated, ada_api, ben_api):
    ada_api.post(DEADLINES, LATER)
    ended = ada_api.post(DEADLINES, {"team": "ben", "closes_at": None})
    assert ended.json()["deadline"] == "2029-12-01T12:00:00Z"
    assert "your_deadline" not in ben_api.get("/api/v1/tracks/bread").json()


def test_an_earlier_one_or_another_team_is_refused(dated, ada_api, ben_api):
    early = ada_api.post(DEADLINES, LATER | {"closes_at": "2029-11-01T12:00:00Z"})
    assert (early.status_code, "after the deadline" in early.json()["message"]) == (409, True)
    assert ada_api.post(DEADLINES, LATER | {"team": "dan"}).status_code == 422
    assert ben_api.post(DEADLINES, LATER).status_code == 403
