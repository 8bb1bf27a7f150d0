"""Controls keep their contrast under the mouse, in focus and when chosen, light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.pictures import sign_in
from tests.browser.test_journey import WORD

pytestmark = pytest.mark.night

PAGES = [
    "/",
    "/benchmarks/open/board/",
    "/benchmarks/open/significance/",
    "/benchmarks/open/submit/",
    "/benchmarks/open/manage/",
    "/benchmarks/open/pools/",
    "/benchmarks/open/topics/",
    "/benchmarks/open/topic/?number=1",
    "/collections/bread/",
    "/measures/",
    "/account/",
]
LOWEST = 4.5
# WCAG 2.2, 1.4.11: what shows where the focus is.
LOWEST_OUTLINE = 3.0

MEASURE = Path(__file__).with_name("contrast.js").read_text()


def faults(page, state: str, at: int) -> list[str]:
    """What is too faint in a control as it is now."""
    control = page.locator(f"[data-at='{at}']")
    found = control.evaluate("(element) => window.contrastOf(element)")
    said = f"{page.url} {state} {control.evaluate('(e) => e.outerHTML.slice(0, 120)')}"
    faint = [f"{said}: text {found['text']:.1f}"] if found["text"] < LOWEST else []
    if state == "focus" and (found["outline"] or LOWEST_OUTLINE) < LOWEST_OUTLINE:
        faint.append(f"{said}: outline {found['outline']:.1f}")
    return faint


SET_PASSWORD = (
    "from leaderboard.models import User; u = User.objects.get(username='ada');"
    f" u.set_password('{WORD}'); u.save()"
)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.night)])
def test_controls_can_be_read_in_every_state(browser, scene, scheme):
    scene.manage("shell", "-c", SET_PASSWORD)
    context = browser.new_context(base_url=scene.url, color_scheme=scheme, reduced_motion="reduce")
    page, found = context.new_page(), []
    sign_in(page, "ada", WORD)
    page.goto("/benchmarks/open/board/")
    run = page.locator(".board th a").first.get_attribute("href")
    for address in (*PAGES, run, f"{run}topics/"):
        page.goto(address)
        for at in page.evaluate(MEASURE):
            control = page.locator(f"[data-at='{at}']")
            page.mouse.move(0, 0)
            found += faults(page, "at rest", at)
            control.hover(force=True)
            found += faults(page, "hover", at)
            page.keyboard.press("Shift")
            control.evaluate("(element) => element.focus({ focusVisible: true })")
            found += faults(page, "focus", at)
    context.close()
    assert found == []
