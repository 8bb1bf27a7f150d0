"""Another file in place of a faulty one: the others stay, and everything is checked again."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from leaderboard.actions.submission_rules import NotPossible
from leaderboard.actions.uploads import digest_of, label_of, refuse_files, size_of
from leaderboard.collections.answers import Answers, complete_grade_map
from leaderboard.jobs import queue
from leaderboard.models import AuditEvent, Collection, JudgmentSet, User
from leaderboard.models.collections import ImportState

FIRST_VERSION = "v1"


@dataclass(frozen=True)
class Replacements:
    """The files that are sent anew; None where the one that is there stays."""

    topics: UploadedFile | None = None
    documents: UploadedFile | None = None
    judgments: UploadedFile | None = None


def replace_files(collection: Collection, user: User, files: Replacements) -> None:
    """Check a collection again that is not imported, with these files in place of the old ones.

    Raises NotAccepted for a file that is too large, NotPossible once it is imported.
    """
    refuse_files((files.topics, files.documents, files.judgments))
    with transaction.atomic():
        check_again(collection, user)
        formats = dict(collection.formats)
        for part in ("topics", "documents"):
            file = getattr(files, part)
            if file is not None:
                formats.pop(part, None)
                setattr(collection, f"{part}_file", stored(part, file))
                setattr(collection, f"{part}_filename", label_of(file))
                collection.size = stored_size(collection)
        if files.judgments is not None:
            formats.pop("judgments", None)
            judgment_set = collection.judgment_sets.first() or JudgmentSet(
                collection=collection, version=FIRST_VERSION, created_by=user
            )
            put_in_place(judgment_set, files.judgments)
        collection.formats = formats
        collection.save(update_fields=[*FILES, "formats"])


def stored_size(collection: Collection) -> int:
    return sum(file.size for file in (collection.topics_file, collection.documents_file) if file)


FILES = ("size", "topics_file", "topics_filename", "documents_file", "documents_filename")


def replace_judgments(judgment_set: JudgmentSet, user: User, file: UploadedFile | None) -> None:
    """Check new judgments again, with this file in place of the one that was refused."""
    refuse_files((file,))
    with transaction.atomic():
        check_judgments_again(judgment_set, user)
        if file is not None:
            put_in_place(judgment_set, file)


def put_in_place(judgment_set: JudgmentSet, file: UploadedFile) -> None:
    """What was said of the old file is not said of this one."""
    judgment_set.sha256 = digest_of(file)
    judgment_set.file = stored("judgments", file)
    judgment_set.filename = label_of(file)
    judgment_set.size = size_of(file)
    judgment_set.format, judgment_set.grade_map, judgment_set.relevant_from = "", {}, 1
    judgment_set.state = ImportState.QUEUED
    judgment_set.save()


def stored(part: str, file: UploadedFile) -> str:
    return default_storage.save(f"collections/{secrets.token_hex(8)}/{part}", file)


WAITING = (ImportState.PREVIEW,)
STOPPED = (ImportState.PREVIEW, ImportState.REFUSED, ImportState.FAILED)


@transaction.atomic
def confirm_collection(collection: Collection, user: User, answers: Answers | None = None) -> None:
    """Check the files again with the answers given, and import them.

    An open question has to be answered: raises NotPossible.
    """
    answers = answers or Answers()
    if left := answers.first_open_question(collection.questions):
        raise NotPossible(left)
    _check_again(collection, WAITING, asks_first=False, answers=answers)
    AuditEvent.objects.record(user, "confirm", collection)


def look_again(collection: Collection, user: User, answers: Answers) -> None:
    """Show what was found under other answers; nothing is imported.

    What the grades become is told from the preview; for other answers the files are read again.
    """
    if answers.formats or answers.renumber_topics is not None:
        check_again(collection, user, answers)
        return
    waiting = collection.judgment_sets.filter(state=ImportState.PREVIEW)
    waiting.update(**_said_of_grades(answers, collection.preview.get("judgments", {})))


@transaction.atomic
def check_again(collection: Collection, user: User, answers: Answers | None = None) -> None:
    """Read the files of a collection that is not imported once more, and show what is found."""
    _check_again(collection, STOPPED, asks_first=True, answers=answers or Answers())
    AuditEvent.objects.record(user, "check again", collection)


def _check_again(
    collection: Collection, states: Iterable[str], asks_first: bool, answers: Answers
) -> None:
    taken = Collection.objects.filter(pk=collection.pk, state__in=states).update(
        state=ImportState.QUEUED, asks_first=asks_first
    )
    if not taken:
        raise NotPossible("This collection is not awaiting confirmation.")
    collection.formats = {**collection.formats, **(answers.formats or {})}
    if answers.renumber_topics is not None:
        collection.renumber_topics = answers.renumber_topics
    Collection.objects.filter(pk=collection.pk).update(
        formats=collection.formats, renumber_topics=collection.renumber_topics
    )
    collection.judgment_sets.update(
        state=ImportState.QUEUED,
        format=collection.formats.get("judgments", ""),
        **_said_of_grades(answers, collection.preview.get("judgments", {})),
    )
    queue.enqueue("check_collection", collection)


def _said_of_grades(answers: Answers, preview: dict[str, Any]) -> dict[str, Any]:
    """The fields of a set of judgments that the answers change."""
    said: dict[str, Any] = {}
    if answers.grade_map is not None:
        said["grade_map"] = complete_grade_map(answers.grade_map, preview.get("grades", {}))
    if answers.relevant_from is not None:
        said["relevant_from"] = answers.relevant_from
    return said


def confirm_judgments(
    judgment_set: JudgmentSet, user: User, answers: Answers | None = None
) -> None:
    """Check new judgments again with the answers given, and import them; see above."""
    answers = answers or Answers()
    if left := answers.first_open_question(judgment_set.questions):
        raise NotPossible(left)
    _check_judgments_again(judgment_set, WAITING, asks_first=False, answers=answers)
    AuditEvent.objects.record(user, "confirm", judgment_set)


def check_judgments_again(
    judgment_set: JudgmentSet, user: User, answers: Answers | None = None
) -> None:
    """Read new judgments again under other answers: what they change depends on the grades."""
    answers = answers or Answers()
    _check_judgments_again(judgment_set, STOPPED, asks_first=True, answers=answers)
    AuditEvent.objects.record(user, "check again", judgment_set)


@transaction.atomic
def _check_judgments_again(
    judgment_set: JudgmentSet, states: Iterable[str], asks_first: bool, answers: Answers
) -> None:
    taken = JudgmentSet.objects.filter(
        pk=judgment_set.pk, state__in=states, collection__state=ImportState.READY
    ).update(
        state=ImportState.QUEUED,
        asks_first=asks_first,
        format=(answers.formats or {}).get("judgments", judgment_set.format),
        **_said_of_grades(answers, judgment_set.preview),
    )
    if not taken:
        raise NotPossible("These judgments are not awaiting confirmation.")
    queue.enqueue("check_judgments", judgment_set)


def discard_judgments(judgment_set: JudgmentSet, user: User) -> None:
    """Take away new judgments that were never imported."""
    with transaction.atomic():
        version = {"version": judgment_set.version}
        AuditEvent.objects.record(user, "discard", judgment_set, before=version)
        never_imported = JudgmentSet.objects.filter(pk=judgment_set.pk, state__in=STOPPED)
        deleted, _ = never_imported.filter(collection__state=ImportState.READY).delete()
        if not deleted:
            raise NotPossible("Imported judgments cannot be deleted: scores use them.")


def discard_collection(collection: Collection, user: User) -> None:
    """Take away a collection that was never imported."""
    with transaction.atomic():
        AuditEvent.objects.record(user, "discard", collection, before={"slug": collection.slug})
        deleted, _ = (
            Collection.objects.filter(pk=collection.pk, tracks=None)
            .exclude(state__in=[ImportState.READY, ImportState.IMPORTING])
            .delete()
        )
    if not deleted:
        raise NotPossible("This collection cannot be deleted: tracks use it.")
