"""What a worker found in the files of a collection, as the organiser reviews it.

The preview of a check is a plain record; here it becomes lines that a page prints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models.fields.files import FieldFile
from django.utils.safestring import SafeString

from leaderboard.charts import grade_bar
from leaderboard.checking import RENUMBER
from leaderboard.models import Collection, Job, JudgmentSet
from leaderboard.models.collections import ImportState
from leaderboard.receipts import ProblemGroup, groups_of
from leaderboard.templatetags.numbers import counted

MOVING = {ImportState.QUEUED, ImportState.CHECKING, ImportState.IMPORTING}
JUDGMENT_COLUMNS = "four columns: topic, one that is not read, document, grade"


@dataclass(frozen=True)
class Remark:
    """Something to look at in a file, how often, and the first it is true of."""

    count: int
    words: str
    named: list[str] = field(default_factory=list)

    @property
    def more(self) -> int:
        return self.count - len(self.named)


@dataclass(frozen=True)
class ReviewedFile:
    """One file: what it was taken for, why, and what is in it."""

    name: str
    kind: str
    format: str
    because: str
    found: str
    facts: str = ""
    size: int | None = None
    remarks: list[Remark] = field(default_factory=list)


@dataclass(frozen=True)
class GradeRow:
    """One grade of a judgments file and what the measures make of it."""

    grade: int
    bar: SafeString
    meaning: str
    top: int

    @property
    def gain(self) -> int:
        return max(0, self.grade)

    @property
    def is_relevant(self) -> bool:
        return self.grade > 0


@dataclass(frozen=True)
class Renumbered:
    """A topic of the file with its number there and by its order."""

    number: str
    becomes: int
    title: str


@dataclass(frozen=True)
class Review:
    """Everything that was found, and what is asked before it is imported."""

    files: list[ReviewedFile]
    grades: list[GradeRow]
    groups: list[ProblemGroup]
    topics: dict[str, Any] = field(default_factory=dict)
    documents: dict[str, Any] = field(default_factory=dict)
    judgments: dict[str, Any] = field(default_factory=dict)
    question: dict[str, Any] | None = None
    renumbered: list[Renumbered] = field(default_factory=list)

    @property
    def errors(self) -> list[ProblemGroup]:
        return [group for group in self.groups if group.severity == "error"]

    @property
    def num_errors(self) -> int:
        return sum(group.total for group in self.errors)


def review_of(collection: Collection) -> Review:
    found = collection.preview
    question = next((each for each in collection.questions if each["name"] == RENUMBER), None)
    groups = groups_of(collection.problems, collection.problem_totals)
    topics, documents, judgments = (
        found.get(name, {}) for name in ("topics", "documents", "judgments")
    )
    first_set = collection.judgment_sets.first()
    files = [
        *([_topics_file(topics, collection.topics_file)] if topics else []),
        *([_documents_file(documents, collection.documents_file)] if documents else []),
        *([_judgments_file(judgments, first_set, bool(question))] if judgments else []),
    ]
    return Review(
        files=files,
        grades=_grade_rows(judgments),
        # The question stands for the problem that it asks about.
        groups=[group for group in groups if not (question and group.code == "E_UNKNOWN_TOPIC")],
        topics=topics,
        documents=documents,
        judgments=judgments,
        question=question,
        renumbered=_renumbered(topics) if question else [],
    )


def review_of_judgments(judgment_set: JudgmentSet) -> Review:
    found = judgment_set.preview
    return Review(
        files=[_judgments_file(found, judgment_set, matched_later=False)] if found else [],
        grades=_grade_rows(found),
        groups=groups_of(judgment_set.problems, judgment_set.problem_totals),
        judgments=found,
    )


@dataclass(frozen=True)
class SetReview:
    """New judgments of a ready collection that are not imported yet."""

    judgment_set: JudgmentSet
    review: Review

    @property
    def is_moving(self) -> bool:
        return self.judgment_set.state in MOVING


def _topics_file(found: dict[str, Any], file: FieldFile) -> ReviewedFile:
    described, narrated = found["with_description"], found["with_narrative"]
    facts = "titles only"
    if described or narrated:
        facts = f"{described:,} with a description, {narrated:,} with a narrative"
    return ReviewedFile(
        name=found["file"],
        kind="Topics",
        format=found["format"],
        because=found["because"],
        found=counted(found["count"], "topic"),
        facts=facts,
        size=_size(file),
    )


def _documents_file(found: dict[str, Any], file: FieldFile) -> ReviewedFile:
    without_text = found["num_empty"]
    empty = Remark(without_text, f"{without_text:,} without text", found["empty"])
    return ReviewedFile(
        name=found["file"],
        kind="Documents",
        format=found["format"],
        because=found["because"],
        found=counted(found["count"], "document"),
        size=_size(file),
        remarks=[empty] if empty.count else [],
    )


def _judgments_file(
    found: dict[str, Any], judgment_set: JudgmentSet | None, matched_later: bool
) -> ReviewedFile:
    remarks = _judgment_remarks(found)
    # While the numbers do not match, what is missing is not missing yet.
    unmatched = remarks[:1] if matched_later else []
    return ReviewedFile(
        name=found["file"],
        kind=f"Judgments {found['version']}",
        format="qrels",
        because=found.get("because", JUDGMENT_COLUMNS),
        found=counted(found["count"], "judgment"),
        facts=f"on {counted(found['topics'], 'topic')}",
        size=_size(judgment_set.file) if judgment_set is not None else None,
        remarks=[each for each in remarks if each.count and each not in unmatched],
    )


def _judgment_remarks(found: dict[str, Any]) -> list[Remark]:
    unjudged, empty, foreign = (
        found[f"num_{name}"]
        for name in ("topics_without_judgments", "topics_without_relevant", "foreign")
    )
    return [
        Remark(
            unjudged,
            f"{counted(unjudged, 'topic')} without judgments",
            found["topics_without_judgments"],
        ),
        Remark(
            empty,
            f"{counted(empty, 'topic')} without a relevant document",
            found["topics_without_relevant"],
        ),
        Remark(foreign, f"{counted(foreign, 'judgment')} of documents outside the collection"),
    ]


def _size(file: FieldFile) -> int | None:
    return file.size if file and file.storage.exists(file.name) else None


def _grade_rows(found: dict[str, Any]) -> list[GradeRow]:
    grades = {int(grade): number for grade, number in found.get("grades", {}).items()}
    most, top = max(grades.values(), default=0), max([1, *grades])
    return [
        GradeRow(grade, grade_bar(grades[grade], most, grade, top), _meaning(grade, top), top)
        for grade in sorted(grades, reverse=True)
    ]


def _meaning(grade: int, top: int) -> str:
    if grade < 0:
        return "pooled, but not judged: treated as unjudged"
    if grade == 0:
        return "judged, not relevant"
    return "relevant, the highest grade" if grade == top > 1 else "relevant"


def _renumbered(topics: dict[str, Any]) -> list[Renumbered]:
    return [
        Renumbered(topic["number"], place, topic["title"])
        for place, topic in enumerate(topics.get("first", []), start=1)
    ]


@dataclass(frozen=True)
class Moving:
    """What a worker reads or writes just now, how far it is, and how much waits before it."""

    name: str
    state: str
    job: Job | None

    @property
    def ahead(self) -> int:
        queued = self.job is not None and self.job.state == Job.State.QUEUED
        return Job.objects.ahead_of(self.job).count() if self.job and queued else 0


def moving_in(collection: Collection, judgment_sets: Iterable[JudgmentSet]) -> list[Moving]:
    """The collection itself, or the new judgments of a ready one."""
    if collection.state in MOVING:
        return [Moving("The files", collection.state, _job("collection", collection.pk))]
    return [
        Moving(f"Judgments {each.version}", each.state, _job("judgments", each.pk))
        for each in judgment_sets
        if each.state in MOVING
    ]


def _job(noun: str, pk: int) -> Job | None:
    kinds = [f"check_{noun}", f"import_{noun}"]
    return Job.objects.filter(kind__in=kinds, target_id=str(pk)).order_by("-pk").first()
