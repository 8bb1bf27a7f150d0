"""Questions of a check in words: what is asked, why, and what each answer gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.reading.judging.qrels_lines import layout_of
from evaluation.reading.recognition import JUDGMENT_FORMATS
from leaderboard.collections.groups import APART, DECLARED
from leaderboard.collections.preview import FORMATS, GroupingFound, PartFound
from leaderboard.display.numbers import counted

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
    "golden": "a golden set, queries with their documents",
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


@dataclass(frozen=True)
class GroupingChoice:
    """A way to group the topics, in words, and what it gives."""

    value: str
    words: str
    detail: str
    is_chosen: bool


def describe_groupings(
    found: Sequence[GroupingFound], chosen: str, file: str
) -> list[GroupingChoice]:
    """Return how the topics may be grouped; nothing where no way was found.

    `chosen` is the grouping of the collection, and `file` the name of its file of groups.
    """
    if not found:
        return []
    declared = f"From {file}" if file else "From a column of the topics"
    if not chosen and found[0].grouping == DECLARED:
        chosen = DECLARED
    choices = [
        GroupingChoice(
            each.grouping,
            declared if each.grouping == DECLARED else f"By what stands before {each.grouping}",
            f"{counted(each.count, 'group')}, the largest with {counted(each.largest, 'topic')};"
            f" first: {', '.join(each.first[:3])}",
            chosen == each.grouping,
        )
        for each in found
    ]
    alone = "Tests take them as independent"
    return [*choices, GroupingChoice(APART, "Each topic alone", alone, chosen == APART)]


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


def describe_numbers(question: Mapping[str, Any]) -> str:
    unknown = counted(question["unknown"], "judged topic is,judged topics are")
    return f"{unknown} not in the collection; the file counts up to {question['highest']}."


def describe_missing(question: Mapping[str, Any]) -> str:
    """Say which judged topics a further file of judgments lacks."""
    missing = counted(question["missing"], "topic")
    return f"The file lacks {missing} of {question['judged']:,} that {question['since']} judged."


def describe_conflicts(question: Mapping[str, Any]) -> str:
    documents = counted(question["count"], "document has,documents have")
    return f"{documents} one grade in {question['since']} and another in the file."


def list_conflicts(question: Mapping[str, Any]) -> list[str]:
    """Return the first documents with two grades, each with both."""
    return [
        f"topic {each['topic']}, document {each['docno']}: {each['before']}, then {each['after']}"
        for each in question["first"]
    ]


def describe_part(part: PartFound) -> str:
    """
    >>> describe_part(PartFound("v1", 1200, 1400, 12))
    'Joined with the 1,200 judgments of v1 it makes 1,400; 12 documents have two grades.'
    """
    twice = ""
    if part.num_conflicts:
        twice = f"; {counted(part.num_conflicts, 'document has,documents have')} two grades"
    before = counted(part.before, "judgment")
    return f"Joined with the {before} of {part.of} it makes {part.after:,}{twice}."
