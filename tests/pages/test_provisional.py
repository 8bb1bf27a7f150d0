"""A live board says that it may still change, and by what."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.actions import tracks
from leaderboard.models import Track
from tests.builders import make_run, make_track

BEFORE, AFTER = (timezone.now() + timedelta(hours=hours) for hours in (1, -1))


def said(client: Client, track: Track, **fields: object) -> str:
    """The sentence under the board of a track in this state; empty where there is none."""
    Track.objects.filter(pk=track.pk).update(**fields)
    page = client.get(f"/benchmarks/{track.slug}/board/").text
    lines = (line for line in page.splitlines() if "These scores" in line or "these scores" in line)
    return next(lines, "")


@pytest.fixture
def board(track, ben) -> Track:
    make_run(track, ben)
    return track


@pytest.fixture
def frozen(board, as_ada) -> Track:
    as_ada.post("/benchmarks/bread/manage/freeze/", {"name": "final"})
    return board


def test_before_the_deadline_runs_may_come(board, as_cat):
    assert "are provisional while runs are accepted" in said(as_cat, board, closes_at=BEFORE)


def test_where_late_runs_are_taken_they_may_come_still(board, as_cat):
    words = said(as_cat, board, closes_at=AFTER, late_runs="mark")
    assert "are provisional while late runs are accepted." in words


def test_after_the_deadline_it_waits_for_a_snapshot(board, as_cat):
    assert "until organisers freeze a snapshot." in said(as_cat, board, closes_at=AFTER)


def test_beside_a_snapshot_only_judgments_can_change_it(frozen, as_cat):
    words = said(as_cat, frozen, closes_at=AFTER)
    assert "New judgments could still change these scores." in words
    assert "/benchmarks/bread/snapshots/final/" in words and "provisional" not in words


def test_a_board_that_never_closes_needs_no_such_word(board, as_cat):
    assert said(as_cat, board) == ""


def test_a_snapshot_of_it_does(frozen, as_cat):
    assert "change as runs and judgments arrive." in said(as_cat, frozen)


def test_a_split_board_that_is_closed_waits_for_the_release(collection, ada, ben, as_cat):
    split = {"disclosure": "leaderboard", "public_topics": ["1", "2"]}
    track = make_track(collection, **split)
    make_run(track, ben)
    assert "provisional until the release." in said(as_cat, track, closes_at=AFTER)
    tracks.release_track(track, ada)
    assert "until organisers freeze a snapshot." in said(as_cat, track)
