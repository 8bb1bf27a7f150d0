"""A team replaces a run by another one, and both count once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.actions import runs as run_actions
from leaderboard.actions.submissions import RunDetails, accept_run
from leaderboard.actions.uploads import NotAccepted
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.models import AuditEvent, Run, Track
from leaderboard.runs.quotas import find_quota
from tests.builders import OTHER_RUN, RUN, make_run, make_track, upload, work

THIRD_RUN = OTHER_RUN.replace("d10", "d12")
FAULTY = OTHER_RUN.replace("1 Q0 d3 1", "1 Q0 d3")


def replace(old: Run, user, text: str = OTHER_RUN, **details: object) -> Run:
    return make_run(old.track, user, text, replaces=old.pk, **details)


def test_a_replaced_run_is_withdrawn_and_names_its_replacement(track, ben):
    old = make_run(track, ben)
    new = replace(old, ben)
    old.refresh_from_db()
    assert (old.removal, old.withdrawn_reason) == ("withdrawn", "replaced by other")
    assert find_board(sight_of(track, ben)) is not None
    event = AuditEvent.objects.get(act="replace")
    assert (event.actor, event.target_id, event.after) == (ben, new.pk, {"replaced": "ben-bm25"})


def test_a_faulty_file_replaces_nothing(track, ben):
    old = make_run(track, ben)
    assert replace(old, ben, FAULTY).state == "refused"
    old.refresh_from_db()
    assert old.removal == ""
    assert replace(old, ben).state == "scored"


@pytest.mark.parametrize("disclosure", ["open", "blind"])
def test_both_count_once_against_the_quota(collection, ben, disclosure):
    limits = {"quota_total": 1, "quota_per_day": 1}
    track = make_track(collection, disclosure=disclosure, **limits)
    old = make_run(track, ben)
    assert replace(old, ben).state == "scored"
    quota = find_quota(track, old.team)
    assert (quota.left_today, quota.left_in_all) == (0, 0)
    with pytest.raises(NotAccepted, match="1 of 1 run"):
        make_run(track, ben, THIRD_RUN)


def test_where_scores_show_a_second_replacement_counts(collection, ben):
    track = make_track(collection, quota_total=1)
    new = replace(make_run(track, ben), ben)
    with pytest.raises(NotAccepted, match="1 of 1 run"):
        replace(new, ben, THIRD_RUN)


def test_on_a_blind_track_a_team_may_replace_again(collection, ben):
    track = make_track(collection, quota_total=1, disclosure="blind")
    new = replace(make_run(track, ben), ben)
    assert replace(new, ben, THIRD_RUN).state == "scored"
    assert find_quota(track, new.team).left_in_all == 0


def test_the_tag_and_the_primary_place_go_to_the_replacement(collection, ben):
    track = make_track(collection, repeated_tags="refuse")
    old = make_run(track, ben, facts={"primary": True})
    new = replace(old, ben, RUN.replace("9.0", "9.5"))
    assert (new.state, new.tag, new.is_primary) == ("scored", old.tag, True)
    assert not {problem["code"] for problem in new.problems} & {"W_SAME_RUN", "W_TAG", "E_TAG"}


@pytest.mark.parametrize("late_runs", ["refuse", "mark"])
def test_after_the_deadline_nothing_is_replaced(collection, ben, late_runs):
    track = make_track(collection, late_runs=late_runs)
    old = make_run(track, ben)
    Track.objects.update(closes_at=timezone.now() - timedelta(hours=1))
    old.track.refresh_from_db()
    said = {"refuse": "runs were accepted until", "mark": "could be replaced until the deadline"}
    with pytest.raises(NotAccepted, match=said[late_runs]):
        replace(old, ben)


def test_a_run_is_replaced_once_even_before_the_check(track, ben):
    old = make_run(track, ben)
    for text in (OTHER_RUN, THIRD_RUN):
        details = RunDetails(replaces=old.pk)
        if text == THIRD_RUN:
            with pytest.raises(NotAccepted, match="already replaces this run"):
                accept_run(track, ben, upload("run", text), details)
        else:
            accept_run(track, ben, upload("run", text), details)
    work()
    assert Run.objects.active().count() == 1


@pytest.mark.parametrize("gone", ["refused", "withdrawn", "of another team", "unknown"])
def test_only_a_counting_run_of_the_team_is_replaced(track, ben, cat, gone):
    old = make_run(track, ben, FAULTY if gone == "refused" else RUN)
    if gone == "withdrawn":
        run_actions.withdraw_run(old, ben)
    who = cat if gone == "of another team" else ben
    with pytest.raises(NotAccepted, match="no such run to replace"):
        make_run(track, who, THIRD_RUN, replaces="x" if gone == "unknown" else old.pk)


def test_the_same_file_is_no_replacement(track, ben):
    old, other = make_run(track, ben), make_run(track, ben, OTHER_RUN)
    with pytest.raises(NotAccepted, match="the file of the run itself"):
        replace(old, ben, RUN)
    with pytest.raises(NotAccepted, match=f"already run {other}"):
        replace(old, ben, OTHER_RUN)


def test_the_same_upload_twice_is_one_replacement(track, ben):
    old = make_run(track, ben)
    assert replace(old, ben).pk == replace(old, ben).pk


def test_a_replaced_run_comes_back_only_without_its_replacement(track, ben):
    old = make_run(track, ben)
    new = replace(old, ben)
    old.refresh_from_db()
    with pytest.raises(NotAccepted, match=r"replaced it\. Withdraw that run first"):
        run_actions.undo_withdrawal(old, ben)
    run_actions.withdraw_run(new, ben)
    run_actions.undo_withdrawal(old, ben)
    with pytest.raises(NotAccepted, match=r"is back\. Withdraw it"):
        run_actions.undo_withdrawal(Run.objects.get(pk=new.pk), ben)


def test_on_a_blind_track_others_learn_of_neither(blind_track, ben, as_cat):
    old = make_run(blind_track, ben)
    new = replace(old, ben)
    assert {as_cat.get(f"/runs/{run.pk}/").status_code for run in (old, new)} == {404}


def test_a_stranger_does_not_join_by_replacing_a_run(track, ben, cat):
    old = make_run(track, ben)
    with pytest.raises(NotAccepted, match="no such run to replace"):
        make_run(track, cat, THIRD_RUN, replaces=old.pk)
    assert track.team_of(cat) is None
