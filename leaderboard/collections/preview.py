"""Previews of judgments: format, grades, oddities, and changes to the previous version."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

from evaluation.measures import SAMPLED
from evaluation.problems import Problems
from evaluation.reading.qrels import Qrels
from evaluation.reading.recognition import Candidate
from evaluation.reading.topics import Topic

FIRST_SHOWN = 3
NAMES_SHOWN = 10
# A grade of at most one judgment in this many may be a typing error.
STRAY_SHARE = 1_000

FORMATS = "formats"
GRADES = "grade_map"
RENUMBER = "renumber_topics"

ABOUT_CRANFIELD = (
    "The columns are Cranfield's, and no judgment has the grade 0. In Cranfield's own file 1 is "
    "the best grade; in files made from it the highest number often is."
)


def build_format_question(
    part: str,
    candidates: Sequence[Candidate],
    first_read_as: Callable[[str], list[dict[str, Any]]],
) -> dict[str, Any]:
    """Return the question of the format, with evidence and first records of each candidate."""
    shown = [
        {
            "format": candidate.format,
            "because": candidate.because,
            "refused": candidate.refused,
            "first": [] if candidate.refused else first_read_as(candidate.format),
        }
        for candidate in candidates
    ]
    return {"name": FORMATS, "of": part, "candidates": shown}


def judgments_preview(
    qrels: Qrels, topics: Sequence[Topic], docnos: Container[bytes] | None
) -> dict[str, Any]:
    """Return the preview of judgments, compared with the topics and documents."""
    numbers = [topic.number.encode() for topic in topics]
    grades = count_grades(qrels)
    unjudged = [number for number in numbers if number not in qrels.grades]
    known = set(numbers)
    unknown = [number for number in qrels.grades if number not in known]
    foreign: dict[bytes, None] = {}
    num_foreign = 0
    if docnos is not None:
        for judged in qrels.grades.values():
            strangers = [docno for docno in judged if docno not in docnos]
            num_foreign += len(strangers)
            foreign |= dict.fromkeys(islice(strangers, NAMES_SHOWN))
    return {
        "format": qrels.format,
        **preview_form(qrels),
        "count": grades.total(),
        "topics": len(qrels.grades),
        "first": first_judgments(qrels, {topic.number: topic.title for topic in topics}),
        "grades": {str(grade): grades[grade] for grade in sorted(grades)},
        "grade_sets": grade_sets(qrels),
        "stray": stray_grades(qrels, grades),
        "num_topics_in_both": len(qrels.grades) - len(unknown),
        "topics_without_judgments": first_names(unjudged),
        "num_topics_without_judgments": len(unjudged),
        "judgments_without_topics": first_names(unknown),
        "num_judgments_without_topics": len(unknown),
        "foreign": first_names(foreign),
        "num_foreign": num_foreign,
    }


def preview_form(qrels: Qrels) -> dict[str, Any]:
    """Return what a preview says of strata and of subtopics; nothing of ordinary judgments."""
    if qrels.strata:
        every = [grade for judged in qrels.grades.values() for grade in judged.values()]
        undrawn = sum(grade < 0 for grade in every)
        strata = sum(len(set(names.values())) for names in qrels.strata.values())
        return {
            "strata": {"count": strata, "drawn": len(every) - undrawn, "undrawn": undrawn},
        }
    if qrels.subtopics:
        names = qrels.names_of_subtopics()
        return {
            "subtopics": {
                "count": sum(map(len, names.values())),
                "documents": qrels.count,
                "most": max(map(len, names.values())),
            }
        }
    return {}


def describe_form(preview: Mapping[str, Any]) -> list[str]:
    """Say in plain words what a file with strata or subtopics holds and which measures it gives."""
    lines = []
    if found := preview.get("strata"):
        lines.append(
            f"A stratified sample: {found['count']:,} strata, {found['drawn']:,} documents drawn "
            f"and judged, {found['undrawn']:,} not drawn."
        )
        if found["undrawn"]:
            lines.append(
                f"It gives {' and '.join(SAMPLED)}. Other measures count documents that were not "
                "drawn as not judged."
            )
    if found := preview.get("subtopics"):
        lines.append(
            f"Judgments of {found['count']:,} subtopics, up to {found['most']:,} per topic, "
            f"of {found['documents']:,} documents. The highest grade is the grade of a document."
        )
        lines.append("They also give measures of diversity, such as alpha-nDCG and ERR-IA.")
    if found := preview.get("intents"):
        lines.append(
            f"Probabilities of {found['count']:,} subtopics of {found['topics']:,} topics, "
            f"from {found['file']}."
        )
    return lines


def first_names(identifiers: Iterable[bytes]) -> list[str]:
    return [identifier.decode() for identifier in islice(identifiers, NAMES_SHOWN)]


def count_grades(qrels: Qrels) -> Counter[int]:
    return Counter(grade for _, _, grade in qrels.lines())


def first_judgments(qrels: Qrels, titles: dict[str, str] | None = None) -> list[dict[str, Any]]:
    every = (
        {
            "topic": topic.decode(),
            "docno": docno.decode(),
            "grade": grade,
            **first_details(qrels, topic, docno),
        }
        for topic, judged in qrels.grades.items()
        for docno, grade in judged.items()
    )
    return [
        {**judgment, "title": (titles or {}).get(str(judgment["topic"]), "")}
        for judgment in islice(every, FIRST_SHOWN)
    ]


def first_details(qrels: Qrels, topic: bytes, docno: bytes) -> dict[str, Any]:
    """Return the stratum or the subtopics of a document; nothing for ordinary judgments."""
    if qrels.strata:
        return {"stratum": qrels.strata[topic][docno].decode()}
    if qrels.subtopics:
        graded = qrels.subtopics[topic][docno]
        return {"subtopics": {name.decode(): grade for name, grade in graded.items()}}
    return {}


def grade_sets(qrels: Qrels) -> list[dict[str, Any]]:
    """Return the sets of grades that topics have, with the number of topics of each.

    They show under any map of grades which topics have a relevant document.
    """
    found: dict[frozenset[int], list[bytes]] = defaultdict(list)
    by_topic: dict[bytes, set[int]] = {number: set() for number in qrels.grades}
    for number, _, grade in qrels.lines():
        by_topic[number].add(grade)
    for number, of_topic in by_topic.items():
        found[frozenset(of_topic)].append(number)
    return [
        {"grades": sorted(grades), "topics": len(numbers), "first": first_names(numbers)}
        for grades, numbers in found.items()
    ]


def stray_grades(qrels: Qrels, grades: Counter[int]) -> list[dict[str, Any]]:
    """Return grades that hardly any judgment has, with the first judgment of each."""
    rare = {grade for grade, count in grades.items() if count * STRAY_SHARE <= grades.total()}
    found: dict[int, dict[str, Any]] = {}
    for number, docno, grade in qrels.lines() if rare else ():
        if grade in rare and grade not in found:
            where = {"topic": number.decode(), "docno": docno.decode()}
            found[grade] = {"grade": grade, "count": grades[grade], **where}
    return [found[grade] for grade in sorted(found)]


def warn_of_stray_grades(stray: Iterable[dict[str, Any]], count: int, problems: Problems) -> None:
    for odd in stray:
        problems.warn(
            "W_STRAY_GRADE",
            None,
            f"{odd['count']:,} of {count:,} judgments have the grade {odd['grade']}; the first "
            f"is document {odd['docno']} for topic {odd['topic']}",
            str(odd["grade"]),
            "If it is an error, map it to the right grade.",
        )


def warn_of_unused_intents(
    qrels: Qrels, intents: Mapping[bytes, Mapping[bytes, float]], problems: Problems
) -> None:
    """Warn of probabilities that no measure uses."""
    if not qrels.subtopics:
        problems.warn(
            "W_INTENT",
            None,
            "the judgments have no subtopics, so their probabilities are ignored",
            hint="Read the judgments as judgments of subtopics if column 2 names them.",
        )
        return
    unjudged = [topic for topic in intents if topic not in qrels.grades]
    if unjudged:
        problems.warn(
            "W_INTENT",
            None,
            f"{len(unjudged):,} of {len(intents):,} topics with probabilities are not judged",
            unjudged[0],
        )


def is_direction_open(qrels: Qrels) -> bool:
    """Return whether 1 may be the best or the worst grade: Cranfield's columns without a 0."""
    positive = [grade for grade in count_grades(qrels) if grade > 0]
    has_none = all(0 not in judged.values() for judged in qrels.grades.values())
    return qrels.format == "cranfield" and has_none and len(positive) > 1


Grades = Mapping[bytes, Mapping[bytes, int]]

MOST_TOPICS = 10


@dataclass(frozen=True, slots=True)
class Change:
    """One changed judgment; `before` or `after` is None if there is no grade."""

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
    """Yield every judgment that differs, topic by topic in the order of `after`.

    >>> before, after = {b"7": {b"d1": 1, b"d2": 0}}, {b"7": {b"d1": 2, b"d3": 0}}
    >>> [(change.docno, change.kind) for change in changes_between(before, after)]
    [('d1', 'changed'), ('d2', 'removed'), ('d3', 'added')]
    """
    for topic in dict.fromkeys((*after, *before)):
        old, new = before.get(topic, {}), after.get(topic, {})
        for docno in dict.fromkeys((*old, *new)):
            if old.get(docno) != new.get(docno):
                yield Change(topic.decode(), docno.decode(), old.get(docno), new.get(docno))


def write_changes(before: Grades, after: Grades, out: IO[str]) -> dict[str, Any]:
    """Write every change as a line of CSV; return the summary for the preview."""
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
