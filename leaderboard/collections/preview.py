"""What a preview says of judgments: how they are read, how often each grade, what is odd."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

from evaluation.problems import Problems
from evaluation.reading.qrels import Qrels
from evaluation.reading.recognition import Candidate
from evaluation.reading.topics import Topic

FIRST = 3
NAMED = 10
# At most one judgment of so many has a grade: a slip of a finger looks so.
STRAY = 1_000

FORMATS = "formats"
GRADES = "grade_map"
RENUMBER = "renumber_topics"

ABOUT_CRANFIELD = (
    "The columns are Cranfield's, and no judgment has the grade 0. In Cranfield's own file 1 is "
    "the best grade; in files made from it the highest number often is."
)


def question_of_format(
    part: str,
    candidates: Sequence[Candidate],
    first_read_as: Callable[[str], list[dict[str, Any]]],
) -> dict[str, Any]:
    """Which of several readings is meant: each with its evidence and the first records it gives."""
    asked = [
        {
            "format": each.format,
            "because": each.because,
            "refused": each.refused,
            "first": [] if each.refused else first_read_as(each.format),
        }
        for each in candidates
    ]
    return {"name": FORMATS, "of": part, "candidates": asked}


def judgments_preview(
    qrels: Qrels, topics: Sequence[Topic], docnos: Container[bytes] | None
) -> dict[str, Any]:
    """What a file of judgments holds, beside the topics and documents of its collection."""
    numbers = [topic.number.encode() for topic in topics]
    grades = grades_of(qrels)
    unjudged = [number for number in numbers if number not in qrels.grades]
    known = set(numbers)
    unknown = [number for number in qrels.grades if number not in known]
    foreign: dict[bytes, None] = {}
    num_foreign = 0
    if docnos is not None:
        for judged in qrels.grades.values():
            strangers = [docno for docno in judged if docno not in docnos]
            num_foreign += len(strangers)
            foreign |= dict.fromkeys(islice(strangers, NAMED))
    return {
        "format": qrels.format,
        "count": grades.total(),
        "topics": len(qrels.grades),
        "first": first_judgments(qrels, {topic.number: topic.title for topic in topics}),
        "grades": {str(grade): grades[grade] for grade in sorted(grades)},
        "grade_sets": grade_sets(qrels),
        "stray": stray_grades(qrels, grades),
        "num_topics_in_both": len(qrels.grades) - len(unknown),
        "topics_without_judgments": listed(unjudged),
        "num_topics_without_judgments": len(unjudged),
        "judgments_without_topics": listed(unknown),
        "num_judgments_without_topics": len(unknown),
        "foreign": listed(foreign),
        "num_foreign": num_foreign,
    }


def listed(identifiers: Iterable[bytes]) -> list[str]:
    return [each.decode() for each in islice(identifiers, NAMED)]


def grades_of(qrels: Qrels) -> Counter[int]:
    return Counter(grade for judged in qrels.grades.values() for grade in judged.values())


def first_judgments(qrels: Qrels, titles: dict[str, str] | None = None) -> list[dict[str, Any]]:
    every = (
        {"topic": topic.decode(), "docno": docno.decode(), "grade": grade}
        for topic, judged in qrels.grades.items()
        for docno, grade in judged.items()
    )
    return [
        {**each, "title": (titles or {}).get(str(each["topic"]), "")}
        for each in islice(every, FIRST)
    ]


def grade_sets(qrels: Qrels) -> list[dict[str, Any]]:
    """The topics by the grades that their documents have, each set once.

    Under any mapping of grades it tells which topics have a relevant document, without the file.
    """
    found: dict[frozenset[int], list[bytes]] = defaultdict(list)
    for number, judged in qrels.grades.items():
        found[frozenset(judged.values())].append(number)
    return [
        {"grades": sorted(grades), "topics": len(numbers), "first": listed(numbers)}
        for grades, numbers in found.items()
    ]


def stray_grades(qrels: Qrels, grades: Counter[int]) -> list[dict[str, Any]]:
    """Grades that next to no judgment has, with the first that has it."""
    rare = {grade for grade, count in grades.items() if count * STRAY <= grades.total()}
    found: dict[int, dict[str, Any]] = {}
    for number, judged in qrels.grades.items() if rare else ():
        for docno, grade in judged.items():
            if grade in rare and grade not in found:
                where = {"topic": number.decode(), "docno": docno.decode()}
                found[grade] = {"grade": grade, "count": grades[grade], **where}
    return [found[grade] for grade in sorted(found)]


def warn_of_stray_grades(stray: Iterable[dict[str, Any]], count: int, problems: Problems) -> None:
    for each in stray:
        problems.warn(
            "W_STRAY_GRADE",
            None,
            f"{each['count']:,} of {count:,} judgments have the grade {each['grade']}; the first "
            f"is document {each['docno']} for topic {each['topic']}",
            str(each["grade"]),
            "If it is an error, map it to the right grade.",
        )


def direction_is_open(qrels: Qrels) -> bool:
    """Whether 1 may be the best grade as well as the worst: Cranfield's columns without a 0."""
    positive = [grade for grade in grades_of(qrels) if grade > 0]
    has_none = all(0 not in judged.values() for judged in qrels.grades.values())
    return qrels.format == "cranfield" and has_none and len(positive) > 1


Grades = Mapping[bytes, Mapping[bytes, int]]

MOST_TOPICS = 10


@dataclass(frozen=True, slots=True)
class Change:
    """One judgment that is not as it was; None where there was none, or is none any more."""

    topic: str
    docno: str
    before: int | None
    after: int | None

    @property
    def kind(self) -> str:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"


def changes_between(before: Grades, after: Grades) -> Iterator[Change]:
    """Every judgment that differs, topic by topic in the order of `after`.

    >>> before, after = {b"7": {b"d1": 1, b"d2": 0}}, {b"7": {b"d1": 2, b"d3": 0}}
    >>> [(each.docno, each.kind) for each in changes_between(before, after)]
    [('d1', 'changed'), ('d2', 'removed'), ('d3', 'added')]
    """
    for topic in dict.fromkeys((*after, *before)):
        old, new = before.get(topic, {}), after.get(topic, {})
        for docno in dict.fromkeys((*old, *new)):
            if old.get(docno) != new.get(docno):
                yield Change(topic.decode(), docno.decode(), old.get(docno), new.get(docno))


def write_changes(before: Grades, after: Grades, out: IO[str]) -> dict[str, Any]:
    """Write every change as a line of CSV; their summary, as a preview keeps it."""
    writer = csv.writer(out)
    writer.writerow(["topic", "docno", "change", "before", "after"])
    kinds: Counter[str] = Counter()
    transitions: Counter[tuple[int | None, int | None]] = Counter()
    by_topic: dict[str, Counter[str]] = {}
    for change in changes_between(before, after):
        writer.writerow([change.topic, change.docno, change.kind, change.before, change.after])
        kinds[change.kind] += 1
        transitions[change.before, change.after] += 1
        by_topic.setdefault(change.topic, Counter())[change.kind] += 1
    most = sorted(by_topic, key=lambda topic: -by_topic[topic].total())[:MOST_TOPICS]
    return {
        **{kind: kinds[kind] for kind in ("added", "changed", "removed")},
        "transitions": [[*pair, number] for pair, number in transitions.items()],
        "num_topics": len(by_topic),
        "topics": [{"number": topic, **by_topic[topic]} for topic in most],
    }
