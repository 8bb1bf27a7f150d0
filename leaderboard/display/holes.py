"""Holes in a page that is kept: what is printed anew for each reader.

While a page is made to be kept, the few places that print something personal or something that
passes leave a hole.  `fill` of `leaderboard.boards.kept_pages` prints it for the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from secrets import token_hex

from django.utils.safestring import SafeString, mark_safe

# A random word that nobody can guess, so no text of a user is taken for a hole.
_word: ContextVar[str] = ContextVar("word", default="")


@dataclass(frozen=True)
class Hole:
    """What is printed there, and of what."""

    name: str
    value: str = ""


@dataclass(frozen=True)
class HoleWord:
    """The word that marks the holes of one page."""

    word: str

    def split(self, page: bytes) -> tuple[list[bytes], list[Hole]]:
        """Return the text between the holes, and the holes.

        >>> HoleWord("abc").split(b"<p>{abc|distance|2027}</p>")
        ([b'<p>', b'</p>'], [Hole(name='distance', value='2027')])
        """
        parts = re.split(rf"\{{{self.word}\|(\w+)\|([^|}}]*)\}}".encode(), page)
        holes = zip(parts[1::3], parts[2::3], strict=True)
        return parts[::3], [Hole(name.decode(), value.decode()) for name, value in holes]


@contextmanager
def leaving_holes() -> Iterator[HoleWord]:
    """Leave holes in what is rendered meanwhile."""
    found = HoleWord(token_hex(16))
    token = _word.set(found.word)
    try:
        yield found
    finally:
        _word.reset(token)


def leave_hole(name: str, value: str = "") -> SafeString | None:
    """Return the mark of a hole, or None if the page is made for this reader alone."""
    word = _word.get()
    return mark_safe(f"{{{word}|{name}|{value}}}") if word else None


def is_leaving_holes() -> bool:
    """Return whether what is rendered now is kept."""
    return bool(_word.get())


def join(texts: Sequence[bytes], filled: Sequence[bytes]) -> bytes:
    """Return a page from the texts between its holes and what fills them.

    >>> join([b"a", b"c"], [b"b"])
    b'abc'
    """
    between = [*filled, b""]
    return b"".join(part for pair in zip(texts, between, strict=True) for part in pair)
