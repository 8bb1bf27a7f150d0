"""Files become a collection: recognised and checked first, imported whole once confirmed.

Each public function here is the work of a job and returns what is to be written at its end.  An
import writes its rows in chunks under a set that nobody sees, and one row makes it visible.
"""

from __future__ import annotations

import secrets
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any, BinaryIO, TypeVar

from django.conf import settings
from django.core.files.storage import default_storage
from django.utils import timezone

from evaluation.problems import Problem, Problems, Refused
from evaluation.reading.containers import Limits, unpacked
from evaluation.reading.documents import Document, read_documents, recognise_documents
from evaluation.reading.qrels import Qrels, read_qrels
from evaluation.reading.topics import Topic as ReadTopic
from evaluation.reading.topics import TopicFile, read_topics
from leaderboard.documents import known_docnos, write_documents
from leaderboard.models import Collection, Job, Judgment, JudgmentSet, Topic
from leaderboard.models.collections import ImportState
from leaderboard.scoring import Progress, Publish, first_of_each_code, topics_of

CHUNK = 2_000
FIRST = 3
NAMED = 10

RENUMBER = "renumber_topics"


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """The unpacked bytes of a stored upload."""
    limits = Limits(
        upload=settings.COLLECTION_UPLOAD_LIMIT, unpacked=settings.COLLECTION_UNPACKED_LIMIT
    )
    with default_storage.open(name) as packed:
        yield unpacked(packed, limits)


@dataclass
class Checked:
    """What a check found in the files of a collection."""

    preview: dict[str, Any] = field(default_factory=dict)
    questions: list[dict[str, Any]] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    @property
    def needs_an_answer(self) -> bool:
        return bool(self.questions)

    @contextmanager
    def reading(self, part: str) -> Iterator[None]:
        """Collect the problems of one file under its name; a refused file stops only itself."""
        others, self.problems = self.problems, Problems()
        try:
            yield
        except Refused as refusal:
            self.problems = merged(self.problems, refusal.problems)
        self.problems = merged(others, named(self.problems, part))


def check_collection(collection_id: str, progress: Progress) -> Publish:
    """Read every file of a collection and say what each is, what it holds, and what is wrong."""
    collection = Collection.objects.get(pk=collection_id)
    Collection.objects.filter(pk=collection.pk, state=ImportState.QUEUED).update(
        state=ImportState.CHECKING
    )
    judgment_set = collection.judgment_sets.first()
    checked = Checked()
    topics: list[ReadTopic] | None = None
    docnos: set[bytes] | None = None
    with checked.reading("topics"):
        topics = check_topics(collection, checked)
    with checked.reading("documents"):
        docnos = check_documents(collection, checked)
    if judgment_set is not None and topics is not None:
        with checked.reading("judgments"):
            check_first_judgments(collection, judgment_set, topics, docnos, checked)
    return lambda: publish_check(collection, judgment_set, checked)


def check_topics(collection: Collection, checked: Checked) -> list[ReadTopic]:
    read = topics_in(collection)
    checked.problems = merged(checked.problems, read.problems)
    checked.preview["topics"] = {
        "file": collection.topics_filename,
        "format": read.format,
        "because": read.because,
        "count": len(read.topics),
        "first": [asdict(topic) for topic in read.topics[:FIRST]],
        "with_description": sum(bool(topic.description) for topic in read.topics),
        "with_narrative": sum(bool(topic.narrative) for topic in read.topics),
    }
    return renumbered(read.topics) if collection.renumber_topics else read.topics


def topics_in(collection: Collection) -> TopicFile:
    with opened(collection.topics_file.name) as file:
        return read_topics(file, collection.formats.get("topics"))


def renumbered(topics: list[ReadTopic]) -> list[ReadTopic]:
    """The topics numbered 1, 2, 3 ... in the order of their file."""
    return [
        ReadTopic(str(number), topic.title, topic.description, topic.narrative)
        for number, topic in enumerate(topics, start=1)
    ]


def check_documents(collection: Collection, checked: Checked) -> set[bytes] | None:
    """The docnos of the collection, or None where it has no documents file."""
    if not collection.documents_file:
        return None
    with opened(collection.documents_file.name) as file:
        recognised = recognise_documents(file)
    docnos: set[bytes] = set()
    first: list[Document] = []
    empty: list[str] = []
    with opened(collection.documents_file.name) as file:
        for document in read_documents(file, checked.problems, document_format(collection)):
            docnos.add(document.docno.encode())
            if len(first) < FIRST:
                first.append(document)
            if not document.text.strip():
                empty.append(document.docno)
    checked.preview["documents"] = {
        "file": collection.documents_filename,
        "format": recognised.format,
        "because": recognised.because,
        "count": len(docnos),
        "first": [asdict(shortened(document)) for document in first],
        "num_empty": len(empty),
        "empty": empty[:NAMED],
    }
    return docnos


def document_format(collection: Collection) -> str | None:
    return collection.formats.get("documents")


def shortened(document: Document, most: int = 300) -> Document:
    text = document.text if len(document.text) <= most else document.text[: most - 1] + "…"
    return Document(document.docno, document.title[:most], text)


def check_first_judgments(
    collection: Collection,
    judgment_set: JudgmentSet,
    topics: list[ReadTopic],
    docnos: set[bytes] | None,
    checked: Checked,
) -> None:
    """The judgments that come with a collection, against its topics and documents."""
    numbers = [topic.number.encode() for topic in topics]
    with opened(judgment_set.file.name) as file:
        qrels = read_qrels(file)
    unknown = set(qrels.grades) - set(numbers)
    if unknown and numbered_by_order(qrels, topics):
        ask_to_renumber(checked, judged=len(qrels.grades), unknown=len(unknown))
        checked.preview["judgments"] = judgments_preview(judgment_set, qrels, numbers, docnos)
        return
    with opened(judgment_set.file.name) as file:
        qrels = read_qrels(file, topics=set(numbers), docnos=docnos)
    checked.problems = merged(checked.problems, qrels.problems)
    checked.preview["judgments"] = judgments_preview(judgment_set, qrels, numbers, docnos)


def numbered_by_order(qrels: Qrels, topics: list[ReadTopic]) -> bool:
    """Whether the judgments count the topics 1, 2, 3 ... instead of using their numbers."""
    return set(qrels.grades) == {str(n).encode() for n in range(1, len(topics) + 1)}


def ask_to_renumber(checked: Checked, judged: int, unknown: int) -> None:
    checked.problems.error(
        "E_UNKNOWN_TOPIC",
        None,
        f"{unknown} of {judged} judged topics are not in the topics file",
        hint=f"The judgments count 1 to {judged}; number the topics in the order of their file.",
    )
    checked.questions.append(
        {"name": RENUMBER, "judged": judged, "unknown": unknown, "matched": judged - unknown}
    )


def judgments_preview(
    judgment_set: JudgmentSet, qrels: Qrels, numbers: list[bytes], docnos: set[bytes] | None
) -> dict[str, Any]:
    grades = Counter(grade for judged in qrels.grades.values() for grade in judged.values())
    unjudged = [number.decode() for number in numbers if number not in qrels.grades]
    empty = [
        number.decode()
        for number, judged in qrels.grades.items()
        if not any(grade > 0 for grade in judged.values())
    ]
    foreign = 0
    if docnos is not None:
        foreign = sum(docno not in docnos for judged in qrels.grades.values() for docno in judged)
    return {
        "file": judgment_set.filename,
        "version": judgment_set.version,
        "count": sum(grades.values()),
        "topics": len(qrels.grades),
        "grades": {str(grade): grades[grade] for grade in sorted(grades)},
        "topics_without_judgments": unjudged[:NAMED],
        "num_topics_without_judgments": len(unjudged),
        "topics_without_relevant": empty[:NAMED],
        "num_topics_without_relevant": len(empty),
        "num_foreign": foreign,
    }


def publish_check(
    collection: Collection, judgment_set: JudgmentSet | None, checked: Checked
) -> None:
    """Preview where somebody has to look, import where nobody has to, refuse what cannot be."""
    if checked.needs_an_answer:
        state = ImportState.PREVIEW
    elif checked.problems.errors:
        state = ImportState.REFUSED
    else:
        state = ImportState.PREVIEW if collection.asks_first else ImportState.IMPORTING
    Collection.objects.filter(pk=collection.pk).update(
        state=state,
        preview=checked.preview,
        questions=checked.questions,
        **kept(checked.problems),
    )
    if judgment_set is not None:
        JudgmentSet.objects.filter(pk=judgment_set.pk).update(state=state)
    if state == ImportState.IMPORTING:
        Job.objects.enqueue("import_collection", collection)


def kept(problems: Problems) -> dict[str, Any]:
    every = [asdict(problem) for problem in problems]
    return {
        "problems": first_of_each_code(every, settings.PROBLEMS_SHOWN),
        "problem_totals": problems.totals(),
    }


def merged(one: Problems, other: Problems) -> Problems:
    if one is other:
        return one
    both = Problems()
    for problem in (*one, *other):
        both.kept.append(problem)
    both.counts = one.counts + other.counts
    both.errors = one.errors + other.errors
    return both


def named(problems: Problems, part: str) -> Problems:
    """The same problems, each saying in which file it is."""
    problems.kept = [replace(each, message=f"{part}: {each.message}") for each in problems.kept]
    return problems


def import_collection(collection_id: str, progress: Progress) -> Publish:
    """Write topics, documents and judgments; a reader sees all of them at once, or none."""
    collection = Collection.objects.get(pk=collection_id)
    judgment_set = collection.judgment_sets.first()
    sweep_leftovers(collection)
    topics = topics_in(collection).topics
    if collection.renumber_topics:
        topics = renumbered(topics)
    write_topics(collection, topics)
    documents = store_documents(collection)
    counts = {} if judgment_set is None else write_judgments(judgment_set, progress)
    return lambda: publish_collection(collection, len(topics), documents, judgment_set, counts)


def sweep_leftovers(collection: Collection) -> None:
    """What an import that was killed has left behind."""
    for judgment_set in collection.judgment_sets.exclude(state=ImportState.READY):
        delete_in_chunks(judgment_set.judgments.all())
    delete_in_chunks(collection.topics.all())


def delete_in_chunks(rows: Any) -> None:
    while keys := list(rows.values_list("pk", flat=True)[:CHUNK]):
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
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


@dataclass(frozen=True)
class StoredDocuments:
    name: str = ""
    count: int = 0


def store_documents(collection: Collection) -> StoredDocuments:
    if not collection.documents_file:
        return StoredDocuments()
    problems = Problems()
    with (
        opened(collection.documents_file.name) as file,
        tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as blocks,
    ):
        count = write_documents(read_documents(file, problems, document_format(collection)), blocks)
        problems.raise_if_refused()
        blocks.seek(0)
        name = f"collections/{collection.slug}/documents-{secrets.token_hex(4)}"
        return StoredDocuments(default_storage.save(name, blocks), count)


def write_judgments(judgment_set: JudgmentSet, progress: Progress) -> dict[str, Any]:
    """The rows of a set of judgments, with grades mapped as was confirmed; its counts."""
    with opened(judgment_set.file.name) as file:
        qrels = read_qrels(file)
    grades = mapped(qrels, judgment_set.grade_map)
    topics = dict(judgment_set.collection.topics.values_list("number", "pk"))
    total, done = sum(map(len, grades.values())), 0
    rows = (
        Judgment(
            judgment_set=judgment_set,
            topic_id=topics[number.decode()],
            docno=docno.decode(),
            grade=grade,
        )
        for number, judged in grades.items()
        for docno, grade in judged.items()
    )
    for chunk in in_chunks(rows):
        Judgment.objects.bulk_create(chunk)
        done += len(chunk)
        progress(done, total)
    return counted(grades, judgment_set.top_grade)


def mapped(qrels: Qrels, grade_map: dict[str, int]) -> dict[bytes, dict[bytes, int]]:
    if not grade_map:
        return qrels.grades
    return {
        number: {docno: grade_map.get(str(grade), grade) for docno, grade in judged.items()}
        for number, judged in qrels.grades.items()
    }


def counted(grades: dict[bytes, dict[bytes, int]], top_grade: int | None) -> dict[str, Any]:
    counts = Counter(grade for judged in grades.values() for grade in judged.values())
    highest = max([0, *counts])
    return {
        "grade_counts": {str(grade): counts[grade] for grade in sorted(counts)},
        "num_judgments": counts.total(),
        "num_topics": len(grades),
        "num_relevant": sum(count for grade, count in counts.items() if grade > 0),
        "top_grade": highest if top_grade is None else max(highest, top_grade),
    }


def publish_collection(
    collection: Collection,
    topics: int,
    documents: StoredDocuments,
    judgment_set: JudgmentSet | None,
    counts: dict[str, Any],
) -> None:
    now = timezone.now()
    Collection.objects.filter(pk=collection.pk).update(
        state=ImportState.READY,
        num_topics=topics,
        num_documents=documents.count,
        documents=documents.name,
        questions=[],
        ready_at=now,
    )
    if judgment_set is not None:
        publish_judgments(judgment_set, counts)


def publish_judgments(judgment_set: JudgmentSet, counts: dict[str, Any]) -> None:
    JudgmentSet.objects.filter(pk=judgment_set.pk).update(
        state=ImportState.READY, ready_at=timezone.now(), **counts
    )


def check_judgments(judgment_set_id: str, progress: Progress) -> Publish:
    """A new version of the judgments, against the topics and documents of its collection."""
    judgment_set = JudgmentSet.objects.select_related("collection").get(pk=judgment_set_id)
    collection = judgment_set.collection
    JudgmentSet.objects.filter(pk=judgment_set.pk, state=ImportState.QUEUED).update(
        state=ImportState.CHECKING
    )
    numbers = list(topics_of(collection.pk))
    docnos = known_docnos(collection.documents.name) if collection.documents else None
    checked = Checked()
    try:
        with opened(judgment_set.file.name) as file:
            qrels = read_qrels(file, topics=set(numbers), docnos=docnos)
        checked.problems = qrels.problems
        checked.preview = judgments_preview(judgment_set, qrels, numbers, docnos)
    except Refused as refusal:
        checked.problems = refusal.problems
    return lambda: publish_judgments_check(judgment_set, checked)


def publish_judgments_check(judgment_set: JudgmentSet, checked: Checked) -> None:
    state = ImportState.PREVIEW if judgment_set.asks_first else ImportState.IMPORTING
    if checked.problems.errors:
        state = ImportState.REFUSED
    JudgmentSet.objects.filter(pk=judgment_set.pk).update(
        state=state, preview=checked.preview, **kept(checked.problems)
    )
    if state == ImportState.IMPORTING:
        Job.objects.enqueue("import_judgments", judgment_set)


def import_judgments(judgment_set_id: str, progress: Progress) -> Publish:
    judgment_set = JudgmentSet.objects.select_related("collection").get(pk=judgment_set_id)
    delete_in_chunks(judgment_set.judgments.all())
    counts = write_judgments(judgment_set, progress)
    return lambda: publish_judgments(judgment_set, counts)


def collection_failed(collection_id: str, reason: str) -> None:
    Collection.objects.filter(pk=collection_id).exclude(state=ImportState.READY).update(
        state=ImportState.FAILED, problems=[asdict(our_fault(reason))]
    )
    JudgmentSet.objects.filter(collection=collection_id).exclude(state=ImportState.READY).update(
        state=ImportState.FAILED
    )


def judgments_failed(judgment_set_id: str, reason: str) -> None:
    JudgmentSet.objects.filter(pk=judgment_set_id).exclude(state=ImportState.READY).update(
        state=ImportState.FAILED, problems=[asdict(our_fault(reason))]
    )


def our_fault(reason: str) -> Problem:
    return Problem("E_FAILED", "error", None, reason, hint="The files are kept; try again.")
