"""A step of a scene that is copied leaves what it left when it was done."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from leaderboard.models import Collection, Judgment, Participation, Run, Track, User
from tests import recording
from tests.builders import make_collection, make_run, make_track, make_user
from tests.recording import Road, recorded

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def road(monkeypatch) -> Road:
    """A road without recordings."""
    monkeypatch.setattr(recording.road, "recordings", {})
    monkeypatch.setattr(recording.road, "is_closed", lambda: False)
    return recording.road


@contextmanager
def earlier_test() -> Iterator[None]:
    """Roll back what is done within, as after a test."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)


def judged() -> set[tuple[str, str, int]]:
    return set(Judgment.objects.values_list("topic__number", "docno", "grade"))


times = count(1)


@recorded
def make_guest(**fields: object) -> User:
    """Somebody whose name tells how often this was really done."""
    return User.objects.create_user(f"guest-{next(times)}", **fields)


def test_a_copy_has_the_rows_and_files_of_the_first(ada):
    with earlier_test():
        make_collection(ada)
        first = judged()
    again = make_collection(ada)
    assert judged() == first and len(first) == 8
    assert again.num_documents == 12 and again.documents.read()


def test_a_later_step_goes_on_from_a_copy(ada, ben):
    with earlier_test():
        make_track(make_collection(ada))
    run = make_run(make_track(make_collection(ada)), ben)
    assert run.state == Run.State.SCORED and run.score_sets.get().edition == run.track.edition


def test_the_same_step_at_the_same_place_is_done_once(db):
    with earlier_test():
        first = make_guest()
    assert make_guest() == first and make_guest() != first


def test_after_another_step_or_with_other_details_it_is_done_anew(db):
    with earlier_test():
        first = make_guest().username
    with earlier_test():
        assert make_guest(email="guest@example.org").username != first
    make_user("dora")
    assert make_guest().username != first


def test_after_anything_else_was_written_it_is_done_anew(db):
    with earlier_test():
        first = make_guest().username
    User.objects.create(username="dora")
    assert make_guest().username != first


def test_after_what_was_written_is_rolled_back_it_is_copied(db):
    with earlier_test():
        first = make_guest()
    with earlier_test():
        User.objects.create(username="dora")
    assert make_guest() == first


def test_where_a_setting_differs_it_is_done_anew(db, settings):
    with earlier_test():
        first = make_guest().username
    settings.EVERYONE_ORGANISES = True
    assert make_guest().username != first


def test_where_a_file_differs_it_is_done_anew(db, settings):
    with earlier_test():
        first = make_guest().username
    settings.MEDIA_ROOT.mkdir()
    (settings.MEDIA_ROOT / "stray").touch()
    assert make_guest().username != first


def test_where_the_product_is_patched_it_is_done_anew(db, road):
    with earlier_test():
        first = make_guest().username
    road.is_closed = lambda: True
    assert make_guest().username != first


def test_moments_of_a_copy_are_as_long_ago_as_those_of_the_first(ada):
    with earlier_test():
        make_track(make_collection(ada), opens_at=timezone.now() - DAY)
    began = timezone.now()
    collection = make_collection(ada)
    track = make_track(collection, opens_at=began - DAY)
    assert track.opens_at == began - DAY
    assert began < Collection.objects.get().created_at < track.created_at < timezone.now()


def test_a_moment_from_before_the_step_stays_as_it_is(ada, ben):
    closes_at = datetime(2036, 1, 1, tzinfo=UTC)
    for written in (closes_at, closes_at, "2036-01-01T00:00:00Z", "2036-01-01T00:00:00Z"):
        with earlier_test():
            track = make_track(make_collection(ada), closes_at=written)
            make_extension(track)
            assert track.participations.get().closes_at == closes_at


@recorded
def make_extension(track: Track) -> Participation:
    team = track.benchmark.teams.create(name="late")
    return track.participations.create(team=team, closes_at=track.closes_at)


def test_after_a_step_that_failed_it_is_done_anew(db):
    with earlier_test():
        first = make_guest().username
    with pytest.raises(ZeroDivisionError):
        make_half_a_guest()
    assert make_guest().username != first


@recorded
def make_half_a_guest() -> User:
    User.objects.create_user("half")
    raise ZeroDivisionError
