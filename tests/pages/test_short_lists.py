"""Lists of organisers show ten rows and a link to all."""

from __future__ import annotations

import pytest
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions import pools
from leaderboard.models import AuditEvent, Delivery, Pool
from tests.builders import make_run, make_user
from tests.pages.reading import page_at, rows

DESK = "/benchmarks/bread/desk/"


def make_events(track, number: int) -> None:
    AuditEvent.objects.all().delete()
    for day in range(number):
        AuditEvent.objects.create(act=f"act {day}", target_kind="track", track=track)


def test_ten_entries_need_no_link(track, as_ada):
    make_events(track, 10)
    assertNotContains(as_ada.get(f"{DESK}trail/"), "?all=trail")


def test_of_eleven_entries_ten_are_shown_and_a_link_to_all(track, as_ada):
    make_events(track, 11)
    page = page_at(as_ada, f"{DESK}trail/")
    assert page.count("<b><bdi>system</bdi></b>") == 10
    assert f'href="{DESK}trail/?all=trail#trail">All 11 entries</a>' in page


def test_the_link_leads_to_all_of_them(track, as_ada):
    make_events(track, 11)
    page = page_at(as_ada, f"{DESK}trail/?all=trail")
    assert page.count("<b><bdi>system</bdi></b>") == 11 and "All 11 entries" not in page


def test_beyond_a_hundred_the_whole_list_has_pages(track, as_ada):
    make_events(track, 101)
    first = as_ada.get(f"{DESK}trail/?all=trail")
    assertContains(first, "1 to 100 of 101 entries")
    assertContains(first, "?all=trail&amp;page=2")
    assertContains(as_ada.get(f"{DESK}trail/?all=trail&page=2"), "101 to 101 of 101 entries")


def test_members_of_teams_are_ten_and_a_link(track, as_ada):
    for number in range(12):
        make_run(track, make_user(f"user{number:02}"), f"1 Q0 d1 1 {number + 1} tag{number}\n")
    page = page_at(as_ada, "/benchmarks/bread/manage/people/")
    assert len(rows(page, 1)) == 10 and "All 12 members" in page
    assert len(rows(page_at(as_ada, "/benchmarks/bread/manage/people/?all=members"), 1)) == 12


def test_rejected_files_are_ten_and_a_link(track, ben, as_ada):
    for number in range(11):
        make_run(track, ben, f"{number} Q0 d1 1\n")
    assertContains(as_ada.get("/benchmarks/bread/manage/refused/"), "All 11 files")


def test_deliveries_and_pools_are_ten_and_a_link(track, ada, ben, as_ada):
    webhook = track.webhooks.create(url="https://webhooks.invalid/", created_by=ada)
    for _ in range(11):
        Delivery.objects.create(webhook=webhook, happening="run.scored", body={})
    run = make_run(track, ben)
    for _ in range(11):
        pools.create_pool(track, ada, [run], "depth", 2)
    assert Pool.objects.count() == 11
    assertContains(as_ada.get("/benchmarks/bread/manage/webhooks/"), "All 11 deliveries")
    assertContains(as_ada.get("/benchmarks/bread/pools/"), "All 11 pools")


@pytest.mark.parametrize("page", ["", "?all=nonsense", "?all=trail&page=x"])
def test_any_address_of_a_list_answers(track, as_ada, page):
    assert as_ada.get(f"{DESK}trail/{page}").status_code == 200


def test_ten_requests_to_join_are_shown_and_a_link_to_all(track, as_ada):
    for number in range(11):
        track.benchmark.join_requests.create(
            user=make_user(f"user{number}"), team_name=f"Oats {number}"
        )
    page = page_at(as_ada, "/benchmarks/bread/manage/people/")
    assert page.count('name="approve"') == 10 and "11 requests" in page
    every = page_at(as_ada, "/benchmarks/bread/manage/people/?all=requests")
    assert every.count('name="approve"') == 11
