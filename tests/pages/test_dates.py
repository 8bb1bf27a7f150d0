"""All dates of a track on one page for its organisers."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from tests.builders import make_track
from tests.pages.reading import words

PAGE = "/benchmarks/bread/desk/deadlines/"


def test_every_date_says_what_happens_then(collection, as_ada):
    opened, closes = (timezone.now() + timedelta(days=days) for days in (-2, 1))
    make_track(collection, opens_at=opened, closes_at=closes, grace_minutes=30)
    told = words(as_ada.get(PAGE).text)
    assert "Opens Runs are accepted from then on." in told
    assert told.index("passed") < told.index("Closes Later runs are rejected")


def test_a_track_without_dates_says_so(collection, as_ada):
    make_track(collection)
    assert "No dates: runs are accepted" in as_ada.get(PAGE).text
