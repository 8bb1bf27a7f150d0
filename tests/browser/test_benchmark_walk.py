"""From three collections to a board of systems on all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.browser.test_closing_circle import sign_in
from tests.browser.test_walks import Walk, written
from tests.browser.waiting import reload_until
from tests.builders import DOCUMENTS, OTHER_RUN, QRELS, RUN, TOPICS
from tests.services.machines import Site, until

pytestmark = pytest.mark.night

if TYPE_CHECKING:
    from pathlib import Path

SLUGS = ("rye", "oats", "barley")
OLA = """
from leaderboard.models import User
ola = User.objects.get(username="ola")
ola.set_password("ola-s-word")
ola.save()
"""


def fill(scene: Site) -> None:
    """Ola's three collections with documents, topics and judgments; no track."""
    token = scene.manage("create_token", "ola", "--organiser")
    for slug in SLUGS:
        files = {
            name: SimpleUploadedFile(name, text.encode())
            for name, text in {"topics": TOPICS, "documents": DOCUMENTS, "judgments": QRELS}.items()
        }
        scene.ask("/collections", token, slug=slug, name=slug.capitalize(), **files)
    for slug in SLUGS:
        until(
            lambda slug=slug: scene.ask(f"/collections/{slug}", token)["state"] == "ready",
            f"{slug} is ready",
        )
    scene.manage("shell", "-c", OLA)


def submit(walk: Walk, folder: Path, name: str, run: str) -> None:
    walk.click("^Submit")
    folder.mkdir()
    walk.choose("files", *written(folder, **{f"{slug}.run": run for slug in SLUGS}))
    walk.fill("name", name)
    walk.press("Submit runs")
    walk.page.get_by_role("heading", name=f"{name} 1 is submitted").wait_for()


def test_from_three_collections_to_a_benchmark_board_in_twelve_clicks(page, scene, tmp_path):
    fill(scene)
    walk = Walk(sign_in(page, "ola"))
    page.goto("/")
    walk.click("^Benchmarks$")
    walk.click("^Run a benchmark")
    walk.fill("name", "Grain")
    walk.press("Create benchmark")
    submit(walk, tmp_path / "a", "sieve", RUN)
    submit(walk, tmp_path / "b", "mill", OTHER_RUN)
    walk.click("^Board")
    reload_until(page, page.get_by_text("2 complete systems").count, "a board of two systems")
    columns = page.locator("table").first.get_by_role("columnheader")
    assert {"Rye", "Oats", "Barley"} <= {text.split("\n")[0] for text in columns.all_inner_texts()}
    assert walk.clicks <= 12
