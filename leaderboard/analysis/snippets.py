"""The part of a document with most words of the topic, with those words marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from leaderboard.collections.topic_words import WORD, WordPiece, stem

LENGTH = 280
# How many characters of a document are read, and how many of the words found are used.
CHARACTERS_READ = 10_000
WORDS_FOUND = 100
# How many characters are shown before the first marked word; about as many follow the last.
LEAD = 40


def cut_snippet(text: str, terms: frozenset[str], length: int = LENGTH) -> list[WordPiece]:
    """Return the part of a text with most different terms, or its beginning if it has none.

    >>> cut_snippet("Bread rises twice.", frozenset({"bread", "twic"}))
    [WordPiece(words='Bread', is_term=True), WordPiece(words=' rises ', is_term=False), \
WordPiece(words='twice', is_term=True), WordPiece(words='.', is_term=False)]
    """
    text = " ".join(text[:CHARACTERS_READ].split())
    hits = [word for word in WORD.finditer(text) if stem(word[0]) in terms]
    return cut_around(text, hits, length)


def cut_around(text: str, hits: Sequence[re.Match[str]], length: int = LENGTH) -> list[WordPiece]:
    """Return the part of a text with most different hits, marked, or its beginning."""
    hits = hits[:WORDS_FOUND]
    start, end = _choose_window(text, hits, length)
    before, after = start > 0, end < len(text)
    pieces = _cut(text, start, end, hits)
    return [*[WordPiece("… ")] * before, *pieces, *[WordPiece(" …")] * after]


def _choose_window(text: str, hits: Sequence[re.Match[str]], length: int) -> tuple[int, int]:
    """Return the two ends of the part, between words if possible."""
    if len(text) <= length:
        return 0, len(text)
    start = min(_find_richest(hits, length - 2 * LEAD) - LEAD, len(text) - length)
    start = text.rfind(" ", 0, start) + 1 if start > 0 else 0
    end = start + length
    return start, end if end >= len(text) else max(text.rfind(" ", start, end), start + LEAD)


def _find_richest(hits: Sequence[re.Match[str]], length: int) -> int:
    """Return the start of the part with most different terms, then with most terms."""

    def terms_after(first: re.Match[str]) -> tuple[int, int]:
        last = first.start() + length
        inside = [
            stem(hit[0]) for hit in hits if first.start() <= hit.start() and hit.end() <= last
        ]
        return len(set(inside)), len(inside)

    return max(hits, key=terms_after).start() if hits else 0


def _cut(text: str, start: int, end: int, hits: Sequence[re.Match[str]]) -> Iterator[WordPiece]:
    at = start
    for hit in hits:
        if hit.start() < start or hit.end() > end:
            continue
        if hit.start() > at:
            yield WordPiece(text[at : hit.start()])
        yield WordPiece(hit[0], is_term=True)
        at = hit.end()
    if at < end:
        yield WordPiece(text[at:end])
