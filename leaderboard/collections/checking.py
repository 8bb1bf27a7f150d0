"""Checks of uploaded files before import: preview, questions and problems.

`check_collection` and `check_judgments` are the work of a job.  They return a function that stores
the result.  After an organiser confirms the preview, `importing` imports the files.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator
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
from evaluation.reading.judging.intents import read_intents, with_probabilities
from evaluation.reading.judging.qrels import Qrels, read_qrels
from evaluation.reading.recognition import NOT_READ, Candidate, recognise_qrels
from evaluation.reading.topics import Topic as ReadTopic
from evaluation.reading.topics import read_topics, recognise_topics
from leaderboard.collections.documents import known_docnos
from leaderboard.collections.groups import DECLARED, find_groupings
from leaderboard.collections.importing import (
    find_document_format,
    map_grades,
    number_by_order,
    open_upload,
    read_collection_groups,
    read_collection_topics,
    report_progress,
)
from leaderboard.collections.joining import (
    ask_about_part,
    count_topics,
    describe_part,
    join_parts,
    name_topics,
    refuse_other_forms,
)
from leaderboard.collections.preview import (
    ABOUT_CRANFIELD,
    FIRST_SHOWN,
    GRADES,
    GROUPING,
    NAMES_SHOWN,
    RENUMBER,
    CollectionPreview,
    DocumentsPreview,
    FirstDocument,
    FirstTopic,
    IntentsFound,
    JudgmentsPreview,
    TopicsPreview,
    build_format_question,
    first_judgments,
    is_direction_open,
    preview_judgments,
    warn_of_stray_grades,
    warn_of_unused_intents,
    write_changes,
    write_preview,
)
from leaderboard.models import Collection, Job, JudgmentSet
from leaderboard.models.collections import ImportedVersion, ImportState, load_grades
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.runs import select_problems

HEAD_BYTES = 64 * 1024
FORMAT_GIVEN = "The format was given."

# The docnos of a collection; None where it has no documents.
KnownDocnos: TypeAlias = Container[bytes] | None


@dataclass
class Checked:
    """What a check found in the files of a collection."""

    preview: CollectionPreview = field(default_factory=CollectionPreview)
    questions: list[dict[str, Any]] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    def next_state(self, asks_first: bool) -> str:
        """Return the next state: preview if an organiser must look, else importing or refused."""
        if self.questions:
            return ImportState.PREVIEW
        if self.problems.errors:
            return ImportState.REFUSED
        return ImportState.PREVIEW if asks_first else ImportState.IMPORTING

    def add_to_preview(self, **found: Any) -> None:
        """Add what was found in a file to the preview."""
        self.preview = replace(self.preview, **found)

    @contextmanager
    def reading(self, part: str) -> Iterator[None]:
        """Collect the problems of one file under its name; other files are still checked."""
        others, self.problems = self.problems, Problems()
        try:
            yield
        except Refused as refusal:
            self.problems = merge_problems(self.problems, refusal.problems)
        self.problems = merge_problems(others, prefix_problems(self.problems, part))


def check_collection(collection_id: str, progress: Progress) -> Publish:
    """Read every file of a collection; collect its preview, questions and problems."""
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
    if topics is not None:
        with checked.reading("groups"):
            check_groups(collection, topics, checked)
        topics = number_by_order(topics) if collection.renumber_topics else topics
    with checked.reading("documents"):
        docnos = check_documents(collection, checked, progress)
    if judgment_set is not None and topics is not None:
        found = None
        with checked.reading("judgments"):
            found = check_first_judgments(judgment_set, topics, docnos, checked)
        with checked.reading("probabilities"):
            check_intents(judgment_set, found, checked)
    return lambda: publish_check(collection, judgment_set, checked)


def check_topics(collection: Collection, checked: Checked) -> list[ReadTopic]:
    """Return the topics, numbered as in their file."""
    if not collection.formats.get("topics"):
        ask_for_format_of_topics(collection, checked)
    read = read_collection_topics(collection)
    checked.problems = merge_problems(checked.problems, read.problems)
    checked.add_to_preview(
        topics=TopicsPreview(
            file=collection.topics_filename,
            format=read.format,
            because=read.because,
            count=len(read.topics),
            first=[
                FirstTopic(topic.number, topic.title, topic.description, topic.narrative)
                for topic in read.topics[:FIRST_SHOWN]
            ],
            with_description=sum(bool(topic.description) for topic in read.topics),
            with_narrative=sum(bool(topic.narrative) for topic in read.topics),
        )
    )
    return read.topics


def check_groups(collection: Collection, topics: list[ReadTopic], checked: Checked) -> None:
    """Preview how the topics may be grouped; ask where only their numbers say so."""
    found = find_groupings(topics, read_collection_groups(collection))
    assert checked.preview.topics is not None
    checked.add_to_preview(topics=replace(checked.preview.topics, groupings=found))
    if found and found[0].grouping != DECLARED and not collection.grouping:
        checked.questions.append({"name": GROUPING, **asdict(found[0]), "topics": len(topics)})


def ask_for_format_of_topics(collection: Collection, checked: Checked) -> None:
    """Add a question if several formats fit; the preview shows the likeliest."""
    head = read_head(collection.topics_file.name)
    with open_upload(collection.topics_file.name) as file:
        candidates = recognise_topics(file).candidates
    if len(candidates) > 1:
        checked.questions.append(
            build_format_question("topics", candidates, partial(first_topics_as, head))
        )


def first_topics_as(head: bytes, format: str) -> list[dict[str, Any]]:
    try:
        topics = read_topics(BytesIO(head), format).topics
    except Refused:
        return []
    return [{"number": topic.number, "title": topic.title} for topic in topics[:FIRST_SHOWN]]


def check_documents(collection: Collection, checked: Checked, progress: Progress) -> Docnos | None:
    """Return the docnos of the collection, or None without a documents file."""
    if not collection.documents_file:
        return None
    with open_upload(collection.documents_file.name) as file:
        recognised = recognise_documents(file)
    passed = DocumentSample()
    with (
        open_upload(collection.documents_file.name) as file,
        tempfile.TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder,
    ):
        documents = read_documents(file, checked.problems, find_document_format(collection))
        with open(f"{folder}/docnos", "wb") as kept:
            write_docnos(passed.docnos(report_progress(documents, progress)), kept)
        docnos = Docnos.open(kept.name)
    checked.add_to_preview(
        documents=DocumentsPreview(
            file=collection.documents_filename,
            format=recognised.format,
            because=recognised.because,
            count=len(docnos),
            first=[shorten(document) for document in passed.first],
            num_empty=passed.num_empty,
            empty=passed.empty,
        )
    )
    return docnos


@dataclass
class DocumentSample:
    """What a preview shows of the documents, collected while they are read."""

    first: list[Document] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    num_empty: int = 0

    def docnos(self, documents: Iterable[Document]) -> Iterator[bytes]:
        for document in documents:
            if len(self.first) < FIRST_SHOWN:
                self.first.append(document)
            if not document.text.strip():
                self.num_empty += 1
                self.empty = [*self.empty, document.docno][:NAMES_SHOWN]
            yield document.docno.encode()


def shorten(document: Document, most: int = 300) -> FirstDocument:
    text = document.text if len(document.text) <= most else document.text[: most - 1] + "…"
    return FirstDocument(document.docno, document.title[:most], text)


def check_first_judgments(
    judgment_set: JudgmentSet,
    topics: list[ReadTopic],
    docnos: KnownDocnos,
    checked: Checked,
) -> ReadJudgments | None:
    """Check the judgments uploaded with a collection against its topics and documents.

    Return None if their format is a question.
    """
    found = read_judgments_alone(judgment_set, topics, docnos, checked)
    if found is None:
        return None
    checked.add_to_preview(judgments=found.preview)
    unknown = found.preview.num_judgments_without_topics
    if unknown and is_numbered_by_order(found.qrels, topics):
        hint = "number the topics in the order of their file."
        ask_to_renumber(checked, found.qrels, unknown, hint)
        return found
    check_against_collection(found, topics, docnos, checked)
    return found


@dataclass(frozen=True)
class ReadJudgments:
    """Judgments read without the collection, and their preview."""

    judgment_set: JudgmentSet
    qrels: Qrels
    preview: JudgmentsPreview


def read_judgments_alone(
    judgment_set: JudgmentSet, topics: list[ReadTopic], docnos: KnownDocnos, checked: Checked
) -> ReadJudgments | None:
    """Read the judgments without the collection; return None if their format is a question."""
    reading = choose_reading(judgment_set, topics, docnos, checked)
    if reading is None:
        return None
    try:
        with open_upload(judgment_set.file.name) as file:
            qrels = read_qrels(file, format=reading.format)
    except Refused:
        # This shows problems of the file together with unknown topics and documents.
        numbers = numbers_in_file(judgment_set, topics)
        with open_upload(judgment_set.file.name) as file:
            qrels = read_qrels(file, numbers, docnos, format=reading.format)
    qrels = name_topics(qrels, judgment_set, [topic.number for topic in topics])
    preview = preview_judgments(judgment_set, reading.because, qrels, topics, docnos)
    if is_direction_open(qrels) and not judgment_set.grade_map:
        checked.questions.append({"name": GRADES, "because": ABOUT_CRANFIELD})
    return ReadJudgments(judgment_set, qrels, preview)


def check_against_collection(
    found: ReadJudgments, topics: list[ReadTopic], docnos: KnownDocnos, checked: Checked
) -> None:
    """Check the judgments against topics and documents, with the line of each problem."""
    with open_upload(found.judgment_set.file.name) as file:
        numbers = numbers_in_file(found.judgment_set, topics)
        qrels = read_qrels(file, numbers, docnos, format=found.qrels.format)
    checked.problems = merge_problems(checked.problems, qrels.problems)
    warn_of_stray_grades(found.preview, checked.problems)


def check_intents(judgment_set: JudgmentSet, found: ReadJudgments | None, checked: Checked) -> None:
    """Check the probabilities of subtopics, against the judgments if these can be read."""
    if not judgment_set.intents_file:
        return
    with open_upload(judgment_set.intents_file.name) as file:
        intents = read_intents(file)
    if found is None:
        return
    if found.qrels.subtopics:
        count = sum(map(len, intents.values()))
        likely = IntentsFound(judgment_set.intents_filename, count, len(intents))
        checked.add_to_preview(judgments=replace(checked.preview.judgments, intents=likely))
    with_probabilities(found.qrels, intents)
    warn_of_unused_intents(found.qrels, intents, checked.problems)


def choose_reading(
    judgment_set: JudgmentSet, topics: list[ReadTopic], docnos: KnownDocnos, checked: Checked
) -> Candidate | None:
    """Return how to read the judgments: as answered, or the only format that fits, or None."""
    if judgment_set.format:
        return Candidate(judgment_set.format, FORMAT_GIVEN)
    try:
        with open_upload(judgment_set.file.name) as file:
            candidates = recognise_qrels(file, list_numbers(topics), docnos).candidates
    except Refused:
        return Candidate("trec", "")
    readable = [candidate for candidate in candidates if not candidate.refused]
    if len(candidates) > 1 and readable:
        first_lines = read_head(judgment_set.file.name)
        checked.questions.append(
            build_format_question("judgments", candidates, partial(first_judgments_as, first_lines))
        )
        return None
    # A file of unknown format is read as qrels, so that its problems have line numbers.
    by_name = candidates[0].format in NOT_READ and candidates[0].format != "run"
    return candidates[0] if readable or by_name else Candidate("trec", "")


def numbers_in_file(judgment_set: JudgmentSet, topics: list[ReadTopic]) -> set[bytes]:
    """Return what stands for the topics in a file of judgments."""
    return set(count_topics(len(topics))) if judgment_set.counts_topics else list_numbers(topics)


def list_numbers(topics: Iterable[ReadTopic]) -> set[bytes]:
    return {topic.number.encode() for topic in topics}


def read_head(name: str) -> bytes:
    """Return the first whole lines of a stored file."""
    with open_upload(name) as file:
        head = file.read(HEAD_BYTES)
    return head[: head.rfind(b"\n") + 1] or head


def first_judgments_as(head: bytes, format: str) -> list[dict[str, Any]]:
    try:
        first = first_judgments(read_qrels(BytesIO(head), format=format))
    except Refused:
        return []
    return [write_preview(judgment) for judgment in first]


def is_numbered_by_order(qrels: Qrels, topics: list[ReadTopic]) -> bool:
    """Return whether the judgments may count the topics 1, 2, 3 ... instead of naming them.

    They may be of some topics only.
    """
    return set(qrels.grades) <= set(count_topics(len(topics)))


def ask_to_renumber(checked: Checked, qrels: Qrels, unknown: int, hint: str) -> None:
    judged = len(qrels.grades)
    checked.problems.error(
        "E_UNKNOWN_TOPIC",
        None,
        f"{unknown} of {judged} judged topics are not in the topics file",
        hint=f"The judgments count 1 to {max(map(int, qrels.grades))}; {hint}",
    )
    checked.questions.append(
        {
            "name": RENUMBER,
            "judged": judged,
            "unknown": unknown,
            "matched": judged - unknown,
            "highest": max(map(int, qrels.grades)),
        }
    )


def publish_check(
    collection: Collection, judgment_set: JudgmentSet | None, checked: Checked
) -> None:
    state = checked.next_state(collection.asks_first)
    Collection.objects.filter(pk=collection.pk).update(
        state=state,
        preview=write_preview(checked.preview),
        questions=checked.questions,
        **problems_as_json(checked.problems),
    )
    if judgment_set is not None:
        JudgmentSet.objects.filter(pk=judgment_set.pk).update(
            state=state, preview=write_preview(checked.preview.judgments)
        )
    if state == ImportState.IMPORTING:
        Job.objects.enqueue("import_collection", collection)


def problems_as_json(problems: Problems) -> dict[str, Any]:
    every = [asdict(problem) for problem in problems]
    return {
        "problems": select_problems(every, settings.PROBLEMS_SHOWN),
        "problem_totals": problems.totals(),
    }


def merge_problems(one: Problems, other: Problems) -> Problems:
    if one is other:
        return one
    both = Problems()
    for problem in (*one, *other):
        both.kept.append(problem)
    both.counts = one.counts + other.counts
    both.errors = one.errors + other.errors
    return both


def prefix_problems(problems: Problems, part: str) -> Problems:
    """Return the problems with the name of their file in each message."""
    problems.kept = [
        replace(problem, message=f"{part}: {problem.message}") for problem in problems.kept
    ]
    return problems


def check_judgments(judgment_set_id: str, progress: Progress) -> Publish:
    """Check a new version of the judgments against its collection and the previous version."""
    judgment_set = JudgmentSet.objects.select_related("collection").get(pk=judgment_set_id)
    collection = judgment_set.collection
    begin_check(judgment_set)
    texts = collection.topics.values_list("number", "title", "description", "narrative")
    topics = [ReadTopic(*row) for row in texts.order_by("position")]
    docnos = known_docnos(collection.documents.name) if collection.documents else None
    checked = Checked()
    changes, found = "", None
    try:
        found = read_judgments_alone(judgment_set, topics, docnos, checked)
        if found is not None:
            checked.add_to_preview(judgments=found.preview)
            unknown = found.preview.num_judgments_without_topics
            if unknown and is_numbered_by_order(found.qrels, topics):
                ask_to_renumber(checked, found.qrels, unknown, "say whether they mean the order.")
            else:
                check_against_collection(found, topics, docnos, checked)
                changes = compare_with_previous(found, checked)
    except Refused as refusal:
        checked.problems = refusal.problems
    with checked.reading("probabilities"):
        check_intents(judgment_set, found, checked)
    return lambda: publish_judgments_check(judgment_set, checked, changes)


def compare_with_previous(found: ReadJudgments, checked: Checked) -> str:
    """Ask what is open beside the previous version, or that of which the file is a part.

    Store the changes; return the name of their file, or nothing.
    """
    judgment_set = found.judgment_set
    previous = judgment_set.part_of or find_previous_set(judgment_set)
    if previous is None:
        return ""
    before = load_grades(previous.pk)
    qrels = map_grades(found.qrels, judgment_set.grade_map)
    refuse_other_forms(judgment_set, qrels, checked.problems)
    checked.questions += ask_about_part(judgment_set, previous, before, qrels)
    grades = join_parts(qrels, judgment_set).grades
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        lines = TextIOWrapper(file, "utf-8", newline="", write_through=True)
        changes = write_changes(before, grades, previous.version, lines)
        part = describe_part(judgment_set, before, qrels)
        checked.add_to_preview(judgments=replace(found.preview, changes=changes, part=part))
        lines.detach()
        file.seek(0)
        name = f"collections/{previous.collection.slug}/changes-{secrets.token_hex(4)}"
        return default_storage.save(name, File(file))


def find_previous_set(judgment_set: JudgmentSet) -> JudgmentSet | None:
    """Return the newest version imported before this one was uploaded."""
    earlier = JudgmentSet.objects.filter(
        collection=judgment_set.collection_id,
        state=ImportState.READY,
        created_at__lte=judgment_set.created_at,
    )
    return earlier.exclude(pk=judgment_set.pk).last()


def publish_judgments_check(judgment_set: JudgmentSet, checked: Checked, changes: str) -> None:
    found = {"questions": checked.questions, "changes": changes}
    publish_version_check(judgment_set, checked, checked.preview.judgments, **found)


def publish_version_check(
    version: ImportedVersion, checked: Checked, preview: Any, **found: Any
) -> None:
    """Store what the check of a version found, and queue its import if nothing is open."""
    state = checked.next_state(version.asks_first)
    type(version)._default_manager.filter(pk=version.pk).update(
        state=state,
        preview=write_preview(preview),
        **found,
        **problems_as_json(checked.problems),
    )
    if state == ImportState.IMPORTING:
        Job.objects.enqueue(f"import_{version.noun}", version)


def check_version(version: ImportedVersion, read: Callable[[], tuple[Any, Problems]]) -> Publish:
    """Check a version by reading its file; `read` returns a preview and the problems."""
    begin_check(version)
    checked, preview = Checked(), None
    try:
        preview, checked.problems = read()
    except Refused as refusal:
        checked.problems = refusal.problems
    return lambda: publish_version_check(version, checked, preview)


def begin_check(version: ImportedVersion) -> None:
    queued = type(version)._default_manager.filter(pk=version.pk, state=ImportState.QUEUED)
    queued.update(state=ImportState.CHECKING)
