"""Deadlines, grace, late runs, and topics that are left out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from leaderboard.actions import tracks
from leaderboard.actions.uploads import NotAccepted
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board, find_visible_board
from leaderboard.models import Run, Track
from tests.builders import OTHER_RUN, make_run, make_track, work
from tests.pages.reading import page_at, words

AN_HOUR_AGO = timedelta(hours=1)


@pytest.fixture
def closed(collection) -> Track:
    return make_track(collection, slug="closed", closes_at=timezone.now() - AN_HOUR_AGO)


def changed(track: Track, ada, **fields: object) -> Track:
    return tracks.change_track(track, ada, fields)


def test_after_the_deadline_no_run_is_taken(closed, ben):
    with pytest.raises(NotAccepted, match="Closed: runs were accepted until"):
        make_run(closed, ben)


def test_in_the_minutes_of_grace_a_run_is_in_time(closed, ada, ben):
    run = make_run(changed(closed, ada, grace_minutes=90), ben)
    assert not closed.is_late(run.received_at)


def test_after_the_grace_a_run_is_refused_like_any_other(closed, ada, ben):
    with pytest.raises(NotAccepted):
        make_run(changed(closed, ada, grace_minutes=30), ben)


def test_late_runs_are_taken_and_marked_where_the_track_says_so(closed, ada, ben, as_ben):
    make_run(changed(closed, ada, late_runs="mark"), ben)
    assert ">late</span>" in as_ben.get("/benchmarks/closed/board/").content.decode()


@pytest.mark.parametrize("page", ["board/", ""])
def test_whoever_sends_a_late_run_is_led_there_and_told(closed, ada, as_ben, page):
    address = f"/benchmarks/closed/{page}"
    assert "/benchmarks/closed/submit/" not in page_at(as_ben, address)
    changed(closed, ada, late_runs="mark")
    assert "/benchmarks/closed/submit/" in page_at(as_ben, address)
    for told in (address, "/benchmarks/closed/submit/"):
        assert "Runs submitted now are marked late" in words(page_at(as_ben, told))


def standing(closed: Track, ada, ben, **fields: object) -> list[str]:
    """The board of a run in time and of a better one that comes late."""
    track = changed(closed, ada, late_runs="mark", **fields)
    in_time = make_run(track, ben, OTHER_RUN)
    Run.objects.filter(pk=in_time.pk).update(received_at=timezone.now() - 2 * AN_HOUR_AGO)
    make_run(track, ben, facts={"primary": True})
    track.refresh_from_db()
    return [each.run.tag for each in find_visible_board(sight_of(track, AnonymousUser())).standings]


@pytest.mark.parametrize("selection", ["best", "primary"])
def test_a_late_run_takes_the_place_of_none_in_time(closed, ada, ben, selection):
    assert standing(closed, ada, ben, selection=selection) == ["other"]


def test_a_late_run_takes_no_step_of_a_ladder_from_one_in_time(closed, ada, ben):
    ladder = {"disclosure": "leaderboard", "ladder_step": 0.01}
    assert standing(closed, ada, ben, **ladder) == ["other"]


def test_where_every_run_stands_the_better_one_is_first(closed, ada, ben):
    assert standing(closed, ada, ben, selection="all") == ["ben-bm25", "other"]


@pytest.mark.parametrize("selection", ["best", "primary"])
def test_a_late_run_stands_where_its_team_has_none_in_time(closed, ada, ben, as_ben, selection):
    make_run(changed(closed, ada, late_runs="mark", selection=selection), ben)
    assert ">late</span>" in as_ben.get("/benchmarks/closed/board/").content.decode()


def test_before_it_opens_a_track_takes_no_late_run_either(collection, ben):
    opens = timezone.now() + AN_HOUR_AGO
    track = make_track(collection, slug="soon", opens_at=opens, late_runs="mark")
    with pytest.raises(NotAccepted, match="Not open yet: runs are accepted from"):
        make_run(track, ben)


def test_a_topic_that_is_left_out_counts_in_no_mean(track, ada, ben):
    make_run(track, ben)
    changed(track, ada, excluded_topics=["3"], exclusion_reason="ambiguous")
    work()
    track.refresh_from_db()
    board = find_board(sight_of(track, ben))
    assert board.standings[0].scores["AP"] == pytest.approx((1 + 1 / 2) / 2)


def test_everybody_reads_why_a_topic_is_left_out(track, ada, as_cat):
    changed(track, ada, excluded_topics=["3"], exclusion_reason="Two readings are possible.")
    about = as_cat.get("/benchmarks/bread/").content.decode()
    assert "topic <bdi>3</bdi>" in about and "Two readings are possible." in about


@pytest.mark.parametrize(
    ("topics", "reason", "said"),
    [("9", "x", "Not in the collection: 9."), ("3", "", "Enter a reason for excluding topics.")],
)
def test_topics_are_left_out_by_their_number_and_with_a_reason(as_ada, track, topics, reason, said):
    answer = as_ada.post(
        "/benchmarks/bread/manage/section/judgments/",
        {"excluded_topics": topics, "exclusion_reason": reason},
    )
    assert answer.status_code == 422 and said in answer.content.decode()
