"""The fast reader: it reads runs block by block, the plain reader of `run_lines` line by line.

The plain reader defines what a run is, and reports problems. This reader takes blocks of some ten
thousand lines, proves that the plain reader would accept every line of a block without a problem,
and reads all its numbers at once. If it cannot prove this, it raises `Unclear`, and the plain
reader starts from the beginning. So there are no errors and no messages here, only proofs, each
stricter than the rule that it replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from evaluation.problems import Problems
from evaluation.reading.columns import LONGEST_IN_BLOCKS
from evaluation.reading.docnos import Docnos, docnos_of
from evaluation.reading.fast.blocks import lines_of
from evaluation.reading.fast.layout import (
    BLANK,
    DELETE,
    DOCNO,
    RANK,
    SCORE,
    TAB,
    TAG,
    TOPIC,
    Lines,
)
from evaluation.reading.fast.piles import Numbers, Piles, Rows
from evaluation.reading.fast.ranks import are_spelled, count_ranks
from evaluation.reading.lines import (
    BYTE_ORDER_MARK,
    data_lines,
    numbered_lines,
    warn_of_blank,
    warn_of_crlf,
)
from evaluation.reading.repairs import TAG as WELL_FORMED_TAG
from evaluation.reading.runs.rankings import Block, StoredRankings
from evaluation.reading.runs.run_checks import Traits, check_ranks, check_ties, traits_of_block
from evaluation.reading.runs.run_lines import report_missing_topics
from evaluation.reading.runs.run_metadata import LONGEST_HEADER, split_header
from evaluation.reading.runs.run_rules import RunRules
from evaluation.reading.words import LAST_WORDS, FloatArray, Places, Unclear, Words

IntArray = npt.NDArray[np.int64]

ROWS_AT_ONCE = 1 << 14
CHUNK = 1 << 19


class Scattered(Exception):
    """The lines of a topic are not together: they must be collected before they are checked."""


def rows_of(lines: Lines, sizes: Places, tag: bytes) -> Rows:
    """Return the rows of these lines; `sizes` counts the successive lines of each topic.

    Everything has been checked that needs no knowledge of topics and documents.
    """
    if lines.rows is not None:
        if lines.tag != tag:
            raise Unclear("another tag")
        return lines.rows
    if lines.text.bytes.max() >= DELETE:
        raise Unclear("not ASCII")
    docnos, ranks = docnos_and_ranks(lines, sizes)
    return Rows(docnos, ranks, scores_before_tags(lines, tag))


def check_topics(topics: Collection[bytes], known: Container[bytes] | None) -> None:
    """Check that each is a topic of the track, and does not begin like a comment."""
    # A run may have a hundred thousand topics, so no Python loop goes over them.
    if b"\n#" in b"\n" + b"\n".join(topics) or max(map(len, topics), default=0) > LONGEST_IN_BLOCKS:
        raise Unclear("a comment, or a long topic")
    if not all_known(topics, known):
        raise Unclear("an unknown topic")


def docnos_and_ranks(lines: Lines, sizes: Places) -> tuple[Words, IntArray]:
    """Return docnos in words, and ranks; `sizes` counts the successive lines of each topic.

    In most runs the ranks count the lines of a topic, so no rank need be read.
    """
    starts, ends = lines.starts(DOCNO), lines.ends[DOCNO]
    lengths = ends - starts
    if lengths.max() > LONGEST_IN_BLOCKS:
        raise Unclear("a long docno")
    docnos, behind = lines.text.tokens_before(ends, lengths)
    ranks = count_ranks(lines.token(RANK, 0), sizes)
    before, after = (int(lines.text.bytes[lines.ends[column][0]]) for column in (DOCNO, RANK))
    if ranks is None or not are_spelled(ranks, behind, before, after):
        ranks = lines.text.integers(lines.starts(RANK), lines.ends[RANK])
    return docnos, ranks


def scores_before_tags(lines: Lines, tag: bytes) -> FloatArray:
    """Return the scores if every line ends with this tag."""
    starts, ends = lines.starts(SCORE), lines.ends[SCORE]
    first = int(ends[0])
    ending = lines.text.token(first, first + len(tag) + 2)
    last = lines.text.before_ending(ends, ending, LAST_WORDS) if ending[1:] == tag + b"\n" else None
    # If columns are separated by several blanks, or by blanks and tabs, tags are checked alone.
    if last is None:
        tags = lines.words(TAG)
        if docnos_of(tags[:1])[0] != tag or (tags != tags[0]).any():
            raise Unclear("another tag")
    return lines.text.decimals(starts, ends, last)


def all_known(names: Collection[bytes], known: Container[bytes] | None) -> bool:
    return known is None or all(name in known for name in names)


def all_docnos_known(block: Block, known: Container[bytes] | None) -> bool:
    if isinstance(known, Docnos):
        return bool(known.holds(block.docnos, block.hashes).all())
    return known is None or all_known(docnos_of(block.docnos).tolist(), known)


@dataclass
class FastRun:
    """The part of a run that has been read: its rankings, and data for its warnings.

    Places count bytes from the first line with columns: of the first line of each topic, of the
    first CR LF and of the first blank line, -1 where there is none. `lines` counts the lines,
    blank ones included.
    """

    tag: bytes
    rankings: StoredRankings
    traits: list[Traits] = field(default_factory=list)
    first_lines: list[IntArray] = field(default_factory=list)
    crlf: int = -1
    blank: int = -1
    lines: int = 0

    def see(self, lines: Lines, place: int) -> None:
        self.lines += len(lines.feeds)
        if self.crlf < 0 <= lines.crlf:
            self.crlf = place + lines.crlf
        if self.blank < 0 <= lines.blank:
            self.blank = place + lines.blank

    def join(self, other: FastRun, place: int) -> None:
        """Add the part of the run that was read from this place of the file."""
        if not self.rankings.known.keys().isdisjoint(other.rankings):
            raise Scattered
        self.rankings.take_over(other.rankings)
        self.lines += other.lines
        self.traits += other.traits
        self.first_lines += [place + lines for lines in other.first_lines]
        if self.crlf < 0 <= other.crlf:
            self.crlf = place + other.crlf
        if self.blank < 0 <= other.blank:
            self.blank = place + other.blank

    def take(self, topics: list[bytes], starts: Places, rows: Rows, rules: RunRules) -> None:
        """Check complete topics, whose rows begin at `starts`, and keep them by score.

        Scoring asks for the places of few documents, so ties are not sorted here.
        """
        block = Block(topics, starts, rows.docnos, rows.scores, rows.hashes)
        order = block.by_score()
        falling = block.taken(order)
        if np.diff(starts).max() > rules.depth or falling.may_repeat():
            raise Unclear("too many documents, or one twice")
        if not all_docnos_known(falling, rules.docnos):
            raise Unclear("an unknown document")
        self.traits.append(traits_of_block(block, rows.ranks, order, falling, rules.cutoff))
        self.rankings.add(falling)


def read_fast(
    file: BinaryIO,
    head: bytes,
    rules: RunRules,
    rankings: StoredRankings,
    tag: bytes | None = None,
) -> FastRun:
    """Return the run whose lines are `head` and the rest of the file.

    Its tag is that of the first line, unless it is given. Raises `Unclear` if the plain reader
    must read it, and `Scattered` if the lines of topics are not together: see `read_scattered`.
    """
    run = FastRun(tag_of(head, rules) if tag is None else tag, rankings)
    for place, lines in lines_of(file, head, rules.line, whole_topics=True):
        run.see(lines, place)
        topics = lines.topic_names()
        check_topics(topics, rules.topics)
        if len(set(topics)) < len(topics) or not run.rankings.known.keys().isdisjoint(topics):
            raise Scattered
        starts = np.append(lines.topics, len(lines))
        rows = rows_of(lines, np.diff(starts), run.tag)
        run.first_lines.append(place + lines.starts(TOPIC)[lines.topics])
        run.take(topics, starts, rows, rules)
    return run


def read_scattered(
    file: BinaryIO, head: bytes, rules: RunRules, rankings: StoredRankings
) -> FastRun:
    """Read a run with lines in any order, through piles of some topics each."""
    run = FastRun(tag_of(head, rules), rankings)
    numbers, piles = Numbers(), Piles()
    for place, lines in lines_of(file, head, rules.line):
        run.see(lines, place)
        topic, new = numbers.of(lines.words(TOPIC))
        check_topics(numbers.names[len(numbers.names) - len(new) :], rules.topics)
        run.first_lines.append(place + lines.starts(TOPIC)[new])
        piles.deal(topic, rows_of(lines, np.ones(len(lines), np.intp), run.tag))
    for first, starts, rows in piles.taken():
        run.take(numbers.names[first : first + len(starts) - 1], starts, rows, rules)
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
        if lines.crlf >= 0 or lines.blank >= 0 or lines.text.bytes.max() >= DELETE:
            raise Unclear("to be warned of, or not ASCII")
        if (lines.text.bytes == TAB).any() and (lines.text.bytes == BLANK).any():
            raise Unclear("perhaps a blank in a docno between tabs")
        names = lines.topic_names()
        check_topics(set(names), topics)
        judged_docnos: list[bytes] = docnos_of(lines.words(DOCNO)).tolist()
        if not all_known(judged_docnos, docnos) or max(map(len, judged_docnos)) > LONGEST_IN_BLOCKS:
            raise Unclear("an unknown document, or a long docno")
        values = lines.text.integers(lines.starts(RANK), lines.ends[RANK])
        if np.abs(values).max() > highest:
            raise Unclear("no grade")
        rows = zip(judged_docnos, values.tolist(), strict=True)
        sizes = np.diff(lines.topics, append=len(lines)).tolist()
        for name, size in zip(names, sizes, strict=True):
            of_topic = grades.setdefault(name, {})
            before = len(of_topic)
            of_topic.update(islice(rows, size))
            if len(of_topic) < before + size:
                raise Unclear("a document judged twice")
    if not grades:
        raise Unclear("no judgment")
    return grades


@dataclass(frozen=True, slots=True)
class Head:
    """The comments before the columns, and the first line with columns and its number."""

    comments: list[tuple[int, str]]
    line: bytes
    number: int

    @classmethod
    def of(cls, file: BinaryIO, longest: int, problems: Problems) -> Head:
        """Read the head of a file line by line, with its warnings."""
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
    """Return the line number of the byte at this offset from the start of `head.line`."""
    number = head.number + head.line.count(b"\n", 0, place)
    left = place - len(head.line)
    while left > 0 and (data := file.read(min(left, CHUNK))):
        number += data.count(b"\n")
        left -= len(data)
    return number


def warn(run: FastRun, rules: RunRules, line_at: Callable[[int], int], problems: Problems) -> None:
    """Add the warnings that the plain reader gives; lines are counted only for a message."""
    if run.crlf >= 0 and "W_CRLF" not in problems.counts:
        warn_of_crlf(line_at(run.crlf), problems)
    if run.blank >= 0 and "W_BLANK" not in problems.counts:
        warn_of_blank(line_at(run.blank), problems)
    report_missing_topics(run.rankings.keys(), rules, problems)
    if problems.errors:
        raise Unclear("missing topics")
    traits = Traits.join_traits(run.traits)
    places = np.concatenate(run.first_lines)

    def first_line(topic: int) -> int:
        return line_at(int(places[topic]))

    check_ranks(traits, first_line, problems)
    check_ties(traits, list(run.rankings), first_line, rules.cutoff, problems)


def tag_of(line: bytes, rules: RunRules) -> bytes:
    """Return the tag of the first line, which all lines must have."""
    tag = (line.split() or [b""])[-1]
    if not WELL_FORMED_TAG.fullmatch(tag) or (rules.tag is not None and rules.tag.encode() != tag):
        raise Unclear("not the tag")
    return tag
