"""The review of uploaded files before they are imported.

The preview of a check becomes the lines of a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models.fields.files import FieldFile

from leaderboard.boards.receipts import ProblemGroup, group_problems
from leaderboard.collections.choices import FORMATS_OF
from leaderboard.collections.preview import (
    CONFLICTS,
    GRADES,
    JOINING,
    RENUMBER,
    DocumentsPreview,
    JudgmentsPreview,
    TopicsPreview,
    describe_form,
    read_judgments_preview,
    read_preview,
)
from leaderboard.collections.questions import (
    FormatQuestion,
    GroupingChoice,
    describe_conflicts,
    describe_format,
    describe_format_questions,
    describe_groupings,
    describe_missing,
    describe_numbers,
    describe_part,
    find_question,
)
from leaderboard.display.numbers import counted
from leaderboard.models import Collection, Job, JudgmentSet
from leaderboard.models.collections import ImportState
from leaderboard.pages.views.grading import GradeChoice, Grading
from leaderboard.pages.views.judgment_changes import JudgmentChanges, describe_judgment_changes

IN_PROGRESS = {ImportState.QUEUED, ImportState.CHECKING, ImportState.IMPORTING}


@dataclass(frozen=True)
class Remark:
    """Something to check in a file, how often it occurs and the first cases."""

    count: int
    words: str
    named: list[str] = field(default_factory=list)

    @property
    def more(self) -> int:
        return self.count - len(self.named)


@dataclass(frozen=True)
class ReviewedFile:
    """One file: its recognised format, the evidence and its content."""

    part: str
    name: str
    kind: str
    format: str
    because: str
    found: str
    facts: str = ""
    size: int | None = None
    remarks: list[Remark] = field(default_factory=list)
    # What the form of the file means, in sentences.
    notes: list[str] = field(default_factory=list)

    @property
    def format_name(self) -> str:
        return describe_format(self.part, self.format)

    def formats(self) -> Iterator[GradeChoice]:
        """Yield the formats that the organiser can choose instead."""
        known = FORMATS_OF[self.part]
        for format in known if self.format in known else (*known, self.format):
            yield GradeChoice(format, describe_format(self.part, format), format == self.format)


@dataclass(frozen=True)
class Renumbered:
    """A topic with its number in the file and its new number by position."""

    number: str
    becomes: int
    title: str


@dataclass(frozen=True)
class PartReview:
    """What is open about a file that may be a part, and what it is joined with."""

    joining: str = ""
    conflicts: str = ""
    since: str = ""
    # Topic, docno and both grades of the first documents that have two.
    first: list[dict[str, Any]] = field(default_factory=list)
    rules: list[tuple[str, str]] = field(default_factory=list)
    joined: str = ""
    numbers: str = ""

    @property
    def is_open(self) -> bool:
        return bool(self.joining or self.conflicts or self.numbers)


@dataclass(frozen=True)
class Review:
    """The findings of a check and the questions to answer before the import."""

    files: list[ReviewedFile]
    groups: list[ProblemGroup]
    grading: Grading | None = None
    format_questions: list[FormatQuestion] = field(default_factory=list)
    grade_question: str = ""
    groupings: list[GroupingChoice] = field(default_factory=list)
    difference: JudgmentChanges | None = None
    topics: TopicsPreview | None = None
    documents: DocumentsPreview | None = None
    judgments: JudgmentsPreview | None = None
    part: PartReview = field(default_factory=PartReview)
    question: dict[str, Any] | None = None
    renumbered: list[Renumbered] = field(default_factory=list)

    @property
    def num_questions(self) -> int:
        """How many questions there are beside those about formats."""
        asks_groups = bool(self.groupings) and not any(each.is_chosen for each in self.groupings)
        return sum((self.question is not None, bool(self.grade_question), asks_groups))

    @property
    def errors(self) -> list[ProblemGroup]:
        return [group for group in self.groups if group.severity == "error"]

    @property
    def num_errors(self) -> int:
        return sum(group.total for group in self.errors)


def review_of(collection: Collection) -> Review:
    found = read_preview(collection)
    question = find_question(collection.questions, RENUMBER)
    groups = group_problems(collection.problems, collection.problem_totals)
    first_set = collection.judgment_sets.first()
    grading = Grading.of(first_set, found.judgments) if first_set and found.judgments else None
    files = [
        *([_topics_file(found.topics, collection.topics_file)] if found.topics else []),
        *([_documents_file(found.documents, collection.documents_file)] if found.documents else []),
        *([_judgments_file(first_set, grading, bool(question))] if first_set and grading else []),
    ]
    return Review(
        files=files,
        # The question replaces the problem that it asks about.
        groups=[group for group in groups if not (question and group.code == "E_UNKNOWN_TOPIC")],
        grading=grading,
        format_questions=describe_format_questions(collection.questions),
        grade_question=find_question(collection.questions, GRADES).get("because", ""),
        groupings=describe_groupings(
            found.topics.groupings if found.topics else [],
            collection.grouping,
            collection.groups_filename,
        ),
        topics=found.topics,
        documents=found.documents,
        judgments=found.judgments,
        question=question or None,
        renumbered=_renumbered(found.topics) if question and found.topics else [],
    )


def earlier_set(judgment_set: JudgmentSet) -> JudgmentSet | None:
    return judgment_set.collection.judgment_sets.ready().last()


def review_of_judgments(judgment_set: JudgmentSet) -> Review:
    found = read_judgments_preview(judgment_set)
    grading = Grading.of(judgment_set, found, earlier_set(judgment_set)) if found else None
    return Review(
        files=[_judgments_file(judgment_set, grading, matched_later=False)] if grading else [],
        # The question replaces the problem that it asks about.
        groups=[
            group
            for group in group_problems(judgment_set.problems, judgment_set.problem_totals)
            if not (
                group.code == "E_UNKNOWN_TOPIC" and find_question(judgment_set.questions, RENUMBER)
            )
        ],
        grading=grading,
        format_questions=describe_format_questions(judgment_set.questions),
        grade_question=find_question(judgment_set.questions, GRADES).get("because", ""),
        difference=describe_judgment_changes(found.changes) if found is not None else None,
        judgments=found,
        part=_review_of_part(judgment_set, found),
    )


def _review_of_part(judgment_set: JudgmentSet, found: JudgmentsPreview | None) -> PartReview:
    joining = find_question(judgment_set.questions, JOINING)
    conflicts = find_question(judgment_set.questions, CONFLICTS)
    numbers = find_question(judgment_set.questions, RENUMBER)
    return PartReview(
        joining=describe_missing(joining) if joining else "",
        conflicts=describe_conflicts(conflicts) if conflicts else "",
        since=conflicts.get("since", ""),
        first=conflicts.get("first", []),
        rules=JudgmentSet.ConflictRule.choices,
        joined=describe_part(found.part) if found is not None and found.part else "",
        numbers=describe_numbers(numbers) if numbers else "",
    )


@dataclass(frozen=True)
class SetReview:
    """New judgments of a ready collection that are not imported yet."""

    judgment_set: JudgmentSet
    review: Review

    @property
    def is_moving(self) -> bool:
        return self.judgment_set.state in IN_PROGRESS


def _topics_file(found: TopicsPreview, file: FieldFile) -> ReviewedFile:
    described, narrated = found.with_description, found.with_narrative
    facts = ", titles only"
    if described or narrated:
        facts = f", {described:,} with a description, {narrated:,} with a narrative"
    return ReviewedFile(
        part="topics",
        name=found.file,
        kind="Topics",
        format=found.format,
        because=found.because,
        found=counted(found.count, "topic"),
        facts=facts,
        size=_stored_size(file),
    )


def _documents_file(found: DocumentsPreview, file: FieldFile) -> ReviewedFile:
    empty = Remark(found.num_empty, f"{found.num_empty:,} without text", found.empty)
    only_docnos = found.format == "docnos"
    return ReviewedFile(
        part="documents",
        name=found.file,
        kind="Docnos" if only_docnos else "Documents",
        format=found.format,
        because=found.because,
        found=counted(found.count, "docno" if only_docnos else "document"),
        facts="; their texts are elsewhere" if only_docnos else "",
        size=_stored_size(file),
        remarks=[empty] if empty.count and not only_docnos else [],
    )


def _judgments_file(
    judgment_set: JudgmentSet, grading: Grading, matched_later: bool
) -> ReviewedFile:
    found = grading.preview
    in_both = "" if matched_later else f", {found.num_topics_in_both:,} of them in both files"
    # While the numbers do not match, what is missing is not missing yet.
    remarks = _judgment_remarks(grading)[2 if matched_later else 0 :]
    return ReviewedFile(
        part="judgments",
        name=found.file,
        kind=f"Judgments {found.version}",
        format=found.format,
        because=found.because,
        found=counted(found.count, "judgment"),
        facts=f" on {counted(found.topics, 'topic')}{in_both}",
        size=_stored_size(judgment_set.file),
        remarks=[each for each in remarks if each.count],
        notes=describe_form(found),
    )


def _judgment_remarks(grading: Grading) -> list[Remark]:
    found = grading.preview
    unjudged, unknown = found.num_topics_without_judgments, found.num_judgments_without_topics
    empty = grading.num_without_relevant
    return [
        Remark(
            unjudged,
            f"{counted(unjudged, 'topic')} without judgments",
            found.topics_without_judgments,
        ),
        Remark(
            unknown,
            f"{counted(unknown, 'judged topic is,judged topics are')} not in the topics file",
            found.judgments_without_topics,
        ),
        Remark(
            empty,
            f"{counted(empty, 'topic')} without a relevant document",
            grading.without_relevant,
        ),
        Remark(
            found.num_foreign,
            f"{counted(found.num_foreign, 'judgment')} of documents outside the collection",
            found.foreign,
        ),
    ]


def _stored_size(file: FieldFile) -> int | None:
    return file.size if file and file.storage.exists(file.name) else None


def _renumbered(topics: TopicsPreview) -> list[Renumbered]:
    return [
        Renumbered(topic.number, place, topic.title)
        for place, topic in enumerate(topics.first, start=1)
    ]


@dataclass(frozen=True)
class ImportInProgress:
    """Files that a worker checks or imports, with its job and the jobs ahead of it."""

    name: str
    state: str
    job: Job | None

    @property
    def ahead(self) -> int:
        queued = self.job is not None and self.job.state == Job.State.QUEUED
        return Job.objects.ahead_of(self.job).count() if self.job and queued else 0


def imports_in_progress(
    collection: Collection, judgment_sets: Iterable[JudgmentSet]
) -> list[ImportInProgress]:
    """Return the running import of a collection, or those of its new judgments."""
    if collection.state in IN_PROGRESS:
        return [
            ImportInProgress(
                "The files", collection.state, _latest_job("collection", collection.pk)
            )
        ]
    return [
        ImportInProgress(f"Judgments {each.version}", each.state, _latest_job("judgments", each.pk))
        for each in judgment_sets
        if each.state in IN_PROGRESS
    ]


def _latest_job(noun: str, pk: int) -> Job | None:
    kinds = [f"check_{noun}", f"import_{noun}"]
    kinds += ["fetch_dataset"] if noun == "collection" else []
    return Job.objects.filter(kind__in=kinds, target_id=str(pk)).order_by("-pk").first()
