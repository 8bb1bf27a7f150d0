"""A double click acts once, and leads where the first click led."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.jobs import cleanup
from leaderboard.models import Announcement, Grant, Pool, SentForm, Snapshot, Track
from tests.builders import OTHER_RUN, make_run, make_track

BOARD = "/collections/bread/tracks/new/internal/"
DESK = "/benchmarks/bread/desk/"


def key_on(client, address: str) -> str:
    found = re.search(r'name="once" value="([^"]+)"', client.get(address).text)
    assert found is not None
    return found[1]


def clicked_twice(client, page: str, address: str, **form) -> list[tuple[int, str]]:
    form["once"] = key_on(client, page)
    answers = [client.post(address, form) for _ in range(2)]
    return [(each.status_code, each.headers.get("Location", "")) for each in answers]


def test_two_clicks_open_one_internal_board(collection, as_ada):
    assert (
        clicked_twice(as_ada, "/collections/bread/", BOARD)
        == [(302, "/benchmarks/bread/board/")] * 2
    )
    assert Track.objects.count() == 1


def test_a_click_on_the_page_seen_anew_opens_another_board(collection, as_ada):
    for _ in range(2):
        as_ada.post(BOARD, {"once": key_on(as_ada, "/collections/bread/")})
    assert {track.slug for track in Track.objects.all()} == {"bread", "bread-2"}


def test_two_clicks_open_one_track(collection, as_ada):
    address = "/collections/bread/tracks/new/"
    form = as_ada.get(address).context["form"]
    fields = {name: form[name].value() for name in form.fields}
    sent = {name: value for name, value in fields.items() if value not in (None, "", False)}
    assert (
        clicked_twice(as_ada, address, address, **sent) == [(302, "/benchmarks/bread/setup/")] * 2
    )


def test_two_clicks_gather_one_pool(track, ben, as_ada):
    chosen = {"runs": [make_run(track, ben).pk], "method": "depth", "size": 2}
    address = "/benchmarks/bread/pools/"
    assert clicked_twice(as_ada, address, address, **chosen) == [(302, f"{address}pool-1/")] * 2
    assert Pool.objects.count() == 1


def test_two_clicks_freeze_a_board_once_and_show_it(track, ben, cat, as_ada):
    for user, text in ((ben, None), (cat, OTHER_RUN)):
        make_run(track, user, *([text] if text else []))
    page = "/benchmarks/bread/snapshots/"
    led = clicked_twice(as_ada, page, "/benchmarks/bread/manage/freeze/", name="final")
    assert led == [(302, f"{page}final/")] * 2 and Snapshot.objects.count() == 1


def test_two_clicks_announce_once_and_grant_once(collection, ben, as_ada):
    track = make_track(collection, quota_per_day=1)
    team = make_run(track, ben).team
    clicked_twice(as_ada, DESK, f"{DESK}announce/", text="Rye is late.")
    clicked_twice(as_ada, DESK, f"{DESK}grant/", team=team.pk, runs=2, today="today")
    assert (Announcement.objects.count(), Grant.objects.count()) == (1, 1)


def test_what_was_changed_before_it_was_sent_again_is_another(track, as_ada):
    key = key_on(as_ada, DESK)
    for text in ("Rye is late.", "Rye is here."):
        as_ada.post(f"{DESK}announce/", {"text": text, "once": key})
    assert Announcement.objects.count() == 2


def test_a_form_that_was_not_in_order_may_be_sent_again(track, as_ada):
    led = clicked_twice(as_ada, DESK, f"{DESK}announce/", text=" ")
    assert [status for status, _ in led] == [422, 422]
    assert not SentForm.objects.exists()


@pytest.mark.parametrize(("age", "left"), [(timedelta(hours=20), 1), (timedelta(days=2), 0)])
def test_that_a_form_was_sent_is_remembered_for_a_day(ada, age, left):
    SentForm.objects.create(user=ada, digest="x", sent_at=timezone.now() - age)
    cleanup.sweep()
    assert SentForm.objects.count() == left
