"""Accept files of collections: check that they are allowed, store them and queue their check.

Nothing here reads a file's contents, so a request takes only as long as the bytes need to arrive.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction

from leaderboard.actions.refusals import NotAccepted
from leaderboard.actions.submission_rules import refuse_full_site, refuse_large
from leaderboard.collections.beir import write_beir_files
from leaderboard.collections.pools import record_pooled_runs
from leaderboard.collections.published import UnavailableCollectionError
from leaderboard.jobs import queue
from leaderboard.models import (
    AuditEvent,
    Collection,
    JudgmentSet,
    Pool,
    User,
)
from leaderboard.models.collections import ImportedVersion

FILENAME_LIMIT = 120


def hash_file(file: UploadedFile) -> str:
    """Return the SHA-256 of a file; an upload has been hashed while it arrived."""
    known: str | None = getattr(file, "sha256", None)
    if known is None:
        digest = hashlib.sha256()
        for chunk in file.chunks():
            digest.update(chunk)
        known = digest.hexdigest()
    file.seek(0)
    return known


def clean_filename(file: UploadedFile) -> str:
    """Return the sender's name of the file: a label to show, never a path to write."""
    name = "".join(c for c in (file.name or "") if c.isprintable())
    return name[:FILENAME_LIMIT]


@dataclass(frozen=True)
class CollectionFiles:
    """The uploaded files of a new collection."""

    topics: UploadedFile
    documents: UploadedFile | None = None
    judgments: UploadedFile | None = None
    # The probabilities of the subtopics that the judgments name.
    intents: UploadedFile | None = None
    # The group of each topic.
    groups: UploadedFile | None = None


@contextmanager
def unpack_beir(file: UploadedFile, split: str) -> Iterator[CollectionFiles]:
    """Yield topics, documents and judgments of one split of a zip of BEIR.

    Raises NotAccepted for a zip that is too large, packed or not, or has other files.
    """
    refuse_large(file, settings.COLLECTION_UPLOAD_LIMIT)
    with TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder, ExitStack() as stack:
        try:
            paths = write_beir_files(file, split, Path(folder))
        except UnavailableCollectionError as reason:
            raise NotAccepted("E_FIELD", f"{reason}.") from None
        opened = {
            part: File(stack.enter_context(path.open("rb")), name=path.name)
            for part, path in paths.items()
        }
        yield CollectionFiles(**opened)


def refuse_files(files: Iterable[UploadedFile | None]) -> None:
    """Raise NotAccepted if a file of a collection is too large, or all of them for the site."""
    sent = [file for file in files if file is not None]
    for file in sent:
        refuse_large(file, settings.COLLECTION_UPLOAD_LIMIT)
    refuse_full_site(sum(map(file_size, sent)))


def file_size(file: UploadedFile | None) -> int:
    return 0 if file is None else file.size or 0


def accept_collection(
    collection: Collection,
    files: CollectionFiles,
    version: str = "v1",
    top_grade: int | None = None,
) -> Collection:
    """Store the files of a new collection and queue their check."""
    folder = f"collections/{secrets.token_hex(8)}"
    refuse_files((files.topics, files.documents, files.judgments, files.intents, files.groups))
    collection.size = sum(map(file_size, (files.topics, files.documents, files.groups)))
    collection.topics_file.name = default_storage.save(f"{folder}/topics", files.topics)
    collection.topics_filename = clean_filename(files.topics)
    if files.documents is not None:
        collection.documents_file.name = default_storage.save(
            f"{folder}/documents", files.documents
        )
        collection.documents_filename = clean_filename(files.documents)
    if files.groups is not None:
        collection.groups_file.name = default_storage.save(f"{folder}/groups", files.groups)
        collection.groups_filename = clean_filename(files.groups)
    with transaction.atomic():
        collection.save(force_insert=True)
        if files.judgments is not None:
            _create_judgment_set(
                collection,
                files.judgments,
                version,
                collection.owner,
                format=collection.formats.get("judgments", ""),
                top_grade=top_grade,
                intents=files.intents,
            )
        AuditEvent.objects.record(collection.owner, "upload", collection)
        queue.enqueue("check_collection", collection)
    return collection


def accept_dataset(collection: Collection, version: str = "v1") -> Collection:
    """Save a collection that names a dataset, and queue the job that fetches its files."""
    with transaction.atomic():
        collection.save(force_insert=True)
        JudgmentSet.objects.create(
            collection=collection, version=version, created_by=collection.owner
        )
        named = {"dataset": collection.dataset}
        AuditEvent.objects.record(collection.owner, "upload", collection, after=named)
        queue_check(collection)
    return collection


def queue_check(collection: Collection) -> None:
    """Queue the check of a collection, or first the fetch of files that it does not have yet."""
    queue.enqueue("check_collection" if collection.topics_file else "fetch_dataset", collection)


@dataclass(frozen=True)
class JudgmentsPart:
    """Whether a file of judgments is a whole version or joined with `of`, by default the latest.

    "" as `joining` asks if topics are missing that were judged before; "" as `conflict_rule` asks
    if a document has two grades.
    """

    joining: str = ""
    of: JudgmentSet | None = None
    conflict_rule: str = ""


WHOLE = JudgmentsPart(JudgmentSet.Joining.REPLACE)


def accept_judgments(
    collection: Collection,
    file: UploadedFile,
    version: str,
    user: User,
    note: str = "",
    format: str = "",
    asks_first: bool = True,
    pool: Pool | None = None,
    intents: UploadedFile | None = None,
    part: JudgmentsPart = WHOLE,
) -> JudgmentSet:
    """Store new judgments, possibly those of a pool, and queue their check."""
    refuse_files((file, intents))
    joins = part.joining == JudgmentSet.Joining.JOIN
    latest = collection.judgment_sets.ready().last()
    with transaction.atomic():
        judgment_set = _create_judgment_set(
            collection,
            file,
            version,
            user,
            note=note,
            format=format,
            asks_first=asks_first,
            pool=pool,
            intents=intents,
            joining=part.joining,
            joined_to=(part.of or latest) if joins else None,
            conflict_rule=part.conflict_rule,
        )
        if pool is not None:
            record_pooled_runs(judgment_set, pool)
        AuditEvent.objects.record(user, "upload", judgment_set)
        queue.enqueue("check_judgments", judgment_set)
    return judgment_set


def store_intents(file: UploadedFile | None) -> dict[str, str]:
    """Store the probabilities of subtopics; return the fields of their judgments."""
    if file is None:
        return {}
    name = default_storage.save(f"collections/{secrets.token_hex(8)}/intents", file)
    return {"intents_file": name, "intents_filename": clean_filename(file)}


def store_version(version: ImportedVersion, file: UploadedFile) -> None:
    """Store a new version with its file; raises NotAccepted if its name is taken."""
    store_version_file(version, file)
    try:
        with transaction.atomic():
            version.save(force_insert=True)
    except IntegrityError:
        default_storage.delete(version.file.name)
        raise NotAccepted(
            "E_CONFLICT", f"{version.noun.capitalize()} {version.version} already exist."
        ) from None


def store_version_file(version: ImportedVersion, file: UploadedFile) -> None:
    """Store the file of a version, and give the version what is known of it; do not save it."""
    version.sha256 = hash_file(file)
    name = f"collections/{secrets.token_hex(8)}/{version.noun}"
    version.file.name = default_storage.save(name, file)
    version.filename = clean_filename(file)
    version.size = file_size(file)


def _create_judgment_set(
    collection: Collection,
    file: UploadedFile,
    version: str,
    user: User,
    intents: UploadedFile | None = None,
    **fields: Any,
) -> JudgmentSet:
    judgment_set = JudgmentSet(
        collection=collection,
        version=version,
        created_by=user,
        **store_intents(intents),
        **fields,
    )
    store_version(judgment_set, file)
    return judgment_set
