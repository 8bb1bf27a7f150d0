"""Runs in JSON: an object of topics, as in pytrec_eval and BEIR, or an object per line.

An object of topics is read as a stream, so that its size does not matter. So repeated topics and
documents are found; a parser would keep only the last of two equal names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from evaluation.problems import KEPT, Problems, Refused
from evaluation.reading.lines import (
    BYTE_ORDER_MARK,
    data_lines,
    numbered_lines,
    refused_at,
    text_of,
    too_many_lines,
)
from evaluation.reading.runs.run_lines import Row, RunLines
from evaluation.reading.texts.records import hint_for_json, json_fault

CHUNK = 256 * 1024
AHEAD = 64 * 1024
# How many objects may be around the object of topics.
DEEPEST = 2
MTEB_META = b"mteb_model_meta"
LONGEST_LINE = 4 * 1024 * 1024

TOPICS = ("qid", "query_id", "query-id", "q_id", "topic_id", "topic", "number")
DOCNOS = (
    *("docno", "docid", "doc_id", "document_id", "corpus-id", "corpus_id", "passage_id", "pid"),
    *("id", "_id"),
)
SCORES = ("score", "sim")
ONE_LIST = "Join the documents of a topic in one list."
AS_EXPECTED = 'Write {"topic": "7", "docno": "d1", "score": 9.5}.'
TAGS = ("tag", "run_id", "runid", "run")

_NAME = rb'"((?:[^"\\]++|\\.)*+)"\s*+:\s*+'
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_OPEN = re.compile(rb"\{")
_CLOSE = re.compile(rb"\}")
_NEXT = re.compile(rb"[,}]")
_TOPIC = re.compile(_NAME + rb"\{")
_DOCUMENT = re.compile(_NAME + rb'("[^"]*+"|[^\s,{}\[\]"]++)\s*+([,}])')


def take_json(file: BinaryIO, collected: RunLines) -> None:
    """Take `{"topic": {"docno": score}}`."""
    for value in json_values(file, collected.problems, collected.rules.lines):
        collected.count += 1
        collected.take_row(value.line, Row(value.topic, value.docno, score=value.written))


@dataclass(frozen=True, slots=True)
class JsonValue:
    """The value of a document for a topic, unchanged from the file, with its line."""

    line: int
    topic: bytes
    docno: bytes
    written: bytes


def json_values(file: BinaryIO, problems: Problems, most_lines: int) -> Iterator[JsonValue]:
    """Yield the values of `{"topic": {"docno": value}}`.

    The object of topics may be the only one in another object or two, as in the predictions of
    MTEB: `{"mteb_model_meta": {...}, "default": {"test": {"topic": ...}}}`. Reports E_JSON, and
    E_DUP_TOPIC for a repeated name.
    """
    scanner = _Scanner(file, problems, most_lines)
    try:
        scanner.expect(_OPEN, "a {")
        yield from _topics(scanner, problems, 0)
        scanner.expect_end()
    except _UnexpectedJsonError as fault:
        problems.error("E_JSON", scanner.line, str(fault), scanner.coming(), fault.hint)
    except Refused as broken:
        if broken.problems is problems:
            raise
        raise refused_at(scanner.line, broken, problems) from broken


def _topics(scanner: _Scanner, problems: Problems, depth: int) -> Iterator[JsonValue]:
    """Yield the values of an object of topics, or of the only such object in this object."""
    first_line: dict[bytes, int] = {}
    inside: bytes | None = None
    more = scanner.match(_CLOSE) is None
    while more:
        name = _name(scanner.expect(_TOPIC, "a topic with an object of documents")[1])
        if name == MTEB_META and depth == 0:
            scanner.skip_object()
        elif inside is not None:
            raise _UnexpectedJsonError.of_several(inside, name)
        elif depth < DEEPEST and not first_line and scanner.is_next(_TOPIC):
            inside = name
            yield from _topics(scanner, problems, depth + 1)
        else:
            if name in first_line:
                message = f"the topic is already at line {first_line[name]:,}"
                hint = "Join the documents of a topic in one object."
                problems.error("E_DUP_TOPIC", scanner.line, message, name, hint)
            elif len(first_line) < KEPT:
                first_line[name] = scanner.line
            yield from _documents(scanner, name)
        more = scanner.expect(_NEXT, "a comma or the end")[0] == b","


def _documents(scanner: _Scanner, topic: bytes) -> Iterator[JsonValue]:
    more = scanner.match(_CLOSE) is None
    while more:
        name, written, end = scanner.expect(_DOCUMENT, "a document with its value").groups()
        yield JsonValue(scanner.line, topic, _name(name), written)
        more = end == b","


class _UnexpectedJsonError(ValueError):
    """The next bytes do not fit an object of topics."""

    hint = 'Write {"topic": {"docno": 1}}: names in double quotes, one number for each document.'

    @classmethod
    def of_several(cls, one: bytes, other: bytes) -> _UnexpectedJsonError:
        names = f"{one.decode('utf-8', 'replace')} and {other.decode('utf-8', 'replace')}"
        error = cls(f"the file has several objects of topics: {names}")
        error.hint = 'Keep one, as in {"topic": {"docno": 1}}.'
        return error


class _Scanner:
    """Looks ahead in a file, by the length of a name, and counts its lines."""

    def __init__(self, file: BinaryIO, problems: Problems, most_lines: int) -> None:
        self.file = file
        self.buffer = file.read(CHUNK)
        self.place = 0
        self.line = 1
        self.most = most_lines
        self.has_ended = False
        if self.buffer.startswith(BYTE_ORDER_MARK):
            self.place = len(BYTE_ORDER_MARK)
            problems.warn("W_BOM", 1, "the byte order mark was ignored")

    def expect(self, pattern: re.Pattern[bytes], what: str) -> re.Match[bytes]:
        found = self.match(pattern)
        if found is None:
            raise _UnexpectedJsonError(f"invalid JSON: expected {what}")
        return found

    def expect_end(self) -> None:
        self._skip_blanks()
        if self.place < len(self.buffer):
            raise _UnexpectedJsonError("invalid JSON: expected nothing more")

    def is_next(self, pattern: re.Pattern[bytes]) -> bool:
        """Whether this text comes next, after blanks; nothing is taken."""
        self._skip_blanks()
        self._look_ahead()
        return pattern.match(self.buffer, self.place) is not None

    def skip_object(self) -> None:
        """Skip the rest of a small object, which has begun."""
        self._look_ahead()
        text = self.buffer[self.place : self.place + AHEAD].decode("utf-8", "replace")
        try:
            _, end = json.JSONDecoder().raw_decode("{" + text)
        except (ValueError, RecursionError):
            raise _UnexpectedJsonError("invalid JSON: expected a small object") from None
        self._go_to(self.place + len(text[: end - 1].encode()))

    def match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """Take this text after blanks, if it comes next."""
        self._skip_blanks()
        self._look_ahead()
        found = pattern.match(self.buffer, self.place)
        if found is not None:
            self._go_to(found.end())
        return found

    def coming(self) -> bytes:
        return self.buffer[self.place : self.place + 80]

    def _skip_blanks(self) -> None:
        while found := _BLANKS.match(self.buffer, self.place):
            self._go_to(found.end())
            if self.place < len(self.buffer) or self.has_ended:
                return
            self._look_ahead()

    def _go_to(self, place: int) -> None:
        self.line += self.buffer.count(b"\n", self.place, place)
        if self.line > self.most:
            raise too_many_lines(self.most)
        self.place = place

    def _look_ahead(self) -> None:
        while len(self.buffer) - self.place < AHEAD and not self.has_ended:
            piece = self.file.read(CHUNK)
            self.has_ended = not piece
            self.buffer, self.place = self.buffer[self.place :] + piece, 0


def _name(written: bytes) -> bytes:
    r"""Return a name without JSON escapes; invalid JSON stays, and is refused as an identifier.

    >>> _name(b"d\\u00e9\\/7"), _name(b"a\\q")
    (b'd\xc3\xa9/7', b'a\\q')
    """
    if b"\\" not in written:
        return written
    try:
        return _bytes(json.loads(b'"' + written + b'"'))
    except ValueError:
        return written


def take_json_lines(file: BinaryIO, collected: RunLines) -> None:
    """Take lines of an object with topic, docno and score or rank, or with a list of results."""
    problems = collected.problems
    with_score: dict[bytes, int] = {}
    without: dict[bytes, int] = {}
    listed: dict[bytes, int] = {}
    lines = numbered_lines(file, problems, LONGEST_LINE, collected.rules.lines)
    for number, line in data_lines(lines, problems, comments=False):
        text = text_of(number, line, problems)
        if text is None:
            collected.without_topic += 1
            continue
        try:
            # Numbers stay as written: the checks decide whether a score is valid.
            value = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
        except (ValueError, RecursionError) as error:
            collected.without_topic += 1
            message = f"the line is not JSON: {json_fault(error)}"
            problems.error("E_JSON", number, message, line, hint_for_json(error))
            continue
        topic = _topic_of_list(value)
        if topic and listed.setdefault(topic, number) != number:
            message = f"the topic is already at line {listed[topic]:,}"
            problems.error("E_DUP_TOPIC", number, message, topic, ONE_LIST)
            continue
        for row in _rows(value):
            collected.count += 1
            if row is None:
                collected.without_topic += 1
                message = "expected an object with topic, docno and score or rank"
                problems.error("E_JSON", number, message, line, AS_EXPECTED)
            else:
                (with_score if row.score else without).setdefault(row.topic, number)
                collected.take_row(number, row)
    for topic in with_score.keys() & without.keys():
        message = f"the document has no score, unlike that of line {with_score[topic]:,}"
        hint = "Give all documents of a topic a score, or none."
        problems.error("E_SCORE", without[topic], message, topic, hint)


def _topic_of_list(value: object) -> bytes:
    """Return the topic of a line with a list of results; empty for another line."""
    if not isinstance(value, dict) or not isinstance(value.get("results"), list):
        return b""
    return _first(value, TOPICS)


def _rows(value: object) -> Iterator[Row | None]:
    results = value.get("results") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(results, list):
        yield _row(value, {}, "")
        return
    for position, part in enumerate(results, 1):
        yield _row(part, value, str(position))


def _row(part: object, outer: Mapping[str, object], position: str) -> Row | None:
    """Return the row of an object; topic and tag may be in the object around it."""
    if not isinstance(part, dict):
        return None
    topic = _first(part, TOPICS) or _first(outer, TOPICS)
    tag = _first(part, TAGS) or _first(outer, TAGS)
    docno, score = _first(part, DOCNOS), _first(part, SCORES)
    if not score and None in [part.get(name, "") for name in SCORES]:
        score = b"null"
    rank = _first(part, ("rank",)) or (b"" if score else position.encode())
    if not topic or not docno or not (rank or score):
        return None
    return Row(topic, docno, rank, score, tag)


def _first(part: Mapping[str, object], names: Iterable[str]) -> bytes:
    texts = (part.get(name) for name in names)
    return next((_bytes(text) for text in texts if isinstance(text, str) and text), b"")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
