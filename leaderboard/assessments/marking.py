"""Marks: the replies of assessors, each written once and never changed."""

from __future__ import annotations

import math
import re
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.models import Assessor, AssignedDocument, Assignment, Mark

# An assessor who looks longer was away.
MOST_SECONDS = 3600
# What says when an assessor was last here is not written with every mark.
SEEN_AGAIN = timedelta(minutes=1)
KEY = re.compile(r"[0-9A-Za-z_-]{1,40}")
Kind = Mark.Kind
STATE_AFTER = {
    Kind.GRADE: AssignedDocument.State.JUDGED,
    Kind.CANNOT: AssignedDocument.State.CANNOT,
    Kind.LATER: AssignedDocument.State.LATER,
    Kind.UNDO: AssignedDocument.State.WAITING,
}
OPEN_STATES = (AssignedDocument.State.WAITING, AssignedDocument.State.LATER)

# The largest number that a database takes.
LARGEST = 2**63 - 1

Code = Literal["E_CLOSED", "E_CONFLICT", "E_FIELD", "E_NOT_FOUND"]


class MarkError(Exception):
    """A mark that is not taken, with a code for programs and a sentence for people."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class SentMark:
    """What an assessor says about a document, as a page or a program sends it.

    `key` is the identity of the mark: one that is sent again is not counted again.
    `replaces` is the key of the mark that this one corrects or undoes.
    """

    document: int
    kind: str = Kind.GRADE
    grade: int | None = None
    reason: str = ""
    rationale: str = ""
    spans: list[list[int]] = field(default_factory=list)
    seconds: float | None = None
    by: str = Mark.By.CLICK
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    replaces: str = ""


def record_mark(assignment: Assignment, sent: SentMark) -> Mark:
    """Write the mark of an assessor, or find it if it was sent before.  Raises MarkError.

    The marks of a document are a chain, and the database lets only one mark follow another.  So
    of two marks that arrive at once one is refused.
    """
    _refuse_unreadable(sent)
    known = _find_sent(assignment.assessor, sent)
    if known is not None:
        return known
    _refuse_unfit(assignment, sent)
    try:
        with transaction.atomic():
            _refuse_closed(lock_assessors(pk=assignment.assessor_id))
            mark = _append(assignment, sent)
            AssignedDocument.objects.filter(pk=sent.document).update(
                state=STATE_AFTER[Kind(mark.kind)],
                mark=None if mark.kind == Kind.UNDO else mark,
                tab="",
                leased_until=None,
            )
            note_seen(assignment.assessor)
            return mark
    except IntegrityError:
        known = _find_sent(assignment.assessor, sent)
        if known is not None:
            return known
        raise MarkError("E_CONFLICT", "You judged this document in another tab.") from None


def note_seen(assessor: Assessor) -> None:
    """Record that an assessor judges now, at most once a minute."""
    now, before = timezone.now(), assessor.last_seen_at
    if before is None or now - before > SEEN_AGAIN:
        Assessor.objects.filter(pk=assessor.pk).update(last_seen_at=now)
        assessor.last_seen_at = now


def lock_assessors(**which: object) -> list[Assessor]:
    """Lock assessors until the transaction ends, and return them with their assessment as it is.

    Writing a mark locks its assessor, and closing an assessment locks all its assessors.  So each
    mark is either part of what closing makes or refused.
    """
    locked = Assessor.objects.select_for_update().filter(**which).order_by("pk")
    keys = [assessor.pk for assessor in locked]
    return list(Assessor.objects.filter(pk__in=keys).select_related("assessment"))


def _refuse_closed(assessors: list[Assessor]) -> None:
    for assessor in assessors:
        if not assessor.assessment.accepts_marks:
            raise MarkError("E_CLOSED", f"The judging is {assessor.assessment.state}.")


def _find_sent(assessor: Assessor, sent: SentMark) -> Mark | None:
    """Return the mark with this identity; refuse the identity for another mark."""
    mark = Mark.objects.filter(assessor=assessor, key=sent.key).first()
    if mark is None:
        return None
    same = (mark.document_id, mark.kind, mark.grade)
    if same != (sent.document, sent.kind, sent.grade):
        raise MarkError("E_CONFLICT", "This key belongs to another mark.")
    return mark


def _refuse_unreadable(sent: SentMark) -> None:
    """Refuse texts that no database compares or stores."""
    if not KEY.fullmatch(sent.key) or len(sent.rationale) > 2000 or "\0" in sent.rationale:
        raise MarkError("E_FIELD", "A key has 1 to 40 letters, a remark at most 2,000 characters.")


def _refuse_unfit(assignment: Assignment, sent: SentMark) -> None:
    assessment = assignment.assessor.assessment
    if not assessment.accepts_marks:
        raise MarkError("E_CLOSED", f"The judging is {assessment.state}.")
    if assignment.finished_at is not None:
        raise MarkError("E_CLOSED", "You have finished this topic.")
    if sent.kind not in Kind.values:
        raise MarkError("E_FIELD", f"A mark is one of: {', '.join(Kind.values)}.")
    if (sent.kind == Kind.CANNOT) != (sent.reason in Mark.Reason.values):
        raise MarkError("E_FIELD", "Say why you cannot judge the document.")
    grades = [grade.grade for grade in assessment.guideline.scale]
    if sent.kind == Kind.GRADE and sent.grade not in grades:
        raise MarkError("E_FIELD", f"The grades are {', '.join(map(str, sorted(grades)))}.")
    if sent.kind != Kind.GRADE and sent.grade is not None:
        raise MarkError("E_FIELD", "Only a grade has a number.")


def _append(assignment: Assignment, sent: SentMark) -> Mark:
    """Add the mark to the end of the document's chain."""
    own = AssignedDocument.objects.filter(assignment=assignment)
    document = own.filter(pk=min(sent.document, LARGEST)).first()
    if document is None or document.state == AssignedDocument.State.PASSED:
        raise MarkError("E_NOT_FOUND", "This document is not yours to judge.")
    last = document.marks.filter(replaced_by=None).first()
    is_current = last is not None and last.key == sent.replaces and last.kind != Kind.UNDO
    if sent.replaces and not is_current:
        raise MarkError("E_CONFLICT", "This mark was changed in another tab.")
    if not sent.replaces and document.state not in OPEN_STATES:
        raise MarkError("E_CONFLICT", "You judged this document in another tab.")
    if sent.kind == Kind.UNDO and not sent.replaces:
        raise MarkError("E_FIELD", "An undo names the mark that it takes back.")
    return Mark.objects.create(
        document=document,
        assessor=assignment.assessor,
        key=sent.key,
        kind=sent.kind,
        grade=sent.grade,
        reason=sent.reason,
        rationale=sent.rationale,
        spans=_clean_spans(sent.spans),
        seconds=_clean_seconds(sent.seconds),
        by=sent.by if sent.by in Mark.By.values else Mark.By.CLICK,
        guideline=assignment.assessor.assessment.guideline,
        replaces=last,
    )


def _clean_seconds(seconds: float | None) -> float | None:
    """Return the seconds within bounds; None if they are no number."""
    if seconds is None or not math.isfinite(seconds):
        return None
    return round(min(max(seconds, 0.0), MOST_SECONDS), 1)


def _clean_spans(spans: list[list[int]]) -> list[list[int]]:
    """Return the marked passages in order, at most twenty."""
    fit = [span for span in spans if len(span) == 2 and 0 <= span[0] < span[1]]
    return sorted(fit)[:20]
