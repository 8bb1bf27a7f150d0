"""Gaps in a page that is kept: what is printed anew for each reader.

While a page is made to be kept, the few places that print something personal or something that
passes leave a gap.  `fill` of `leaderboard.boards.kept_pages` prints it for the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from secrets import token_hex

from django.utils.safestring import SafeString, mark_safe

# A random word that nobody can guess, so no text of a user is taken for a gap.
_word: ContextVar[str] = ContextVar("word", default="")


@dataclass(frozen=True)
class PageGap:
    """What is printed there, and of what."""

    name: str
    value: str = ""


@dataclass(frozen=True)
class GapWord:
    """The word that marks the gaps of one page."""

    word: str

    def split(self, page: bytes) -> tuple[list[bytes], list[PageGap]]:
        """Return the text between the gaps, and the gaps.

        >>> GapWord("abc").split(b"<p>{abc|distance|2027}</p>")
        ([b'<p>', b'</p>'], [PageGap(name='distance', value='2027')])
        """
        parts = re.split(rf"\{{{self.word}\|(\w+)\|([^|}}]*)\}}".encode(), page)
        gaps = zip(parts[1::3], parts[2::3], strict=True)
        return parts[::3], [PageGap(name.decode(), value.decode()) for name, value in gaps]


@contextmanager
def leaving_gaps() -> Iterator[GapWord]:
    """Leave gaps in what is rendered meanwhile."""
    found = GapWord(token_hex(16))
    token = _word.set(found.word)
    try:
        yield found
    finally:
        _word.reset(token)


def leave_gap(name: str, value: str = "") -> SafeString | None:
    """Return the mark of a gap, or None if the page is made for this reader alone."""
    word = _word.get()
    return mark_safe(f"{{{word}|{name}|{value}}}") if word else None


def is_leaving_gaps() -> bool:
    """Return whether what is rendered now is kept."""
    return bool(_word.get())


def join(texts: Sequence[bytes], filled: Sequence[bytes]) -> bytes:
    """Return a page from the texts between its gaps and what fills them.

    >>> join([b"a", b"c"], [b"b"])
    b'abc'
    """
    between = [*filled, b""]
    return b"".join(part for pair in zip(texts, between, strict=True) for part in pair)
