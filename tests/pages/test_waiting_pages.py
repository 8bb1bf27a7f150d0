"""Pages that wait for a job update themselves, and print nothing that is not counted yet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leaderboard.actions.pools import create_pool
from tests.builders import make_run, work
from tests.pages.reading import page_at

FOLLOWS = 'hx-trigger="every 2s"'
WAITS = re.compile(r"being (?:built|computed)|are running|Building the")


def test_the_page_of_a_pool_waits_for_its_documents(track, ada, ben, as_ada):
    made = create_pool(track, ada, [make_run(track, ben)], "depth", 2)
    page = page_at(as_ada, f"/tracks/bread/pools/{made.name}/")
    assert "Building the pool." in page and FOLLOWS in page
    work()
    assert FOLLOWS not in page_at(as_ada, f"/tracks/bread/pools/{made.name}/")


@pytest.mark.parametrize("template", sorted(Path("templates").rglob("*.html")), ids=str)
def test_no_page_waits_without_updating_itself(template):
    text = template.read_text()
    assert not WAITS.search(text) or "{% follow" in text or "hx-get" in text
