"""Documents as assessors read them: in paragraphs, topic words marked, long ones in parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby

from leaderboard.collections.documents import find_documents
from leaderboard.collections.topic_words import WORD, WordPiece, find_terms, stem
from leaderboard.models import Topic

# A longer paragraph is cut after a sentence.
WORDS_PER_PARAGRAPH = 120
# A longer document is folded, but for the densest part and its neighbours.
WORDS_UNFOLDED = 1500
WORDS_PER_PART = 400

# Shorter lines are not those of a wrapped paragraph; so large a share of the breaks is.
SHORTEST_WRAPPED = 20
MOSTLY = 0.8

PARAGRAPH = re.compile(r"\S.*?(?=\n\s*\n|\Z)", re.DOTALL)
SENTENCE_END = re.compile(r"[.!?…。؟]['\"”’)]*\s+")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph with its topic words; `start` is its place in the text, in characters."""

    start: int
    text: str
    pieces: Sequence[WordPiece]
    words: int
    terms: frozenset[str]
    hits: int


@dataclass(frozen=True)
class TextPart:
    """Some paragraphs of a long document; folded unless they are worth reading first."""

    paragraphs: Sequence[Paragraph]
    is_open: bool
    is_densest: bool

    @property
    def words(self) -> int:
        return sum(paragraph.words for paragraph in self.paragraphs)

    @property
    def hits(self) -> int:
        return sum(paragraph.hits for paragraph in self.paragraphs)


@dataclass(frozen=True)
class ReadableText:
    """A document in parts.  `exists` is False if the collection does not have it."""

    title: Sequence[WordPiece]
    parts: Sequence[TextPart]
    exists: bool = True

    @cached_property
    def words(self) -> int:
        return sum(part.words for part in self.parts)

    @property
    def plain(self) -> str:
        """The text alone; places in it are those that pages count.

        >>> make_readable("", "One loaf.\\n\\nTwo loaves.", frozenset()).plain
        'One loaf.  Two loaves.'
        """
        text = ""
        for part in self.parts:
            for paragraph in part.paragraphs:
                text = text.ljust(paragraph.start) + paragraph.text
        return text

    @property
    def beginning(self) -> str:
        """The title, or the first words of a document that has none."""
        title = "".join(piece.words for piece in self.title)
        first = next((part.paragraphs[0].text for part in self.parts), "")
        return title or " ".join(first.split()[:12])

    @cached_property
    def hits(self) -> int:
        """How many topic words there are, the title included."""
        return sum(part.hits for part in self.parts) + sum(piece.is_term for piece in self.title)


def read_texts(topic: Topic, docnos: Set[str]) -> dict[str, ReadableText]:
    """Return the texts of documents by docno, with the words of the topic marked."""
    found = find_documents(topic.collection, docnos)
    terms = find_terms(topic)
    texts = dict.fromkeys(docnos, ReadableText([], [], exists=False))
    for docno, document in found.items():
        texts[docno] = make_readable(document.title, document.text, terms)
    return texts


def make_readable(title: str, text: str, terms: frozenset[str]) -> ReadableText:
    """Cut a text into paragraphs, and these into parts if there are many words.

    >>> found = make_readable("Loaves", "One loaf.\\n\\nTwo loaves.", frozenset({"loav"}))
    >>> [paragraph.text for part in found.parts for paragraph in part.paragraphs], found.hits
    (['One loaf.', 'Two loaves.'], 2)
    """
    unwrapped = join_wrapped_lines(text)
    paragraphs = [mark_words(start, words, terms) for start, words in cut_paragraphs(unwrapped)]
    if sum(paragraph.words for paragraph in paragraphs) <= WORDS_UNFOLDED:
        parts = [TextPart(paragraphs, is_open=True, is_densest=False)] if paragraphs else []
    else:
        parts = fold(paragraphs)
    return ReadableText(mark_words(0, title, terms).pieces, parts)


def join_wrapped_lines(text: str) -> str:
    """Replace the line breaks that only keep lines short by blanks, one for one.

    A break is of this kind if the next word had no room. Where most breaks of a paragraph are, it
    was wrapped; the lines of a list, a poem or a table stay.

    >>> join_wrapped_lines("The ferry to the island\\nsails at noon, and on\\nSundays at two.")
    'The ferry to the island sails at noon, and on Sundays at two.'
    >>> join_wrapped_lines("flour\\nwater\\nsalt")
    'flour\\nwater\\nsalt'
    """
    return PARAGRAPH.sub(lambda found: _join_lines(found[0]), text)


def _join_lines(paragraph: str) -> str:
    lines = paragraph.split("\n")
    width = max(map(len, lines))
    if len(lines) == 1 or width < SHORTEST_WRAPPED:
        return paragraph
    firsts = [(line.split(maxsplit=1) or [""])[0] for line in lines[1:]]
    had_no_room = [
        len(line.rstrip()) + 1 + len(first) > width
        for line, first in zip(lines, firsts, strict=False)
    ]
    if sum(had_no_room) < MOSTLY * len(had_no_room):
        return paragraph
    breaks = [" " if wrapped else "\n" for wrapped in had_no_room]
    return "".join(chain.from_iterable(zip(lines, [*breaks, ""], strict=True)))


def cut_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph with its start; a long one is cut after sentences."""
    for found in PARAGRAPH.finditer(text):
        start, rest = found.start(), found[0].rstrip()
        while len(rest.split()) > WORDS_PER_PARAGRAPH:
            end = _find_cut(rest)
            if end is None:
                break
            yield start, rest[:end].rstrip()
            start, rest = start + end, rest[end:]
        yield start, rest


def _find_cut(text: str) -> int | None:
    """Return where the sentence ends that makes the paragraph long enough."""
    words = list(re.finditer(r"\S+", text))
    enough = SENTENCE_END.search(text, words[WORDS_PER_PARAGRAPH - 40].end())
    return enough.end() if enough is not None and enough.end() < len(text) else None


def mark_words(start: int, text: str, terms: frozenset[str]) -> Paragraph:
    """Split a text at its topic words."""
    pieces, at, seen, words = [], 0, [], 0
    for word in WORD.finditer(text):
        words += 1
        if stem(word[0]) in terms:
            if word.start() > at:
                pieces.append(WordPiece(text[at : word.start()]))
            pieces.append(WordPiece(word[0], is_term=True))
            at = word.end()
            seen.append(stem(word[0]))
    if at < len(text):
        pieces.append(WordPiece(text[at:]))
    return Paragraph(start, text, pieces, words, frozenset(seen), len(seen))


def fold(paragraphs: Sequence[Paragraph]) -> list[TextPart]:
    """Cut a long document into parts; the densest, its neighbours and the first are open."""
    cut = _cut_parts(paragraphs)
    densest = max(range(len(cut)), key=lambda number: _density(cut[number]))
    shown = {0, densest - 1, densest, densest + 1}
    numbered = groupby(enumerate(cut), key=lambda item: (item[0] in shown, item[0] == densest))
    return [
        TextPart([paragraph for _, part in parts for paragraph in part], is_open, is_densest)
        for (is_open, is_densest), parts in numbered
    ]


def _cut_parts(paragraphs: Sequence[Paragraph]) -> list[list[Paragraph]]:
    parts: list[list[Paragraph]] = [[]]
    for paragraph in paragraphs:
        if parts[-1] and sum(each.words for each in parts[-1]) + paragraph.words > WORDS_PER_PART:
            parts.append([])
        parts[-1].append(paragraph)
    return parts


def _density(paragraphs: Sequence[Paragraph]) -> tuple[int, int]:
    """Return how many different topic words there are, then how many in all."""
    different = frozenset[str]().union(*(paragraph.terms for paragraph in paragraphs))
    return len(different), sum(paragraph.hits for paragraph in paragraphs)
