"""In which order tests begin, and which of them stay on one process."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadGroupScheduling


class WholeFiles(LoadGroupScheduling):
    """Deals groups and whole files, so that the scene of a file is made by one process alone."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        super().__init__(config, log)  # type: ignore[arg-type]
        # In our own order, not that of the number of tests.
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        group = super()._split_scope(nodeid)
        return nodeid.split("::")[0] if group == nodeid else group


def begin_with_the_longest(items: list[pytest.Item]) -> None:
    """Put groups first, then files with a long test: the others fill what is left."""
    long = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: (group_of(item) is None, item.path not in long))


def keep_groups_together(items: list[pytest.Item]) -> None:
    """pytest-xdist reads the group of a test off the end of its id.

    It writes it there itself, but not where pytest 9.2 reads it (pytest-xdist issue 1386).
    """
    for item in items:
        group = group_of(item)
        if group is not None and not item.nodeid.endswith(f"@{group}"):
            item._id = type(item.id).parse(f"{item.nodeid}@{group}")


def group_of(item: pytest.Item | None) -> str | None:
    """The group that has whole sites; their idle workers would take a third of the machine."""
    mark = item.get_closest_marker("xdist_group") if item is not None else None
    return mark.args[0] if mark is not None else None
