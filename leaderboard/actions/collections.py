"""Confirm, check again, correct or discard a collection or its judgments.

Downloads of files that not everyone may have are recorded here too.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from leaderboard.actions.machine_judgments import reread_answers
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.uploads import (
    clean_filename,
    queue_check,
    refuse_files,
    store_intents,
    store_version_file,
)
from leaderboard.actions.versions import (
    CHECKABLE,
    CONFIRMABLE,
    check_version_again,
    confirm_version,
    discard_version,
)
from leaderboard.collections.checking import find_previous_set
from leaderboard.collections.choices import ImportChoices, complete_grade_map
from leaderboard.collections.preview import (
    JudgmentsPreview,
    read_judgments_preview,
    read_preview,
)
from leaderboard.models import AuditEvent, Collection, Download, JudgmentSet, User
from leaderboard.models.collections import ImportState
from leaderboard.models.registrations import FileReaders
from leaderboard.sight.readers import Viewer

FIRST_VERSION = "v1"


@dataclass(frozen=True)
class Replacements:
    """The files that replace stored ones; None keeps the stored file."""

    topics: UploadedFile | None = None
    documents: UploadedFile | None = None
    judgments: UploadedFile | None = None
    intents: UploadedFile | None = None
    groups: UploadedFile | None = None


def replace_files(collection: Collection, user: User, files: Replacements) -> None:
    """Replace files of a collection that is not imported, and check it again.

    Raises NotAccepted for a file that is too large, and ActionError once it is imported.
    """
    refuse_files((files.topics, files.documents, files.judgments, files.intents, files.groups))
    with transaction.atomic():
        check_again(collection, user)
        formats = dict(collection.formats)
        for part in ("topics", "documents", "groups"):
            file = getattr(files, part)
            if file is not None:
                formats.pop(part, None)
                setattr(collection, f"{part}_file", store_part(part, file))
                setattr(collection, f"{part}_filename", clean_filename(file))
                collection.size = sum_sizes(collection)
        if files.judgments is not None:
            formats.pop("judgments", None)
            judgment_set = collection.judgment_sets.first() or JudgmentSet(
                collection=collection, version=FIRST_VERSION, created_by=user
            )
            replace_judgment_file(judgment_set, files.judgments)
        replace_intents(collection.judgment_sets.first(), files.intents)
        collection.formats = formats
        collection.save(update_fields=[*FILE_FIELDS, "formats"])


def sum_sizes(collection: Collection) -> int:
    files = (collection.topics_file, collection.documents_file, collection.groups_file)
    return sum(file.size for file in files if file)


FILE_FIELDS = (
    *("size", "topics_file", "topics_filename", "documents_file", "documents_filename"),
    *("groups_file", "groups_filename"),
)


def replace_judgments(
    judgment_set: JudgmentSet,
    user: User,
    file: UploadedFile | None,
    intents: UploadedFile | None = None,
) -> None:
    """Replace the files of rejected judgments and check them again.

    Those of a machine are read as its answers; raises `Refused` with every problem of them.
    """
    refuse_files((file, intents))
    with transaction.atomic():
        check_judgments_again(judgment_set, user)
        if file is not None and judgment_set.made_by == JudgmentSet.MadeBy.MACHINE:
            file = reread_answers(judgment_set, file)
        if file is not None:
            replace_judgment_file(judgment_set, file)
        replace_intents(judgment_set, intents)


def replace_judgment_file(judgment_set: JudgmentSet, file: UploadedFile) -> None:
    """Store the new file and clear the settings of the old one."""
    store_version_file(judgment_set, file)
    judgment_set.format, judgment_set.grade_map, judgment_set.relevant_from = "", {}, 1
    judgment_set.state = ImportState.QUEUED
    judgment_set.save()


def replace_intents(judgment_set: JudgmentSet | None, file: UploadedFile | None) -> None:
    """Replace the probabilities of subtopics, if a file was sent for these judgments."""
    if judgment_set is not None and file is not None:
        JudgmentSet.objects.filter(pk=judgment_set.pk).update(**store_intents(file))


def store_part(part: str, file: UploadedFile) -> str:
    return default_storage.save(f"collections/{secrets.token_hex(8)}/{part}", file)


@transaction.atomic
def confirm_collection(
    collection: Collection, user: User, choices: ImportChoices | None = None
) -> None:
    """Check the files again with the choices given, and import them.

    Raises ActionError while a question is unanswered.
    """
    choices = choices or ImportChoices()
    if left := choices.first_open_question(collection.questions):
        raise ActionError(left)
    _check_again(collection, CONFIRMABLE, asks_first=False, choices=choices)
    AuditEvent.objects.record(user, "confirm", collection)


def preview_choices(collection: Collection, user: User, choices: ImportChoices) -> None:
    """Preview the collection under other choices, without importing it.

    Those about grades use the stored preview; for other choices the files are read again.
    """
    if choices.formats or choices.renumber_topics is not None or choices.grouping is not None:
        check_again(collection, user, choices)
        return
    waiting = collection.judgment_sets.filter(state=ImportState.PREVIEW)
    waiting.update(**_grade_fields(choices, read_preview(collection).judgments))


@transaction.atomic
def check_again(collection: Collection, user: User, choices: ImportChoices | None = None) -> None:
    """Read the files of a collection that is not imported again and preview them."""
    _check_again(collection, CHECKABLE, asks_first=True, choices=choices or ImportChoices())
    AuditEvent.objects.record(user, "check again", collection)


def _check_again(
    collection: Collection, states: Iterable[str], asks_first: bool, choices: ImportChoices
) -> None:
    queued = Collection.objects.filter(pk=collection.pk, state__in=states).update(
        state=ImportState.QUEUED, asks_first=asks_first
    )
    if not queued:
        raise ActionError("This collection is not awaiting confirmation.")
    collection.formats = {**collection.formats, **(choices.formats or {})}
    if choices.renumber_topics is not None:
        collection.renumber_topics = choices.renumber_topics
    collection.grouping = choices.grouping or collection.grouping
    Collection.objects.filter(pk=collection.pk).update(
        formats=collection.formats,
        renumber_topics=collection.renumber_topics,
        grouping=collection.grouping,
    )
    collection.judgment_sets.update(
        state=ImportState.QUEUED,
        format=collection.formats.get("judgments", ""),
        **_grade_fields(choices, read_preview(collection).judgments),
    )
    queue_check(collection)


def _grade_fields(choices: ImportChoices, preview: JudgmentsPreview | None) -> dict[str, Any]:
    """Return the fields of a judgment set that the choices change."""
    fields: dict[str, Any] = {}
    if choices.grade_map is not None:
        grades = [] if preview is None else [str(grade) for grade in preview.grades]
        grade_map = complete_grade_map(choices.grade_map, grades)
        # A document of a sample that was not drawn has no grade to map.
        is_sample = preview is not None and preview.strata is not None
        kept = (grade for grade in grade_map if not is_sample or int(grade) >= 0)
        fields["grade_map"] = {grade: grade_map[grade] for grade in kept}
    if choices.relevant_from is not None:
        fields["relevant_from"] = choices.relevant_from
    return fields


def _part_fields(choices: ImportChoices, judgment_set: JudgmentSet) -> dict[str, Any]:
    """Return the fields that say whether a file is a part, of what, and whose grade counts."""
    fields: dict[str, Any] = {}
    if choices.joining is not None:
        fields["joining"] = choices.joining
        fields["joined_to"] = judgment_set.joined_to or find_previous_set(judgment_set)
    if choices.renumber_topics is not None:
        fields["counts_topics"] = choices.renumber_topics
    if choices.conflict_rule is not None:
        fields["conflict_rule"] = choices.conflict_rule
    return fields


def confirm_judgments(
    judgment_set: JudgmentSet, user: User, choices: ImportChoices | None = None
) -> None:
    """Check new judgments again with the choices given, and import them."""
    choices = choices or ImportChoices()
    if left := choices.first_open_question(judgment_set.questions):
        raise ActionError(left)
    _refuse_first_judgments(judgment_set)
    confirm_version(judgment_set, user, **_chosen_fields(choices, judgment_set))


def check_judgments_again(
    judgment_set: JudgmentSet, user: User, choices: ImportChoices | None = None
) -> None:
    """Read new judgments again under other choices and preview them."""
    _refuse_first_judgments(judgment_set)
    choices = choices or ImportChoices()
    check_version_again(judgment_set, user, **_chosen_fields(choices, judgment_set))


def _chosen_fields(choices: ImportChoices, judgment_set: JudgmentSet) -> dict[str, Any]:
    """Return the fields of new judgments that the choices change."""
    return {
        "format": (choices.formats or {}).get("judgments", judgment_set.format),
        **_grade_fields(choices, read_judgments_preview(judgment_set)),
        **_part_fields(choices, judgment_set),
    }


def _refuse_first_judgments(judgment_set: JudgmentSet) -> None:
    """Raise ActionError for the judgments of a collection that is not imported yet."""
    collection = Collection.objects.filter(pk=judgment_set.collection_id)
    if not collection.filter(state=ImportState.READY).exists():
        raise ActionError("These judgments are not awaiting confirmation.")


def discard_judgments(judgment_set: JudgmentSet, user: User) -> None:
    """Delete new judgments that were never imported."""
    _refuse_first_judgments(judgment_set)
    discard_version(judgment_set, user)


@transaction.atomic
def state_judged_by_people(judgment_set: JudgmentSet, user: User) -> None:
    """State that people made imported judgments.  Raises ActionError if it is known already."""
    unknown = JudgmentSet.objects.filter(pk=judgment_set.pk, made_by="")
    if not unknown.update(made_by=JudgmentSet.MadeBy.PEOPLE):
        raise ActionError("Who made these judgments is already stated.")
    after = {"made_by": str(JudgmentSet.MadeBy.PEOPLE)}
    AuditEvent.objects.record(user, "state judges", judgment_set, after=after)


def discard_collection(collection: Collection, user: User) -> None:
    """Delete a collection that was never imported."""
    with transaction.atomic():
        AuditEvent.objects.record(user, "discard", collection, before={"slug": collection.slug})
        deleted, _ = (
            Collection.objects.filter(pk=collection.pk, tracks=None)
            .exclude(state__in=[ImportState.READY, ImportState.IMPORTING])
            .delete()
        )
    if not deleted:
        raise ActionError("This collection cannot be deleted: tracks use it.")


def record_download(viewer: Viewer, collection: Collection, file: str, readers: str) -> None:
    """Record who downloads a file that not everyone may have."""
    if readers != FileReaders.EVERYONE and isinstance(viewer, User):
        Download.objects.create(collection=collection, file=file, user=viewer)
