"""The part of a document with most words of the topic, with those words marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from leaderboard.models import Topic

LENGTH = 280
# How many characters of a document are read, and how many of the words found are used.
CHARACTERS_READ = 10_000
WORDS_FOUND = 100
# How many characters are shown before the first marked word; about as many follow the last.
LEAD = 40

WORD = re.compile(r"\w+")
ENDINGS = ("ing", "ies", "ed", "es", "s", "y", "e")
SHORTEST_STEM = 3
# Words that appear in any English question and do not describe its subject.
STOP_WORD_LIST = """
    about and any are been being between but can could did does for from had has have how into its
    made may more most not off only other out over shall should some such than that the their them
    then there these they this those under upon was were what when where which who why will with
    would you your"""
STOP_WORDS = frozenset(STOP_WORD_LIST.split())


@dataclass(frozen=True, slots=True)
class Piece:
    words: str
    is_term: bool = False


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word without a light English ending; words of other languages mostly stay.

    >>> [stem(word) for word in ("wings", "baking", "baked", "Boundaries", "boundary", "glass")]
    ['wing', 'bak', 'bak', 'boundar', 'boundar', 'glas']
    """
    word = word.casefold()
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > SHORTEST_STEM and word[-1] == word[-2] else word


def find_terms(topic: Topic) -> frozenset[str]:
    """Return the stems to mark: those of the title and the description."""
    found = WORD.findall(f"{topic.title} {topic.description}".casefold())
    return frozenset(
        stem(word) for word in found if len(word) >= SHORTEST_STEM and word not in STOP_WORDS
    )


def cut_snippet(text: str, terms: frozenset[str], length: int = LENGTH) -> list[Piece]:
    """Return the part of a text with most different terms, or its beginning if it has none.

    >>> cut_snippet("Bread rises twice.", frozenset({"bread", "twic"}))
    [Piece(words='Bread', is_term=True), Piece(words=' rises ', is_term=False), \
Piece(words='twice', is_term=True), Piece(words='.', is_term=False)]
    """
    text = " ".join(text[:CHARACTERS_READ].split())
    hits = [word for word in WORD.finditer(text) if stem(word[0]) in terms]
    return cut_around(text, hits, length)


def cut_around(text: str, hits: Sequence[re.Match[str]], length: int = LENGTH) -> list[Piece]:
    """Return the part of a text with most different hits, marked, or its beginning."""
    hits = hits[:WORDS_FOUND]
    start, end = _choose_window(text, hits, length)
    before, after = start > 0, end < len(text)
    pieces = _cut(text, start, end, hits)
    return [*[Piece("… ")] * before, *pieces, *[Piece(" …")] * after]


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


def _cut(text: str, start: int, end: int, hits: Sequence[re.Match[str]]) -> Iterator[Piece]:
    at = start
    for hit in hits:
        if hit.start() < start or hit.end() > end:
            continue
        if hit.start() > at:
            yield Piece(text[at : hit.start()])
        yield Piece(hit[0], is_term=True)
        at = hit.end()
    if at < end:
        yield Piece(text[at:end])
