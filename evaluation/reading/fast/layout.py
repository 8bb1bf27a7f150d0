"""The layout of a text: the place of every column of every line.

Places are found for a whole block at once, and only if it is proven that each line has its columns
and nothing else. Otherwise `Unclear` is raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.reading.docnos import docnos_of
from evaluation.reading.fast.piles import Rows
from evaluation.reading.words import WORD, Places, Text, Unclear, Words

TOPIC, SECOND, DOCNO, RANK, SCORE, TAG = range(6)
COLUMNS = 6
LF, CR, TAB, BLANK, DELETE = b"\n\r\t \x7f"


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of columns: where column c of line i ends, `ends[c][i]`, and which byte is before it.

    `feeds` are all line feeds, `topics` the first line and those of another topic than the one
    above; `crlf` is where the first line ends in CR LF, `blank` where the first blank line ends,
    -1 if there is none. `rows` has the values, if they were read to find the places: then every
    line has this `tag`, and there may be places of topics alone.
    """

    text: Text
    before: Sequence[Places]
    ends: Sequence[Places]
    feeds: Places
    topics: Places
    crlf: int = -1
    blank: int = -1
    rows: Rows | None = None
    tag: bytes = b""

    def __len__(self) -> int:
        return len(self.ends[TOPIC])

    def starts(self, column: int) -> Places:
        return self.before[column] + 1

    def words(self, column: int) -> Words:
        """A column as uint64[n, width]; a token ends at its first zero byte."""
        starts = self.starts(column)
        return self.text.tokens(starts, self.ends[column] - starts)

    def token(self, column: int, line: int) -> bytes:
        return self.text.token(int(self.before[column][line]) + 1, int(self.ends[column][line]))

    def topic_names(self) -> list[bytes]:
        starts = self.before[TOPIC][self.topics] + 1
        lengths = self.ends[TOPIC][self.topics] - starts
        names: list[bytes] = docnos_of(self.text.tokens(starts, lengths)).tolist()
        return names


def feeds_in(text: Text) -> Places:
    """Return the places of all line feeds.

    Words of eight bytes are searched, which are fewer than bytes; if lines are so short that two
    end in one word, bytes are.
    """
    are_feeds = text.bytes == LF
    rest = len(are_feeds) // WORD * WORD
    words = are_feeds[:rest].view(np.uint64)
    places = np.flatnonzero(words != 0)
    # A byte is 1 where there is a line feed, so one less has eight ones for each byte below it.
    found = words[places]
    below = found - 1
    if (found & below).any():
        return np.flatnonzero(are_feeds)
    places *= WORD
    places += np.bitwise_count(below) >> 3
    return np.concatenate((places, np.flatnonzero(are_feeds[rest:]) + rest))


def topics_in(text: Text, before: Places, ends: Places) -> Places:
    """Return the first line, and the lines with another topic than the line above."""
    return changes(text.tokens(before + 1, ends - before - 1))


def changes(rows: Words) -> Places:
    """Return the first row, and the rows that differ from the row above."""
    differ = rows[1:, 0] != rows[:-1, 0]
    for column in range(1, rows.shape[1]):
        differ |= rows[1:, column] != rows[:-1, column]
    return np.concatenate(([0], np.flatnonzero(differ) + 1))


def single_blanks_in(text: Text, columns: int) -> Lines:
    """Return the lines of a text whose columns are separated by single blanks or tabs.

    The proof counts. If every sixth of the bytes up to the blank is a line feed, and all others are
    blanks and tabs, each line has six of them and there is no control character. If none follows
    another directly, each has a column before it.
    """
    blank = text.bytes <= BLANK
    places = np.flatnonzero(blank)
    lines, rest = divmod(len(places), columns)
    if rest or not lines or places[0] == 0 or (blank[1:] & blank[:-1]).any():
        raise Unclear("no single blanks")
    ends = np.ascontiguousarray(places.reshape(lines, columns).T)
    others = len(places) - lines - text.count(BLANK)
    if (text.bytes[ends[-1]] != LF).any() or (others and others != text.count(TAB)):
        raise Unclear("another number of columns, or a control character")
    before = [np.concatenate(([-1], ends[-1, :-1])), *ends[:-1]]
    return Lines(text, before, list(ends), ends[-1], topics_in(text, before[0], ends[0]))


def parted_lines_in(text: Text, columns: int) -> Lines:
    """Return the lines of a text that may have several blanks, CR LF and blank lines.

    A column is a stretch of bytes above the blank. Six columns form a line if no line feed is
    between them and one is after them. Further line feeds are blank lines.
    """
    above = np.concatenate(([False], text.bytes > BLANK, [False]))
    edges = np.flatnonzero(above[1:] != above[:-1])
    feeds = np.flatnonzero(text.bytes == LF)
    returns = np.flatnonzero(text.bytes == CR)
    parting = text.count(BLANK) + text.count(TAB)
    if parting + len(feeds) + len(returns) + np.count_nonzero(above) != len(text):
        raise Unclear("a control character")
    if (text.bytes[returns + 1] != LF).any():
        raise Unclear("a carriage return within a line")
    lines, rest = divmod(len(edges), 2 * columns)
    if rest or not 0 < lines <= len(feeds):
        raise Unclear("another number of columns")
    starts, ends = np.ascontiguousarray(edges.reshape(lines, columns, 2).T)
    if len(feeds) == lines:
        blank = -1
        torn = (ends[-1] > feeds).any() or (starts[0, 1:] < feeds[:-1]).any()
    else:
        line, line_of_last = np.searchsorted(feeds, starts[0]), np.searchsorted(feeds, ends[-1])
        blank = int(feeds[np.setdiff1d(np.arange(len(feeds)), line)[0]])
        torn = (line != line_of_last).any() or (line[1:] == line[:-1]).any()
    if torn:
        raise Unclear("another number of columns")
    return Lines(
        text,
        list(starts - 1),
        list(ends),
        feeds,
        topics_in(text, starts[0] - 1, ends[0]),
        crlf=int(returns[0]) if len(returns) else -1,
        blank=blank,
    )
