"""DELETE /api/v1/runs/{id}"""

from __future__ import annotations

from leaderboard.models import Run
from tests.api.conftest import Program


def test_a_withdrawn_run_is_kept_and_off_the_board(bens_run, ben_api):
    path = f"/api/v1/runs/{bens_run.pk}"
    assert ben_api.delete(path, {"reason": "a bug"}).status_code == 204
    assert ben_api.get("/api/v1/tracks/bread/leaderboard").json()["standings"] == []
    assert ben_api.get(path).json()["withdrawn_at"] is not None
    assert Run.objects.get().withdrawn_reason == "a bug"


def test_a_reason_is_optional_and_may_stand_in_the_address(bens_run, adas_run, ben_api, ada_api):
    assert ben_api.delete(f"/api/v1/runs/{bens_run.pk}").status_code == 204
    assert ada_api.delete(f"/api/v1/runs/{adas_run.pk}?reason=old").status_code == 204
    assert Run.objects.get(pk=adas_run.pk).withdrawn_reason == "old"


def test_withdrawing_twice_changes_nothing(bens_run, ben_api):
    ben_api.delete(f"/api/v1/runs/{bens_run.pk}?reason=first")
    assert ben_api.delete(f"/api/v1/runs/{bens_run.pk}?reason=second").status_code == 204
    assert Run.objects.get().withdrawn_reason == "first"


def test_strangers_withdraw_nothing(bens_run, cat_api, anybody_api):
    path = f"/api/v1/runs/{bens_run.pk}"
    assert cat_api.delete(path).status_code == 403
    assert anybody_api.delete(path).status_code == 401
    assert Run.objects.get().withdrawn_at is None


def test_an_organiser_needs_the_scope_for_runs_of_others(bens_run, ada):
    path = f"/api/v1/runs/{bens_run.pk}"
    assert Program(ada, ["read", "submit"]).delete(path).status_code == 403
    assert Program(ada).delete(path).status_code == 204


def test_a_reason_too_long_is_a_wrong_field(bens_run, ben_api):
    answer = ben_api.delete(f"/api/v1/runs/{bens_run.pk}", {"reason": "x" * 501})
    assert answer.json()["message"].startswith("reason: ")
