"""Lines of marks: an object per line, the four columns of TREC, or an export of Doccano."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from evaluation.marks import Mark
from evaluation.problems import Problems
from evaluation.reading import hints
from evaluation.reading.columns import check_identifier, columns_of
from evaluation.reading.judging.mark_fields import Fields, read_grade
from evaluation.reading.lines import data_lines
from evaluation.reading.texts.records import Lines, json_objects

NumberedMarks: TypeAlias = Iterator[tuple[int, Mark]]

# What the second column of qrels has where it names nobody.
UNNAMED = frozenset({"", "0", "Q0", "q0"})
TOPICS = ("topic", "query_id", "qid")
DOCNOS = ("docno", "doc_id", "docid", "passage_id")


def json_marks(lines: Lines, _: str, problems: Problems) -> NumberedMarks:
    """Yield the marks of `marks.jsonl`; names that are not of a mark are ignored.

    >>> line = b'{"topic": "301", "docno": "D1", "assessor": "ada", "grade": 2}'
    >>> [(number, mark.grade) for number, mark in json_marks([(1, line)], "", Problems())]
    [(1, 2)]
    """
    for number, values in json_objects(lines, problems):
        before = problems.errors
        fields = Fields(number, values, problems)
        fields.require("topic", "docno")
        grade, kind = fields.answer()
        mark = Mark(
            fields.text("topic"),
            fields.text("docno"),
            fields.text("assessor"),
            grade,
            kind,
            fields.reason(kind),
            turn=fields.whole_number("turn", 1) or 1,
            at=fields.instant("at"),
            seconds=fields.duration("seconds"),
            guideline=fields.whole_number("guideline", 0),
            rationale=fields.prose("rationale"),
            spans=fields.spans("spans"),
            key=fields.key("key"),
            replaces=fields.key("replaces"),
            order=fields.whole_number("order", 0),
            is_repeat=fields.flag("repeat"),
            by=fields.word("by", ("key", "click")),
        )
        _check_names(number, mark, problems)
        if problems.errors == before:
            yield number, mark


def trec_marks(lines: Lines, assessor: str, problems: Problems) -> NumberedMarks:
    """Yield the marks of qrels whose second column names the assessor; 0 and Q0 name none.

    >>> [mark.assessor for _, mark in trec_marks([(1, b"301 Q0 D1 2")], "ada", Problems())]
    ['ada']
    """
    for number, line in data_lines(lines, problems):
        before = problems.errors
        columns = columns_of(number, line, problems)
        if columns and len(columns) != 4:
            problems.error(
                "E_COLUMNS",
                number,
                f"expected 4 columns (topic assessor docno grade) but found {len(columns)}",
                line,
                hints.hint_for_columns(columns),
            )
        elif columns:
            topic, name, docno, token = columns
            answer = read_grade(number, token, problems, hints.hint_for_grade(token, columns))
            named = name.decode()
            named = assessor if named in UNNAMED else named
            mark = Mark(topic.decode(), docno.decode(), named, *answer)
            _check_names(number, mark, problems)
            if problems.errors == before:
                yield number, mark


def doccano_marks(lines: Lines, assessor: str, problems: Problems) -> NumberedMarks:
    """Yield the marks of an export of Doccano, where the label of a document has the grade.

    Topic and docno are fields of the document or of its `meta`; comments are the rationale.

    >>> line = b'{"query_id": "7", "doc_id": 12, "label": ["Highly relevant (2)"]}'
    >>> [mark.grade for _, mark in doccano_marks([(1, line)], "ada", Problems())]
    [2]
    """
    for number, values in json_objects(lines, problems):
        before = problems.errors
        meta = values.get("meta")
        fields = Fields(number, {**(meta if isinstance(meta, dict) else {}), **values}, problems)
        topic = fields.text(fields.first_of(TOPICS))
        docno = fields.text(fields.first_of(DOCNOS))
        answer = fields.labelled_answer()
        mark = Mark(topic, docno, assessor, *answer, rationale=fields.comments())
        _check_names(number, mark, problems)
        if problems.errors == before:
            yield number, mark


READERS: dict[str, Callable[[Lines, str, Problems], NumberedMarks]] = {
    "marks.jsonl": json_marks,
    "trec": trec_marks,
    "doccano": doccano_marks,
}


def _check_names(number: int, mark: Mark, problems: Problems) -> None:
    """Report names that are not well formed; missing ones have been reported."""
    if mark.topic:
        check_identifier("topic number", "E_TOPIC", number, _bytes(mark.topic), problems)
    if mark.docno:
        check_identifier("document", "E_DOCID", number, _bytes(mark.docno), problems)
    if mark.assessor in UNNAMED:
        hint = "Name the assessor in the line, or in the name of the file."
        problems.error("E_ASSESSOR", number, "no assessor is named", mark.assessor, hint)
    else:
        check_identifier("assessor", "E_ASSESSOR", number, _bytes(mark.assessor), problems)


def _bytes(name: str) -> bytes:
    # Half of a pair of surrogates is reported as a character that does not print.
    return name.encode("utf-8", "surrogatepass")
