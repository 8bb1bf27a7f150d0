"""What files of a collection hold is found, shown and asked about before anything is imported.

Each public function here is the work of a job and returns what is to be written at its end: a
preview with its questions and problems.  Whoever looks at it confirms, and then `importing` works.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.conf import settings

from evaluation.problems import Problems, Refused
from evaluation.reading.docnos import Docnos, write_docnos
from evaluation.reading.documents import Document, read_documents, recognise_documents
from evaluation.reading.qrels import Qrels, read_qrels
from evaluation.reading.topics import Topic as ReadTopic
from leaderboard.documents import known_docnos
from leaderboard.importing import document_format, opened, renumbered, told, topics_in
from leaderboard.models import Collection, Job, JudgmentSet
from leaderboard.models.collections import ImportState
from leaderboard.scoring import Progress, Publish, first_of_each_code, topics_of

FIRST = 3
NAMED = 10

RENUMBER = "renumber_topics"


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
    docnos: Docnos | None = None
    with checked.reading("topics"):
        topics = check_topics(collection, checked)
    with checked.reading("documents"):
        docnos = check_documents(collection, checked, progress)
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


def check_documents(collection: Collection, checked: Checked, progress: Progress) -> Docnos | None:
    """The docnos of the collection, or None where it has no documents file."""
    if not collection.documents_file:
        return None
    with opened(collection.documents_file.name) as file:
        recognised = recognise_documents(file)
    passed = Passed()
    with (
        opened(collection.documents_file.name) as file,
        tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as kept,
    ):
        documents = read_documents(file, checked.problems, document_format(collection))
        write_docnos(passed.docnos(told(documents, progress)), kept)
        kept.flush()
        docnos = Docnos.open(kept.name)
    checked.preview["documents"] = {
        "file": collection.documents_filename,
        "format": recognised.format,
        "because": recognised.because,
        "count": len(docnos),
        "first": [asdict(shortened(document)) for document in passed.first],
        "num_empty": passed.num_empty,
        "empty": passed.empty,
    }
    return docnos


@dataclass
class Passed:
    """What a preview shows of documents that pass one after the other."""

    first: list[Document] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    num_empty: int = 0

    def docnos(self, documents: Iterable[Document]) -> Iterator[bytes]:
        for document in documents:
            if len(self.first) < FIRST:
                self.first.append(document)
            if not document.text.strip():
                self.num_empty += 1
                self.empty = [*self.empty, document.docno][:NAMED]
            yield document.docno.encode()


def shortened(document: Document, most: int = 300) -> Document:
    text = document.text if len(document.text) <= most else document.text[: most - 1] + "…"
    return Document(document.docno, document.title[:most], text)


def check_first_judgments(
    collection: Collection,
    judgment_set: JudgmentSet,
    topics: list[ReadTopic],
    docnos: Docnos | None,
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
    judgment_set: JudgmentSet, qrels: Qrels, numbers: list[bytes], docnos: Docnos | None
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
