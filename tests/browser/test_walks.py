"""How many clicks the most usual walks take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser.test_journey import WORD
from tests.builders import DOCUMENTS, QRELS, RUN, TOPICS

pytestmark = pytest.mark.night


class Walk:
    """A newcomer who reads the page and clicks; typing is no click, choosing a file is one."""

    def __init__(self, page) -> None:
        self.page, self.clicks = page, 0

    def click(self, name: str, role: str = "link") -> None:
        found = self.page.get_by_role(role, name=re.compile(name)).locator("visible=true")
        found.first.click()
        self.clicks += 1

    def press(self, name: str) -> None:
        self.click(name, "button")

    def choose(self, field: str, *paths: Path) -> None:
        self.page.set_input_files(f"[name={field}]", list(paths))
        self.clicks += 1

    def fill(self, field: str, text: str) -> None:
        self.page.locator(f"[name={field}]").fill(text)

    def create_account(self, name: str) -> None:
        self.page.get_by_label("Name", exact=True).fill(name)
        self.page.get_by_label("Password", exact=True).fill(WORD)
        self.page.get_by_label("Repeat password").fill(WORD)
        self.press("Create account")


def written(folder: Path, **files: str) -> list[Path]:
    for name, text in files.items():
        (folder / name).write_text(text)
    return [folder / name for name in files]


def test_from_signing_up_to_three_scored_runs_in_eight_clicks(page, tmp_path):
    scores = {"a": "9.7", "b": "9.6", "c": "9.5"}
    runs = {
        name: RUN.replace("ben-bm25", f"walk-{name}").replace("9.0", score)
        for name, score in scores.items()
    }
    walk = Walk(page)
    page.goto("/")
    walk.click("Sign up")
    walk.create_account("ina")
    walk.click("Bread, open")
    walk.click("^Data")
    walk.click("Submit a run")
    walk.choose("file", *written(tmp_path, **runs))
    walk.press("Submit 3 runs")
    page.wait_for_url("**/runs/")
    page.get_by_text("Scored").nth(2).wait_for(timeout=20_000)
    page.get_by_role("link", name="3 unread notices").wait_for()
    assert walk.clicks <= 8


def test_from_the_front_page_to_an_open_benchmark_and_a_second_track(page, tmp_path):
    walk = Walk(page)
    page.goto("/")
    walk.click("Organise a benchmark")
    walk.click("Create account")
    walk.create_account("jon")
    walk.fill("name", "Walked loaves")
    files = written(tmp_path, topics=TOPICS, documents=DOCUMENTS, judgments=QRELS)
    for path in files:
        walk.choose(path.name, path)
    walk.press("Check|Upload")
    walk.press("Import")
    walk.click("Run a benchmark")
    walk.fill("name", "Walked track")
    walk.fill("closes_at", "2036-01-01T23:59")
    walk.press("Create the draft")
    walk.click("Describe the track")
    walk.fill("description", "Find what is written about loaves.")
    walk.fill("licence", "CC BY 4.0")
    walk.click("documents can be downloaded", "checkbox")
    walk.press("Save overview")
    walk.press("Make a BM25 baseline")
    page.get_by_text("bm25 is the baseline").wait_for(timeout=60_000)
    walk.press("Open the track")
    page.get_by_text("Track opened.").wait_for()
    assert walk.clicks <= 15

    page.goto("/collections/walked-loaves/")
    second = Walk(page)
    second.click("Run a benchmark")
    second.click("Add a track to Walked track")
    second.fill("name", "Second track")
    second.press("Create the draft")
    second.press("Open the track")
    page.get_by_text("Track opened.").wait_for()
    assert second.clicks <= 6
