"""Blocks of about a megabyte of a file of columns, in which all lines are found at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np

from evaluation.reading.fast.alike import uniform_lines_in
from evaluation.reading.fast.layout import CR, LF, Lines, parted_lines_in, single_blanks_in
from evaluation.reading.fast.scanner import Scanner, library_in_use
from evaluation.reading.words import Text, Unclear

# A numpy call costs less per line for more lines, but its results should fit in a cache.
BLOCK = 2 * 1024 * 1024
TRIES = 2
# Enough of a line to distinguish its topic.
GLANCE = 160


Way = Callable[[Text, int], Lines]


def quick_ways() -> tuple[Way, ...]:
    """Return the ways of finding lines that need them to be alike, the fastest first."""
    library = library_in_use()
    compiled = () if library is None else (Scanner(library).scanned_lines_in,)
    return (*compiled, uniform_lines_in, single_blanks_in)


@dataclass
class Finder:
    """Finds lines in several ways, the fastest first, until one can prove its result.

    The lines of a file have one form: a way that fails twice in a row is not tried again.
    """

    columns: int
    longest: int
    ways: tuple[Way, ...] = field(default_factory=quick_ways)
    failed: dict[str, int] = field(default_factory=dict)

    def lines_in(self, text: Text) -> Lines:
        lines = self._quickly(text) or parted_lines_in(text, self.columns)
        feeds = lines.feeds
        if max(feeds[0] + 1, (feeds[1:] - feeds[:-1]).max(initial=0)) > self.longest:
            raise Unclear("a long line")
        return lines

    def _quickly(self, text: Text) -> Lines | None:
        for way in self.ways:
            failed = self.failed.get(way.__name__, 0)
            if failed == TRIES:
                continue
            try:
                lines = way(text, self.columns)
            except Unclear:
                self.failed[way.__name__] = failed + 1
            else:
                self.failed[way.__name__] = 0
                return lines
        return None


class Window:
    """The bytes that were read and not yet used, in a buffer that is refilled."""

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
        """Read until the buffer is full or the file ends; a missing last line feed is added."""
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
        """Return where the last complete line ends; 0 if there is none."""
        return max(self.data.rfind(b"\n", Text.ROOM, self.end) + 1 - Text.ROOM, 0)

    def topics(self) -> int:
        """Return where the topic of the last complete line begins.

        The place is between two lines with different topics, in any order of lines.
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
        """Double the buffer, so that reading stays linear for topics of any size."""
        self._allot(self.data[Text.ROOM : self.end], 2 * (len(self.data) - 2 * Text.ROOM))


def lines_of(
    file: BinaryIO, head: bytes, longest: int, *, columns: int = 6, whole_topics: bool = False
) -> Iterator[tuple[int, Lines]]:
    """Yield all lines of a file in blocks, each with its offset from the start of `head`.

    `head` is what was already read. With `whole_topics` a block ends where a topic does. Lines
    are in a buffer that is used again: they are valid until the next block is read.
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
