"""What failed, as the API lists it, and the call that tries it again."""

from __future__ import annotations

from leaderboard.models import Job
from leaderboard.scoring import contest_tests
from tests.builders import make_run, work

FAILED = "/api/v1/tracks/bread/failed-jobs"


def test_tests_that_failed_are_listed_and_tried_again(track, ben, ada_api, monkeypatch):
    make_run(track, ben)
    Job.objects.enqueue("compare", track.edition)
    with monkeypatch.context() as broken:
        broken.setattr(contest_tests, "family_of", None)
        work()
    (failed,) = ada_api.get(FAILED).json()
    assert failed["what"] == f"Comparing the runs: {track.edition}"
    assert ada_api.post(f"{FAILED}/{failed['id']}/again").status_code == 202
    work()
    assert ada_api.get(FAILED).json() == []
