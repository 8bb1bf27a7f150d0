"""What was refused is kept for a while, for its team and for those who organise."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.jobs import cleanup
from leaderboard.models import Run
from tests.builders import make_run

REFUSED = "/benchmarks/bread/manage/refused/"


@pytest.fixture
def refused(track, ben) -> Run:
    return make_run(track, ben, "1 Q0 d1 1\n")


def test_organisers_see_what_their_participants_stumble_over(refused, as_ada):
    page = as_ada.get(REFUSED)
    assertContains(page, "line 1: E_COLUMNS: expected 6 columns")
    assertContains(page, f'href="/runs/{refused.pk}/file/"')


@pytest.mark.parametrize("who", ["as_ada", "as_ben"])
def test_what_never_was_on_the_board_is_not_taken_off_it(refused, who, request):
    page = request.getfixturevalue(who).get(f"/runs/{refused.pk}/")
    assertNotContains(page, f"/runs/{refused.pk}/withdraw/")
    assertNotContains(page, "Remove from board")


def test_the_page_about_managing_leads_to_them(track, as_ada):
    assertContains(as_ada.get("/benchmarks/bread/manage/section/runs/"), f'href="{REFUSED}"')
    assertContains(as_ada.get(REFUSED), "No rejected files")


def test_a_long_list_asks_the_database_no_more(track, ben, as_ada, django_assert_max_num_queries):
    for number in range(5):
        make_run(track, ben, f"{number} Q0 d1 1\n")
    with django_assert_max_num_queries(20):
        as_ada.get(REFUSED)


def test_after_some_weeks_the_row_says_that_the_file_is_gone(refused, as_ben):
    Run.objects.update(received_at=timezone.now() - timedelta(days=31))
    cleanup.sweep()
    assertContains(as_ben.get("/benchmarks/bread/runs/"), "removed after 30 days")
    assertContains(as_ben.get(f"/runs/{refused.pk}/"), "E_COLUMNS")
    assertNotContains(as_ben.get(f"/runs/{refused.pk}/"), f"/runs/{refused.pk}/file/")
    assert as_ben.get(f"/runs/{refused.pk}/file/").status_code == 404
