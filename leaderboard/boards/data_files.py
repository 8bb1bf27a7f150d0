"""The files that a track hands out, as one viewer may have them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.core.cache import cache
from django.urls import reverse

from leaderboard.boards.disclosure import Sight
from leaderboard.collections.documents import open_documents
from leaderboard.collections.topics import render_groups, render_json_topics, render_trec_topics
from leaderboard.display.numbers import count, counted
from leaderboard.models import Collection, Run
from leaderboard.models.registrations import FileReaders
from leaderboard.scoring.kinds import kind_of
from leaderboard.sight.visible_rows import can_download_documents, can_download_topics

SAMPLE_DEPTH = 3
# Of larger collections no page computes the digest of the docnos.
MOST_MEASURED = 100_000
# How many seconds the digest of a file made on request is kept.
DIGEST_KEPT = 24 * 3600
ORGANISERS_ONLY = "only organisers see this link"
TOPIC_FILES = {
    "trec": render_trec_topics,
    "jsonl": render_json_topics,
    "groups": render_groups,
}


@dataclass(frozen=True)
class DataFile:
    """A file of the data page; without `address` it cannot be downloaded (yet)."""

    label: str
    detail: str
    address: str = ""
    name: str = ""
    size: int | None = None
    sha256: str = ""
    licence: str = ""
    note: str = ""
    released_at: datetime | None = None


def write_commands(files: Iterable[DataFile], site: str, needs_token: bool) -> str:
    """Return the shell commands that fetch files from a site and compare their digests.

    >>> print(write_commands([DataFile("Topics", "", "/topics", "topics.xml")], "https://x", True))
    curl -H "Authorization: Bearer $TOKEN" -o "topics.xml" "https://x/topics"
    <BLANKLINE>
    """
    token = '-H "Authorization: Bearer $TOKEN" ' if needs_token else ""
    lines = []
    for file in files:
        if file.address and file.name:
            goes_on = "-C - " if file.label == "Documents" else ""
            lines.append(f'curl {token}{goes_on}-o "{file.name}" "{site}{file.address}"')
            if file.sha256:
                lines.append(f'echo "{file.sha256}  {file.name}" | sha256sum -c')
    return "".join(f"{line}\n" for line in lines)


def find_data_files(sight: Sight) -> list[DataFile]:
    """Return what the viewer can download, and what will be there after the release."""
    collection = sight.track.collection
    return [
        *_document_files(sight, collection),
        *_topic_files(sight, collection),
        *_baseline_files(sight),
        *_sample_files(sight),
        *_judgment_files(sight),
    ]


def _document_files(sight: Sight, collection: Collection) -> Iterator[DataFile]:
    if not collection.documents:
        if collection.source_link or collection.source_note:
            yield DataFile("Documents", "not on this site", licence=collection.licence)
        return
    if not sight.can_see_documents:
        # Nor docnos, by which a document is known.
        yield DataFile("Documents", "not out yet", released_at=sight.track.documents_at)
        return
    detail = counted(collection.num_documents, "document")
    if collection.documents_file and can_download_documents(sight.viewer, collection):
        yield DataFile(
            "Documents",
            detail,
            address=reverse("documents_file", args=[collection.slug]),
            name=collection.documents_filename or "documents",
            size=collection.documents_file.size,
            sha256=collection.documents_sha256,
            licence=collection.licence,
            note=_name_readers(collection.documents_readers)
            if collection.shares_documents
            else ORGANISERS_ONLY,
        )
    else:
        readers = _name_readers(collection.documents_readers) if collection.shares_documents else ""
        yield DataFile("Documents", detail, licence=collection.licence, note=readers)
    size, sha256 = _measure_if_small(
        collection, "docnos", lambda: (f"{docno}\n".encode() for docno in _docnos(collection))
    )
    yield DataFile(
        "Docnos",
        "one per line, to check a run offline",
        address=reverse("docnos_file", args=[collection.slug]),
        name="docnos.txt",
        size=size,
        sha256=sha256,
    )


def _name_readers(readers: str) -> str:
    """Return who may download a file; "" where everyone may."""
    everyone = readers == FileReaders.EVERYONE
    return "" if everyone else f"for {FileReaders(readers).label}"


def _docnos(collection: Collection) -> Iterator[str]:
    return open_documents(collection.documents.name).docnos()


def _topic_files(sight: Sight, collection: Collection) -> Iterator[DataFile]:
    if not sight.can_see_topics:
        # Neither size nor digest, which could be compared with those of known topics.
        yield DataFile("Topics", "not out yet", released_at=sight.track.topics_at)
        return
    readers = _name_readers(collection.topics_readers)
    if not can_download_topics(sight.viewer, collection):
        yield DataFile("Topics", counted(collection.num_topics, "topic"), note=readers)
        return
    forms = {"trec": "TREC format", "jsonl": "JSON lines"}
    if collection.num_groups:
        forms["groups"] = counted(collection.num_groups, "group")
    for kind, words in forms.items():
        size, sha256 = _measure_file(
            f"topics:{collection.pk}:{kind}", partial(TOPIC_FILES[kind], collection)
        )
        yield DataFile(
            "Topics",
            f"{counted(collection.num_topics, 'topic')}, {words}",
            address=reverse("topics_download", args=[collection.slug, kind]),
            name=f"topics.{kind}",
            size=size,
            sha256=sha256,
            licence=collection.licence,
            note=readers,
        )


def _baseline_files(sight: Sight) -> Iterator[DataFile]:
    run = find_offered_baseline(sight)
    if run is None:
        return
    readers = sight.track.baseline_readers
    if sight.can_download_baseline:
        yield DataFile(
            "Baseline run",
            run.tag,
            address=reverse("baseline_file", args=[sight.track.address]),
            name=baseline_name(run),
            size=run.size,
            sha256=run.sha256,
            note=_name_readers(readers) if readers else ORGANISERS_ONLY,
        )
    elif sight.track.hides_baseline_file:
        yield DataFile("Baseline run", "not out yet", released_at=sight.track.baseline_at)
    else:
        yield DataFile("Baseline run", "", note=_name_readers(readers))


def find_shared_baseline(sight: Sight) -> Run | None:
    """Return the baseline if the organisers sent it and this viewer may download it."""
    run = find_offered_baseline(sight)
    return run if run is not None and sight.can_download_baseline else None


def find_offered_baseline(sight: Sight) -> Run | None:
    """Return the baseline that the organisers sent, where they hand it out to anybody."""
    run = sight.track.baseline
    if run is None or not run.file or not run.team.of_organisers or not sight.can_see_data:
        return None
    return run if sight.is_organiser or sight.track.baseline_readers else None


def baseline_name(run: Run) -> str:
    return run.filename or f"{run.tag}.run"


def _sample_files(sight: Sight) -> Iterator[DataFile]:
    track, collection = sight.track, sight.track.collection
    if not (sight.can_see_documents and can_download_topics(sight.viewer, collection)):
        return
    if collection.documents and kind_of(track).takes_rankings:
        size, sha256 = _measure_if_small(
            collection,
            "sample",
            lambda: (line.encode() for line in sample_run_lines(collection)),
        )
        yield DataFile(
            "Sample run",
            f"{count(SAMPLE_DEPTH)} documents per topic: a valid file to start from",
            address=reverse("sample_run", args=[collection.slug]),
            name="sample.run",
            size=size,
            sha256=sha256,
        )


def sample_run_lines(collection: Collection) -> Iterator[str]:
    """Yield a valid run: for every topic the first documents of the collection."""
    documents = open_documents(collection.documents.name)
    docnos = [document.docno for document in documents.at(range(min(SAMPLE_DEPTH, len(documents))))]
    for number in collection.topics.order_by("position").values_list("number", flat=True):
        for place, docno in enumerate(docnos, start=1):
            yield f"{number} Q0 {docno} {place} {SAMPLE_DEPTH - place + 1} sample\n"


def _judgment_files(sight: Sight) -> Iterator[DataFile]:
    track, licence = sight.track, sight.track.collection.licence
    if sight.can_download_judgments and sight.edition is not None:
        judged = sight.edition.judgment_set
        yield DataFile(
            "Judgments",
            f"version {judged.version}, {counted(judged.num_judgments, 'judgment')}",
            address=reverse("qrels_file", args=[track.address, judged.version]),
            name="qrels.txt",
            licence=licence,
            note=_name_readers(track.collection.judgments_readers)
            if track.shares_judgments
            else ORGANISERS_ONLY,
        )
    elif track.offers_judgments and sight.can_see_scores:
        readers = _name_readers(track.collection.judgments_readers)
        yield DataFile("Judgments", "", licence=licence, note=readers)
    elif track.shares_judgments:
        yield DataFile(
            "Judgments",
            "not out yet" if sight.can_see_scores else "after the release",
            licence=licence,
            released_at=track.judgments_at or track.planned_release,
        )


def _measure_if_small(
    collection: Collection, kind: str, render: Callable[[], Iterable[bytes]]
) -> tuple[int | None, str]:
    """Return size and digest, or neither where reading all documents would keep the page."""
    if collection.num_documents > MOST_MEASURED:
        return None, ""
    return _measure_file(f"{kind}:{collection.pk}", render)


def _measure_file(key: str, render: Callable[[], Iterable[bytes]]) -> tuple[int, str]:
    """Return the size and digest of a file that is made on request and never changes."""
    kept = cache.get(f"file:{key}")
    if kept is not None:
        return kept[0], kept[1]
    digest, size = hashlib.sha256(), 0
    for piece in render():
        digest.update(piece)
        size += len(piece)
    cache.set(f"file:{key}", [size, digest.hexdigest()], DIGEST_KEPT)
    return size, digest.hexdigest()
