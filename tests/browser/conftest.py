"""A real browser on a real site: `manage.py serve`, Chromium, and two watchers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.builders import DOCUMENTS, OTHER_RUN, QRELS, TOPICS
from tests.services.conftest import sqlite_site
from tests.services.machines import Site, until

__all__ = ["sqlite_site"]

CHROMIUM = shutil.which("chromium")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # One browser and one site serve all these tests, so they stay on one process.
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def scene(sqlite_site: Site) -> Site:
    """A site with Ada's open track, a baseline on its board, and one blind track."""
    token = sqlite_site.manage("create_token", "ada", "--organiser")
    files = {"topics": TOPICS, "documents": DOCUMENTS, "judgments": QRELS}
    parts = {name: SimpleUploadedFile(name, text.encode()) for name, text in files.items()}
    sqlite_site.ask("/collections", token, slug="bread", name="Bread", **parts)
    until(
        lambda: sqlite_site.ask("/collections/bread", token)["state"] == "ready", "Bread is ready"
    )
    for slug in ("open", "blind"):
        track = {
            "slug": slug,
            "name": f"Bread, {slug}",
            "collection": "bread",
            "judgments": "v1",
            "measures": ["AP", "nDCG@10", "P@5"],
            "primary_measure": "AP",
            "disclosure": slug,
        }
        sqlite_site.ask("/tracks", token, track)
    run = SimpleUploadedFile("baseline.run", OTHER_RUN.encode())
    sqlite_site.ask("/tracks/open/runs", token, file=run)
    return sqlite_site


@pytest.fixture
def page(browser, scene: Site) -> Iterator[object]:
    """A tab whose console must stay silent: what the policy forbids is said there."""
    context = browser.new_context(base_url=scene.url, viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    yield tab
    context.close()
    refused = ("status of 403", "status of 404")
    unasked = [words for words in said if not any(each in words for each in refused)]
    assert unasked == [], scene.said("serve")[-5000:]
