"""Questions of a check in words: what is asked, why, and what each answer gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.reading.judging.qrels_lines import layout_of
from evaluation.reading.recognition import JUDGMENT_FORMATS
from leaderboard.collections.preview import FORMATS

NAMES = {
    "trec": "SGML of TREC",
    "ntcir": "SGML of NTCIR",
    "xml": "XML",
    "smart": "SMART, .I and .W",
    "tsv": "tab-separated columns",
    "csv": "CSV",
    "colon": "number:text",
    "space": "number and text",
    "labels": "labels of CLEF, Topic: and Title:",
    "jsonl": "JSON lines",
    "json": "JSON in one piece",
    "docnos": "docnos alone",
}


def describe_format(part: str, format: str) -> str:
    """Return a format in words; judgments can also name their columns in order.

    >>> describe_format("judgments", "docno topic grade")
    'columns in the order docno, topic, grade'
    >>> describe_format("judgments", "topic,docno,grade")
    'CSV with the columns topic, docno, grade'
    """
    if part != "judgments":
        return NAMES[format]
    known = JUDGMENT_FORMATS.get(format)
    if known is not None:
        return known
    layout = layout_of(format)
    kind = "CSV with the columns" if layout.separator else "columns in the order"
    return f"{kind} {', '.join(layout.columns)}"


@dataclass(frozen=True)
class Reading:
    """One way to read a file, with the evidence and the first records."""

    format: str
    words: str
    because: str
    refused: str
    first: list[str]


@dataclass(frozen=True)
class FormatQuestion:
    """A question: which of several readings of a file is right?"""

    of: str
    readings: list[Reading]


def find_question(questions: Iterable[dict[str, Any]], name: str) -> dict[str, Any]:
    return next((each for each in questions if each["name"] == name), {})


def describe_format_questions(questions: Iterable[dict[str, Any]]) -> list[FormatQuestion]:
    return [
        FormatQuestion(each["of"], [_reading(each["of"], one) for one in each["candidates"]])
        for each in questions
        if each["name"] == FORMATS
    ]


REFUSED_NAMES = {"run": "A run"}


def _reading(part: str, candidate: Mapping[str, Any]) -> Reading:
    format = candidate["format"]
    return Reading(
        format,
        REFUSED_NAMES.get(format) or _capitalise(describe_format(part, format)),
        candidate["because"],
        candidate["refused"],
        [_describe_record(record) for record in candidate["first"]],
    )


def _capitalise(words: str) -> str:
    return words[:1].upper() + words[1:]


def _describe_record(record: Mapping[str, Any]) -> str:
    """Describe a record: "topic 7, document d1, grade 2" or "7 boundary layers"."""
    if "docno" in record:
        return f"topic {record['topic']}, document {record['docno']}, {_describe_grade(record)}"
    return f"{record['number']} {record['title']}"


def _describe_grade(record: Mapping[str, Any]) -> str:
    """Describe a grade: "grade 2", "stratum 1, not drawn" or "subtopic 3 grade 1"."""
    if "stratum" in record:
        grade = "not drawn" if record["grade"] < 0 else f"grade {record['grade']}"
        return f"stratum {record['stratum']}, {grade}"
    if "subtopics" in record:
        graded = record["subtopics"].items()
        return ", ".join(f"subtopic {name} grade {grade}" for name, grade in graded)
    return f"grade {record['grade']}"
