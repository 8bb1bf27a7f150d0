"""A release has one version, and its changes stand under it."""

from __future__ import annotations

import re
from itertools import pairwise

from rankfield.version import VERSION
from tests.test_house import ROOT, python_files

HEADINGS = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
HEADING = re.compile(r"(\d+)\.(\d+)\.(\d+) \((?:unreleased|\d{4}-\d\d-\d\d)\)")
# What else states a version where one is stated.
OTHERS = ("pyproject.toml", "Dockerfile", "docker-compose.yml", "docs/site/mkdocs.yml", "Makefile")


def numbers_of(heading: str) -> list[int]:
    found = HEADING.fullmatch(heading)
    assert found, f"{heading!r} is no version with a date, such as 1.2.3 (2026-11-24)"
    return [int(number) for number in found.groups()]


def test_the_newest_changes_are_those_of_the_version():
    assert HEADINGS[0].split()[0] == VERSION


def test_versions_descend_and_only_the_newest_has_no_date():
    numbers = [numbers_of(heading) for heading in HEADINGS]
    assert all(newer > older for newer, older in pairwise(numbers))
    assert not any("unreleased" in heading for heading in HEADINGS[1:])


def test_every_version_has_changes():
    parts = re.split(r"^## .+$", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert all(re.search(r"^- \S", part, re.M) for part in parts[1:])


def test_the_version_is_written_in_one_place():
    folders = ("evaluation", "leaderboard", "rankfield")
    files = [
        *(path for name in folders for path in python_files(name)),
        *map(ROOT.joinpath, OTHERS),
    ]
    named = re.compile(rf"(?<![\d.]){re.escape(VERSION)}(?![\d.])")
    assert [path for path in files if named.search(path.read_text())] == [
        ROOT / "rankfield" / "version.py"
    ]
