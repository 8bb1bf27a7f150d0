"""Runs that organisers disqualify or hide, and bring back."""

from __future__ import annotations

import pytest
from django.utils import timezone

from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.models import AuditEvent, Run
from tests.builders import OTHER_RUN, make_run


@pytest.fixture
def run(track, ben, cat):
    make_run(track, cat, OTHER_RUN)
    return make_run(track, ben)


def take_off(client, run: Run, how: str) -> None:
    client.post(f"/runs/{run.pk}/take-off/", {"how": how, "reason": "trained on the topics"})


def test_who_may_take_a_run_away_is_offered_it(run, as_ada, as_ben, as_cat):
    address = f"/runs/{run.pk}/"
    links = [f'{address}{act}/"' for act in ("take-off", "withdraw")]
    pages = [client.get(address).text for client in (as_ada, as_ben, as_cat)]
    offered = [[link in page for link in links] for page in pages]
    assert offered == [[True, True], [False, True], [False, False]]


def test_what_is_away_is_not_taken_away_again(run, as_ada, as_ben):
    take_off(as_ada, run, "hidden")
    assert f'/runs/{run.pk}/take-off/"' not in as_ada.get(f"/runs/{run.pk}/").text
    Run.objects.filter(pk=run.pk).update(hidden_at=None, withdrawn_at=timezone.now())
    assert f'/runs/{run.pk}/withdraw/"' not in as_ben.get(f"/runs/{run.pk}/").text


def test_a_disqualified_run_leaves_the_board(as_ada, run, track, ben):
    take_off(as_ada, run, "disqualified")
    assert run not in [each.run for each in find_board(sight_of(track, ben)).standings]


def test_its_address_says_what_happened_to_everybody(as_ada, as_cat, run):
    take_off(as_ada, run, "disqualified")
    answer = as_cat.get(f"/runs/{run.pk}/")
    assert answer.status_code == 410
    assert "trained on the topics" in answer.content.decode()


def test_its_scores_stay_with_its_team_and_the_organisers(as_ada, run, track, ben, cat):
    take_off(as_ada, run, "disqualified")
    run.refresh_from_db()
    assert sight_of(track, ben).can_see_scores_of(run) and not sight_of(
        track, cat
    ).can_see_scores_of(run)


def test_a_hidden_run_never_was_for_others(as_ada, as_ben, as_cat, run):
    take_off(as_ada, run, "hidden")
    assert as_cat.get(f"/runs/{run.pk}/").status_code == 404
    assert "Hidden by the organisers" in as_ben.get(f"/runs/{run.pk}/").content.decode()


def test_a_run_comes_back_as_it_was(as_ada, run, track, ben):
    take_off(as_ada, run, "hidden")
    as_ada.post(f"/runs/{run.pk}/bring-back/")
    assert run in [each.run for each in find_board(sight_of(track, ben)).standings]


def test_both_acts_are_in_the_record(as_ada, run):
    take_off(as_ada, run, "disqualified")
    as_ada.post(f"/runs/{run.pk}/bring-back/")
    events = AuditEvent.objects.filter(target_id=run.pk).order_by("pk")
    assert [each.act for each in events][-2:] == ["disqualify", "bring back"]


def test_no_run_goes_without_a_reason(as_ada, run):
    answer = as_ada.post(f"/runs/{run.pk}/take-off/", {"how": "hidden", "reason": " "})
    assert answer.status_code == 422
    assert Run.objects.get(pk=run.pk).hidden_at is None


def test_a_baseline_that_goes_leaves_no_baseline(as_ada, run, track):
    track.baseline = run
    track.save()
    take_off(as_ada, run, "disqualified")
    track.refresh_from_db()
    assert track.baseline is None


def test_organisers_find_what_is_off_the_board(run, as_ada):
    take_off(as_ada, run, "hidden")
    page = as_ada.get("/benchmarks/bread/manage/section/runs/").content.decode()
    assert "Removed runs" in page and f'href="/runs/{run.pk}/"' in page


@pytest.mark.parametrize("state", ["queued", "checking", "valid", "scoring", "scored"])
def test_they_find_it_in_whatever_state_it_waits(run, as_ada, state):
    take_off(as_ada, run, "disqualified")
    Run.objects.filter(pk=run.pk).update(state=state)
    assert f'href="/runs/{run.pk}/"' in as_ada.get("/benchmarks/bread/manage/section/runs/").text


def test_what_was_refused_was_never_on_the_board(run, as_ada):
    take_off(as_ada, run, "hidden")
    Run.objects.filter(pk=run.pk).update(state="refused")
    assert "Removed runs" not in as_ada.get("/benchmarks/bread/manage/section/runs/").text
