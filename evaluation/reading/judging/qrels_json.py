"""Judgments in JSON: an object of topics, as in pytrec_eval, objects with named parts, queries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO, TypeAlias

from evaluation.problems import Problems
from evaluation.reading.columns import NO_NAME
from evaluation.reading.containers import RUN_LIMITS
from evaluation.reading.golden import golden_queries
from evaluation.reading.headers import name_columns
from evaluation.reading.judging.confidences import (
    PROBABILITIES,
    find_confidence,
    likeliest_grade,
    read_probabilities,
)
from evaluation.reading.judging.qrels_lines import Judgment
from evaluation.reading.lines import first_bytes, numbered_lines
from evaluation.reading.recognition import TOPIC_OF_LIST, WRAPPED_LIST
from evaluation.reading.runs.run_json import LONGEST_LINE, ONE_LIST, json_values
from evaluation.reading.texts.records import is_name, json_objects, json_parts

NumberedJudgments: TypeAlias = Iterator[tuple[int, Judgment]]


def json_judgments(file: BinaryIO, problems: Problems) -> NumberedJudgments:
    """Yield the judgments of `{"topic": {"docno": grade}}`, or of a list of objects.

    The list may be in an object, as in `{"qrels": [...]}`.

    `{"topic": ["docno"]}` has the relevant documents alone.

    >>> from io import BytesIO
    >>> [judgment.token for _, judgment in json_judgments(BytesIO(b'{"7": {"d1": 2}}'), Problems())]
    [b'2']
    """
    head = first_bytes(file)
    if TOPIC_OF_LIST.match(head):
        yield from _relevant_only(file, problems)
        return
    is_wrapped = WRAPPED_LIST.match(head)
    if not is_wrapped and not head.startswith(b"["):
        for value in json_values(file, problems, RUN_LIMITS.lines):
            yield value.line, Judgment(value.topic, value.docno, value.written.strip(b'"'))
        return
    lines = numbered_lines(file, problems, LONGEST_LINE, RUN_LIMITS.lines)
    parts = json_parts(lines, problems)
    for part in chain.from_iterable(each.inner() for each in parts) if is_wrapped else parts:
        yield from _judgment(part.line, part.value, problems)


def _relevant_only(file: BinaryIO, problems: Problems) -> NumberedJudgments:
    """Yield grade 1 for each docno of `{"topic": ["docno"]}`, the relevant documents alone.

    >>> from io import BytesIO
    >>> read = json_judgments(BytesIO(b'{"7": ["d1", 2]}'), Problems())
    >>> [(judgment.docno, judgment.token) for _, judgment in read]
    [(b'd1', b'1'), (b'2', b'1')]
    """
    lines = numbered_lines(file, problems, LONGEST_LINE, RUN_LIMITS.lines)
    line_of: dict[str, int] = {}
    for part in json_parts(lines, problems):
        name = part.name or ""
        if name in line_of:
            message = f"the topic is already at line {line_of[name]:,}"
            problems.error("E_DUP_TOPIC", part.line, message, name, ONE_LIST)
            continue
        line_of[name] = part.line
        if not isinstance(part.value, list):
            message = "expected a list of documents, as for the other topics"
            problems.error("E_JSON", part.line, message, json.dumps(part.value), ONE_LIST)
            continue
        for docno in part.value:
            if is_name(docno):
                yield part.line, Judgment(name.encode(), _written(docno), b"1")
            else:
                message = "a document of the topic is not a text or a whole number"
                problems.error("E_JSON", part.line, message, _written(docno), NO_NAME)


def json_line_judgments(file: BinaryIO, problems: Problems) -> NumberedJudgments:
    """Yield the judgment of the object on each line, which names its parts as columns are named."""
    lines = numbered_lines(file, problems, LONGEST_LINE, RUN_LIMITS.lines)
    for number, value in json_objects(lines, problems):
        yield from _judgment(number, value, problems)


def golden_judgments(file: BinaryIO, problems: Problems) -> NumberedJudgments:
    """Yield the judgments of a golden set, see `reading.golden`; W_NO_REL for queries without."""
    lines = numbered_lines(file, problems, LONGEST_LINE, RUN_LIMITS.lines)
    line_of: dict[str, int] = {}
    without: list[tuple[int, str]] = []
    for query in golden_queries(lines, problems):
        name = query.text if query.is_numbered else query.number
        if name in line_of:
            message = f"the query is already at line {line_of[name]:,}"
            problems.error("E_DUP_TOPIC", query.line, message, name, ONE_LIST)
            continue
        line_of[name] = query.line
        if not query.documents:
            without.append((query.line, query.text or query.number))
        topic = query.number.encode("utf-8", "surrogatepass")
        for document in query.documents:
            docno = document.docno.encode("utf-8", "surrogatepass")
            yield document.line, Judgment(topic, docno, document.grade.encode())
    if without and not problems.errors:
        line, first = without[0]
        message = f"queries without a judged document, which are not scored: {len(without):,}"
        problems.warn("W_NO_REL", line, message, first)


def _judgment(number: int, value: object, problems: Problems) -> NumberedJudgments:
    parts = value if isinstance(value, dict) else {}
    if shares := read_probabilities(parts.get(PROBABILITIES)):
        # A judge may leave it to the reader which grade its probabilities give.
        parts = {"grade": likeliest_grade(shares), **parts}
    kinds = name_columns([name.encode("utf-8", "replace") for name in parts])
    if not kinds:
        message = "expected an object with topic, docno and grade"
        written_value = json.dumps(value, ensure_ascii=False)
        hint = 'Write {"topic": "7", "docno": "d1", "grade": 2}.'
        problems.error("E_JSON", number, message, written_value, hint)
        return
    named = dict(zip(kinds, parts.values(), strict=True))
    if wrong := [kind for kind in ("topic", "docno") if not is_name(named[kind])]:
        message = f"the {wrong[0]} is not a text or a whole number"
        problems.error("E_JSON", number, message, _written(named[wrong[0]]), NO_NAME)
        return
    written = {kind: _written(value) for kind, value in named.items()}
    grade = written["grade"]
    sure = find_confidence(parts, grade)
    yield number, Judgment(written["topic"], written["docno"], grade, confidence=sure)


def _written(value: object) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")
