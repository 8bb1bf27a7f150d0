"""All dates of a track on one page for its organisers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import make_track
from tests.pages.reading import words

PAGE = "/benchmarks/bread/desk/deadlines/"
JUDGED = "Between the deadline and the release."


def test_every_date_says_what_happens_then(collection, as_ada):
    opened, closes = (timezone.now() + timedelta(days=days) for days in (-2, 1))
    make_track(collection, opens_at=opened, closes_at=closes, grace_minutes=30)
    told = words(as_ada.get(PAGE).text)
    assert "Opens Runs are accepted from then on." in told
    assert told.index("passed") < told.index("Closes Later runs are rejected")


@pytest.mark.parametrize(
    ("disclosure", "days", "is_told"),
    [("blind", 3, True), ("blind", 2, False), ("leaderboard", 3, False)],
)
def test_a_blind_track_has_days_of_judging(collection, as_ada, disclosure, days, is_told):
    closes = timezone.now() + timedelta(days=1)
    release = closes + timedelta(days=days)
    make_track(collection, closes_at=closes, release_at=release, disclosure=disclosure)
    assert (JUDGED in words(as_ada.get(PAGE).text)) == is_told


def test_without_a_deadline_no_day_of_judging_is_known(collection, as_ada):
    make_track(collection, release_at=timezone.now() + timedelta(days=5), disclosure="blind")
    told = words(as_ada.get(PAGE).text)
    assert "Planned release" in told and JUDGED not in told


def test_the_organisers_own_days_of_judging_stand_alone(collection, as_ada):
    closes = timezone.now() + timedelta(days=1)
    release = closes + timedelta(days=5)
    track = make_track(collection, closes_at=closes, release_at=release, disclosure="blind")
    track.milestones.create(label="Judging by students", day=release.date())
    told = words(as_ada.get(PAGE).text)
    assert "Judging by students" in told and JUDGED not in told


def test_a_track_without_dates_says_so(collection, as_ada):
    make_track(collection)
    assert "No dates: runs are accepted" in as_ada.get(PAGE).text
