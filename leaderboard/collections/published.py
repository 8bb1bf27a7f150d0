"""Collections of the library `ir_datasets`, written as files that an import reads.

The library is optional and not among the requirements.  `fetch_dataset` is the work of a job.
"""

from __future__ import annotations

import importlib
import json
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage

from leaderboard.collections.importing import mark_collection_failed
from leaderboard.infrastructure.storage import sha256_of
from leaderboard.models import Collection, Job
from leaderboard.models.collections import ImportState
from leaderboard.models.jobs import Progress, Publish
from leaderboard.runs.stored_bytes import exceeds_site

# The names under which its collections hold what we call title and text.
TITLES = ("title", "headline")
TEXTS = ("text", "body", "contents", "abstract")
TOPIC_TITLES = ("title", "query", "text")


PARTS = ("topics", "documents", "judgments")


class UnavailableCollectionError(Exception):
    """The collection is not available; the message says why."""


@dataclass(frozen=True)
class StoredFile:
    """A written file in the storage of the site."""

    stored: str
    filename: str
    size: int
    sha256: str


def fetch_dataset(collection_id: str, progress: Progress) -> Publish:
    """Fetch the files of a collection that names a dataset; its check is the next job."""
    collection = Collection.objects.get(pk=collection_id)
    Collection.objects.filter(pk=collection.pk, state=ImportState.QUEUED).update(
        state=ImportState.CHECKING
    )
    try:
        files = {} if collection.topics_file else fetch_files(collection.dataset)
    except UnavailableCollectionError as reason:
        return partial(mark_collection_failed, collection_id, str(reason))
    return partial(publish_files, collection, files)


def fetch_files(name: str) -> dict[str, StoredFile]:
    """Store topics, documents and judgments of a dataset; all three are needed."""
    refuse_incomplete(name)
    with TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        paths = write_files(name, Path(folder))
        if exceeds_site(sum(path.stat().st_size for path in paths.values())):
            raise UnavailableCollectionError(f"{name} is larger than what this site may still keep")
        return {part: store_file(part, path) for part, path in paths.items()}


def refuse_incomplete(name: str) -> None:
    dataset = load_dataset(name)
    has = (dataset.has_queries(), dataset.has_docs(), dataset.has_qrels())
    missing = [part for part, there in zip(PARTS, has, strict=True) if not there]
    if missing:
        raise UnavailableCollectionError(f"{name} has no {' and no '.join(missing)}")


def store_file(part: str, path: Path) -> StoredFile:
    with path.open("rb") as file:
        sha256 = sha256_of(file)
        file.seek(0)
        name = f"collections/{secrets.token_hex(8)}/{part}"
        stored = default_storage.save(name, File(file))
    return StoredFile(stored, path.name, path.stat().st_size, sha256)


def publish_files(collection: Collection, files: dict[str, StoredFile]) -> None:
    """Give the collection its files and queue their check.

    There are none if an organiser uploaded topics instead; then nothing is left of the dataset.
    """
    rows = Collection.objects.filter(pk=collection.pk)
    awaited = collection.judgment_sets.filter(file="")
    if files:
        topics, documents, judgments = (files[part] for part in PARTS)
        rows.update(
            topics_file=topics.stored,
            topics_filename=topics.filename,
            documents_file=documents.stored,
            documents_filename=documents.filename,
            size=topics.size + documents.size,
        )
        awaited.update(
            file=judgments.stored,
            filename=judgments.filename,
            size=judgments.size,
            sha256=judgments.sha256,
        )
    else:
        awaited.delete()
    rows.update(state=ImportState.QUEUED)
    Job.objects.enqueue("check_collection", collection)


def offers_datasets() -> bool:
    """Whether organisers may name a dataset: the operator allows it and the library is there."""
    return settings.IR_DATASETS and find_spec("ir_datasets") is not None


def write_files(name: str, folder: Path) -> dict[str, Path]:
    """Write topics, documents and judgments of a collection, and return the paths by part."""
    dataset = load_dataset(name)
    if not dataset.has_queries():
        raise UnavailableCollectionError(f"{name} has no topics; choose one of its parts that has")
    lines = {"topics": ("topics.jsonl", map(topic_line, dataset.queries_iter()))}
    if dataset.has_docs():
        lines["documents"] = ("documents.jsonl", map(document_line, dataset.docs_iter()))
    if dataset.has_qrels():
        lines["judgments"] = ("qrels.txt", map(qrels_line, dataset.qrels_iter()))
    try:
        return {
            part: write_lines(folder / file, limit_size(rows, f"the {part} of {name}"))
            for part, (file, rows) in lines.items()
        }
    except (RuntimeError, ConnectionError) as error:
        # The library raises one of them if no source of a file answers, with pages of details.
        raise UnavailableCollectionError(
            f"ir_datasets could not download {name}. Check the network of this machine, and on "
            f"https://ir-datasets.com/{top_name(name)} whether the collection needs an agreement"
        ) from error


def load_dataset(name: str) -> Any:
    try:
        library = importlib.import_module("ir_datasets")
    except ModuleNotFoundError:
        raise UnavailableCollectionError(
            "ir_datasets is not installed here; `pip install 'rankfield[datasets]'` installs it"
        ) from None
    try:
        return library.load(name)
    except KeyError:
        raise UnavailableCollectionError(f"ir_datasets does not have {name}") from None


def top_name(name: str) -> str:
    """Return the page that describes a dataset and its parts.

    >>> top_name("beir/scifact/test")
    'beir.html#beir/scifact/test'
    """
    return f"{name.partition('/')[0]}.html#{name}"


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(lines)
    return path


def limit_size(lines: Iterable[str], what: str) -> Iterator[str]:
    """Yield the same lines; raise UnavailableCollectionError before a file is too large."""
    size = 0
    for line in lines:
        size += len(line.encode())
        if size > settings.COLLECTION_UPLOAD_LIMIT:
            limit = f"{settings.COLLECTION_UPLOAD_LIMIT:,} bytes"
            raise UnavailableCollectionError(f"{what} are too large; the limit is {limit}")
        yield line


def document_line(document: Any) -> str:
    text = first_text(document, TEXTS) or document.default_text()
    return json_line(docno=document.doc_id, title=first_text(document, TITLES), text=text)


def topic_line(topic: Any) -> str:
    return json_line(
        number=topic.query_id,
        title=first_text(topic, TOPIC_TITLES) or topic.default_text(),
        description=first_text(topic, ("description",)),
        narrative=first_text(topic, ("narrative",)),
    )


def qrels_line(judgment: Any) -> str:
    return f"{judgment.query_id} 0 {judgment.doc_id} {judgment.relevance}\n"


def first_text(row: Any, names: Iterable[str]) -> str:
    """Return the first of these fields that contains text; bytes are ignored."""
    texts = (getattr(row, name, "") for name in names)
    return next((text for text in texts if text and isinstance(text, str)), "")


def json_line(**fields: str) -> str:
    return json.dumps(fields) + "\n"
