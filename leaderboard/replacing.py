"""Another file in place of a faulty one: the others stay, and everything is checked again."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from leaderboard.models import Collection, JudgmentSet, User
from leaderboard.models.collections import ImportState
from leaderboard.organising import check_again, check_judgments_again
from leaderboard.uploads import digest_of, label_of, refuse_files, size_of

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
