"""The site of documentation builds, loads nothing of other hosts and states what code does."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from evaluation.__main__ import COMMANDS
from evaluation.measures import MEASURES
from tests.api.test_openapi import CALLS
from tests.test_docs import DOCUMENTS
from tests.test_house import ROOT

PICTURES = ROOT / "docs" / "pictures"
LARGEST_PICTURE = 100_000
# What a page loads by itself.
LOADED = re.compile(r'<(?:script|img|source|iframe)\b[^>]*\ssrc="?([^\s">]+)')
STYLES = re.compile(r"<link\b[^>]*>")
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="no mkdocs installed")
    folder = tmp_path_factory.mktemp("docs")
    words = "-m mkdocs build --strict -q -f docs/site/mkdocs.yml -d"
    done = subprocess.run(
        [sys.executable, *words.split(), str(folder)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def pages_of(site: Path) -> Iterator[str]:
    yield from (path.read_text() for path in sorted(site.rglob("*.html")))


@pytest.mark.long
def test_a_page_loads_nothing_from_another_host(site):
    for page in pages_of(site):
        styles = " ".join(link for link in STYLES.findall(page) if "canonical" not in link)
        assert not [url for url in LOADED.findall(page) if "//" in url]
        assert "//" not in styles


@pytest.mark.long
def test_the_reference_has_every_measure_command_and_call(site):
    def text_of(name: str) -> str:
        return unescape(re.sub(r"<[^>]+>", "", (site / "reference" / name).read_text()))

    assert not [name for name in MEASURES if f"\n{name}¶" not in text_of("measures.html")]
    assert not [name for name in COMMANDS if f"rankfield {name}" not in text_of("commands.html")]
    calls = text_of("api.html")
    assert not [path for path in CALLS if path not in calls]
    assert "RANKFIELD_HOME" in text_of("settings.html")


@pytest.mark.long
def test_no_mark_of_a_generated_part_is_left(site):
    assert not [page for page in pages_of(site) if "generated:" in page]


def headings_of(path: Path) -> set[str]:
    """Return the anchors of a page, as GitHub and mkdocs write them."""
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_an_anchor_of_a_link_is_a_heading():
    for document in DOCUMENTS:
        links = LINK.findall(document.read_text())
        for link in (link for link in links if "#" in link and "//" not in link):
            path, _, anchor = link.partition("#")
            target = document.parent / path if path else document
            assert anchor in headings_of(target), f"{document}: {link}"


def test_each_picture_is_small_and_on_a_page():
    pages = "".join(path.read_text() for path in DOCUMENTS)
    for picture in PICTURES.iterdir():
        assert f"pictures/{picture.name}" in pages
        assert picture.stat().st_size < LARGEST_PICTURE


def test_each_picture_can_be_taken_again():
    pictures = pytest.importorskip("tests.browser.pictures", reason="no playwright installed")
    assert {picture.name for picture in pictures.PICTURES} == {
        path.stem for path in PICTURES.iterdir()
    }


@pytest.mark.night
@pytest.mark.services
@pytest.mark.browser
@pytest.mark.skipif(not shutil.which("chromium"), reason="no chromium installed")
def test_the_demo_has_the_page_of_each_picture(tmp_path):
    pictures = pytest.importorskip("tests.browser.pictures", reason="no playwright installed")
    pictures.take_all(tmp_path)
    assert len(list(tmp_path.iterdir())) == len(pictures.PICTURES)
