"""Organisers give a team more runs than its quota."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.actions.people import grant_runs
from leaderboard.actions.uploads import NotAccepted
from leaderboard.models import AuditEvent, Grant
from leaderboard.runs.quotas import find_quota
from tests.builders import OTHER_RUN, RUN, make_run, make_track


def test_a_team_sends_as_many_runs_more_as_were_granted(collection, ada, ben):
    track = make_track(collection, quota_per_day=1)
    run = make_run(track, ben)
    grant_runs(track, run.team, ada, 1, today=True)
    make_run(track, ben, OTHER_RUN)
    with pytest.raises(NotAccepted, match="2 of 2 runs for today"):
        make_run(track, ben, RUN.replace("9.0", "9.5"))


def test_a_grant_in_all_widens_no_day(collection, ada, ben):
    track = make_track(collection, quota_per_day=1, quota_total=1)
    grant_runs(track, make_run(track, ben).team, ada, 5, today=False)
    with pytest.raises(NotAccepted, match="1 of 1 run for today"):
        make_run(track, ben, OTHER_RUN)


def test_what_was_granted_for_yesterday_is_gone(collection, ada, ben):
    track = make_track(collection, quota_per_day=1)
    team = make_run(track, ben).team
    grant_runs(track, team, ada, 3, today=True)
    Grant.objects.update(day=timezone.now().date() - timedelta(days=1))
    assert find_quota(track, team).left_today == 0


def test_no_other_team_gets_it(collection, ada, ben, cat):
    track = make_track(collection, quota_total=1)
    of_ben, of_cat = make_run(track, ben).team, make_run(track, cat, OTHER_RUN).team
    grant_runs(track, of_ben, ada, 2, today=False)
    assert [find_quota(track, team).left_in_all for team in (of_ben, of_cat)] == [2, 0]


def test_the_team_reads_what_is_left(collection, ada, ben, as_ben):
    track = make_track(collection, quota_per_day=1)
    team = make_run(track, ben).team
    assert "has used 1 run of today" in as_ben.get("/benchmarks/bread/submit/").text
    grant_runs(track, team, ada, 2, today=True)
    assert "2 of 3" in as_ben.get("/benchmarks/bread/submit/").text


def test_the_team_is_told_and_the_trail_keeps_it(track, ada, ben):
    grant_runs(track, make_run(track, ben).team, ada, 1, today=False, reason="a crash of ours")
    assert "can submit 1 run more in total to" in ben.notices.first().text
    assert AuditEvent.objects.get(act="grant").after["reason"] == "a crash of ours"
