"""What counts against the quota of a team, and what does not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard import organising
from leaderboard.models import Run
from leaderboard.quotas import quota_of
from leaderboard.uploads import NotAccepted
from tests.builders import OTHER_RUN, make_run, make_track


def test_withdrawing_what_was_scored_asks_no_second_time(collection, ben):
    track = make_track(collection, quota_total=1)
    organising.withdraw(make_run(track, ben), ben, "a slip")
    with pytest.raises(NotAccepted, match="has used all 1 runs"):
        make_run(track, ben, OTHER_RUN)


def test_while_a_track_is_blind_a_better_run_takes_the_place_of_a_withdrawn_one(collection, ben):
    track = make_track(collection, disclosure="blind", quota_total=1)
    organising.withdraw(make_run(track, ben), ben, "a slip")
    assert make_run(track, ben, OTHER_RUN).state == "scored"


@pytest.mark.parametrize("judged", [True, False])
def test_the_quota_of_a_blind_track_tells_of_no_judgments(collection, ben, judged):
    judgments = {} if judged else {"judgment_set": None}
    track = make_track(collection, disclosure="blind", quota_total=3, **judgments)
    run = make_run(track, ben)
    organising.withdraw(run, ben, "a slip")
    assert quota_of(track, run.team).left_in_all == 3


def test_after_the_release_withdrawn_runs_count_as_well(collection, ada, ben):
    track = make_track(collection, disclosure="blind", quota_total=3)
    run = make_run(track, ben)
    organising.withdraw(run, ben, "a slip")
    organising.release(track, ada)
    assert quota_of(track, run.team).left_in_all == 2


@pytest.mark.parametrize("state", ["refused", "failed"])
def test_a_run_that_was_refused_or_failed_is_free_withdrawn_or_not(track, ben, state):
    run = make_run(track, ben)
    Run.objects.update(state=state, withdrawn_at=timezone.now())
    assert run not in Run.objects.counting()


def test_a_day_counts_its_own_runs_alone(collection, ben):
    track = make_track(collection, quota_per_day=2)
    run = make_run(track, ben)
    yesterday = timezone.now() - timedelta(days=1)
    assert quota_of(track, run.team, yesterday).left_today == 2
