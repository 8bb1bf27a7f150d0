"""Repairs of runs in which one cause explains many faulty lines.

A repair is offered only if it is certain, and made only on request.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from evaluation.problems import Problems, Refused, among, shown
from evaluation.reading.columns import DECIMAL, INTEGER

FIXES = {
    "tag": "replace the run tag",
    "q0": "add the Q0 column",
    "topics": "write topics as the track does",
    "comma": "read commas in scores as decimal points",
}
LONGEST_TAG = 64
LISTED = 10

# A tag may be used as a file name, so it is neither `.` nor `..`.
TAG = re.compile(rb"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,%d}" % LONGEST_TAG)
TAG_RULE = f"use 1 to {LONGEST_TAG} characters in a run tag: A-Z a-z 0-9 . _ -"
COMMA = re.compile(rb"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(rb"[+-]?[1-9]\d{0,2},\d{3}")
TOPIC = re.compile(rb"(.*?)(\d+)(?:\.0)?", re.S)

_NO_TAG = re.compile(rb"[^A-Za-z0-9._-]+")
_OURS, _BASE, _THEIRS, _END = b"<" * 7, b"|" * 7, b"=" * 7, b">" * 7


@dataclass(slots=True)
class Cause:
    """One cause of many faulty lines: the first line with its value, and the next few lines."""

    line: int
    found: bytes
    count: int = 0
    lines: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        self.count += 1
        if self.count <= LISTED:
            self.lines.append(line)

    def where(self, total: int) -> str:
        """Say in how many lines of a file a cause is found, and in which, if not in all.

        >>> Cause(4, b"", 2, [4, 9]).where(100)
        ', in 2 of 100 lines (4, 9)'
        """
        if self.count == 1:
            return ""
        if self.count >= total:
            return among(self.count, self.count)
        more = ", ..." if self.count > len(self.lines) else ""
        return f"{among(self.count, total)} ({', '.join(f'{n:,}' for n in self.lines)}{more})"


@dataclass(frozen=True, slots=True)
class SixColumns:
    """The intended six columns of a line; the tag may be empty or have blanks."""

    topic: bytes
    docno: bytes
    rank: bytes
    score: bytes
    tag: bytes
    lacks_q0: bool = False


def guess_columns(
    columns: Sequence[bytes], docnos: Container[bytes] | None = None
) -> SixColumns | None:
    """Return the only reading of a line in which rank and score are numbers; None if several are.

    >>> guess_columns(b"7 Q0 d1 1 9.5 LMD m".split()).tag
    b'LMD m'
    >>> guess_columns(b"7 d1 1 9.5 bm25".split()).lacks_q0
    True
    """
    if len(columns) < 5:
        return None
    with_q0 = _are_numbers(columns[3:5])
    without = _are_numbers(columns[2:4]) and columns[1].upper() not in (b"Q0", b"0")
    if without and docnos is not None:
        # Five columns have one reading, also with an unknown docno.
        without = columns[1] in docnos or (len(columns) == 5 and not with_q0)
        with_q0 = with_q0 and not (without and columns[2] not in docnos)
    elif len(columns) > 5:
        # A docno and a tag with blanks can only be separated by a known document.
        without = False
    if with_q0 == without:
        return None
    at = 2 if with_q0 else 1
    topic, docno, rank, score = columns[0], *columns[at : at + 3]
    tag = columns[at + 3 :]
    # A blank in a docno shifts rank and score to the right.
    shifted = len(tag) > 1 and _are_numbers(columns[-3:-1])
    if shifted and (docnos is None or docno not in docnos):
        return None
    return SixColumns(topic, docno, rank, score, b" ".join(tag), without)


def _are_numbers(columns: Sequence[bytes]) -> bool:
    rank, score = columns
    is_score = DECIMAL.fullmatch(score) or COMMA.fullmatch(score)
    return INTEGER.fullmatch(rank) is not None and is_score is not None


def guess_tag(texts: Collection[bytes]) -> bytes:
    """Return the tag that the last columns probably mean; empty if it is unclear.

    >>> guess_tag([b"LMD m"]), guess_tag([b"bm25", b"bm25 extra"]), guess_tag([b"a", b"b"])
    (b'LMD-m', b'bm25', b'')
    """
    if len(texts) == 1:
        tag = _NO_TAG.sub(b"-", next(iter(texts))).strip(b"-")[:LONGEST_TAG]
    else:
        first_words = {text.split()[0] for text in texts}
        tag = next(iter(first_words)) if len(first_words) == 1 else b""
    return tag if TAG.fullmatch(tag) else b""


def match_known_topics(
    unknown: Iterable[bytes], topics: Container[bytes] | None, taken: Container[bytes]
) -> dict[bytes, bytes]:
    """Match unknown topics with known ones if only a prefix or zeros differ.

    Empty if it is not certain: several prefixes, or a known topic that would be repeated.

    >>> match_known_topics([b"MB001", b"MB002"], {b"1", b"2", b"3"}, {b"3"})
    {b'MB001': b'1', b'MB002': b'2'}
    >>> match_known_topics([b"MB001"], {b"AR1"}, ())
    {}
    """
    if not isinstance(topics, Collection):
        return {}
    parts = {topic: TOPIC.fullmatch(topic) for topic in unknown}
    numbers = Counter(int(found[2]) for topic in topics if (found := TOPIC.fullmatch(topic)))
    known = {
        int(found[2]): (found[1], topic)
        for topic in topics
        if (found := TOPIC.fullmatch(topic)) and numbers[int(found[2])] == 1
    }
    meant = {
        topic: (found[1], *known[int(found[2])])
        for topic, found in parts.items()
        if found and int(found[2]) in known
    }
    prefixes = {(ours.lower(), theirs.lower()) for ours, theirs, _ in meant.values()}
    renamed = {topic: name for topic, (_, _, name) in meant.items()}
    if len(prefixes) != 1 or len(set(renamed.values())) < len(renamed):
        return {}
    ours, theirs = prefixes.pop()
    is_certain = ours == theirs or not (ours and theirs)
    return {} if not is_certain or any(t in taken for t in renamed.values()) else renamed


def refuse_other_topics(answered: Collection[bytes], judged: Collection[bytes]) -> Refused:
    """Return why a run without a judged topic is rejected, with a topic of each file.

    >>> print(refuse_other_topics([b"q1"], [b"101"]))
    E_UNKNOWN_TOPIC: no topic of the run is judged: the run has "q1", the judgments "101"
    """
    problems = Problems()
    renamed = match_known_topics(answered, judged, ())
    ours, theirs = next(iter(renamed.items()), (next(iter(answered)), next(iter(judged), b"")))
    message = f'no topic of the run is judged: the run has "{shown(ours)}"'
    message += f', the judgments "{shown(theirs)}"' if theirs else ""
    hint = "Are these judgments of another collection?"
    if renamed:
        hint = f"Read {shown(ours)} as {shown(theirs)}{', and so on' * (len(renamed) > 1)}?"
    fix = "topics" if renamed else ""
    problems.error("E_UNKNOWN_TOPIC", None, message, hint=hint, fix=fix)
    return Refused(problems)


def is_decimal_comma(has_other: bool, commas: int, lines: int) -> bool:
    """Return whether commas separate decimals; if all separate thousands, the order stays."""
    return has_other or commas == lines


def is_conflict_marker(line: bytes) -> bool:
    """
    >>> is_conflict_marker(b"<<<<<<< HEAD"), is_conflict_marker(b"<html>")
    (True, False)
    """
    return line[:7] in (_OURS, _BASE, _THEIRS, _END) and line[7:8] in (b"", b" ")


class Conflicts:
    """Reads a file without git's conflict markers and the other side of each conflict."""

    def __init__(self) -> None:
        self.cause: Cause | None = None

    def without(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        is_open = is_other = False
        for number, line in lines:
            if line[:7] in (_OURS, _BASE, _THEIRS, _END) and is_conflict_marker(line):
                is_open = is_open or line.startswith(_OURS)
                if is_open:
                    self.cause = self.cause or Cause(number, line)
                    self.cause.add(number)
                    is_other = line.startswith((_BASE, _THEIRS))
                    is_open = not line.startswith(_END)
                    continue
            if not is_other:
                yield number, line
