"""The time that is left goes on counting, in the words of the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderboard.display.numbers import from_now

pytestmark = pytest.mark.night

SCRIPT = Path(__file__).parent.parent.parent / "static" / "rankfield.js"
LEFT = '<span class="distance" data-in="75">in 1 minute 15 seconds</span>'


def scripted(browser, page: str):
    """The page with our script, by a clock that only the test moves on."""
    tab = browser.new_page()
    tab.clock.install(time=0)
    tab.set_content(page)
    tab.add_script_tag(path=SCRIPT)
    return tab


def test_a_countdown_goes_on_and_past_its_end(browser):
    tab = scripted(browser, LEFT)
    tab.clock.run_for(31_000)
    assert tab.text_content(".distance") == "in 45 seconds"
    tab.clock.run_for(60_000)
    assert tab.text_content(".distance") == "15 seconds ago"


def test_the_script_says_what_the_server_says(browser):
    tab = scripted(browser, LEFT)
    moments = [
        n * sign for n in (0, 1, 60, 61, 3599, 3600, 3660, 86_399, 86_400) for sign in (1, -1)
    ]
    assert tab.evaluate("moments => moments.map(fromNow)", moments) == list(map(from_now, moments))
