"""What the documents say of the code is so."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path
from textwrap import dedent

from tests.test_house import (
    ORDER,
    ROOT,
    package_files,
    package_of,
    packages_used_by,
    python_files,
)

DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FOLDERS = "evaluation|leaderboard|rankfield|tests|templates|static|benchmarks|docs|edge|deploy"
PATH = re.compile(rf"(?:{FOLDERS})/[\w./-]*")
DOTTED = re.compile(r"(?:evaluation|leaderboard)(?:\.\w+)+")
LINK = re.compile(r"\]\(([^):#]+)\)")


def words_in_code(document: Path) -> set[str]:
    """Return the words between backticks, each once."""
    quoted = re.findall(r"`([^`\n]+)`", document.read_text())
    return {word for text in quoted for word in text.split()}


def lines_of_picture() -> list[list[str]]:
    """Return the packages of each line of the README's picture, from the top."""
    [picture] = re.findall(r"```\n( pages .+?)```", (ROOT / "README.md").read_text(), re.S)
    lines = [line.split("|")[0].split() for line in picture.splitlines()]
    return [line for line in lines if set(line) & set(ORDER)]


def test_the_picture_shows_every_package_once():
    shown = [package for line in lines_of_picture() for package in line]
    assert sorted(shown) == sorted(ORDER)


def test_a_package_imports_only_from_lines_below_its_own():
    height = {name: -n for n, line in enumerate(lines_of_picture()) for name in line}
    arrows = {
        (package_of(path), used) for path in package_files() for used in packages_used_by(path)
    }
    # The picture has these beside or above.
    assert not [(own, used) for own, used in arrows if own != used and height[used] >= height[own]]


def test_a_path_in_a_document_exists():
    for document in DOCUMENTS:
        paths = {word for word in words_in_code(document) if PATH.fullmatch(word)}
        assert not {path for path in paths if not (ROOT / path).exists()}, document


def test_the_samples_for_contributors_are_in_the_code():
    samples = re.findall(r"```python\n(.+?)\n *```", DOCUMENTS[1].read_text(), re.S)
    folders = ("evaluation", "leaderboard", "tests")
    code = "".join(path.read_text() for name in folders for path in python_files(name))
    assert not [sample for sample in samples if dedent(sample) not in code]


def test_a_link_of_a_document_leads_to_a_file():
    for document in DOCUMENTS:
        links = LINK.findall(document.read_text())
        assert not {link for link in links if not (document.parent / link).exists()}, document


def test_a_dotted_name_in_a_document_is_in_the_code():
    names = {name for document in DOCUMENTS for name in words_in_code(document)}
    for name in filter(DOTTED.fullmatch, names):
        assert pkgutil.resolve_name(name), name
