"""Answers of a machine that was asked how relevant documents are: files of its grades.

Three kinds of files are read. `jsonl` has one object per line: our own, or a record of umbrela or
a similar program. `trec` is qrels, separated by blanks or tabs. `csv` has a line of names first.

A machine fails where a person does not: it answers nothing, or no grade. Such an answer has no
grade, and its document stays unjudged; it never counts as grade 0. A document may have several
answers: the first one with a grade counts, and the first two with a grade show how far the machine
agrees with itself.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import BinaryIO, TypeAlias

import numpy as np

from evaluation.agreement.assessors import cohen_kappa_of_counts
from evaluation.problems import Problems, refuse
from evaluation.reading import hints
from evaluation.reading.columns import DECIMAL, INTEGER, check_identifier, columns_of
from evaluation.reading.containers import MIB, RUN_LIMITS
from evaluation.reading.lines import (
    UTF_16,
    data_lines,
    first_bytes,
    in_line_order,
    numbered_lines,
    text_of,
)
from evaluation.reading.texts.records import Lines, json_objects

Pair: TypeAlias = tuple[str, str]

FORMATS = ("jsonl", "trec", "csv")
# A record of umbrela has the passage, the prompt and the whole answer.
LONGEST_LINE = {"jsonl": 16 * MIB, "trec": RUN_LIMITS.line, "csv": 16 * MIB}
HIGHEST_GRADE = 127
LONGEST_REASON = 200
# Names of fields, in the order in which they are tried; in any case.
IDS = ("id", "custom_id")
TOPICS = ("topic", "qid", "query_id", "topic_id", "topic_number", "query")
DOCNOS = ("docno", "docid", "doc_id", "passage_id", "pid")
GRADES = ("grade", "judgment", "judgement", "relevance", "rel", "label", "score")
TEXTS = ("prediction", "answer", "response", "output")
REASONS = ("error", "reason", "failure")
STATUS = ("result_status", "status")
WENT_WELL = frozenset({"1", "ok", "okay", "success", "succeeded", "done", "completed", "true"})
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(\.0*)?")
NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class GivenGrade:
    """What a machine answered about a document: a grade, or the reason why there is none."""

    line: int
    grade: int | None
    reason: str = ""


@dataclass(frozen=True)
class MachineAnswers:
    """All answers about each document of a topic, in the order of the file."""

    given: Mapping[Pair, tuple[GivenGrade, ...]]
    problems: Problems
    format: str

    @cached_property
    def grades(self) -> dict[Pair, int]:
        """The first grade of each document that has one."""
        return {pair: graded[0] for pair, graded in self._graded.items() if graded}

    @cached_property
    def _graded(self) -> dict[Pair, list[int]]:
        return {
            pair: [each.grade for each in answers if each.grade is not None]
            for pair, answers in self.given.items()
        }

    @property
    def num_asked(self) -> int:
        return len(self.given)

    @property
    def num_failed(self) -> int:
        """How many documents have no grade after all answers."""
        return len(self.given) - len(self.grades)

    @property
    def repeats(self) -> int:
        """How many answers a document has at most."""
        return max(map(len, self.given.values()), default=0)

    @property
    def num_repeated(self) -> int:
        """How many documents have two grades or more."""
        return int(self._repeated.sum())

    @property
    def self_agreement(self) -> float | None:
        """The share of repeated documents whose first two grades are the same."""
        counts = self._repeated
        return float(np.trace(counts) / counts.sum()) if counts.any() else None

    @property
    def self_kappa(self) -> float | None:
        """Cohen's kappa of the first two grades of the repeated documents."""
        counts = self._repeated
        value = cohen_kappa_of_counts(counts, np.arange(len(counts), dtype=np.float64))
        return None if np.isnan(value) else float(value)

    @cached_property
    def _repeated(self) -> np.ndarray:
        """float64[G, G]: documents by their first grade (row) and their second one (column)."""
        pairs = [graded[:2] for graded in self._graded.values() if len(graded) > 1]
        size = max((max(pair) for pair in pairs), default=0) + 1
        counts = np.zeros((size, size))
        for first, second in pairs:
            counts[first, second] += 1
        return counts

    def qrels(self) -> Iterator[bytes]:
        """Yield the grades that count as lines of qrels; what failed has no line."""
        for (topic, docno), grade in self.grades.items():
            yield f"{topic} 0 {docno} {grade}\n".encode()


def read_answers(
    file: BinaryIO,
    format: str | None = None,
    *,
    topics: Container[str] | None = None,
    highest: int = HIGHEST_GRADE,
) -> MachineAnswers:
    """Answers of a machine in one file; `format` is one of `FORMATS`, or found out.

    `topics` are the known topics, `highest` is the highest grade of the scale. Names of JSON and
    CSV are read in any case: the topic as topic, qid, query_id or query (a text or an object with
    a qid), the document as docno, docid, doc_id or passage_id, or both as id, a topic and a docno
    separated by a blank; the grade as grade, judgment, relevance, rel, label or score. A list
    `candidates` has one answer each. Without a grade is an answer that is empty or no number,
    that is below 0 or above `highest`, that has the field `failed`, an `error`, or a
    `result_status` that is not 1 or ok: umbrela writes the grade 0 there too.

    The whole file is read; raises `Refused` with every problem, each at its physical line:
    E_FORMAT, E_EMPTY, E_LINE_LONG, E_ENCODING, E_CHAR, E_JSON, E_CSV, E_COLUMNS, E_FIELD (topic
    or document missing), E_REL (a number with decimals), E_TOPIC, E_DOCID and E_UNKNOWN_TOPIC.
    W_NO_GRADE notes each answer without a grade.

    >>> from io import BytesIO
    >>> lines = b'{"qid": 7, "docid": "d1", "judgment": 2}\\n{"qid": 7, "docid": "d2"}\\n'
    >>> read = read_answers(BytesIO(lines))
    >>> read.grades, read.num_asked, read.num_failed
    ({('7', 'd1'): 2}, 2, 1)
    >>> str(next(iter(read.problems)))
    'line 2: W_NO_GRADE: the answer has no grade, so d2 stays unjudged for topic 7'
    """
    found = _checked_format(file, format)
    collected = _Answers(topics, highest)
    lines = numbered_lines(file, collected.problems, LONGEST_LINE[found], RUN_LIMITS.lines)
    READERS[found](lines, collected)
    problems = collected.problems
    if not collected.given and not problems.errors:
        problems.error("E_EMPTY", None, "the file has no answers")
    in_line_order(problems).raise_if_refused()
    given = {pair: tuple(answers) for pair, answers in collected.given.items()}
    return MachineAnswers(given, problems, found)


def recognise_answers(head: bytes) -> str | None:
    """The format of answers by the first bytes of a file; None if they are something else.

    >>> recognise_answers(b'{"qid": "7"}'), recognise_answers(b"topic,docno,grade")
    ('jsonl', 'csv')
    >>> recognise_answers(b"7\\t0\\td1\\t2"), recognise_answers(b"7 d1")
    ('trec', None)
    """
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    if first.startswith(b"{"):
        return "jsonl"
    names = {plain_name(name) for name in re.split(r"[,;\t]", first.decode("utf-8", "replace"))}
    if names & {*TOPICS, *IDS} and names & {*GRADES, *TEXTS}:
        return "csv"
    return "trec" if len(first.split()) == 4 else None


def plain_name(name: str) -> str:
    """Return the name of a field as it is looked up.

    >>> plain_name(' "Doc ID" ')
    'doc_id'
    """
    return NAME.sub("_", name.lower()).strip("_")


def _checked_format(file: BinaryIO, format: str | None) -> str:
    """The format that is asked for or recognised; raises `Refused` with E_FORMAT or E_EMPTY."""
    head = first_bytes(file)
    if head.startswith(UTF_16):
        return "trec"  # Reading the first line rejects the encoding.
    found = recognise_answers(head) if format is None else format
    if found in FORMATS:
        return found
    if format is None and not head:
        raise refuse("E_EMPTY", "the file has no answers")
    message = "this is not a format of answers" if format else "the format of the file is unknown"
    hint = "Use JSON Lines, four columns (topic, 0, docno, grade), or CSV with names in line 1."
    raise refuse("E_FORMAT", message, format or head.split(b"\n")[0], hint)


@dataclass
class _Answers:
    """The answers as far as they have been read, with their problems."""

    topics: Container[str] | None
    highest: int
    problems: Problems = field(default_factory=Problems)
    given: dict[Pair, list[GivenGrade]] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)

    def add(self, line: int, topic: str, docno: str, grade: object, reason: str = "") -> None:
        """Add an answer, without a grade if there is a reason or the grade is none."""
        if not self._is_known(line, topic) or not self._is_docno(line, docno):
            return
        value = None if reason else whole_number(grade)
        if not reason and value is None and is_fraction(grade):
            hint = "Round the grades by a rule of your own, and state the rule with the file."
            message = "the grade is not a whole number"
            self.problems.error("E_REL", line, message, str(grade), hint)
        if not reason and value is None:
            reason = "" if grade in (None, "") else f"{grade} is not a grade"
        elif value is not None and not 0 <= value <= self.highest:
            reason, value = f"{value} is not a grade from 0 to {self.highest}", None
        if value is None:
            self._note(line, topic, docno, reason)
        self.given.setdefault((topic, docno), []).append(
            GivenGrade(line, value, reason[:LONGEST_REASON])
        )

    def _note(self, line: int, topic: str, docno: str, reason: str) -> None:
        message = f"the answer has no grade, so {docno} stays unjudged for topic {topic}"
        self.problems.warn("W_NO_GRADE", line, message, reason)

    def _is_known(self, line: int, topic: str) -> bool:
        number = topic.encode("utf-8", "surrogatepass")
        if not check_identifier("topic number", "E_TOPIC", line, number, self.problems):
            return False
        if self.topics is None or topic in self.topics:
            return True
        if topic not in self.unknown:
            self.unknown.add(topic)
            message = "the topic is not in the collection"
            self.problems.error("E_UNKNOWN_TOPIC", line, message, topic)
        return False

    def _is_docno(self, line: int, docno: str) -> bool:
        number = docno.encode("utf-8", "surrogatepass")
        return check_identifier("document", "E_DOCID", line, number, self.problems)


def whole_number(value: object) -> int | None:
    """Return a grade as a number; None for anything else.

    >>> whole_number(2.0), whole_number(" 2 "), whole_number("2.5"), whole_number(True)
    (2, 2, None, None)
    """
    if isinstance(value, bool):
        return None
    text = str(value).strip() if isinstance(value, int | float | str) else ""
    return int(text.partition(".")[0]) if WHOLE_NUMBER.fullmatch(text) else None


def is_fraction(value: object) -> bool:
    """Return whether a grade is a number with decimals, which no scale has.

    >>> is_fraction("1.8"), is_fraction(2.5), is_fraction("2.0"), is_fraction("high")
    (True, True, False, False)
    """
    text = str(value).strip().encode()
    is_number = isinstance(value, float | str) and DECIMAL.fullmatch(text)
    return bool(is_number) and whole_number(value) is None


def _read_columns(lines: Lines, into: _Answers) -> None:
    for number, line in data_lines(lines, into.problems):
        columns = columns_of(number, line, into.problems)
        if columns and len(columns) != 4:
            into.problems.error(
                "E_COLUMNS",
                number,
                f"expected 4 columns (topic 0 docno grade) but found {len(columns)}",
                line,
                hints.hint_for_columns(columns),
            )
        elif columns:
            topic, _, docno, grade = (column.decode() for column in columns)
            into.add(number, topic, docno, int(grade) if INTEGER.fullmatch(columns[3]) else grade)


def _read_json(lines: Lines, into: _Answers) -> None:
    for number, values in json_objects(lines, into.problems):
        _add_record(number, values, into)


def _add_record(number: int, values: Mapping[str, object], into: _Answers) -> None:
    """Add the answer of a record, or those of its candidates."""
    named = {plain_name(name): value for name, value in values.items()}
    candidates = named.get("candidates")
    if isinstance(candidates, list):
        for candidate in candidates:
            if isinstance(candidate, dict):
                _add_record(number, {**values, "candidates": None, **candidate}, into)
        return
    pair = find_pair(named)
    if pair is None:
        message = "the line does not name a topic and a document"
        hint = (
            "Keep the id of the exported file, or the fields topic (or qid) and docno (or docid)."
        )
        into.problems.error("E_FIELD", number, message, "", hint)
        return
    into.add(number, *pair, first_of(named, GRADES), _why_failed(named))


def _read_csv(lines: Lines, into: _Answers) -> None:
    """Read the rows of a table; a row may extend over several lines."""
    texts = _Texts(lines, into.problems)
    first = next(texts, "")
    separator = max(",;\t", key=first.count)
    names: list[str] = []
    rows = csv.reader(_after(first, texts), delimiter=separator)
    try:
        for row in rows:
            if not names:
                names = [plain_name(name) for name in row]
            elif len(row) == len(names):
                _add_record(texts.row, dict(zip(names, row, strict=True)), into)
            elif any(row):
                message = f"expected {len(names)} columns but found {len(row)}"
                into.problems.error("E_COLUMNS", texts.row, message, separator.join(row))
            texts.row = texts.number + 1
    except csv.Error as error:
        into.problems.error("E_CSV", texts.number, f"the table cannot be read: {error}")


@dataclass
class _Texts:
    """The lines of a table as text; `row` is the line where the current row began."""

    lines: Lines
    problems: Problems
    number: int = 0
    row: int = 1

    def __iter__(self) -> _Texts:
        self.lines = iter(self.lines)
        return self

    def __next__(self) -> str:
        self.number, line = next(iter(self.lines))
        return (text_of(self.number, line, self.problems) or "") + "\n"


def _after(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


READERS: dict[str, Callable[[Lines, _Answers], None]] = {
    "jsonl": _read_json,
    "trec": _read_columns,
    "csv": _read_csv,
}


def find_pair(named: Mapping[str, object]) -> Pair | None:
    """Return topic and docno, from their fields or from the id of the exported file."""
    topic, docno = _name_in(named, TOPICS), _name_in(named, DOCNOS)
    if topic and docno:
        return topic, docno
    words = str(first_of(named, IDS)).split()
    return (words[0], words[1]) if len(words) == 2 else None


def _name_in(named: Mapping[str, object], names: Collection[str]) -> str:
    """Return the first of the names that has a word or a whole number; not the text of a topic."""
    for name in names:
        value = named.get(name)
        if isinstance(value, dict):
            value = first_of(value, ("qid", "number", "id"))
        words = str(value).split() if isinstance(value, int | str) else []
        if len(words) == 1 and not isinstance(value, bool):
            return words[0]
    return ""


def first_of(named: Mapping[str, object], names: Collection[str]) -> object:
    return next((named[name] for name in names if named.get(name) not in (None, "")), None)


def _why_failed(named: Mapping[str, object]) -> str:
    """Return why the answer of a record has no grade; "" where nothing says so."""
    status = first_of(named, STATUS)
    failed = named.get("failed")
    has_failed = failed is True or str(failed).strip().lower() in ("true", "1", "yes")
    has_status = status is None or str(status).strip().lower() in WENT_WELL
    error = named.get("error")
    if not has_failed and has_status and error in (None, "", False):
        return ""
    why = first_of(named, REASONS) or first_of(named, TEXTS)
    return str(why) if isinstance(why, str | int) else "the machine failed"
