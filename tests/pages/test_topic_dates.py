"""Topics that appear on a date, which all tracks of a collection have."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions.refusals import ActionError
from leaderboard.actions.tracks import change_track
from leaderboard.models import AuditEvent, Track
from tests.builders import RUN, make_track, make_user, upload

DAY = timedelta(days=1)


def date(track: Track, when) -> None:
    change_track(track, track.collection.owner, {"topics_at": when})


def test_topics_appear_at_their_minute(track, client, as_ada):
    date(track, timezone.now() + DAY)
    assertContains(as_ada.get("/benchmarks/bread/topics/"), "sourdough bread")
    assertContains(client.get("/benchmarks/bread/topics/"), "Topics are not out yet")
    assert client.get("/collections/bread/topics.txt").status_code == 404
    Track.objects.update(topics_at=timezone.now() - timedelta(seconds=1))
    assertContains(client.get("/benchmarks/bread/topics/"), "sourdough bread")
    assert client.get("/collections/bread/topics.txt").status_code == 200


def test_every_track_of_a_collection_has_the_date(track, ada, client):
    other = make_track(track.collection, "rolls")
    date(track, timezone.now() + DAY)
    other.refresh_from_db()
    assert other.topics_at == track.topics_at == make_track(track.collection, "buns").topics_at
    assert AuditEvent.objects.filter(track=other, act="change").exists()
    assertNotContains(client.get("/benchmarks/rolls/topics/"), "sourdough bread")


def test_only_organisers_of_the_collection_date_its_topics(track):
    kim = make_user("kim")
    track.benchmark.co_organisers.add(kim)
    with pytest.raises(ActionError, match="organisers of the collection"):
        change_track(track, kim, {"topics_at": timezone.now() + DAY})


def test_runs_are_refused_until_the_topics_appear(track, as_ben):
    date(track, timezone.now() + DAY)
    answer = as_ben.post("/benchmarks/bread/submit/", {"file": upload("run.txt", RUN)})
    assertContains(answer, "topics appear and runs are accepted from", status_code=422)
    assert not track.runs.exists()


def test_taking_topics_back_is_asked_once_more(track, as_ada):
    form = as_ada.get("/benchmarks/bread/desk/deadlines/").context["dates_form"]
    sent = {field.html_name: field.value() for field in form if field.value() is not None}
    sent |= {"topics_at": "2099-01-01T12:00", "zone": "UTC"}
    answer = as_ada.post("/benchmarks/bread/manage/section/dates/", sent)
    assertContains(answer, "The topics are out.")
    assert Track.objects.get().topics_at is None
    as_ada.post("/benchmarks/bread/manage/section/dates/", sent | {"confirmed": "1"})
    assert Track.objects.get().topics_at.year == 2099
