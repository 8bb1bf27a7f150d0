"""A copy of a board, opened from a disk."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.night

PLACES = (
    "[...document.querySelectorAll('a[href], link[href], img[src]')]"
    ".map(e => new URL(e.getAttribute('href') ?? e.getAttribute('src'), document.baseURI).href)"
)


def is_file(link: str) -> bool:
    return Path(unquote(urlsplit(link).path)).is_file()


def failed_url(request) -> str:
    """What could not be loaded; not the icon that the next page no longer waits for."""
    return "" if request.failure == "net::ERR_ABORTED" else request.url


@pytest.fixture(scope="module")
def copied(scene, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("anywhere") / "with a space"
    scene.manage("publish_board", "open", str(folder))
    return folder


def test_every_page_opens_from_a_disk_and_every_link_resolves(copied, browser):
    context = browser.new_context(offline=True)
    tab, said = context.new_page(), []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("requestfailed", lambda request: said.append(failed_url(request)))
    pages = sorted(copied.rglob("*.html"))
    for page in pages:
        tab.goto(page.as_uri())
        links = [link.split("#")[0] for link in tab.evaluate(PLACES) if link.startswith("file:")]
        missing = {link for link in links if not is_file(link)}
        assert (page, missing, [*filter(None, said)]) == (page, set(), [])
    context.close()
    assert len(pages) > 10


def test_a_reader_walks_from_the_board_to_a_topic_of_a_run(copied, browser):
    context = browser.new_context(java_script_enabled=False, offline=True)
    tab = context.new_page()
    tab.goto((copied / "index.html").as_uri())
    tab.click("table.board tbody a")
    tab.click("nav.tabs >> text=Topics")
    assert tab.url.endswith("/topics.html") and tab.inner_text("h1")
    assert tab.evaluate("document.styleSheets.length") == 1
    context.close()
