"""Waiting for what a page shows only once it is loaded anew."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from playwright.sync_api import Error, Page

from tests.services.machines import until


def reload_until(page: Page, shows: Callable[[], int], what: str) -> None:
    """Reload a page until it shows this; a page that is on its way there goes first."""

    def reload_and_look() -> int:
        # Nothing is loaded anew, and nothing read, while another page arrives.
        with suppress(Error):
            return shows() or (page.reload() and shows())
        return 0

    until(reload_and_look, what)
