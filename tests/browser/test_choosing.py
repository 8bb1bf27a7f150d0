"""A choice on a board or a run applies at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.night

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


def unfold(page: Page) -> None:
    """Open the fold that has the fields on a phone."""
    fold = page.locator("details.filters > summary")
    if fold.is_visible():
        fold.click()


def choose(page: Page, field: Locator, key: str) -> None:
    """Press a key in a field, and wait until the page that it asks for is in place."""
    page.evaluate("document.querySelector('main').classList.add('before')")
    field.press(key)
    page.locator("main.before").wait_for(state="detached")


def has_focus(field: Locator) -> bool:
    return field.evaluate("field => field === document.activeElement")


def test_a_measure_applies_at_once(page):
    page.goto("/benchmarks/open/board/")
    page.get_by_label("Measure").focus()
    page.get_by_label("Measure").select_option("P@5")
    page.wait_for_url(re.compile("measure=P%405"))
    page.locator("th[aria-sort]", has_text="P@5").wait_for()
    assert not page.get_by_role("button", name="Apply").is_visible()


@pytest.mark.parametrize(("name", "key"), [("Measure", "P"), ("best per team", "Space")])
@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
def test_the_focus_stays_in_the_field_of_a_choice(page, width, name, key):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/benchmarks/open/board/")
    unfold(page)
    choose(page, page.get_by_label(name), key)
    assert has_focus(page.get_by_label(name))


def test_the_focus_stays_in_the_search_for_a_run(page):
    page.goto("/benchmarks/open/board/")
    page.get_by_label("Run or team").fill("nosuch")
    choose(page, page.get_by_label("Run or team"), "Enter")
    assert has_focus(page.get_by_label("Run or team"))


@pytest.mark.parametrize("key", ["Escape", "Enter"])
def test_the_focus_returns_to_the_menu_whose_choice_applied(page, key):
    page.goto("/benchmarks/open/board/")
    page.locator("summary", has_text="Columns").click()
    page.locator("[name=column]").first.uncheck()
    choose(page, page.locator("[name=column]").first, key)
    assert has_focus(page.locator("summary", has_text="Columns"))


def test_going_back_restores_the_board_from_the_server(page):
    page.goto("/benchmarks/open/board/")
    page.get_by_label("Measure").select_option("P@5")
    page.wait_for_url(re.compile("measure=P%405"))
    page.go_back()
    page.locator("th[aria-sort]", has_text="AP").wait_for()


def test_columns_apply_when_their_menu_closes(page):
    page.goto("/benchmarks/open/board/")
    page.locator("summary", has_text="Columns").click()
    page.locator("[name=column]").first.uncheck()
    assert "column=" not in page.url
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("column="))
    page.locator("summary", has_text="Columns").wait_for()


def test_without_javascript_a_button_applies(browser, scene):
    context = browser.new_context(base_url=scene.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/benchmarks/open/board/")
    page.get_by_label("Measure").select_option("P@5")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(re.compile("measure=P%405"))
    context.close()
