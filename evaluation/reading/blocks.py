"""Blocks: a file of columns by the megabyte, and where in it every column of every line is.

Places are found for a whole block at once, and only where a proof can be given that each line
has its columns and nothing else; where there is none, `Unclear` is raised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np

from evaluation.reading.docnos import docnos_of
from evaluation.reading.words import Places, Text, Unclear, Words

# What is made of a block should lie in the cache of one core.
BLOCK = 1024 * 1024
TOPIC, SECOND, DOCNO, RANK, SCORE, TAG = range(6)
COLUMNS = 6
LF, CR, TAB, BLANK = b"\n\r\t "
# Ranks that are guessed where so many lines of a topic follow each other, and lengths of scores.
COUNTED = 2048
FEW = 8
LENGTHS = 8
TRIES = 2
DIGITS = np.array([len(str(rank)) for rank in range(COUNTED)])
# Enough of a line to tell its topic from another.
GLANCE = 160


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of columns: where column c of line i ends, `ends[c][i]`, and which byte is before it.

    `feeds` are all line feeds, `topics` the first line and those of another topic than the one
    above; `crlf` is where the first line ends in CR LF, `blank` where the first blank line ends,
    -1 where there is none.
    """

    text: Text
    before: Sequence[Places]
    ends: Sequence[Places]
    feeds: Places
    topics: Places
    crlf: int = -1
    blank: int = -1

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


def topics_in(text: Text, before: Places, ends: Places) -> Places:
    """The first line, and those with another topic than the line above."""
    words = text.tokens(before + 1, ends - before - 1)
    changes = words[1:, 0] != words[:-1, 0]
    for column in range(1, words.shape[1]):
        changes |= words[1:, column] != words[:-1, column]
    return np.concatenate(([0], np.flatnonzero(changes) + 1))


@dataclass
class Finder:
    """Finds lines in each of three ways, the quickest first, until one of them sees its proof.

    Files are of one kind throughout: a way that fails twice in a row is not tried again.
    """

    columns: int
    longest: int
    failed: dict[str, int] = field(default_factory=dict)

    def lines_in(self, text: Text) -> Lines:
        found = None
        for way in (guessed_lines_in, single_blanks_in):
            if found is None and self.failed.get(way.__name__, 0) < TRIES:
                found = way(text, self.columns)
                self.failed[way.__name__] = 0 if found else self.failed.get(way.__name__, 0) + 1
        lines = found or parted_lines_in(text, self.columns)
        if np.diff(lines.feeds, prepend=-1).max() > self.longest:
            raise Unclear("a long line")
        return lines


def guessed_lines_in(text: Text, columns: int) -> Lines | None:
    """The lines of a run if all look like the first one; None where one of them does not.

    To search every blank takes longer than all that is done with them, but where they are is no
    secret: topics are as long as the first, tags are the same, ranks count, and few lengths of
    scores occur. So only line feeds are searched, and the blanks guessed from there. The proof
    counts: there is a blank or a tab at five places of each line, none directly behind another,
    and in the whole text there are, with the line feeds, no more bytes up to the blank than that.
    """
    feeds = np.flatnonzero(text.bytes == LF)
    first = text.token(0, int(feeds[0])).split()
    if columns != len(first) or columns != COLUMNS or not first[RANK].isdigit():
        return None
    before = np.concatenate(([-1], feeds[:-1]))
    topic = before + (len(first[TOPIC]) + 1)
    second = topic + (len(first[SECOND]) + 1)
    score = feeds - (len(first[TAG]) + 1)
    rank = before_scores(text, score, len(first[SCORE]))
    if rank is None or (second >= rank).any():
        return None
    topics = topics_in(text, before, topic)
    stretches = counted_from(first[RANK], np.diff(topics, append=len(feeds)))
    if stretches is None:
        return None
    docno = rank - np.concatenate([DIGITS[stretch] for stretch in stretches]) - 1
    ends = [topic, second, docno, rank, score]
    if (docno - second).min() < 2 or not all(map(text.all_blank_at, ends)):
        return None
    if np.count_nonzero(text.bytes <= BLANK) != COLUMNS * len(feeds):
        return None
    return Lines(text, [before, *ends], [*ends, feeds], feeds, topics)


def before_scores(text: Text, ends: Places, length: int) -> Places | None:
    """A blank before each score: as far before its end as the others are, or else as another."""
    places = ends - (length + 1)
    if places.min() < 0:
        return None
    wrong = np.flatnonzero(text.bytes[places] > BLANK)
    for _ in range(LENGTHS):
        if not len(wrong):
            return places
        end = int(ends[wrong[0]])
        tail = text.token(max(0, end - GLANCE), end)
        length = len(tail) - 1 - max(tail.rfind(b" "), tail.rfind(b"\t"))
        places[wrong] = np.maximum(ends[wrong] - (length + 1), 0)
        wrong = wrong[text.bytes[places[wrong]] > BLANK]
    return None


def counted_from(first: bytes, sizes: Places) -> list[slice] | None:
    """Where in a table of counted things those of topics of these sizes are, if each topic
    counts its lines from the same rank on; None where they are too many, or mostly alone."""
    low = int(first) if first.isdigit() and len(first) < len(str(COUNTED)) else COUNTED
    if low + sizes.max() > COUNTED or len(sizes) * FEW > sizes.sum():
        return None
    return [slice(low, low + size) for size in sizes.tolist()]


def single_blanks_in(text: Text, columns: int) -> Lines | None:
    """The lines of a text whose columns are parted by single blanks or tabs; else None.

    The proof counts. Where every sixth of the bytes up to the blank is a line feed, and blanks
    and tabs are all the others, each line has six of them and there is no control character;
    where none follows another directly, each has a column before it.
    """
    blank = text.bytes <= BLANK
    places = np.flatnonzero(blank)
    lines, rest = divmod(len(places), columns)
    if rest or not lines or places[0] == 0 or (blank[1:] & blank[:-1]).any():
        return None
    ends = np.ascontiguousarray(places.reshape(lines, columns).T)
    others = len(places) - lines - text.count(BLANK)
    if (text.bytes[ends[-1]] != LF).any() or (others and others != text.count(TAB)):
        return None
    before = [np.concatenate(([-1], ends[-1, :-1])), *ends[:-1]]
    return Lines(text, before, list(ends), ends[-1], topics_in(text, before[0], ends[0]))


def parted_lines_in(text: Text, columns: int) -> Lines:
    """The same where there may be several blanks, CR LF, and blank lines between the others.

    A column is a stretch of bytes above the blank. Six in turn make a line where no line feed is
    between them, and one behind them; where there are more line feeds, there are blank lines.
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
        raise Unclear("not so many columns")
    starts, ends = np.ascontiguousarray(edges.reshape(lines, columns, 2).T)
    if len(feeds) == lines:
        blank = -1
        torn = (ends[-1] > feeds).any() or (starts[0, 1:] < feeds[:-1]).any()
    else:
        line, line_of_last = np.searchsorted(feeds, starts[0]), np.searchsorted(feeds, ends[-1])
        blank = int(feeds[np.setdiff1d(np.arange(len(feeds)), line)[0]])
        torn = (line != line_of_last).any() or (line[1:] == line[:-1]).any()
    if torn:
        raise Unclear("not so many columns")
    return Lines(
        text,
        list(starts - 1),
        list(ends),
        feeds,
        topics_in(text, starts[0] - 1, ends[0]),
        crlf=int(returns[0]) if len(returns) else -1,
        blank=blank,
    )


class Window:
    """What has been read of a file and not been taken, in a buffer that is filled again."""

    def __init__(self, file: BinaryIO, head: bytes, size: int) -> None:
        self.file = file
        self.more = True
        self._allot(head, size)

    def _allot(self, taken: bytes | bytearray, size: int) -> None:
        self.data = bytearray(2 * Text.ROOM + max(size, len(taken)))
        self.end = Text.ROOM + len(taken)
        self.data[Text.ROOM : self.end] = taken
        self.padded = np.frombuffer(self.data, np.uint8)

    def fill(self) -> None:
        """Read until the buffer is full or the file at its end, which gets its last line feed."""
        room = memoryview(self.data)[: -Text.ROOM]
        while self.more and self.end < len(room):
            count = self.file.readinto(room[self.end :])  # type: ignore[attr-defined]
            self.end += count
            self.more = count > 0
        if not self.more and self.end > Text.ROOM and self.data[self.end - 1] != LF:
            if self.data[self.end - 1] == CR:
                raise Unclear("a carriage return at the end")
            self.data[self.end] = LF
            self.end += 1

    def lines(self) -> int:
        """Where the last whole line ends, and with it what can be taken; 0 where none does."""
        return max(self.data.rfind(b"\n", Text.ROOM, self.end) + 1 - Text.ROOM, 0)

    def topics(self) -> int:
        """Where the topic of the last whole line begins, and the topics before it end.

        The place is between two lines with different topics, in whatever order lines are.
        """
        end = Text.ROOM + self.lines()
        low, high = Text.ROOM, max(Text.ROOM, self.data.rfind(b"\n", Text.ROOM, end - 1) + 1)
        last = self._topic(high)
        if self._topic(low) == last:
            return 0
        while True:
            middle = self.data.rfind(b"\n", low, (low + high) // 2) + 1
            middle = middle or self.data.index(b"\n", low) + 1
            if middle >= high:
                return high - Text.ROOM
            low, high = (low, middle) if self._topic(middle) == last else (middle, high)

    def _topic(self, line: int) -> list[bytes]:
        return bytes(self.data[line : min(line + GLANCE, self.end)]).split(None, 1)[:1]

    def text(self, length: int) -> Text:
        return Text.within(self.padded, Text.ROOM + length)

    def drop(self, length: int) -> None:
        rest = self.padded[Text.ROOM + length : self.end]
        self.padded[Text.ROOM : Text.ROOM + len(rest)] = rest
        self.end -= length

    def grow(self) -> None:
        """Twice the room, so that reading stays linear where a topic needs many times as much."""
        self._allot(self.data[Text.ROOM : self.end], 2 * (len(self.data) - 2 * Text.ROOM))


def lines_of(
    file: BinaryIO, head: bytes, longest: int, *, columns: int = 6, whole_topics: bool = False
) -> Iterator[tuple[int, Lines]]:
    """All lines of a file in blocks, each with its place behind the start of `head`.

    `head` is what was already read. With `whole_topics` a block ends where a topic does. Lines
    lie in a buffer that is used again: they hold only until the next are asked for.
    """
    place, window, finder = 0, Window(file, head, BLOCK), Finder(columns, longest)
    while window.more:
        window.fill()
        end = window.lines()
        if not end and window.end - Text.ROOM > longest:
            raise Unclear("a long line")
        if whole_topics and window.more and end:
            end = window.topics()
        if end:
            yield place, finder.lines_in(window.text(end))
            window.drop(end)
            place += end
        elif window.more:
            window.grow()
