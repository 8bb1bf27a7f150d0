"""The fast reader: runs by the block, where the plain reader of `run_lines` goes line by line.

The plain reader says what a run is and what is wrong with one. This reader takes blocks of some
ten thousand lines, proves that every line of a block is one that the plain reader would accept
without a word, and takes all its numbers at once; of what it cannot prove it makes nothing, but
raises `Unclear`, and the plain reader begins anew. So there are no errors here and no messages:
only proofs, each of them stricter than the rule that it stands for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import numpy.typing as npt

from evaluation.problems import Problems
from evaluation.reading.columns import LONGEST_IDENTIFIER
from evaluation.reading.docnos import Docnos, docnos_of
from evaluation.reading.lines import (
    BYTE_ORDER_MARK,
    data_lines,
    numbered_lines,
    warn_of_blank,
    warn_of_crlf,
)
from evaluation.reading.rankings import Block, StoredRankings
from evaluation.reading.run_checks import Traits, check_ranks, check_ties, traits_of_block
from evaluation.reading.run_lines import TAG, report_missing_topics
from evaluation.reading.run_metadata import LONGEST_HEADER, split_header
from evaluation.reading.words import Places, Text, Unclear, Words

if TYPE_CHECKING:
    from evaluation.reading.runs import RunRules

IntArray = npt.NDArray[np.int64]

# What is made of a block should lie in the cache of one core.
BLOCK = 512 * 1024
ROWS_AT_ONCE = 1 << 14
TOPIC, _, DOCNO, RANK, SCORE, TAG_COLUMN = range(6)
LF, CR, TAB, BLANK, HASH, DELETE = b"\n\r\t #\x7f"


class Scattered(Exception):
    """A topic comes again after others: its lines must be gathered before they are checked."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of columns: where column c of line i begins and ends, `starts[c][i]`.

    `topics` are the lines with another topic than the line above, and the first; `crlf` is where
    the first line ends in CR LF, `blank` where the first blank line ends, -1 where there is none.
    """

    text: Text
    starts: Sequence[Places]
    ends: Sequence[Places]
    topics: Places
    crlf: int = -1
    blank: int = -1

    @classmethod
    def of(
        cls, text: Text, starts: Sequence[Places], ends: Sequence[Places], crlf: int, blank: int
    ) -> Lines:
        words = text.tokens(starts[TOPIC], ends[TOPIC])
        changes = words[1:, 0] != words[:-1, 0]
        for column in range(1, words.shape[1]):
            changes |= words[1:, column] != words[:-1, column]
        topics = np.flatnonzero(np.concatenate(([True], changes)))
        return cls(text, starts, ends, topics, crlf, blank)

    def words(self, column: int) -> Words:
        """A column as uint64[n, width]; a token ends at its first zero byte."""
        return self.text.tokens(self.starts[column], self.ends[column])

    def topic_names(self) -> list[bytes]:
        starts, ends = self.starts[TOPIC][self.topics], self.ends[TOPIC][self.topics]
        names: list[bytes] = docnos_of(self.text.tokens(starts, ends)).tolist()
        return names

    def without_last_topic(self) -> Lines:
        count = self.topics[-1]
        starts, ends = ([places[:count] for places in each] for each in (self.starts, self.ends))
        return replace(self, starts=starts, ends=ends, topics=self.topics[:-1])


def lines_in(text: Text, columns: int, longest: int) -> Lines:
    """The lines of a text, all of so many columns that are parted by single blanks or tabs.

    The proof counts. Where every sixth of the bytes up to the blank is a line feed, and there are
    no other line feeds, each line has six of them; where none follows another directly, each has
    a column before it; where blanks, tabs and line feeds are all, there is no control character.
    """
    blank = text.bytes <= BLANK
    places = np.flatnonzero(blank)
    lines, rest = divmod(len(places), columns)
    if rest or not lines or places[0] == 0 or (blank[1:] & blank[:-1]).any():
        return parted_lines_in(text, columns, longest)
    ends = np.ascontiguousarray(places.reshape(lines, columns).T)
    feeds = np.count_nonzero(text.bytes == LF)
    blanks = np.count_nonzero(text.bytes == BLANK) + np.count_nonzero(text.bytes == TAB)
    if feeds != lines or feeds + blanks != len(places) or (text.bytes[ends[-1]] != LF).any():
        return parted_lines_in(text, columns, longest)
    if np.diff(ends[-1], prepend=-1).max() > longest:
        raise Unclear("a long line")
    starts = ends + 1
    first = np.concatenate(([0], starts[-1, :-1]))
    return Lines.of(text, [first, *starts[:-1]], list(ends), crlf=-1, blank=-1)


def parted_lines_in(text: Text, columns: int, longest: int) -> Lines:
    """The same where there may be several blanks, CR LF, and blank lines between the others.

    A column is a stretch of bytes above the blank. Six in turn make a line where the first and
    the last have as many line feeds before them, and the first of the next line has more.
    """
    above = np.concatenate(([False], text.bytes > BLANK, [False]))
    edges = np.flatnonzero(above[1:] != above[:-1])
    feeds = np.flatnonzero(text.bytes == LF)
    returns = np.flatnonzero(text.bytes == CR)
    parting = np.count_nonzero((text.bytes == BLANK) | (text.bytes == TAB))
    if parting + len(feeds) + len(returns) + np.count_nonzero(above) != len(text):
        raise Unclear("a control character")
    if (text.bytes[returns + 1] != LF).any():
        raise Unclear("a carriage return within a line")
    if np.diff(feeds, prepend=-1).max() > longest:
        raise Unclear("a long line")
    lines, rest = divmod(len(edges), 2 * columns)
    if rest:
        raise Unclear("not so many columns")
    starts, ends = np.ascontiguousarray(edges.reshape(lines, columns, 2).T)
    line, line_of_last = np.searchsorted(feeds, starts[0]), np.searchsorted(feeds, starts[-1])
    if not lines or (line != line_of_last).any() or (line[1:] == line[:-1]).any():
        raise Unclear("not so many columns")
    blank = np.setdiff1d(np.arange(len(feeds)), line)
    return Lines.of(
        text,
        list(starts),
        list(ends),
        crlf=int(returns[0]) if len(returns) else -1,
        blank=int(feeds[blank[0]]) if len(blank) else -1,
    )


def lines_of(
    file: BinaryIO, head: bytes, longest: int, *, columns: int = 6, whole_topics: bool = False
) -> Iterator[tuple[int, Lines]]:
    """All lines of a file in blocks, each with its place behind the start of `head`.

    `head` is what was already read. With `whole_topics` a block ends where a topic does.
    """
    place, size = 0, BLOCK
    rest, following = head, file.read(size)
    while rest or following:
        data = rest + following
        following = file.read(size) if following else b""
        if not following and data.endswith(b"\r"):
            raise Unclear("a carriage return at the end")
        if not following and not data.endswith(b"\n"):
            data += b"\n"
        end = data.rfind(b"\n") + 1
        if not end and len(data) > longest:
            raise Unclear("a long line")
        if not end:
            rest = data
            continue
        lines = lines_in(Text(data[:end]), columns, longest)
        if whole_topics and following:
            if len(lines.topics) == 1:
                # A topic longer than a block: look at twice as much, so that it stays linear.
                rest, size = data, 2 * size
                continue
            end = int(lines.starts[TOPIC][lines.topics[-1]])
            lines = lines.without_last_topic()
        yield place, lines
        rest, place = data[end:], place + end


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of clean lines in the order of the file, the rank of each, and its place there."""

    block: Block
    ranks: IntArray
    places: IntArray


def rows_of(lines: Lines, place: int, rules: RunRules, tag: bytes) -> Rows:
    """The rows of these lines, where every rule that can be asked of a line is kept."""
    check_text(lines)
    tags = lines.words(TAG_COLUMN)
    if docnos_of(tags[:1])[0] != tag or (tags != tags[0]).any():
        raise Unclear("another tag")
    topics, docnos = lines.topic_names(), lines.words(DOCNO)
    if not all_known(set(topics), rules.topics) or not all_docnos_known(docnos, rules.docnos):
        raise Unclear("an unknown topic or document")
    scores = lines.text.decimals(lines.starts[SCORE], lines.ends[SCORE])
    ranks = lines.text.integers(lines.starts[RANK], lines.ends[RANK])
    block = Block(topics, np.append(lines.topics, len(docnos)), docnos, scores)
    return Rows(block, ranks, place + lines.starts[TOPIC])


def check_text(lines: Lines) -> None:
    """No comment among the lines, nothing but ASCII, no identifier too long."""
    if lines.text.bytes.max() >= DELETE or (lines.text.bytes[lines.starts[TOPIC]] == HASH).any():
        raise Unclear("not ASCII, or a comment")
    for column in (TOPIC, DOCNO):
        if (lines.ends[column] - lines.starts[column]).max() > LONGEST_IDENTIFIER:
            raise Unclear("a long identifier")


def all_known(names: Collection[bytes], known: Container[bytes] | None) -> bool:
    return known is None or all(name in known for name in names)


def all_docnos_known(docnos: Words, known: Container[bytes] | None) -> bool:
    if isinstance(known, Docnos):
        return bool(known.known(docnos_of(docnos)).all())
    return known is None or all_known(docnos_of(docnos).tolist(), known)


@dataclass
class FastRun:
    """What has been taken of a run: its rankings, and what its warnings need to know.

    Places count bytes from the first line with columns: of the first line of each topic, of the
    first CR LF and of the first blank line, -1 where there is none.
    """

    tag: bytes
    rankings: StoredRankings = field(default_factory=StoredRankings)
    traits: list[Traits] = field(default_factory=list)
    first_lines: list[IntArray] = field(default_factory=list)
    crlf: int = -1
    blank: int = -1

    def see(self, lines: Lines, place: int) -> None:
        if self.crlf < 0 <= lines.crlf:
            self.crlf = place + lines.crlf
        if self.blank < 0 <= lines.blank:
            self.blank = place + lines.blank

    def take(self, rows: Rows, rules: RunRules) -> None:
        """Check topics that are complete, and keep them in scoring order."""
        block = rows.block
        if len(set(block.topics)) < len(block.topics) or any(
            topic in self.rankings for topic in block.topics
        ):
            raise Scattered
        if np.diff(block.starts).max() > rules.depth or block.may_repeat():
            raise Unclear("too many documents, or one twice")
        ordered = block.in_scoring_order()
        self.traits.append(traits_of_block(block, rows.ranks, ordered, rules.cutoff))
        self.first_lines.append(rows.places[block.starts[:-1]])
        self.rankings.add(ordered)


def read_fast(file: BinaryIO, head: bytes, rules: RunRules) -> FastRun:
    """The run whose lines are `head`, the first one, and what comes next in the file.

    Raises `Unclear` where the plain reader must look, and `Scattered` where the topics come
    again: then `read_scattered` takes the same lines.
    """
    run = FastRun(tag_of(head, rules))
    for place, lines in lines_of(file, head, rules.line, whole_topics=True):
        run.see(lines, place)
        run.take(rows_of(lines, place, rules, run.tag), rules)
    return run


def read_scattered(file: BinaryIO, head: bytes, rules: RunRules) -> FastRun:
    """The same for lines in any order: of each only the numbers are kept, until all are there."""
    run = FastRun(tag_of(head, rules))
    # A topic that is asked for the first time gets the next number.
    numbers: defaultdict[bytes, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    topics, parts = [], []
    for place, lines in lines_of(file, head, rules.line):
        run.see(lines, place)
        rows = rows_of(lines, place, rules, run.tag)
        named = np.array(list(map(numbers.__getitem__, rows.block.topics)), np.int32)
        topics.append(np.repeat(named, np.diff(rows.block.starts)))
        # A name for every line would take more memory than all the numbers.
        parts.append(replace(rows, block=replace(rows.block, topics=())))
    for rows in _by_topic(list(numbers), np.concatenate(topics), parts):
        run.take(rows, rules)
    return run


def read_grades(
    file: BinaryIO,
    longest: int,
    highest: int,
    topics: Container[bytes] | None,
    docnos: Container[bytes] | None,
) -> dict[bytes, dict[bytes, int]]:
    """Judgments `topic iteration docno grade` by topic and docno; `Unclear` as everywhere here."""
    grades: dict[bytes, dict[bytes, int]] = {}
    for _, lines in lines_of(file, b"", longest, columns=4):
        check_text(lines)
        if lines.crlf >= 0 or lines.blank >= 0:
            raise Unclear("to be warned of")
        words = lines.words(DOCNO)
        values = lines.text.integers(lines.starts[RANK], lines.ends[RANK])
        names = lines.topic_names()
        if not all_known(names, topics) or not all_docnos_known(words, docnos):
            raise Unclear("an unknown topic or document")
        if np.abs(values).max() > highest:
            raise Unclear("no grade")
        judged = list(zip(docnos_of(words).tolist(), values.tolist(), strict=True))
        bounds = pairwise([*lines.topics.tolist(), len(judged)])
        for name, (start, end) in zip(names, bounds, strict=True):
            of_topic = grades.setdefault(name, {})
            before = len(of_topic)
            of_topic.update(judged[start:end])
            if len(of_topic) < before + end - start:
                raise Unclear("a document judged twice")
    if not grades:
        raise Unclear("no judgment")
    return grades


def _by_topic(names: list[bytes], topic: IntArray, parts: list[Rows]) -> Iterator[Rows]:
    """All rows again, but topic after topic, some at a time; within a topic as in the file."""
    # Of the smallest type, for whose numbers numpy has a faster sort.
    order = np.argsort(topic.astype(np.min_scalar_type(len(names))), kind="stable")
    bounds = np.concatenate(([0], np.cumsum(np.bincount(topic))))
    docnos = stacked([rows.block.docnos for rows in parts])
    scores = np.concatenate([rows.block.scores for rows in parts])
    ranks = np.concatenate([rows.ranks for rows in parts])
    places = np.concatenate([rows.places for rows in parts])
    first = 0
    while first < len(names):
        last = int(np.searchsorted(bounds, bounds[first] + ROWS_AT_ONCE, "right")) - 1
        last = max(first + 1, last)
        chosen = order[bounds[first] : bounds[last]]
        starts = bounds[first : last + 1] - bounds[first]
        block = Block(names[first:last], starts, docnos[chosen], scores[chosen])
        yield Rows(block, ranks[chosen], places[chosen])
        first = last


def stacked(parts: Sequence[Words]) -> Words:
    """Rows of words on top of each other, all as wide as the widest."""
    width = max(words.shape[1] for words in parts)
    result = np.zeros((sum(map(len, parts)), width), np.uint64)
    ends = np.cumsum([0, *map(len, parts)]).tolist()
    for words, (start, end) in zip(parts, pairwise(ends), strict=True):
        result[start:end, : words.shape[1]] = words
    return result


@dataclass(frozen=True, slots=True)
class Head:
    """The comments before the columns, and the first line with columns and its number."""

    comments: list[tuple[int, str]]
    line: bytes
    number: int

    @classmethod
    def of(cls, file: BinaryIO, longest: int, problems: Problems) -> Head:
        """Take the head of a file by the line, with the warnings that it deserves."""
        taken: list[bytes] = []
        text = b""
        while text[:1] in (b"", b"#"):
            raw = file.readline(longest + 2)
            if not raw or len(taken) == LONGEST_HEADER:
                raise Unclear("no columns")
            line = raw if taken else raw.removeprefix(BYTE_ORDER_MARK)
            taken.append(raw)
            text = (line[:-2] if line.endswith(b"\r\n") else line.rstrip(b"\n")).lstrip(b" \t")
        numbered = list(numbered_lines(BytesIO(b"".join(taken)), problems, longest))
        for _ in data_lines(iter(numbered), problems):
            pass
        return cls(split_header(iter(numbered))[0], line, len(taken))


def line_number(file: BinaryIO, head: Head, place: int) -> int:
    """The line of the byte so far behind the start of `head.line`; `file` stands behind that."""
    number = head.number + head.line.count(b"\n", 0, place)
    left = place - len(head.line)
    while left > 0 and (data := file.read(min(left, BLOCK))):
        number += data.count(b"\n")
        left -= len(data)
    return number


def warn(run: FastRun, rules: RunRules, line_at: Callable[[int], int], problems: Problems) -> None:
    """What the plain reader says of an accepted run; lines are counted only where one is told."""
    if run.crlf >= 0 and "W_CRLF" not in problems.counts:
        warn_of_crlf(line_at(run.crlf), problems)
    if run.blank >= 0 and "W_BLANK" not in problems.counts:
        warn_of_blank(line_at(run.blank), problems)
    report_missing_topics(run.rankings.keys(), rules, problems)
    if problems.errors:
        raise Unclear("missing topics")
    traits = Traits.joined(run.traits)
    places = np.concatenate(run.first_lines)

    def first_line(topic: int) -> int:
        return line_at(int(places[topic]))

    check_ranks(traits, first_line, problems)
    check_ties(traits, list(run.rankings), first_line, rules.cutoff, problems)


def tag_of(line: bytes, rules: RunRules) -> bytes:
    """The tag of the first line, which all lines must have."""
    tag = (line.split() or [b""])[-1]
    if not TAG.fullmatch(tag) or (rules.tag is not None and rules.tag.encode() != tag):
        raise Unclear("not the tag")
    return tag
