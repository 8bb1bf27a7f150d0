"""The preview of a collection: what a check found in each file, as it is stored and shown."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any

from pydantic import TypeAdapter

from evaluation.measures import SAMPLED
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels
from evaluation.reading.recognition import Candidate
from evaluation.reading.topics import Topic
from leaderboard.display.csv_tables import escape_formula
from leaderboard.display.numbers import counted
from leaderboard.models import Collection, JudgmentSet

FIRST_SHOWN = 3
NAMES_SHOWN = 10
# A grade of at most one judgment in this many may be a typing error.
STRAY_SHARE = 1_000

FORMATS = "formats"
GRADES = "grade_map"
RENUMBER = "renumber_topics"
JOINING = "joining"
CONFLICTS = "conflict_rule"
GROUPING = "grouping"

ABOUT_CRANFIELD = (
    "The columns are Cranfield's, and no judgment has the grade 0. In Cranfield's own file 1 is "
    "the best grade; in files made from it the highest number often is."
)


@dataclass(frozen=True)
class FirstTopic:
    number: str
    title: str
    description: str
    narrative: str


@dataclass(frozen=True)
class GroupingFound:
    """A way to group topics, the number of its groups, the size of the largest, and the first."""

    grouping: str
    count: int
    largest: int
    first: list[str]


@dataclass(frozen=True)
class TopicsPreview:
    file: str
    format: str
    because: str
    count: int
    first: list[FirstTopic]
    with_description: int
    with_narrative: int
    groupings: list[GroupingFound] = field(default_factory=list)


@dataclass(frozen=True)
class FirstDocument:
    docno: str
    title: str
    text: str


@dataclass(frozen=True)
class DocumentsPreview:
    file: str
    format: str
    because: str
    count: int
    first: list[FirstDocument]
    num_empty: int
    empty: list[str]


@dataclass(frozen=True)
class StrataFound:
    """How many strata a sample has, and how many of its documents were drawn."""

    count: int
    drawn: int
    undrawn: int


@dataclass(frozen=True)
class SubtopicsFound:
    """How many subtopics the topics have together, of how many documents, and at most."""

    count: int
    documents: int
    most: int


@dataclass(frozen=True)
class IntentsFound:
    """How many probabilities of subtopics a file has."""

    file: str
    count: int
    topics: int


@dataclass(frozen=True)
class FirstJudgment:
    """A judgment; of a sample with its stratum, or with the grade for each subtopic."""

    topic: str
    docno: str
    grade: int
    stratum: str | None = None
    subtopics: dict[str, int] | None = None
    title: str = ""


@dataclass(frozen=True)
class GradeSet:
    """A set of grades that topics have, the number of these topics and the first of them."""

    grades: list[int]
    topics: int
    first: list[str]


@dataclass(frozen=True)
class StrayGrade:
    """A grade that hardly any judgment has, with its first judgment."""

    grade: int
    count: int
    topic: str
    docno: str


@dataclass(frozen=True)
class TopicChanges:
    """The numbers of changed judgments of a topic; None where there are none."""

    number: str
    added: int | None = None
    changed: int | None = None
    removed: int | None = None


@dataclass(frozen=True)
class ChangesFound:
    """The changes since an earlier version; a transition is grade before, grade after, number."""

    since: str
    added: int
    changed: int
    removed: int
    transitions: list[tuple[int | None, int | None, int]]
    num_topics: int
    topics: list[TopicChanges]


@dataclass(frozen=True)
class PartFound:
    """A file joined with an earlier version: the numbers of judgments, and of two grades."""

    of: str
    before: int
    after: int
    num_conflicts: int


@dataclass(frozen=True)
class JudgmentsPreview:
    """What a file of judgments holds, compared with the topics and the documents."""

    file: str
    version: str
    because: str
    format: str
    count: int
    topics: int
    first: list[FirstJudgment]
    grades: dict[int, int]
    grade_sets: list[GradeSet]
    stray: list[StrayGrade]
    num_topics_in_both: int
    topics_without_judgments: list[str]
    num_topics_without_judgments: int
    judgments_without_topics: list[str]
    num_judgments_without_topics: int
    foreign: list[str]
    num_foreign: int
    strata: StrataFound | None = None
    subtopics: SubtopicsFound | None = None
    intents: IntentsFound | None = None
    changes: ChangesFound | None = None
    part: PartFound | None = None


@dataclass(frozen=True)
class CollectionPreview:
    """What a check found in each file of a collection; None for a file that is not there."""

    topics: TopicsPreview | None = None
    documents: DocumentsPreview | None = None
    judgments: JudgmentsPreview | None = None


def read_preview(collection: Collection) -> CollectionPreview:
    """Return the stored preview of a collection."""
    return TypeAdapter(CollectionPreview).validate_python(collection.preview)


def read_judgments_preview(judgment_set: JudgmentSet) -> JudgmentsPreview | None:
    """Return the stored preview of judgments, None if there is none yet."""
    if not judgment_set.preview:
        return None
    return TypeAdapter(JudgmentsPreview).validate_python(judgment_set.preview)


def write_preview(preview: Any) -> dict[str, Any]:
    """Return a preview, or a part of it, as it is stored: without what is not there."""
    if preview is None:
        return {}
    stored: dict[str, Any] = TypeAdapter(type(preview)).dump_python(
        preview, mode="json", exclude_none=True
    )
    return stored


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


def preview_judgments(
    judgment_set: JudgmentSet,
    because: str,
    qrels: Qrels,
    topics: Sequence[Topic],
    docnos: Container[bytes] | None,
) -> JudgmentsPreview:
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
    return JudgmentsPreview(
        file=judgment_set.filename,
        version=judgment_set.version,
        because=because,
        format=qrels.format,
        count=grades.total(),
        topics=len(qrels.grades),
        first=first_judgments(qrels, {topic.number: topic.title for topic in topics}),
        grades={grade: grades[grade] for grade in sorted(grades)},
        grade_sets=find_grade_sets(qrels),
        stray=find_stray_grades(qrels, grades),
        num_topics_in_both=len(qrels.grades) - len(unknown),
        topics_without_judgments=first_names(unjudged),
        num_topics_without_judgments=len(unjudged),
        judgments_without_topics=first_names(unknown),
        num_judgments_without_topics=len(unknown),
        foreign=first_names(foreign),
        num_foreign=num_foreign,
        strata=count_strata(qrels) if qrels.strata else None,
        subtopics=count_subtopics(qrels) if qrels.subtopics else None,
    )


def count_strata(qrels: Qrels) -> StrataFound:
    every = [grade for judged in qrels.grades.values() for grade in judged.values()]
    undrawn = sum(grade < 0 for grade in every)
    strata = sum(len(set(names.values())) for names in qrels.strata.values())
    return StrataFound(count=strata, drawn=len(every) - undrawn, undrawn=undrawn)


def count_subtopics(qrels: Qrels) -> SubtopicsFound:
    sizes = [len(names) for names in qrels.names_of_subtopics().values()]
    return SubtopicsFound(count=sum(sizes), documents=qrels.count, most=max(sizes))


def describe_form(preview: JudgmentsPreview) -> list[str]:
    """Say in plain words what a file with strata or subtopics holds and which measures it gives."""
    lines = []
    if sample := preview.strata:
        lines.append(
            f"A stratified sample: {counted(sample.count, 'stratum,strata')}, "
            f"{counted(sample.drawn, 'document')} drawn and judged, {sample.undrawn:,} not drawn."
        )
        if sample.undrawn:
            lines.append(
                f"It gives {' and '.join(SAMPLED)}. Other measures count documents that were not "
                "drawn as not judged."
            )
    if found := preview.subtopics:
        lines.append(
            f"Judgments of {counted(found.count, 'subtopic')}, up to {found.most:,} per topic, "
            f"of {counted(found.documents, 'document')}. "
            "The highest grade is the grade of a document."
        )
        lines.append("They also give measures of diversity, such as alpha-nDCG and ERR-IA.")
    if likely := preview.intents:
        lines.append(
            f"Probabilities of {counted(likely.count, 'subtopic')} "
            f"of {counted(likely.topics, 'topic')}, from {likely.file}."
        )
    return lines


def first_names(identifiers: Iterable[bytes]) -> list[str]:
    return [identifier.decode() for identifier in islice(identifiers, NAMES_SHOWN)]


def count_grades(qrels: Qrels) -> Counter[int]:
    return Counter(grade for _, _, grade in qrels.lines())


def first_judgments(qrels: Qrels, titles: dict[str, str] | None = None) -> list[FirstJudgment]:
    every = (
        (topic, docno, grade)
        for topic, judged in qrels.grades.items()
        for docno, grade in judged.items()
    )
    return [
        FirstJudgment(
            topic=topic.decode(),
            docno=docno.decode(),
            grade=grade,
            stratum=qrels.strata[topic][docno].decode() if qrels.strata else None,
            subtopics=grades_by_subtopic(qrels, topic, docno) if qrels.subtopics else None,
            title=(titles or {}).get(topic.decode(), ""),
        )
        for topic, docno, grade in islice(every, FIRST_SHOWN)
    ]


def grades_by_subtopic(qrels: Qrels, topic: bytes, docno: bytes) -> dict[str, int]:
    return {name.decode(): grade for name, grade in qrels.subtopics[topic][docno].items()}


def find_grade_sets(qrels: Qrels) -> list[GradeSet]:
    """Return the sets of grades that topics have, with the number of topics of each.

    They show under any map of grades which topics have a relevant document.
    """
    by_topic: dict[bytes, set[int]] = {number: set() for number in qrels.grades}
    for number, _, grade in qrels.lines():
        by_topic[number].add(grade)
    found: dict[frozenset[int], list[bytes]] = defaultdict(list)
    for number, of_topic in by_topic.items():
        found[frozenset(of_topic)].append(number)
    return [
        GradeSet(sorted(grades), len(numbers), first_names(numbers))
        for grades, numbers in found.items()
    ]


def find_stray_grades(qrels: Qrels, grades: Counter[int]) -> list[StrayGrade]:
    """Return grades that hardly any judgment has, with the first judgment of each."""
    rare = {grade for grade, count in grades.items() if count * STRAY_SHARE <= grades.total()}
    found: dict[int, StrayGrade] = {}
    for number, docno, grade in qrels.lines() if rare else ():
        if grade in rare and grade not in found:
            found[grade] = StrayGrade(grade, grades[grade], number.decode(), docno.decode())
    return [found[grade] for grade in sorted(found)]


def warn_of_stray_grades(preview: JudgmentsPreview, problems: Problems) -> None:
    for stray in preview.stray:
        problems.warn(
            "W_STRAY_GRADE",
            None,
            f"{stray.count:,} of {counted(preview.count, 'judgment')} "
            f"{'has' if stray.count == 1 else 'have'} the grade {stray.grade}; "
            f"the first is document {stray.docno} for topic {stray.topic}",
            str(stray.grade),
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
            hint="If column 2 names subtopics, select the format subtopics.",
        )
        return
    unjudged = [topic for topic in intents if topic not in qrels.grades]
    if unjudged:
        problems.warn(
            "W_INTENT",
            None,
            f"{len(unjudged):,} of {counted(len(intents), 'topic')} with probabilities "
            f"{'is' if len(unjudged) == 1 else 'are'} not judged",
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
class GradeChange:
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


def changes_between(before: Grades, after: Grades) -> Iterator[GradeChange]:
    """Yield every judgment that differs, topic by topic in the order of `after`.

    >>> before, after = {b"7": {b"d1": 1, b"d2": 0}}, {b"7": {b"d1": 2, b"d3": 0}}
    >>> [(change.docno, change.kind) for change in changes_between(before, after)]
    [('d1', 'changed'), ('d2', 'removed'), ('d3', 'added')]
    """
    for topic in dict.fromkeys((*after, *before)):
        old, new = before.get(topic, {}), after.get(topic, {})
        for docno in dict.fromkeys((*old, *new)):
            if old.get(docno) != new.get(docno):
                yield GradeChange(topic.decode(), docno.decode(), old.get(docno), new.get(docno))


def write_changes(before: Grades, after: Grades, since: str, out: IO[str]) -> ChangesFound:
    """Write every change since a version as a line of CSV; return what the preview says of them."""
    writer = csv.writer(out)
    writer.writerow(["topic", "docno", "change", "before", "after"])
    kinds: Counter[str] = Counter()
    transitions: Counter[tuple[int | None, int | None]] = Counter()
    by_topic: dict[str, Counter[str]] = {}
    for change in changes_between(before, after):
        names = map(escape_formula, (change.topic, change.docno))
        writer.writerow([*names, change.kind, change.before, change.after])
        kinds[change.kind] += 1
        transitions[change.before, change.after] += 1
        by_topic.setdefault(change.topic, Counter())[change.kind] += 1
    most = sorted(by_topic, key=lambda topic: -by_topic[topic].total())[:MOST_TOPICS]
    return ChangesFound(
        since=since,
        added=kinds["added"],
        changed=kinds["changed"],
        removed=kinds["removed"],
        transitions=[(*pair, number) for pair, number in transitions.items()],
        num_topics=len(by_topic),
        topics=[TopicChanges(topic, **by_topic[topic]) for topic in most],
    )
