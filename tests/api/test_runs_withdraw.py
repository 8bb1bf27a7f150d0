"""DELETE /api/v1/runs/{id} and POST /api/v1/runs/{id}/undo-withdrawal"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from leaderboard.actions import runs
from leaderboard.models import Run, Track
from tests.api.conftest import Program
from tests.builders import make_run


@pytest.fixture
def withdrawn(bens_run: Run, ben) -> Run:
    runs.withdraw_run(bens_run, ben, "a bug")
    return bens_run


def undo(program: Program, run: Run) -> Any:
    return program.post(f"/api/v1/runs/{run.pk}/undo-withdrawal")


def close(track: Track) -> None:
    Track.objects.filter(pk=track.pk).update(closes_at=timezone.now() - timedelta(hours=1))


def test_a_withdrawn_run_is_kept_and_off_the_board(bens_run, ben_api):
    path = f"/api/v1/runs/{bens_run.pk}"
    assert ben_api.delete(path, {"reason": "a bug"}).status_code == 204
    assert ben_api.get("/api/v1/tracks/bread/leaderboard").json()["standings"] == []
    told = ben_api.get(path).json()
    assert told["withdrawn_at"] is not None and told["withdrawn_reason"] == "a bug"


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


def test_a_run_stands_again_where_it_stood(withdrawn, ben_api):
    told = undo(ben_api, withdrawn).json()
    assert (told["id"], told["withdrawn_at"], told["withdrawn_reason"]) == (withdrawn.pk, None, "")
    board = ben_api.get("/api/v1/tracks/bread/leaderboard").json()
    assert [each["run"] for each in board["standings"]] == [withdrawn.pk]


def test_what_is_not_withdrawn_stays_as_it_is(bens_run, ben_api):
    assert undo(ben_api, bens_run).json() == ben_api.get(f"/api/v1/runs/{bens_run.pk}").json()


def test_once_no_run_is_taken_only_organisers_undo_a_withdrawal(withdrawn, ben_api, ada_api):
    close(withdrawn.track)
    refused = undo(ben_api, withdrawn)
    assert (refused.status_code, refused.json()["code"]) == (403, "E_CLOSED")
    assert undo(ada_api, withdrawn).status_code == 200


def test_the_same_file_sent_since_keeps_the_place(withdrawn, track, ben, ada_api):
    again = make_run(track, ben)
    refused = undo(ada_api, withdrawn)
    assert refused.status_code == 409 and again.pk in refused.json()["message"]


def test_an_organiser_needs_the_scope_to_bring_back_runs_of_others(withdrawn, ada, cat_api):
    assert undo(Program(ada, ["read", "submit"]), withdrawn).status_code == 403
    assert undo(cat_api, withdrawn).status_code == 403
    assert Run.objects.get().withdrawn_at is not None
