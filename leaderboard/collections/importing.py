"""Import of checked and confirmed files, all or nothing.

`import_collection` and `import_judgments` are the work of a job.  They write rows in chunks under
a collection or version that no page shows yet; the function they return makes it visible.
"""

from __future__ import annotations

import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, BinaryIO, TypeVar

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import Q
from django.utils import timezone

from evaluation.answers.objects import open_answers
from evaluation.problems import Problem, Problems
from evaluation.reading.containers import Limits, unpacked
from evaluation.reading.documents import Document, read_documents, repeated_places
from evaluation.reading.groups import read_groups
from evaluation.reading.judging.intents import read_intents
from evaluation.reading.judging.qrels import Qrels, read_qrels
from evaluation.reading.topics import Topic as ReadTopic
from evaluation.reading.topics import TopicFile, read_topics
from leaderboard.collections.documents import known_docnos, write_documents
from leaderboard.collections.groups import group_topics
from leaderboard.collections.joining import join_parts, name_topics
from leaderboard.collections.preview import read_judgments_preview, read_preview
from leaderboard.infrastructure.logs import log_failure
from leaderboard.infrastructure.storage import sha256_of
from leaderboard.models import (
    Collection,
    Intent,
    Job,
    Judgment,
    JudgmentSet,
    MarkedAnswer,
    Stratum,
    SubtopicGrade,
    Topic,
    TopicNuggets,
)
from leaderboard.models.collections import MOST_INDEXED, ImportedVersion, ImportState
from leaderboard.models.jobs import Progress, Publish

CHUNK_ROWS = 2_000


@contextmanager
def open_upload(
    name: str, unpack: Callable[[BinaryIO, Limits], BinaryIO] = unpacked
) -> Iterator[BinaryIO]:
    """Open a stored upload and unpack it while it is read."""
    with default_storage.open(name) as packed:
        yield unpack(packed, limits_of_uploads())


def limits_of_uploads() -> Limits:
    """Return the limits of files that organisers upload."""
    return Limits(
        upload=settings.COLLECTION_UPLOAD_LIMIT, unpacked=settings.COLLECTION_UNPACKED_LIMIT
    )


def open_several(name: str) -> AbstractContextManager[BinaryIO]:
    """Open a stored upload that may be an archive of several files."""
    return open_upload(name, open_answers)


def read_collection_topics(collection: Collection) -> TopicFile:
    with open_upload(collection.topics_file.name) as file:
        return read_topics(file, collection.formats.get("topics"))


def read_collection_groups(collection: Collection) -> dict[bytes, bytes]:
    """Return the group of each topic by its file of groups; empty without one."""
    if not collection.groups_file:
        return {}
    with open_upload(collection.groups_file.name) as file:
        return read_groups(file)


def number_by_order(topics: list[ReadTopic]) -> list[ReadTopic]:
    """Return the topics numbered 1, 2, 3 ... in the order of their file."""
    return [replace(topic, number=str(place)) for place, topic in enumerate(topics, start=1)]


def find_document_format(collection: Collection) -> str | None:
    return collection.formats.get("documents")


def import_collection(collection_id: str, progress: Progress) -> Publish:
    """Write topics, documents and judgments; readers see all of them at once, or none."""
    collection = Collection.objects.get(pk=collection_id)
    judgment_set = collection.judgment_sets.first()
    delete_leftovers(collection)
    topics = read_collection_topics(collection).topics
    topics = group_topics(topics, collection.grouping, read_collection_groups(collection))
    if collection.renumber_topics:
        topics = number_by_order(topics)
    write_topics(collection, topics)
    documents = store_documents(collection, progress)
    counts = {} if judgment_set is None else write_judgments(judgment_set, progress)
    record_checksums(collection)
    return lambda: publish_collection(collection, topics, documents, judgment_set, counts)


def delete_leftovers(collection: Collection) -> None:
    """Delete the rows that an interrupted import wrote."""
    for judgment_set in collection.judgment_sets.exclude(state=ImportState.READY):
        delete_judgment_rows(judgment_set)
    delete_in_chunks(collection.topics.all())


def delete_failed_imports() -> None:
    """Delete the rows of failed imports, which no page ever showed."""
    gone = [ImportState.REFUSED, ImportState.FAILED]
    for collection in Collection.objects.filter(state__in=gone):
        delete_leftovers(collection)
    for judgment_set in JudgmentSet.objects.filter(state__in=gone):
        delete_judgment_rows(judgment_set)
    delete_in_chunks(TopicNuggets.objects.filter(nugget_version__state__in=gone))
    delete_in_chunks(MarkedAnswer.objects.filter(layer__state__in=gone))


def delete_judgment_rows(judgment_set: JudgmentSet) -> None:
    delete_in_chunks(judgment_set.judgments.all())
    delete_in_chunks(judgment_set.intents.all())


def delete_in_chunks(rows: Any) -> None:
    while keys := list(rows.values_list("pk", flat=True)[:CHUNK_ROWS]):
        rows.model.objects.filter(pk__in=keys).delete()


def write_topics(collection: Collection, topics: list[ReadTopic]) -> None:
    rows = (
        Topic(collection=collection, position=position, **asdict(topic))
        for position, topic in enumerate(topics)
    )
    for chunk in in_chunks(rows):
        Topic.objects.bulk_create(chunk)


Row = TypeVar("Row")


def in_chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while chunk := list(islice(rows, CHUNK_ROWS)):
        yield chunk


@dataclass(frozen=True)
class StoredDocuments:
    name: str = ""
    count: int = 0


def store_documents(collection: Collection, progress: Progress) -> StoredDocuments:
    if not collection.documents_file:
        return StoredDocuments()
    problems = Problems()
    with (
        open_upload(collection.documents_file.name) as file,
        tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as blocks,
    ):
        documents = read_collection_documents(collection, file, problems)
        count = write_documents(report_progress(documents, progress), blocks)
        problems.raise_if_refused()
        blocks.seek(0)
        name = f"collections/{collection.slug}/documents-{secrets.token_hex(4)}"
        stored = StoredDocuments(default_storage.save(name, blocks), count)
    # The index is built here, so that no reader and no run waits for it.
    known_docnos(stored.name)
    return stored


def read_collection_documents(
    collection: Collection, file: BinaryIO, problems: Problems
) -> Iterator[Document]:
    """Return the documents of a file; a plain list yields a repeated docno only once."""
    documents = read_documents(file, problems, find_document_format(collection))
    found = read_preview(collection).documents
    if found is None or found.format != "docnos":
        return documents
    with open_upload(collection.documents_file.name) as again:
        repeated = repeated_places(read_documents(again, Problems(), "docnos"))
    return (document for place, document in enumerate(documents) if place not in repeated)


def report_progress(documents: Iterator[Document], progress: Progress) -> Iterator[Document]:
    """Yield the same documents and report the number done from time to time."""
    for done, document in enumerate(documents):
        if done % CHUNK_ROWS == 0:
            progress(done, 0)
        yield document


def write_judgments(judgment_set: JudgmentSet, progress: Progress) -> dict[str, Any]:
    """Write the rows of a judgment set with the confirmed grades; return its counts."""
    with open_upload(judgment_set.file.name) as file:
        preview = read_judgments_preview(judgment_set)
        qrels = read_qrels(file, format=None if preview is None else preview.format)
    ordered = judgment_set.collection.topics.order_by("position")
    topics = dict(ordered.values_list("number", "pk"))
    qrels = name_topics(qrels, judgment_set, list(topics))
    qrels = join_parts(map_grades(qrels, judgment_set.grade_map), judgment_set)
    numbers = {pk: number.encode() for number, pk in topics.items()}
    total, done = qrels.count, 0
    rows = (
        Judgment(
            judgment_set=judgment_set,
            topic_id=topics[number.decode()],
            docno=docno.decode(),
            grade=grade,
        )
        for number, judged in qrels.grades.items()
        for docno, grade in judged.items()
    )
    for chunk in in_chunks(rows):
        write_details(Judgment.objects.bulk_create(chunk), numbers, qrels)
        done += len(chunk)
        progress(done, total)
    intents = write_intents(judgment_set, topics) if qrels.subtopics else 0
    return {**count_judgments(qrels, judgment_set), "num_intents": intents}


def write_details(judgments: list[Judgment], numbers: dict[int, bytes], qrels: Qrels) -> None:
    """Write the strata or the subtopics of these judgments, in the order of the file."""
    if qrels.strata:
        Stratum.objects.bulk_create(
            Stratum(
                judgment=judged,
                name=qrels.strata[numbers[judged.topic_id]][judged.docno.encode()].decode(),
            )
            for judged in judgments
        )
    if qrels.subtopics:
        SubtopicGrade.objects.bulk_create(
            SubtopicGrade(judgment=judged, subtopic=subtopic.decode(), grade=grade)
            for judged in judgments
            for subtopic, grade in qrels.subtopics[numbers[judged.topic_id]][
                judged.docno.encode()
            ].items()
        )


def write_intents(judgment_set: JudgmentSet, topics: dict[str, int]) -> int:
    """Write the probabilities of subtopics of known topics; return how many there are."""
    if not judgment_set.intents_file:
        return 0
    with open_upload(judgment_set.intents_file.name) as file:
        intents = read_intents(file)
    rows = [
        Intent(
            judgment_set=judgment_set,
            topic_id=topics[number.decode()],
            subtopic=subtopic.decode(),
            probability=probability,
        )
        for number, likely in intents.items()
        if number.decode() in topics
        for subtopic, probability in likely.items()
    ]
    Intent.objects.bulk_create(rows, batch_size=CHUNK_ROWS)
    return len(rows)


def map_grades(qrels: Qrels, grade_map: dict[str, int]) -> Qrels:
    """Return the judgments with their grades mapped where the map names them.

    The best grade of its subtopics is the grade of a document. Documents of a sample that were
    not drawn stay so.
    """
    if not grade_map:
        return qrels

    def mapped(grade: int) -> int:
        return grade if qrels.strata and grade < 0 else grade_map.get(str(grade), grade)

    if qrels.subtopics:
        subtopics = {
            number: {
                docno: {subtopic: mapped(grade) for subtopic, grade in graded.items()}
                for docno, graded in judged.items()
            }
            for number, judged in qrels.subtopics.items()
        }
        grades = {
            number: {docno: max(subtopics[number][docno].values()) for docno in judged}
            for number, judged in qrels.grades.items()
        }
        return replace(qrels, grades=grades, subtopics=subtopics)
    return replace(
        qrels,
        grades={
            number: {docno: mapped(grade) for docno, grade in judged.items()}
            for number, judged in qrels.grades.items()
        },
    )


def count_judgments(qrels: Qrels, judgment_set: JudgmentSet) -> dict[str, Any]:
    counts = Counter(grade for judged in qrels.grades.values() for grade in judged.values())
    highest = max([0, *counts])
    return {
        "grade_counts": {str(grade): counts[grade] for grade in sorted(counts)},
        "num_judgments": counts.total(),
        "num_topics": len(qrels.grades),
        "num_strata": sum(len(set(drawn.values())) for drawn in qrels.strata.values()),
        "num_subtopics": sum(map(len, qrels.names_of_subtopics().values())),
        "num_relevant": sum(
            count for grade, count in counts.items() if grade >= judgment_set.relevant_from
        ),
        "top_grade": max(highest, judgment_set.top_grade or 0),
    }


def publish_collection(
    collection: Collection,
    topics: list[ReadTopic],
    documents: StoredDocuments,
    judgment_set: JudgmentSet | None,
    counts: dict[str, Any],
) -> None:
    now = timezone.now()
    Collection.objects.filter(pk=collection.pk).update(
        state=ImportState.READY,
        num_topics=len(topics),
        num_groups=len({topic.group for topic in topics if topic.group}),
        num_documents=documents.count,
        documents=documents.name,
        words="",
        questions=[],
        ready_at=now,
    )
    if 0 < documents.count <= MOST_INDEXED:
        Job.objects.enqueue("index_words", collection)
    if judgment_set is not None:
        publish_imported(judgment_set, counts)


def publish_imported(version: ImportedVersion, counts: dict[str, Any]) -> None:
    """Make an imported version visible, with what was counted in it."""
    type(version)._default_manager.filter(pk=version.pk).update(
        state=ImportState.READY, ready_at=timezone.now(), **counts
    )


def import_judgments(judgment_set_id: str, progress: Progress) -> Publish:
    judgment_set = JudgmentSet.objects.select_related("collection").get(pk=judgment_set_id)
    delete_judgment_rows(judgment_set)
    counts = write_judgments(judgment_set, progress)
    inherit_pooled_runs(judgment_set)
    return lambda: publish_version(judgment_set, counts)


def publish_version(judgment_set: JudgmentSet, counts: dict[str, Any]) -> None:
    """Publish a later version, and show every track what it changes.

    The track of an archive that is being restored has the trials of its archive.
    """
    publish_imported(judgment_set, counts)
    if judgment_set.collection.arrives_until is None:
        Job.objects.enqueue("try_judgments", judgment_set)


def inherit_pooled_runs(judgment_set: JudgmentSet) -> None:
    """Add the pooled runs of earlier versions that this version contains."""
    pooled = JudgmentSet.objects.filter(pooled_runs__isnull=False).distinct()
    for earlier in pooled.contained_in(judgment_set):
        judgment_set.add_pooled_runs(
            earlier.pooled_runs.values_list("pk", flat=True), earlier.pool_depth
        )


def mark_collection_failed(collection_id: str, reason: str) -> None:
    Collection.objects.filter(pk=collection_id).exclude(state=ImportState.READY).update(
        state=ImportState.FAILED, problems=[asdict(internal_problem(reason))]
    )
    JudgmentSet.objects.filter(collection=collection_id).exclude(state=ImportState.READY).update(
        state=ImportState.FAILED
    )


def mark_version_failed(model: type[ImportedVersion], version_id: str, reason: str) -> None:
    model._default_manager.filter(pk=version_id).exclude(state=ImportState.READY).update(
        state=ImportState.FAILED, problems=[asdict(internal_problem(reason))]
    )


def internal_problem(reason: str) -> Problem:
    return Problem("E_FAILED", "error", None, reason, hint="The files are kept; try again.")


FILES = ("topics", "documents")


def record_checksums(collection: Collection) -> None:
    """Store the digests of the uploaded files; those of a ready collection never change."""
    digests = {f"{part}_sha256": _digest(collection, part) for part in FILES}
    Collection.objects.filter(pk=collection.pk).update(**digests)


def record_missing_checksums() -> None:
    """Store the digests of collections that were imported before there were any."""
    without = Q(topics_sha256="") & ~Q(topics_file="")
    without |= Q(documents_sha256="") & ~Q(documents_file="")
    for collection in Collection.objects.filter(without, state=ImportState.READY):
        with log_failure(f"computing the checksums of collection {collection.slug}"):
            record_checksums(collection)


def _digest(collection: Collection, part: str) -> str:
    name = getattr(collection, f"{part}_file").name
    if not name:
        return ""
    with default_storage.open(name) as file:
        return sha256_of(file)
