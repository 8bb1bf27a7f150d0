"""The kinds of judging: what one item is, which answers it may have, and how its text is read.

The kind of an assessment is that of its pool. All else, such as opinions, marks, settlement and
progress, is the same for every kind: an item has the place of a docno, and a label that of a grade.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.answers.labels import CONTRADICTS, NONE, PARTIAL, SUPPORT
from evaluation.pooling.pools import chance_of
from leaderboard.assessments.items import (
    Beside,
    Items,
    JudgedItem,
    find_beside,
    read_answer_items,
    read_document_items,
    read_sentence_items,
)
from leaderboard.collections.answer_pools import read_pair
from leaderboard.collections.documents import find_documents
from leaderboard.models import (
    Assessment,
    AssignedDocument,
    Assignment,
    Collection,
    Mark,
    Pool,
    Topic,
)
from leaderboard.models.assessments import GradeText

Reason = Mark.Reason


@dataclass(frozen=True)
class JudgingKind:
    """One kind of judging.

    `scale` is empty where organisers choose the grades. `unit_of` names what is read at once: the
    items of a unit follow each other, and a sample for second opinions has whole units.
    """

    name: str
    # What assessors read in a list of their topics; "" for documents, which need no word.
    title: str
    # What one item is, for counts, and what is asked about it.
    noun: str
    question: str
    # What the work is, and the head of the share of grades from "in part" on.
    work: str
    found: str
    # Seconds for one item, used until there are enough marks.
    usual_seconds: float
    # The words that are marked in a text.
    marked: str
    read: Callable[[Pool, Topic, Iterable[str], Beside], Items]
    unit_of: Callable[[str], str]
    text: str = ""
    scale: tuple[GradeText, ...] = ()
    reasons: tuple[Mark.Reason, ...] = (Reason.UNREADABLE, Reason.LANGUAGE, Reason.TOPIC)
    # Whether some items come back to the same assessor.
    has_repeats: bool = True

    @property
    def is_of_answers(self) -> bool:
        return bool(self.scale)

    def sort_at_random(self, items: Sequence[str], seed: int, topic: bytes) -> list[str]:
        """Put units in a random order, with the items of each in the order of the pool's nuggets.

        >>> found = NUGGETS.sort_at_random(["b:2", "a:1", "b:1", "a:2"], 1, b"7")
        >>> [found[0][0] == found[1][0], found[0][2:], found[1][2:]]
        [True, '1', '2']
        """

        def place(item: str) -> tuple[bytes, int, str]:
            unit = self.unit_of(item)
            number = 0 if unit == item else int(read_pair(item).other)
            return chance_of(seed, topic, unit.encode()), number, item

        return sorted(items, key=place)


def unit_of_answer(item: str) -> str:
    return read_pair(item).key


DOCUMENTS = JudgingKind(
    name="documents",
    title="",
    noun="document",
    question="How relevant is the document?",
    work="read documents and say how relevant each is to a topic",
    found="Relevant",
    usual_seconds=45,
    marked="topic word",
    read=read_document_items,
    unit_of=str,
)
NUGGETS = JudgingKind(
    name="nuggets",
    title="nuggets in answers",
    noun="nugget",
    question="Is the nugget in the answer?",
    work="read answers and say which nuggets each has",
    found="Found",
    usual_seconds=10,
    marked="nugget word",
    read=read_answer_items,
    unit_of=unit_of_answer,
    text="""\
Read the answer, then say for each nugget whether the answer has it. The words may differ: what \
counts is the meaning.

- Judge what the answer says, not what you know.
- *In part*: some of the nugget is there, or it is less exact.
- *Contradicts*: the answer says the opposite of the nugget.
""",
    scale=(
        GradeText(SUPPORT, "In full", "The answer says all of it", key="1"),
        GradeText(PARTIAL, "In part", "Some of it, or less exact", key="2"),
        GradeText(NONE, "Not here", "Nothing of it", key="3"),
        GradeText(CONTRADICTS, "Contradicts", "The answer says the opposite", key="4"),
    ),
    has_repeats=False,
)
SENTENCES = JudgingKind(
    name="support",
    title="support of sentences",
    noun="pair",
    question="Does the document support the sentence?",
    work="read sentences and say whether the documents that they cite support them",
    found="Supported",
    usual_seconds=30,
    marked="sentence word",
    read=read_sentence_items,
    unit_of=str,
    text="""\
Read the sentence, then the document. Say whether the document supports what the sentence says.

- Judge by this document alone, not by what you know.
- *In part*: it supports some of the sentence, or says it less exactly.
- A document about the same subject that says nothing of it does not support the sentence.
- *Contradicted*: the document says the opposite.
""",
    scale=(
        GradeText(SUPPORT, "In full", "All of it is said there", key="F"),
        GradeText(PARTIAL, "In part", "Some of it, or less exact", key="P"),
        GradeText(NONE, "Not supported", "Nothing of it", key="N"),
        GradeText(CONTRADICTS, "Contradicted", "The document says the opposite", key="C"),
    ),
    reasons=(Reason.MISSING, Reason.UNREADABLE, Reason.LANGUAGE),
)
KINDS: Mapping[str, JudgingKind] = {each.name: each for each in (DOCUMENTS, NUGGETS, SENTENCES)}


def read_items(
    assignment: Assignment, documents: Sequence[AssignedDocument]
) -> dict[int, JudgedItem]:
    """Return what an assessor reads, by the keys of the rows."""
    pool = assignment.assessor.assessment.pool
    names = [document.docno for document in documents]
    kind = kind_of_pool(pool)
    beside = find_beside(assignment, names) if kind is NUGGETS else {}
    found = kind.read(pool, assignment.topic, names, beside)
    return {document.pk: found[document.docno] for document in documents}


def title_items(pool: Pool, items: Iterable[tuple[Topic, str]]) -> dict[tuple[int, str], str]:
    """Return what lists call items, by the key of the topic and the name; "" without a title."""
    kind = kind_of_pool(pool)
    if not kind.is_of_answers:
        return title_documents(pool.track.collection, list(items))
    named: dict[Topic, list[str]] = {}
    for topic, name in items:
        named.setdefault(topic, []).append(name)
    return {
        (topic.pk, name): item.beginning
        for topic, names in named.items()
        for name, item in kind.read(pool, topic, names, {}).items()
    }


def title_documents(
    collection: Collection, items: Sequence[tuple[Topic, str]]
) -> dict[tuple[int, str], str]:
    """Return the titles of documents by the key of the topic and the docno; "" without one."""
    found = find_documents(collection, [docno for _, docno in items])
    titles = {docno: document.title for docno, document in found.items()}
    return {(topic.pk, docno): titles.get(docno, "") for topic, docno in items}


def kind_of_pool(pool: Pool) -> JudgingKind:
    """Return what is judged in a pool."""
    return KINDS[pool.about]


def kind_of_judging(assessment: Assessment) -> JudgingKind:
    """Return what is judged in an assessment."""
    return kind_of_pool(assessment.pool)
