"""The pictures of the documentation, taken on a fresh demo: `make docs-pictures`.

Each is one screen of a page as one of the accounts of the demo sees it, in light colours, as WebP
in docs/pictures/.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
QUIET = ["--no-sandbox", "--disable-gpu"]
WIDTH, HEIGHT = 1100, 720
QUALITY = 70


@dataclass(frozen=True)
class Picture:
    """A page by its address, or where links and buttons lead from there, by their words."""

    name: str
    who: str
    address: str
    follow: tuple[str, ...] = ()
    height: int = HEIGHT


@dataclass(frozen=True)
class Demo:
    address: str
    passwords: dict[str, str]


PICTURES = (
    Picture("board", "", "/benchmarks/harbours-and-gardens/tracks/harbours/board/"),
    Picture("submit", "ben", "/benchmarks/harbours-and-gardens/tracks/harbours/submit/"),
    Picture("run", "ben", "/benchmarks/harbours-and-gardens/tracks/harbours/board/", ("rrf",)),
    Picture(
        "compare",
        "cat",
        "/benchmarks/harbours-and-gardens/tracks/harbours/board/",
        ("lsa", "Compare with bm25"),
    ),
    Picture("desk", "ada", "/benchmarks/harbours-and-gardens/tracks/harbours/desk/"),
    Picture("collection", "ada", "/collections/harbours/"),
    Picture("judging", "dan", "/judging/", ("Begin", "Start judging")),
    Picture("benchmark", "", "/benchmarks/harbours-and-gardens/board/"),
)


@contextmanager
def run_demo() -> Iterator[Demo]:
    """Serve the demo from an empty folder until the block ends."""
    with tempfile.TemporaryDirectory() as home:
        # The settings of tests would give web and worker another home each beside others.
        of_tests = ("DJANGO_SETTINGS_MODULE", "PYTEST_XDIST_WORKER")
        rest = {name: word for name, word in os.environ.items() if name not in of_tests}
        environment = {**rest, "RANKFIELD_HOME": home}
        server = subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--port", "0"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            yield read_demo(server)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)


def read_demo(server: subprocess.Popen[str]) -> Demo:
    """Read address and accounts from what the demo prints once its runs are scored."""
    printed = ""
    assert server.stdout is not None
    for line in server.stdout:
        printed += line
        if "Ctrl-C" in line:
            break
    address = re.search(r"http://[\d.:]+", printed)
    assert address, printed
    return Demo(address[0], dict(re.findall(r"^  (\w+) +(\S{12}) ", printed, re.MULTILINE)))


def take_pictures(browser: Browser, demo: Demo, folder: Path) -> None:
    for who in sorted({picture.who for picture in PICTURES}):
        context = browser.new_context(base_url=demo.address, reduced_motion="reduce")
        tab = context.new_page()
        if who:
            sign_in(tab, who, demo.passwords[who])
        for picture in PICTURES:
            if picture.who == who:
                take_picture(tab, picture, folder)
        context.close()


def sign_in(tab: Page, name: str, password: str) -> None:
    tab.goto("/account/login/")
    tab.fill("[name=login]", name)
    tab.fill("[name=password]", password)
    with tab.expect_navigation():
        tab.click("main button")


def take_picture(tab: Page, picture: Picture, folder: Path) -> None:
    tab.set_viewport_size({"width": WIDTH, "height": picture.height})
    answer = tab.goto(picture.address)
    assert answer and answer.ok, f"{picture.address} answers {answer and answer.status}"
    for words in picture.follow:
        with tab.expect_navigation():
            main = tab.get_by_role("main")
            link = main.get_by_role("link", name=words, exact=True)
            link.or_(main.get_by_role("button", name=words, exact=True)).first.click()
    # Playwright writes no WebP, Chromium does.
    shot = tab.context.new_cdp_session(tab).send(
        "Page.captureScreenshot", {"format": "webp", "quality": QUALITY}
    )
    path = folder / f"{picture.name}.webp"
    path.write_bytes(base64.b64decode(shot["data"]))
    print(f"{path}: {path.stat().st_size:,} bytes")


def take_all(folder: Path) -> None:
    """Take every picture on a demo of its own."""
    with run_demo() as demo, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        take_pictures(browser, demo, folder)
        browser.close()


if __name__ == "__main__":
    take_all(FOLDER)
