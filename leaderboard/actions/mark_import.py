"""Import marks that were made elsewhere into an assessment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction

from evaluation.problems import Problem
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments.mark_files import MarkSource, read_mark_files
from leaderboard.assessments.mark_storage import store_marks
from leaderboard.models import Assessment, AuditEvent, User


@dataclass(frozen=True)
class ImportedMarks:
    """How many marks came in, under which pseudonyms, and what is worth knowing of them."""

    num_marks: int
    assessors: list[str]
    notes: list[Problem]


def import_marks(
    assessment: Assessment, user: User, files: Sequence[UploadedFile], format: str = ""
) -> ImportedMarks:
    """Import the marks of one or several files as those of assessors without an account.

    `format` is jsonl, trec or doccano; found out if it is empty.  Files of qrels may be one per
    assessor, each named after it.  Raises ActionError, and `Refused` with every problem: then no
    mark of any file is imported.
    """
    if assessment.learns:
        raise ActionError("This order draws the documents itself, so marks cannot be imported.")
    sources = [MarkSource(file.name or "marks", file) for file in files]
    checked = read_mark_files(assessment, sources, format)
    try:
        with transaction.atomic():
            _refuse_closed(assessment)
            assessors = [assessor.name for assessor in store_marks(assessment, checked.marks)]
            after = {"marks": len(checked.marks), "assessors": assessors}
            AuditEvent.objects.record(user, "import", assessment, after=after)
    except IntegrityError:
        raise ActionError("The assessors have changed meanwhile. Import the marks again.") from None
    return ImportedMarks(len(checked.marks), assessors, checked.notes)


def _refuse_closed(assessment: Assessment) -> None:
    """Refuse marks for a closed assessment; an open one stays open until they are stored."""
    unfinished = Assessment.objects.unfinished().select_for_update()
    if not unfinished.filter(pk=assessment.pk).exists():
        raise ActionError("The judging is closed.")
