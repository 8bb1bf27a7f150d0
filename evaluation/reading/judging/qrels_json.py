"""Judgments in JSON: an object of topics, as in pytrec_eval, objects with named parts, queries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO, TypeAlias

from evaluation.problems import Problems
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
from evaluation.reading.recognition import TOPIC_OF_LIST
from evaluation.reading.runs.run_json import LONGEST_LINE, json_values
from evaluation.reading.texts.records import json_objects, json_parts

NumberedJudgments: TypeAlias = Iterator[tuple[int, Judgment]]


def json_judgments(file: BinaryIO, problems: Problems) -> NumberedJudgments:
    """Yield the judgments of `{"topic": {"docno": grade}}`, or of a list of objects.

    `{"topic": ["docno"]}` has the relevant documents alone.

    >>> from io import BytesIO
    >>> [judgment.token for _, judgment in json_judgments(BytesIO(b'{"7": {"d1": 2}}'), Problems())]
    [b'2']
    """
    head = first_bytes(file)
    if TOPIC_OF_LIST.match(head):
        yield from _relevant_only(file, problems)
        return
    if not head.startswith(b"["):
        for value in json_values(file, problems, RUN_LIMITS.lines):
            yield value.line, Judgment(value.topic, value.docno, value.written.strip(b'"'))
        return
    lines = numbered_lines(file, problems, LONGEST_LINE, RUN_LIMITS.lines)
    for part in json_parts(lines, problems):
        yield from _judgment(part.line, part.value, problems)


def _relevant_only(file: BinaryIO, problems: Problems) -> NumberedJudgments:
    """Yield grade 1 for each docno of `{"topic": ["docno"]}`, the relevant documents alone.

    >>> from io import BytesIO
    >>> read = json_judgments(BytesIO(b'{"7": ["d1", 2]}'), Problems())
    >>> [(judgment.docno, judgment.token) for _, judgment in read]
    [(b'd1', b'1'), (b'2', b'1')]
    """
    lines = numbered_lines(file, problems, LONGEST_LINE, RUN_LIMITS.lines)
    for part in json_parts(lines, problems):
        if not isinstance(part.value, list):
            message = "expected a list of documents, as for the other topics"
            problems.error("E_JSON", part.line, message, json.dumps(part.value))
            continue
        for docno in part.value:
            yield part.line, Judgment((part.name or "").encode(), _written(docno), b"1")


def json_line_judgments(file: BinaryIO, problems: Problems) -> NumberedJudgments:
    """Yield the judgment of the object on each line, which names its parts as columns are named."""
    lines = numbered_lines(file, problems, LONGEST_LINE, RUN_LIMITS.lines)
    for number, value in json_objects(lines, problems):
        yield from _judgment(number, value, problems)


def golden_judgments(file: BinaryIO, problems: Problems) -> NumberedJudgments:
    """Yield the judgments of a golden set, see `reading.golden`."""
    lines = numbered_lines(file, problems, LONGEST_LINE, RUN_LIMITS.lines)
    line_of: dict[str, int] = {}
    for query in golden_queries(lines, problems):
        name = query.text if query.is_numbered else query.number
        if name in line_of:
            message = f"the query is already at line {line_of[name]:,}"
            problems.error("E_DUP_TOPIC", query.line, message, name)
        line_of.setdefault(name, query.line)
        topic = query.number.encode("utf-8", "surrogatepass")
        for document in query.documents:
            docno = document.docno.encode("utf-8", "surrogatepass")
            yield document.line, Judgment(topic, docno, document.grade.encode())


def _judgment(number: int, value: object, problems: Problems) -> NumberedJudgments:
    parts = value if isinstance(value, dict) else {}
    if shares := read_probabilities(parts.get(PROBABILITIES)):
        # A judge may leave it to the reader which grade its probabilities give.
        parts = {"grade": likeliest_grade(shares), **parts}
    kinds = name_columns([name.encode("utf-8", "replace") for name in parts])
    if not kinds:
        message = "expected an object with topic, docno and grade"
        problems.error("E_JSON", number, message, json.dumps(value, ensure_ascii=False))
        return
    written = dict(zip(kinds, map(_written, parts.values()), strict=True))
    grade = written["grade"]
    sure = find_confidence(parts, grade)
    yield number, Judgment(written["topic"], written["docno"], grade, confidence=sure)


def _written(value: object) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")
