"""Runs whose lines all have the same form, so that columns need not be searched.

Topics have the length of the first, ranks count up, docnos have the length of the first or scores
at most 23 characters, and every line ends with the same tag. So only line feeds are searched. The
places of the columns are guessed from them, and verified by the values at these places. A line has
five pieces without gaps, and every byte of each piece is checked:

    301 Q0 |FT911-3| 1 |9.25| bm25
    head    docno   rank score ending, with the line feed

The head is that of the line above, or it is checked alone. The docno has only graphic
characters. The rank, with the blanks around it, is the expected number. The score is read. The
ending is that of the first line. These checks also read the values.
"""

from __future__ import annotations

import numpy as np

from evaluation.reading.columns import LONGEST_IN_BLOCKS
from evaluation.reading.fast.layout import (
    BLANK,
    COLUMNS,
    DELETE,
    DOCNO,
    RANK,
    SCORE,
    SECOND,
    TAB,
    TAG,
    TOPIC,
    Lines,
    changes,
    feeds_in,
)
from evaluation.reading.fast.piles import Rows
from evaluation.reading.fast.ranks import DIGITS, are_spelled, count_ranks
from evaluation.reading.words import Places, Text, Unclear, Words

# Of scores shorter than this, nearly all fit into two words with the blank before them.
SHORT = 13


def uniform_lines_in(text: Text, columns: int) -> Lines:
    """Return the lines and rows of a run whose lines all have the form of the first."""
    feeds = feeds_in(text)
    first = text.token(0, int(feeds[0])).split()
    if columns != COLUMNS or len(first) != COLUMNS:
        raise Unclear("another number of columns")
    before = np.concatenate(([-1], feeds[:-1]))
    topic = before + len(first[TOPIC]) + 1
    second = topic + len(first[SECOND]) + 1
    topics = topics_by_heads(text, before, topic, second)
    ranks = count_ranks(first[RANK], np.diff(topics, append=len(feeds)))
    if ranks is None:
        raise Unclear("no ranks that count")
    score = feeds - (len(first[TAG]) + 1)
    # Scores are about as long as the first.
    last = words_before_tags(text, score, feeds, 2 if len(first[SCORE]) < SHORT else 3)
    docno, rank = blanks_around_ranks(text, second, score, DIGITS.take(ranks), first, last)
    docnos, behind = docnos_between(text, second, docno)
    if not are_spelled(ranks, behind, separators_at(text, docno), separators_at(text, rank)):
        raise Unclear("another rank")
    rows = Rows(docnos, ranks, text.decimals(rank + 1, score, last))
    ends = [topic, second, docno, rank, score]
    return Lines(text, [before, *ends], [*ends, feeds], feeds, topics, rows=rows, tag=first[TAG])


def topics_by_heads(text: Text, before: Places, topic: Places, second: Places) -> Places:
    """Return the first line, and the lines whose head differs from that of the line above.

    A head begins after one place, and there is a blank at each of the other places.
    """
    length = int(second[0] - before[0])
    heads = text.tokens(before + 1, np.full(len(before), length))
    topics = changes(heads)
    letters = np.ascontiguousarray(heads[topics]).view(np.uint8)[:, :length]
    blanks = letters[:, [topic[0], second[0]]]
    if ((blanks != BLANK) & (blanks != TAB)).any():
        raise Unclear("another head")
    if np.count_nonzero(letters <= BLANK) > blanks.size or letters.max() >= DELETE:
        raise Unclear("not graphic")
    return topics


def blanks_around_ranks(
    text: Text,
    second: Places,
    score: Places,
    digits: Places,
    first: list[bytes],
    last: Words,
) -> tuple[Places, Places]:
    """Return the blanks around each rank.

    They are as far after the second column as in the first line, or the second is the last blank
    in the words before the tag.
    """
    docno = second + (len(first[DOCNO]) + 1)
    if (text.bytes.take(docno, mode="clip") <= BLANK).all():
        rank = docno + digits + 1
    else:
        rank = text.blanks_before(last, score)
        docno = rank - digits - 1
    if (score - rank).min() < 2:
        raise Unclear("no score")
    return docno, rank


def separators_at(text: Text, places: Places) -> int:
    """Return the first of these places with a blank or tab."""
    byte = text.token(int(places[0]), int(places[0]) + 1)
    if byte not in (b" ", b"\t"):
        raise Unclear("no blank")
    return byte[0]


def docnos_between(text: Text, before: Places, ends: Places) -> tuple[Words, Words]:
    """Return docnos in words, and the eight bytes after each."""
    lengths = ends - before
    lengths -= 1
    if lengths.min() < 1 or lengths.max() > LONGEST_IN_BLOCKS:
        raise Unclear("no docno, or a long one")
    docnos, behind = text.tokens_before(ends, lengths)
    if not are_graphic(docnos, lengths):
        raise Unclear("not graphic")
    return docnos, behind


def are_graphic(tokens: Words, lengths: Places) -> bool:
    """Return whether tokens in words contain only graphic characters, without blanks or controls.

    The padding after the tokens is zero, and no other byte may be.
    """
    letters = tokens.view(np.uint8)
    behind = letters.size - int(lengths.sum())
    return np.count_nonzero(letters <= BLANK) == behind and bool(letters.max() < DELETE)


def words_before_tags(text: Text, ends: Places, feeds: Places, words: int) -> Words:
    """Return so many words before the ends of scores if every line ends like the first."""
    separators_at(text, ends)
    last = text.before_ending(ends, text.token(int(ends[0]), int(feeds[0]) + 1), words)
    if last is None:
        raise Unclear("another tag")
    return last
