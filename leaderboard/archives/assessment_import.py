"""Import an assessment from the archive of its track: guidelines, assignments and the log of marks.

Assessors come without accounts, so organisers reassign what they left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import IntegrityError, transaction

from evaluation.problems import Refused
from evaluation.reading.judging.marks import read_marks
from leaderboard.archives.manifests import AssessmentEntry, AssignmentEntry
from leaderboard.archives.track_import import (
    clean_values,
    find_judgments,
    find_version,
    read_json_lines,
)
from leaderboard.archives.zip_files import Archive, ArchiveError
from leaderboard.assessments.mark_files import WorkPlace, choose_guidelines, place_of
from leaderboard.assessments.mark_storage import append_marks
from leaderboard.models import (
    Assessment,
    Assessor,
    AssignedDocument,
    Assignment,
    Guideline,
    PracticeDocument,
    Settlement,
    Topic,
    Track,
)
from leaderboard.models.assessments import GradeText

Row = TypeVar("Row")


@dataclass(frozen=True)
class RestoredAssessment:
    """The rows that others refer to, by their names in the archive."""

    topics: Mapping[str, Topic]
    guidelines: Mapping[int | None, Guideline]
    assessors: Mapping[str, Assessor]


def restore_assessment(archive: Archive, entry: AssessmentEntry, track: Track) -> Assessment:
    """Restore an assessment of a pool that is here already; raises ArchiveError."""
    pool = track.pools.filter(name=entry.pool).first()
    if pool is None:
        raise ArchiveError(f"it names a pool {entry.pool} and does not contain it")
    try:
        with transaction.atomic():
            assessment = Assessment.objects.create(
                track=track,
                pool=pool,
                created_by=track.benchmark.owner,
                version=find_judgments(track.collection, entry.version),
                layer=find_version(track.mark_layers.all(), entry.layer),
                **clean_values(Assessment, entry.fields),
            )
            track.collection.judgment_sets.filter(version__in=entry.judgments).update(
                assessment=assessment
            )
            track.mark_layers.filter(version__in=entry.layers).update(assessment=assessment)
            restore_log(archive, entry, assessment)
    except IntegrityError:
        raise ArchiveError(f"its assessment {entry.name} contradicts itself") from None
    return assessment


def restore_log(archive: Archive, entry: AssessmentEntry, assessment: Assessment) -> None:
    """Restore who judges what, and every mark."""
    owner = assessment.created_by
    for values in entry.guidelines:
        check_grades(values)
        Guideline.objects.create(
            assessment=assessment, created_by=owner, **clean_values(Guideline, values)
        )
    assessors = [
        Assessor.objects.create(assessment=assessment, user=None, **clean_values(Assessor, values))
        for values in entry.assessors
    ]
    restored = RestoredAssessment(
        topics={topic.number: topic for topic in assessment.track.collection.topics.all()},
        guidelines=choose_guidelines(assessment),
        assessors={assessor.name: assessor for assessor in assessors},
    )
    restore_decisions(entry, assessment, restored)
    assignments = {
        (row.assessor, row.topic): restore_assignment(row, restored) for row in entry.assignments
    }
    folder = f"assessments/{entry.name}"
    runs = assessment.pool.summary["runs"]
    documents = restore_documents(archive, f"{folder}/documents.jsonl", assignments, runs)
    restore_marks(archive, f"{folder}/marks.jsonl", documents, restored)


def check_grades(values: dict[str, Any]) -> None:
    """Raise ArchiveError unless the grades of a guideline are those that pages can show."""
    try:
        for grade in values["grades"]:
            GradeText(**grade)
    except (KeyError, TypeError):
        raise ArchiveError("a guideline of its assessments has an unknown form") from None


def restore_decisions(
    entry: AssessmentEntry, assessment: Assessment, restored: RestoredAssessment
) -> None:
    """Restore the documents of the practice, and what organisers settled."""
    for practice in entry.practice:
        PracticeDocument.objects.create(
            assessment=assessment,
            topic=find_row(restored.topics, practice.topic),
            **clean_values(PracticeDocument, practice.fields),
        )
    for settled in entry.settlements:
        Settlement.objects.create(
            assessment=assessment,
            topic=find_row(restored.topics, settled.topic),
            settled_by=assessment.created_by,
            **clean_values(Settlement, settled.fields),
        )


def restore_assignment(entry: AssignmentEntry, restored: RestoredAssessment) -> Assignment:
    read = entry.read_guideline
    return Assignment.objects.create(
        assessor=find_row(restored.assessors, entry.assessor),
        topic=find_row(restored.topics, entry.topic),
        read_guideline=None if read is None else find_row(restored.guidelines, read),
        **clean_values(Assignment, entry.fields),
    )


def restore_documents(
    archive: Archive,
    name: str,
    assignments: Mapping[tuple[str, str], Assignment],
    runs: Sequence[str],
) -> dict[WorkPlace, AssignedDocument]:
    """Restore the documents in their order of judging; return them by their places."""
    documents = {}
    for row in read_json_lines(archive, name):
        share = str(row.pop("assessor", "")), str(row.pop("topic", ""))
        number = row.pop("drawn_from", None)
        drawn_from = None if number is None else find_row(dict(enumerate(runs)), number)
        values = clean_values(AssignedDocument, row)
        document = AssignedDocument(
            assignment=find_row(assignments, share), drawn_from_id=drawn_from, **values
        )
        documents[WorkPlace(*share, document.docno, document.is_repeat)] = document
    AssignedDocument.objects.bulk_create(documents.values(), batch_size=1000)
    return documents


def restore_marks(
    archive: Archive,
    name: str,
    documents: Mapping[WorkPlace, AssignedDocument],
    restored: RestoredAssessment,
) -> None:
    """Restore the marks; the states of documents are restored with the documents."""
    with archive.member(name) as file:
        if not file.read(1):
            return
        file.seek(0)
        try:
            marks = read_marks(file, "marks.jsonl").marks
        except Refused as refusal:
            raise ArchiveError(f"{name}: {refusal}") from None
    for mark in marks:
        find_row(documents, place_of(mark))
    append_marks(marks, documents, restored.guidelines)


def find_row(rows: Mapping[Any, Row], name: Any) -> Row:
    """Return the row that has this name in the archive; raises ArchiveError."""
    if name not in rows:
        raise ArchiveError(f"an assessment names {name} and does not contain it")
    return rows[name]
