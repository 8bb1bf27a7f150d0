"""Reminders before deadlines."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.actions import people
from leaderboard.models import Benchmark, Notice, Participation, Team, Track
from leaderboard.notifications.reminders import send_due_reminders
from tests.benchmark_scene import join_tracks
from tests.builders import make_run, make_track

pytestmark = pytest.mark.long


@pytest.fixture
def closing(track, ben) -> Track:
    """A track that closes in ten days, with Ben's team."""
    Track.objects.update(closes_at=timezone.now() + timedelta(days=10))
    people.admit(track.benchmark, ben)
    track.refresh_from_db()
    return track


def before(track: Track, **time: float) -> datetime:
    return track.closes_at - timedelta(**time)


def reminders() -> list[str]:
    return list(Notice.objects.filter(text__contains="no run there yet").values_list("text"))


def test_a_team_without_a_run_is_reminded_a_week_and_a_day_before(closing):
    for left in ({"days": 8}, {"days": 6}, {"days": 5}, {"hours": 20}, {"hours": 2}, {"days": -1}):
        send_due_reminders(before(closing, **left))
    assert len(reminders()) == 2
    assert "ben has no run there yet." in reminders()[0][0]


def test_a_reminder_is_due_from_its_very_moment_until_the_deadline(closing):
    send_due_reminders(closing.closes_at)
    assert reminders() == []
    send_due_reminders(before(closing, days=7))
    assert len(reminders()) == 1


def test_a_team_with_a_run_is_not_reminded(closing, ben):
    make_run(closing, ben)
    send_due_reminders(before(closing, days=6))
    assert reminders() == []


def test_organisers_switch_reminders_off(closing, as_ada):
    page = "/benchmarks/bread/manage/messages/"
    as_ada.post(f"{page}reminders/", {})
    assert not Benchmark.objects.get().reminds_teams
    send_due_reminders(before(closing, days=6))
    assert reminders() == []


def test_a_team_is_reminded_of_its_own_later_deadline(closing):
    later = closing.closes_at + timedelta(days=20)
    Participation.objects.create(team=Team.objects.get(), track=closing, closes_at=later)
    send_due_reminders(before(closing, days=6))
    assert reminders() == []
    send_due_reminders(later - timedelta(days=6))
    assert len(reminders()) == 1


def test_who_comes_late_is_not_reminded_of_a_week(closing, cat):
    Team.objects.update(created_at=before(closing, days=3))
    send_due_reminders(before(closing, days=2))
    assert reminders() == []


def test_a_track_that_closes_later_holds_up_no_reminder_of_another(closing, ben):
    later = make_track(closing.collection, "rolls", closes_at=before(closing, days=-30))
    benchmark = join_tracks([later, closing], slug="baking", name="Baking")
    assert benchmark.team_of(ben)
    send_due_reminders(before(closing, days=6))
    assert len(reminders()) == 1
