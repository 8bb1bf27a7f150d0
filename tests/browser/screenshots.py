"""Pictures of every page of a running site: wide and narrow, light and dark, and as printed.

    make demo
    python -m tests.browser.screenshots http://127.0.0.1:8000 pictures --name ada --password ...

Pages are found by their links, as the one sees them who is named; each picture is of a whole page.
The path of every picture is printed.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

import django
from playwright.sync_api import Browser, Page, sync_playwright

QUIET = ["--no-sandbox", "--disable-gpu"]
WIDTHS = {"wide": 1280, "phone": 390}
SCHEMES = ("light", "dark")
# A4 on its side, without margins, in CSS pixels.
PAPER = 1017


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", help="address of a running site")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", help="who looks; nobody who is signed in, where it is missing")
    parser.add_argument("--password", default="")
    parser.add_argument("--only", nargs="*", help="names of pages, such as board run")
    parser.add_argument("--address", nargs="*", help="these addresses, and no others")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    django.setup()
    options.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        take(browser, options)
        browser.close()


def take(browser: Browser, options: argparse.Namespace) -> None:
    from tests.browser.crawling import pages_of

    context = browser.new_context(base_url=options.site, reduced_motion="reduce")
    tab = context.new_page()
    if options.name:
        tab.goto("/account/login/")
        tab.fill("[name=login]", options.name)
        tab.fill("[name=password]", options.password)
        with tab.expect_navigation():
            tab.click("main button")
    if options.address:
        pages = {f"address-{place}": each for place, each in enumerate(options.address, 1)}
    else:
        pages = pages_of(tab, "/")
    for name, address in pages.items():
        if options.only and name not in options.only:
            continue
        tab.goto(address)
        for width, pixels in WIDTHS.items():
            tab.set_viewport_size({"width": pixels, "height": 900})
            for scheme in SCHEMES:
                tab.emulate_media(color_scheme=scheme)
                shoot(tab, options.folder / f"{name}-{width}-{scheme}.png")
        tab.set_viewport_size({"width": PAPER, "height": 900})
        tab.emulate_media(media="print", color_scheme="light")
        shoot(tab, options.folder / f"{name}-print.png")
        tab.emulate_media(media="screen")


def shoot(tab: Page, path: Path) -> None:
    tab.screenshot(path=path, full_page=True)
    print(path)


if __name__ == "__main__":
    main()
