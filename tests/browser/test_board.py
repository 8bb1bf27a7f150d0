"""A long board under the pointer."""

from __future__ import annotations

import pytest


@pytest.mark.night
def test_a_difference_opens_its_explanation_and_the_end_of_its_row_a_baseline(page, crowd):
    page.goto("/tracks/many/")
    row = page.locator("table.board tbody tr", has=page.locator(".make")).first
    row.locator("td:has(.make) > a.number").click()
    page.locator("dialog.drawer[open]").wait_for()
    page.keyboard.press("Escape")
    row.hover()
    row.get_by_role("link", name="as baseline").click()
    page.wait_for_url("**baseline=*")
