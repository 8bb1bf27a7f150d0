"""A long board under the pointer."""

from __future__ import annotations

import pytest


@pytest.mark.night
def test_a_difference_opens_its_explanation_and_the_end_of_its_row_a_baseline(page, crowd):
    page.goto("/benchmarks/many/board/")
    row = page.locator("table.board tbody tr", has=page.locator(".make")).first
    row.locator("td:has(.make) > a.number").click()
    page.locator("dialog.drawer[open]").wait_for()
    page.keyboard.press("Escape")
    row.hover()
    row.get_by_role("link", name="as baseline").click()
    page.wait_for_url("**baseline=*")


def test_two_axes_beside_each_other_are_apart(page, crowd):
    page.goto("/benchmarks/many/board/?family=all")
    first, second = page.locator("thead th.axis").all()
    boxes = [
        label.bounding_box() for axis in (first, second) for label in axis.locator("text").all()
    ]
    ends = sorted((box["x"], box["x"] + box["width"]) for box in boxes)
    cut = second.bounding_box()["x"]
    assert (
        max(end for _, end in ends if end < cut + 20)
        < cut
        < min(x for x, _ in ends if x > cut) - 24
    )
    assert "(chart)" in first.inner_text()
