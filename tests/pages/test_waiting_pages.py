"""Pages that wait for a job update themselves, and print nothing that is not counted yet."""

from __future__ import annotations

import re
from pathlib import Path

from leaderboard.actions.pools import create_pool
from tests.builders import make_run, work
from tests.pages.reading import page_at

FOLLOWS = 'hx-trigger="every 2s"'
WAITS = re.compile(r"being (?:built|computed)|are running|Building the")


def test_the_page_of_a_pool_waits_for_its_documents(track, ada, ben, as_ada):
    made = create_pool(track, ada, [make_run(track, ben)], "depth", 2)
    page = page_at(as_ada, f"/benchmarks/bread/pools/{made.name}/")
    assert "Building the pool." in page and FOLLOWS in page
    work()
    assert FOLLOWS not in page_at(as_ada, f"/benchmarks/bread/pools/{made.name}/")


def test_no_page_waits_without_updating_itself():
    texts = {path: path.read_text() for path in Path("templates").rglob("*.html")}
    waiting = {path: text for path, text in texts.items() if WAITS.search(text)}
    assert waiting
    follow = ("{% follow", "hx-get", "parts/calculation_awaited.html")
    assert not [path for path, text in waiting.items() if not any(word in text for word in follow)]
