"""PATCH /api/v1/tracks/{slug}"""

from __future__ import annotations

import pytest

from leaderboard.models import AuditEvent, Track
from tests.api.conftest import Program
from tests.builders import make_run, make_track, work

PATH = "/api/v1/tracks/bread"


def test_what_is_sent_changes_and_the_rest_stays(track, ada_api):
    before = ada_api.get(PATH).json()
    changes = {"description": "Only bread.", "quota_per_day": 2, "shares_judgments": True}
    answer = ada_api.patch(PATH, changes)
    assert answer.status_code == 200
    assert answer.json() == before | changes


def test_only_what_is_sent_is_written_and_remembered(track, ada_api):
    ada_api.patch(PATH, {"depth": 10})
    event = AuditEvent.objects.filter(act="change").get()
    assert (event.before, event.after) == ({"depth": 1000}, {"depth": 10})


def test_a_change_of_values_makes_a_new_edition(bens_run, ada_api):
    before = ada_api.get(PATH).json()["edition"]
    ada_api.patch(PATH, {"relevance_threshold": 2})
    work()
    assert ada_api.get(PATH).json()["edition"] != before
    run = ada_api.get(f"/api/v1/runs/{bens_run.pk}").json()
    assert run["provenance"]["measures"]["AP"] == "AP(rel=2)"


def test_a_new_measure_is_computed_for_the_runs_there_are(bens_run, ada_api):
    ada_api.patch(PATH, {"measures": ["AP", "RR"]})
    work()
    scores = ada_api.get(f"/api/v1/runs/{bens_run.pk}").json()["scores"]
    assert list(scores) == ["AP", "RR"]
    assert scores["RR"] == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)


def test_judgments_may_come_later(collection, ben, ada_api):
    track = make_track(collection, judgment_set=None)
    run = make_run(track, ben)
    assert ada_api.get(f"/api/v1/runs/{run.pk}").json()["state"] == "valid"
    ada_api.patch(PATH, {"judgments": "v1"})
    work()
    assert ada_api.get(f"/api/v1/runs/{run.pk}").json()["state"] == "scored"


def test_judgments_are_never_taken_away(track, ada_api):
    answer = ada_api.patch(PATH, {"judgments": None})
    assert answer.json()["message"].startswith("judgments: ")


def test_a_run_on_the_board_becomes_the_baseline(adas_run, bens_run, ada_api):
    assert ada_api.patch(PATH, {"baseline": adas_run.pk}).json()["baseline"] == adas_run.pk
    work()
    assert ada_api.get(f"{PATH}/leaderboard").json()["baseline"] == adas_run.pk
    assert ada_api.patch(PATH, {"baseline": None}).json()["baseline"] is None


def test_a_baseline_is_a_run_of_this_track(track, blind_track, ben, ada_api):
    elsewhere = make_run(blind_track, ben)
    for run_id in (elsewhere.pk, "nothing", ""):
        answer = ada_api.patch(PATH, {"baseline": run_id})
        assert answer.json()["message"] == "baseline: is not a run on the board of this track"


def test_a_wrong_baseline_leaves_the_other_fields_alone(track, ada_api):
    ada_api.patch(PATH, {"name": "Crumbs", "baseline": "nothing"})
    assert Track.objects.get().name == "Bread track"


@pytest.mark.parametrize(
    "body",
    [
        {"measures": ["RR"]},
        {"primary_measure": "RR"},
        {"slug": "other"},
        {"collection": "other"},
        {"closes_at": "2000-01-01T00:00:00Z"},
        {"name": None},
        {"name": ""},
        {"quota_per_day": -1},
    ],
)
def test_a_change_that_does_not_fit_is_refused(track, ada_api, body):
    Track.objects.update(opens_at="2026-01-01T00:00:00Z")
    answer = ada_api.patch(PATH, body)
    assert (answer.status_code, answer.json()["code"]) == (422, "E_FIELD")


def test_slug_and_collection_may_be_repeated(track, ada_api):
    assert ada_api.patch(PATH, {"slug": "bread", "collection": "bread"}).status_code == 200


def test_only_organisers_change_a_track(track, ben, anybody_api):
    answer = Program(ben).patch(PATH, {"name": "Mine"})
    assert (answer.status_code, answer.json()["code"]) == (403, "E_PERM")
    assert anybody_api.patch(PATH, {"name": "Mine"}).status_code == 401


def test_the_dates_of_files_are_settings(track, ada_api):
    sent = {"documents_at": "2099-01-01T12:00:00Z", "judgments_at": "2099-02-01T12:00:00Z"}
    assert ada_api.patch(PATH, sent).json()["documents_at"] == "2099-01-01T12:00:00Z"
    assert Track.objects.get().judgments_at.month == 2
