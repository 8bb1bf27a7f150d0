"""What files of a collection hold is found, shown and asked about before anything is imported.

Each public function here is the work of a job and returns what is to be written at its end: a
preview with its questions and problems.  Whoever looks at it confirms, and then `importing` works.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from io import BytesIO, TextIOWrapper
from typing import Any, TypeAlias

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage

from evaluation.problems import Problems, Refused
from evaluation.reading.docnos import Docnos, write_docnos
from evaluation.reading.documents import Document, read_documents, recognise_documents
from evaluation.reading.qrels import Qrels, read_qrels
from evaluation.reading.recognition import NOT_READ, Candidate, recognise_qrels
from evaluation.reading.topics import Topic as ReadTopic
from evaluation.reading.topics import read_topics, recognise_topics
from leaderboard.collections.documents import known_docnos
from leaderboard.collections.importing import (
    CHUNK,
    document_format,
    mapped,
    opened,
    renumbered,
    told,
    topics_in,
)
from leaderboard.collections.preview import (
    ABOUT_CRANFIELD,
    FIRST,
    GRADES,
    NAMED,
    RENUMBER,
    direction_is_open,
    first_judgments,
    judgments_preview,
    question_of_format,
    warn_of_stray_grades,
    write_changes,
)
from leaderboard.models import Collection, Job, JudgmentSet
from leaderboard.models.collections import ImportState
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.runs import select_problems

HEAD = 64 * 1024
GIVEN = "The format was given."

# The docnos of a collection; None where it has no documents.
Collected: TypeAlias = Container[bytes] | None


@dataclass
class Checked:
    """What a check found in the files of a collection."""

    preview: dict[str, Any] = field(default_factory=dict)
    questions: list[dict[str, Any]] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    def leads_to(self, asks_first: bool) -> str:
        """Preview where somebody has to look, import where nobody has to, else refuse."""
        if self.questions:
            return ImportState.PREVIEW
        if self.problems.errors:
            return ImportState.REFUSED
        return ImportState.PREVIEW if asks_first else ImportState.IMPORTING

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
    if not collection.formats.get("topics"):
        ask_for_format_of_topics(collection, checked)
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


def ask_for_format_of_topics(collection: Collection, checked: Checked) -> None:
    """Where several formats fit, the preview shows the likeliest and asks."""
    head = head_of(collection.topics_file.name)
    with opened(collection.topics_file.name) as file:
        candidates = recognise_topics(file).candidates
    if len(candidates) > 1:
        checked.questions.append(
            question_of_format("topics", candidates, partial(first_topics_as, head))
        )


def first_topics_as(head: bytes, format: str) -> list[dict[str, Any]]:
    try:
        topics = read_topics(BytesIO(head), format).topics
    except Refused:
        return []
    return [{"number": topic.number, "title": topic.title} for topic in topics[:FIRST]]


def check_documents(collection: Collection, checked: Checked, progress: Progress) -> Docnos | None:
    """The docnos of the collection, or None where it has no documents file."""
    if not collection.documents_file:
        return None
    with opened(collection.documents_file.name) as file:
        recognised = recognise_documents(file)
    passed = Passed()
    with (
        opened(collection.documents_file.name) as file,
        tempfile.TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder,
    ):
        documents = read_documents(file, checked.problems, document_format(collection))
        with open(f"{folder}/docnos", "wb") as kept:
            write_docnos(passed.docnos(told(documents, progress)), kept)
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
    docnos: Collected,
    checked: Checked,
) -> None:
    """The judgments that come with a collection, against its topics and documents."""
    found = read_first(judgment_set, topics, docnos, checked)
    if found is None:
        return
    checked.preview["judgments"] = found.preview
    unknown = found.preview["num_judgments_without_topics"]
    if unknown and numbered_by_order(found.qrels, topics):
        ask_to_renumber(checked, judged=len(found.qrels.grades), unknown=unknown)
        return
    read_again(found, topics, docnos, checked)


@dataclass(frozen=True)
class Found:
    """Judgments as they were read, by themselves, and what the preview says of them."""

    judgment_set: JudgmentSet
    qrels: Qrels
    preview: dict[str, Any]


def read_first(
    judgment_set: JudgmentSet, topics: list[ReadTopic], docnos: Collected, checked: Checked
) -> Found | None:
    """The judgments by themselves; None where first has to be asked how they are to be read."""
    reading = reading_of(judgment_set, topics, docnos, checked)
    if reading is None:
        return None
    try:
        with opened(judgment_set.file.name) as file:
            qrels = read_qrels(file, format=reading.format)
    except Refused:
        # Told together with what does not fit the topics and documents.
        with opened(judgment_set.file.name) as file:
            qrels = read_qrels(file, numbers_of(topics), docnos, format=reading.format)
    preview = {
        "file": judgment_set.filename,
        "version": judgment_set.version,
        "because": reading.because,
        **judgments_preview(qrels, topics, docnos),
    }
    if direction_is_open(qrels) and not judgment_set.grade_map:
        checked.questions.append({"name": GRADES, "because": ABOUT_CRANFIELD})
    return Found(judgment_set, qrels, preview)


def read_again(found: Found, topics: list[ReadTopic], docnos: Collected, checked: Checked) -> None:
    """The judgments beside topics and documents: what does not fit is a problem with its line."""
    with opened(found.judgment_set.file.name) as file:
        qrels = read_qrels(file, numbers_of(topics), docnos, format=found.qrels.format)
    checked.problems = merged(checked.problems, qrels.problems)
    warn_of_stray_grades(found.preview["stray"], found.preview["count"], checked.problems)


def reading_of(
    judgment_set: JudgmentSet, topics: list[ReadTopic], docnos: Collected, checked: Checked
) -> Candidate | None:
    """How the judgments are read: as was said, or as the only reading that fits, else asked."""
    if judgment_set.format:
        return Candidate(judgment_set.format, GIVEN)
    try:
        with opened(judgment_set.file.name) as file:
            candidates = recognise_qrels(file, numbers_of(topics), docnos).candidates
    except Refused:
        return Candidate("trec", "")
    readable = [each for each in candidates if not each.refused]
    if len(candidates) > 1 and readable:
        first_lines = head_of(judgment_set.file.name)
        checked.questions.append(
            question_of_format("judgments", candidates, partial(first_judgments_as, first_lines))
        )
        return None
    # Read as qrels, what is not told by its name is explained line by line.
    by_name = candidates[0].format in NOT_READ and candidates[0].format != "run"
    return candidates[0] if readable or by_name else Candidate("trec", "")


def numbers_of(topics: Iterable[ReadTopic]) -> set[bytes]:
    return {topic.number.encode() for topic in topics}


def head_of(name: str) -> bytes:
    """The first whole lines of a stored file."""
    with opened(name) as file:
        head = file.read(HEAD)
    return head[: head.rfind(b"\n") + 1] or head


def first_judgments_as(head: bytes, format: str) -> list[dict[str, Any]]:
    try:
        return first_judgments(read_qrels(BytesIO(head), format=format))
    except Refused:
        return []


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


def publish_check(
    collection: Collection, judgment_set: JudgmentSet | None, checked: Checked
) -> None:
    state = checked.leads_to(collection.asks_first)
    Collection.objects.filter(pk=collection.pk).update(
        state=state,
        preview=checked.preview,
        questions=checked.questions,
        **kept(checked.problems),
    )
    if judgment_set is not None:
        JudgmentSet.objects.filter(pk=judgment_set.pk).update(
            state=state, preview=checked.preview.get("judgments", {})
        )
    if state == ImportState.IMPORTING:
        Job.objects.enqueue("import_collection", collection)


def kept(problems: Problems) -> dict[str, Any]:
    every = [asdict(problem) for problem in problems]
    return {
        "problems": select_problems(every, settings.PROBLEMS_SHOWN),
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
    """A new version of the judgments, against its collection and the version before it."""
    judgment_set = JudgmentSet.objects.select_related("collection").get(pk=judgment_set_id)
    collection = judgment_set.collection
    JudgmentSet.objects.filter(pk=judgment_set.pk, state=ImportState.QUEUED).update(
        state=ImportState.CHECKING
    )
    texts = collection.topics.values_list("number", "title", "description", "narrative")
    topics = [ReadTopic(*row) for row in texts]
    docnos = known_docnos(collection.documents.name) if collection.documents else None
    checked = Checked()
    changes = ""
    try:
        found = read_first(judgment_set, topics, docnos, checked)
        if found is not None:
            checked.preview = found.preview
            read_again(found, topics, docnos, checked)
            changes = compare_with_previous(found)
    except Refused as refusal:
        checked.problems = refusal.problems
    return lambda: publish_judgments_check(judgment_set, checked, changes)


def compare_with_previous(found: Found) -> str:
    """What the judgments change in those before them; the stored file that lists it all."""
    previous = previous_set(found.judgment_set)
    if previous is None:
        return ""
    grades = mapped(found.qrels, found.judgment_set.grade_map)
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        lines = TextIOWrapper(file, "utf-8", newline="", write_through=True)
        summary = write_changes(stored_grades(previous), grades, lines)
        found.preview["changes"] = {"since": previous.version, **summary}
        lines.detach()
        file.seek(0)
        name = f"collections/{previous.collection.slug}/changes-{secrets.token_hex(4)}"
        return default_storage.save(name, File(file))


def previous_set(judgment_set: JudgmentSet) -> JudgmentSet | None:
    """The newest version that was imported before this one came."""
    earlier = JudgmentSet.objects.filter(
        collection=judgment_set.collection_id,
        state=ImportState.READY,
        created_at__lte=judgment_set.created_at,
    )
    return earlier.exclude(pk=judgment_set.pk).last()


def stored_grades(judgment_set: JudgmentSet) -> dict[bytes, dict[bytes, int]]:
    grades: dict[bytes, dict[bytes, int]] = {}
    rows = judgment_set.judgments.values_list("topic__number", "docno", "grade")
    for number, docno, grade in rows.iterator(chunk_size=CHUNK):
        grades.setdefault(number.encode(), {})[docno.encode()] = grade
    return grades


def publish_judgments_check(judgment_set: JudgmentSet, checked: Checked, changes: str) -> None:
    state = checked.leads_to(judgment_set.asks_first)
    JudgmentSet.objects.filter(pk=judgment_set.pk).update(
        state=state,
        preview=checked.preview,
        questions=checked.questions,
        changes=changes,
        **kept(checked.problems),
    )
    if state == ImportState.IMPORTING:
        Job.objects.enqueue("import_judgments", judgment_set)
