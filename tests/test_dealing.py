"""Tests that share what they made stay on one process, and the longest begin first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.dealing import WholeFiles, begin_with_the_longest


@pytest.mark.parametrize(
    ("nodeid", "dealt_with"),
    [
        ("tests/pages/test_run.py::test_a[b]", "tests/pages/test_run.py"),
        ("tests/pages/test_run.py::TestRun::test_c", "tests/pages/test_run.py"),
        ("tests/test_readme.py::test_a[x@y]", "tests/test_readme.py"),
        ("tests/security/test_bodies.py::test_a[b]@services", "services"),
    ],
)
def test_a_test_is_dealt_with_its_group_or_its_file(nodeid, dealt_with):
    scheduler = WholeFiles.__new__(WholeFiles)
    assert scheduler._split_scope(nodeid) == dealt_with


@dataclass(frozen=True)
class Item:
    path: Path
    name: str
    marks: tuple[pytest.Mark, ...] = ()

    def get_closest_marker(self, name: str) -> Any:
        return next((mark for mark in self.marks if mark.name == name), None)


def test_groups_begin_then_whole_files_with_a_long_test():
    group, long = pytest.mark.xdist_group("browser").mark, pytest.mark.long.mark
    short, mixed, browser = (Path(f"test_{name}.py") for name in ("short", "mixed", "browser"))
    items = [Item(short, "a"), Item(mixed, "b"), Item(mixed, "c", (long,))]
    items += [Item(browser, "d", (group,))]
    begin_with_the_longest(items)
    assert [item.name for item in items] == ["d", "b", "c", "a"]
