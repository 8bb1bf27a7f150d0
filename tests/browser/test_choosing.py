"""A choice on a board or a run applies at once."""

from __future__ import annotations

import re


def test_a_measure_applies_at_once(page):
    page.goto("/tracks/open/")
    page.get_by_label("Measure").focus()
    page.get_by_label("Measure").select_option("P@5")
    page.wait_for_url(re.compile("measure=P%405"))
    page.locator("th[aria-sort]", has_text="P@5").wait_for()
    assert not page.get_by_role("button", name="Apply").is_visible()


def test_going_back_restores_the_board_from_the_server(page):
    page.goto("/tracks/open/")
    page.get_by_label("Measure").select_option("P@5")
    page.wait_for_url(re.compile("measure=P%405"))
    page.go_back()
    page.locator("th[aria-sort]", has_text="AP").wait_for()


def test_columns_apply_when_their_menu_closes(page):
    page.goto("/tracks/open/")
    page.locator("summary", has_text="Columns").click()
    page.locator("[name=column]").first.uncheck()
    assert "column=" not in page.url
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("column="))
    page.locator("summary", has_text="Columns").wait_for()


def test_without_javascript_a_button_applies(browser, scene):
    context = browser.new_context(base_url=scene.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/tracks/open/")
    page.get_by_label("Measure").select_option("P@5")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(re.compile("measure=P%405"))
    context.close()
