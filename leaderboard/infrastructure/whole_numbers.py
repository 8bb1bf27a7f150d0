"""Whole numbers as texts write them: those of requests and files, and of names as `pool-3`."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Every number of this many digits fits into a column of a database.
MOST_DIGITS = 18


def read_whole_number(text: str) -> int | None:
    """Return the number that a text of digits writes; None for any other text.

    Python's own tests also accept digits that `int` does not read, and numbers of any length.

    >>> [read_whole_number(text) for text in ("12", "-1", "²", "٣")]
    [12, None, None, None]
    """
    is_number = text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
    return int(text) if is_number else None


def next_name(stem: str, names: Iterable[str]) -> str:
    """Return the stem with the number after the highest one that a name has.

    >>> next_name("pool-", ["pool-2", "pool-10", "final", "pool-x"])
    'pool-11'
    >>> next_name("v", [])
    'v1'
    """
    found = (re.fullmatch(rf"{re.escape(stem)}([0-9]+)", name) for name in names)
    return f"{stem}{max((int(match[1]) for match in found if match), default=0) + 1}"
