"""What a newcomer does in a browser: clicks, fields, files, and minutes.

    python -m benchmarks.journeys FOLDER

FOLDER has the files of Cranfield as people find them (`cran.qry.xml`, `cran.all.1400.xml`,
`cranqrel.trec.txt`) and, in `runs`, a run.  One newcomer sets up a track from them, another sends
the run; both start on the first page without an account, and read no documentation.  Waiting is
measured.  What a person needs is reckoned: to read every word of every page on the way once, and
by the keystroke-level model of Card, Moran and Newell (1980) to click, to type and to pick a file.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks import tables
from benchmarks.submission import sqlite_site

QUIET = ["--no-sandbox", "--disable-gpu"]
PASSWORD = "sourdough, rye and oven"
WORDS_A_MINUTE = 240
# Seconds: to think and point and press; to press a key; to find a file in a dialog.
CLICK, KEY, FILE = 1.35 + 1.1 + 0.2, 0.28, 10.0
PATIENCE = 120_000


@dataclass
class Newcomer:
    """Somebody at a page, and what it took so far."""

    page: Page
    clicks: int = 0
    keys: int = 0
    files: int = 0
    words: int = 0
    seen: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def opens(self, path: str) -> None:
        self.page.goto(path)
        self.reads()

    def reads(self) -> None:
        """The words of a page are read once."""
        address = self.page.url.split("?")[0]
        if address not in self.seen:
            self.seen.append(address)
            self.words += len(self.page.locator("main").inner_text().split())

    def clicks_on(self, role: str, name: str, leads_to: str = "") -> None:
        self.page.get_by_role(role, name=name).first.click()
        self.clicks += 1
        if leads_to:
            self.page.wait_for_url(leads_to, timeout=PATIENCE)
            self.reads()

    def types(self, label: str, text: str) -> None:
        self.page.get_by_label(label, exact=True).fill(text)
        self.clicks += 1
        self.keys += len(text)

    def picks(self, name: str, path: Path) -> None:
        """One click opens the dialog in which the file is picked."""
        self.page.set_input_files(f"[name={name}]", path)
        self.clicks += 1
        self.files += 1

    def waits_for(self, role: str, name: str) -> None:
        self.page.get_by_role(role, name=name).first.wait_for(timeout=PATIENCE)
        self.reads()

    def signs_up(self, name: str) -> None:
        self.opens("/")
        self.clicks_on("link", "Create account", "**/account/signup/")
        self.types("Name", name)
        self.types("Password", PASSWORD)
        self.types("Repeat password", PASSWORD)
        self.clicks_on("button", "Create account", "**/")

    def since_then(self, clicks: int = 0) -> tuple[str, ...]:
        waited = time.monotonic() - self.began
        acting = CLICK * self.clicks + KEY * self.keys + FILE * self.files
        reading = 60 * self.words / WORDS_A_MINUTE
        return (
            str(self.clicks - clicks),
            str(self.files),
            str(len(self.seen)),
            f"{waited:.0f} s",
            f"{(waited + acting) / 60:.1f} min",
            f"{(waited + acting + reading) / 60:.1f} min",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    print(tables.machine())
    tables.heading("What a newcomer needs")
    head = ("journey", "clicks", "files", "pages", "browser", "acting", "and reading every word")
    with sqlite_site() as site, browser(site.url) as newcomer:
        tables.table(head, _rows(newcomer, folder))


def _rows(newcomer: Callable[[], Newcomer], folder: Path) -> Iterator[tuple[str, ...]]:
    ada, ben = newcomer(), newcomer()
    set_up(ada, folder)
    yield "set up a benchmark from Cranfield, sign-up included", *ada.since_then()
    ben.signs_up("ben")
    signed_in = ben.clicks
    send(ben, folder)
    yield "submit the first run, clicks after sign-in", *ben.since_then(signed_in)


def set_up(ada: Newcomer, folder: Path) -> None:
    ada.signs_up("ada")
    ada.clicks_on("link", "Add a collection", "**/collections/new/")
    ada.types("Name", "Cranfield")
    ada.picks("topics", folder / "cran.qry.xml")
    ada.picks("documents", folder / "cran.all.1400.xml")
    ada.picks("judgments", folder / "cranqrel.trec.txt")
    ada.clicks_on("button", "Upload files", "**/collections/cranfield/")
    ada.waits_for("button", "Import collection")
    ada.clicks_on("radio", "Renumber topics 1 to 225 in file order")
    ada.clicks_on("button", "Import collection")
    ada.waits_for("link", "Create track")
    ada.clicks_on("link", "Create track", "**/tracks/new/")
    ada.clicks_on("button", "Create track", "**/benchmarks/cranfield/board/")


def send(ben: Newcomer, folder: Path) -> None:
    ben.clicks_on("link", "Submit a run", "**/benchmarks/cranfield/submit/")
    ben.picks("file", folder / "runs" / "bm25-porter.run.gz")
    ben.clicks_on("button", "Submit run", "**/runs/*/")
    ben.waits_for("heading", "Topic by topic")


@contextmanager
def browser(address: str) -> Iterator[Callable[[], Newcomer]]:
    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)

        def newcomer() -> Newcomer:
            view: dict[str, Any] = {"width": 1280, "height": 900}
            return Newcomer(chromium.new_context(base_url=address, viewport=view).new_page())

        yield newcomer
        chromium.close()


if __name__ == "__main__":
    main()
