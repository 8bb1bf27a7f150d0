"""Changes that everybody sees: asked once, undone for ten minutes, told afterwards."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions import tracks, uploads
from leaderboard.models import AuditEvent, Job, JudgmentSet, Notice, Track
from tests.builders import QRELS, make_run, make_track, upload, work
from tests.pages.test_track_pages import form_of

MANAGE = "/benchmarks/bread/manage/"
DESK = "/benchmarks/bread/desk/"
SWITCH = "/benchmarks/bread/judgments/v2/switch/"


@pytest.fixture
def second(track, ben, ada) -> JudgmentSet:
    """Other judgments, with a trial of them, and Ben's run on the board."""
    make_run(track, ben)
    text = upload("v2.txt", QRELS.replace("2 0 d5 0", "2 0 d5 2"))
    uploads.accept_judgments(track.collection, text, "v2", ada, asks_first=False)
    work()
    Notice.objects.all().delete()
    return JudgmentSet.objects.get(version="v2")


def after_ten_minutes() -> None:
    """Do what was held back, as if ten minutes had passed."""
    past = timezone.now() - timedelta(minutes=11)
    AuditEvent.objects.update(at=past)
    Job.objects.filter(state="queued").update(not_before=past)
    work()


def undo(client):
    event = AuditEvent.objects.filter(act="change").latest("pk")
    return client.post(f"{MANAGE}undo/{event.pk}/", follow=True)


def rename(client, address: str = MANAGE, **fields: str):
    """Send a section of the settings with other values."""
    return client.post(address, form_of(client.get(address)) | fields)


def hidden_in(page) -> dict[str, list[str]]:
    """Return the fields that a page sends again, as its browser does."""
    sent: dict[str, list[str]] = {}
    for name, value in page.context["sent"]:
        sent.setdefault(name, []).append(value)
    return sent


def test_a_new_name_is_asked_for_once_and_then_saved(track, as_ada):
    asked = rename(as_ada, name="Loaves")
    assertContains(asked, "<bdi>Bread track</bdi> → <b><bdi>Loaves</bdi></b>")
    assert Track.objects.get().name == "Bread track"
    as_ada.post(MANAGE, hidden_in(asked) | {"confirmed": "1"})
    assert Track.objects.get().name == "Loaves"


def test_other_settings_are_saved_without_a_question(track, as_ada):
    assert rename(as_ada, "/benchmarks/bread/manage/section/runs/", depth="500").status_code == 302
    assert Track.objects.get().depth == 500


def test_a_renamed_track_has_its_name_and_address_back(track, ada, as_ada):
    tracks.change_track(track, ada, {"name": "Loaves", "slug": "loaves"})
    event = AuditEvent.objects.latest("pk")
    assertContains(as_ada.get("/benchmarks/loaves/desk/"), "You can undo this until")
    answer = as_ada.post(f"/benchmarks/loaves/manage/undo/{event.pk}/")
    assert answer["Location"] == DESK
    assert (Track.objects.get().name, Track.objects.get().slug) == ("Bread track", "bread")
    assertContains(as_ada.get(DESK), "undid a change of the")
    assertNotContains(as_ada.get(DESK), "You can undo this until")


def test_the_page_says_how_many_will_be_notified(second, as_ada):
    page = as_ada.get("/benchmarks/bread/judgments/v2/impact/")
    assertContains(page, "1 member is notified ten minutes later. Until then you can undo")


def test_other_judgments_are_told_after_ten_minutes(second, ben, as_ada):
    as_ada.post(SWITCH)
    work()
    assert Track.objects.get().edition.judgment_set == second
    assert not Notice.objects.filter(user=ben).exists()
    after_ten_minutes()
    assert Notice.objects.get(user=ben).text == "The board of Bread track now uses judgments v2."


def test_a_switch_that_is_undone_is_told_nobody(second, as_ada):
    as_ada.post(SWITCH)
    work()
    assertContains(undo(as_ada), "Undone. No one was notified")
    work()
    assert Track.objects.get().edition.judgment_set.version == "v1"
    after_ten_minutes()
    assert not Notice.objects.exists()


def test_a_change_made_since_stays(track, ada, as_ada):
    tracks.change_track(track, ada, {"name": "Loaves"})
    first = AuditEvent.objects.latest("pk")
    tracks.change_track(track, ada, {"name": "Rolls"})
    page = as_ada.post(f"{MANAGE}undo/{first.pk}/", follow=True)
    assertContains(page, "It was changed again since.")
    assert Track.objects.get().name == "Rolls"
    first.refresh_from_db()
    assert first.undone_at is None


def test_a_change_is_undone_once(track, ada, as_ada):
    tracks.change_track(track, ada, {"name": "Loaves"})
    undo(as_ada)
    assertContains(undo(as_ada), "This change was undone already")


def test_after_ten_minutes_nothing_is_undone(track, ada, as_ada):
    tracks.change_track(track, ada, {"name": "Loaves"})
    after_ten_minutes()
    assertNotContains(as_ada.get(DESK), "You can undo this until")
    assertContains(undo(as_ada), "older than ten minutes")
    assert Track.objects.get().name == "Loaves"


def test_a_short_name_that_another_track_has_by_now_is_not_taken_back(track, ada, as_ada):
    tracks.change_track(track, ada, {"slug": "loaves"})
    make_track(track.collection, slug="bread")
    event = track.events.latest("pk")
    page = as_ada.post(f"/benchmarks/loaves/manage/undo/{event.pk}/", follow=True)
    assertContains(page, "Another track has the earlier short name by now.")


def test_a_change_of_another_track_is_not_undone_here(track, ada, as_ada):
    other = make_track(track.collection, slug="other")
    tracks.change_track(other, ada, {"name": "Loaves"})
    assertContains(undo(as_ada), "This change was undone already")
    assert Track.objects.get(slug="other").name == "Loaves"


def test_a_release_says_who_is_notified_and_that_it_stays(blind_track, ben, as_ada):
    make_run(blind_track, ben)
    page = as_ada.get("/benchmarks/blind/manage/release/")
    assertContains(page, "You cannot undo this")
    assertContains(page, "1 member, immediately")
