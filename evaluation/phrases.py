"""Parts of sentences that depend on a number."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a count with its noun; other plurals as "entry,entries".

    >>> counted(1, "mark"), counted(1200, "mark"), counted(2, "entry,entries")
    ('1 mark', '1,200 marks', '2 entries')
    """
    one, _, many = noun.partition(",")
    return f"{number:,} {one if number == 1 else many or one + 's'}"
