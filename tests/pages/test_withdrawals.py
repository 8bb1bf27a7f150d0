"""A team withdraws a run with a reason, and takes that back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.actions import runs
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.models import AuditEvent, Run, Track
from tests.builders import OTHER_RUN, RUN, make_run, make_track


@pytest.fixture
def withdrawn(track, ben) -> Run:
    run = make_run(track, ben)
    runs.withdraw_run(run, ben, "the wrong index")
    return run


def undo(client, run: Run) -> str:
    return client.post(f"/runs/{run.pk}/withdraw/undo/", follow=True).content.decode()


def is_back(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).withdrawn_at is None


def close(track: Track) -> None:
    Track.objects.filter(pk=track.pk).update(closes_at=timezone.now() - timedelta(hours=1))


def test_no_run_is_withdrawn_without_a_reason(track, ben, as_ben):
    run = make_run(track, ben)
    answer = as_ben.post(f"/runs/{run.pk}/withdraw/", {"reason": " "})
    assert answer.status_code == 422 and is_back(run)


def test_the_page_says_who_withdrew_it_and_why(withdrawn, as_ben, as_cat):
    inside, outside = (each.get(f"/runs/{withdrawn.pk}/").text for each in (as_ben, as_cat))
    assert "Withdrawn by <bdi>ben</bdi>" in inside and "the wrong index" in inside
    assert "Withdrawn by <bdi>its team</bdi>" in outside and "the wrong index" in outside


def test_what_organisers_withdraw_is_said_to_be_withdrawn_by_them(track, ada, ben, as_cat):
    run = make_run(track, ben)
    runs.withdraw_run(run, ada, "asked for by mail")
    assert "Withdrawn by <bdi>the organisers</bdi>" in as_cat.get(f"/runs/{run.pk}/").text


def test_a_run_stands_again_where_it_stood(withdrawn, track, ben, as_ben):
    assert "Undo withdrawal" in as_ben.get(f"/runs/{withdrawn.pk}/").text
    assert "Run restored." in undo(as_ben, withdrawn)
    assert [each.run for each in find_board(sight_of(track, ben)).standings] == [withdrawn]


def test_the_record_keeps_the_withdrawal_and_that_it_was_undone(withdrawn, as_ben):
    undo(as_ben, withdrawn)
    events = AuditEvent.objects.filter(target_id=withdrawn.pk).order_by("pk")
    assert [each.act for each in events][-2:] == ["withdraw", "undo withdrawal"]
    assert events.last().before == {"reason": "the wrong index"}


def test_once_no_run_is_taken_only_organisers_undo_it(withdrawn, track, as_ada, as_ben):
    close(track)
    assert "Undo withdrawal" not in as_ben.get(f"/runs/{withdrawn.pk}/").text
    assert "Still withdrawn. Closed: runs were accepted until" in undo(as_ben, withdrawn)
    assert "Run restored." in undo(as_ada, withdrawn)


@pytest.mark.parametrize("who", ["as_ada", "as_ben"])
def test_the_same_file_sent_since_keeps_the_place(withdrawn, track, ben, who, request):
    again = make_run(track, ben)
    assert f"submitted later as run {again.pk}." in undo(request.getfixturevalue(who), withdrawn)
    assert not is_back(withdrawn)


def test_a_tag_taken_since_keeps_the_place(collection, ben, as_ben):
    track = make_track(collection, repeated_tags="refuse")
    run = make_run(track, ben)
    runs.withdraw_run(run, ben, "a slip")
    make_run(track, ben, OTHER_RUN.replace("other", "ben-bm25"))
    assert "Your team already has a run ben-bm25." in undo(as_ben, run)


def test_a_quota_used_up_since_binds_the_team_and_no_organiser(collection, ben, as_ada, as_ben):
    track = make_track(collection, disclosure="blind", quota_total=1)
    run = make_run(track, ben)
    runs.withdraw_run(run, ben, "a slip")
    make_run(track, ben, OTHER_RUN)
    assert "Your team has used 1 of 1 run." in undo(as_ben, run)
    assert "Run restored." in undo(as_ada, run)


def test_what_counts_already_needs_no_room(collection, ben, as_ben):
    run = make_run(make_track(collection, quota_total=1), ben)
    runs.withdraw_run(run, ben, "a slip")
    assert "Run restored." in undo(as_ben, run)


def test_a_refused_run_comes_back_beside_the_same_file(track, ben, as_ben):
    first = make_run(track, ben, "no run")
    runs.withdraw_run(first, ben, "a slip")
    make_run(track, ben, "no run")
    assert "Run restored." in undo(as_ben, first)


def test_where_another_became_the_primary_run_it_stays_that(collection, ben, as_ben):
    track = make_track(collection, selection="primary")
    first = make_run(track, ben, facts={"primary": True})
    runs.withdraw_run(first, ben, "a slip")
    second = make_run(track, ben, OTHER_RUN, facts={"primary": True})
    assert "Run restored." in undo(as_ben, first)
    assert list(Run.objects.filter(is_primary=True)) == [second]


def test_a_failed_run_whose_file_came_again_is_not_tried_again(track, ben, as_ben):
    failed = make_run(track, ben)
    Run.objects.update(state="failed")
    again = make_run(track, ben)
    page = as_ben.post(f"/runs/{failed.pk}/again/", follow=True).text
    assert f"submitted later as run {again.pk}." in page
    assert Run.objects.get(pk=failed.pk).state == "failed"


def test_a_failed_run_whose_place_was_used_is_not_tried_again(collection, ben, as_ben):
    failed = make_run(make_track(collection, quota_per_day=1), ben)
    Run.objects.update(state="failed")
    make_run(failed.track, ben, RUN.replace("9.0", "9.5"))
    page = as_ben.post(f"/runs/{failed.pk}/again/", follow=True).text
    assert "Your team has used 1 of 1 run for today" in page


def test_the_day_of_a_failed_run_is_the_day_it_came(collection, ben, as_ben):
    failed = make_run(make_track(collection, quota_per_day=1), ben)
    yesterday = timezone.now() - timedelta(days=1)
    Run.objects.update(state="failed", received_at=yesterday)
    other = make_run(failed.track, ben, OTHER_RUN)
    Run.objects.filter(pk=other.pk).update(received_at=yesterday)
    page = as_ben.post(f"/runs/{failed.pk}/again/", follow=True).text
    assert f"used 1 of 1 run on {yesterday:%d %b %Y}." in page
