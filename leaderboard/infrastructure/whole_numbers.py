"""Whole numbers as texts of requests and files write them."""

from __future__ import annotations

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
