"""A board of 300 runs: 200 rows at once, and the rest when it is read, searched or printed."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from playwright.sync_api import expect

from tests.browser.conftest import is_scored, track_called
from tests.builders import RUN
from tests.services.machines import Site, until

pytestmark = pytest.mark.night

COPY = (
    "from leaderboard.models import Run; from tests.pages.ten_topics import copies;"
    " copies(Run.objects.get(track__slug='endless'), 299)"
)
ROWS = "table.board tbody th[scope=row]"
REST = "table.board .rest a"


@pytest.fixture(scope="module")
def endless(scene: Site) -> Site:
    token = scene.manage("create_token", "ada", "--organiser")
    scene.ask("/tracks", token, track_called("endless", disclosure="open"))
    file = SimpleUploadedFile("first.run", RUN.encode())
    sent = scene.ask("/tracks/endless/runs", token, file=file)
    until(lambda: is_scored(scene, token, sent["id"]), "the run is scored")
    scene.manage("shell", "-c", COPY)
    return scene


def test_the_rest_of_a_long_board_comes_when_its_end_is_seen(page, endless):
    page.goto("/benchmarks/endless/board/")
    expect(page.locator(ROWS)).to_have_count(200)
    page.locator(REST).scroll_into_view_if_needed()
    expect(page.locator(ROWS)).to_have_count(300)


def test_a_search_in_the_page_waits_for_no_row(page, endless):
    page.goto("/benchmarks/endless/board/")
    expect(page.locator(ROWS)).to_have_count(200)
    page.keyboard.press("Control+f")
    expect(page.locator(ROWS)).to_have_count(300)


def test_paper_has_every_row(page, endless):
    page.goto("/benchmarks/endless/board/")
    expect(page.locator(ROWS)).to_have_count(200)
    page.pdf()
    assert page.locator(ROWS).count() == 300


def test_without_javascript_a_link_leads_to_all_rows(browser, endless):
    context = browser.new_context(base_url=endless.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/benchmarks/endless/board/")
    page.locator(REST).click()
    page.locator(ROWS).nth(299).wait_for(state="attached")
    assert page.locator(ROWS).count() == 300
    context.close()
