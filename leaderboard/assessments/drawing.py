"""The documents of an assignment, put in order at its first look."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from django.db import IntegrityError, transaction
from django.utils import timezone
from numpy.typing import NDArray

from evaluation.pooling.pools import chance_of
from leaderboard.assessments.distribution import find_team, select_documents
from leaderboard.assessments.kinds import kind_of_judging
from leaderboard.assessments.learning import (
    GUARDS,
    find_marks,
    load_topic_pool,
    resume_order,
)
from leaderboard.assessments.marking import lock_assessors
from leaderboard.collections.documents import find_documents
from leaderboard.models import Assessment, AssignedDocument, Assignment

# The share of the documents that an assessor judges twice.
REPEATED = 0.03
# The fewest other documents before one of them comes back.
REPEATED_AFTER = 50
# How many documents an order that learns hands out at once, after those of its warm-up.
BATCH = 5


@dataclass(frozen=True)
class Drawn:
    """A document of an assignment before it has its place."""

    docno: str
    lookalikes: int | None = None
    is_repeat: bool = False


def draw_documents(assignment: Assignment) -> None:
    """Put the documents of an assignment in order, once; a second caller finds them there.

    An order that learns has its documents from `draw_batch`.
    """
    if assignment.drawn_at is not None:
        return
    now = timezone.now()
    with transaction.atomic():
        if Assignment.objects.filter(pk=assignment.pk, drawn_at=None).update(drawn_at=now):
            drawn = order_documents(assignment)
            AssignedDocument.objects.bulk_create(
                (
                    AssignedDocument(
                        assignment=assignment,
                        docno=found.docno,
                        place=place,
                        lookalikes=found.lookalikes,
                        is_repeat=found.is_repeat,
                    )
                    for place, found in enumerate(drawn, 1)
                ),
                batch_size=1000,
            )
    assignment.drawn_at = now


def count_undrawn(assignment: Assignment) -> int:
    """Return how many documents an order that learns has still to hand out."""
    if not assignment.learns:
        return 0
    return max(0, assignment.num_documents - assignment.documents.kept().count())


def draw_batch(assignment: Assignment, tab: str, held: Collection[int], wanted: int) -> None:
    """Hand out the next documents of an order that learns, if a tab has fewer than it wants.

    Who draws locks those who judge the topic.  So a second tab finds what the first one drew,
    and no mark arrives between the marks that are known and the draw.
    """
    if not assignment.learns or count_waiting(assignment, tab, held) >= wanted:
        return
    load_topic_pool(assignment.assessor.assessment.pool, assignment.topic)
    try:
        with transaction.atomic():
            given = Assignment.objects.of_topic(assignment.assessor.assessment, assignment.topic)
            lock_assessors(pk__in=list(given.values_list("assessor", flat=True)))
            short = wanted - count_waiting(assignment, tab, held)
            if short > 0:
                _hand_out(assignment, short)
    except IntegrityError:
        # A database without locks: another tab drew these documents at the same moment.
        return


def count_waiting(assignment: Assignment, tab: str, held: Collection[int]) -> int:
    """Return how many documents wait for this tab besides those that it holds."""
    waiting = assignment.documents.filter(state=AssignedDocument.State.WAITING)
    return waiting.free_for(tab).exclude(pk__in=list(held)).count()


def _hand_out(assignment: Assignment, short: int) -> None:
    """Store the next batch: that of the warm-up first, then small ones."""
    assignment.refresh_from_db(fields=["num_documents", "finished_at"])
    left = count_undrawn(assignment)
    if not left or assignment.finished_at is not None:
        return
    assessment, topic = assignment.assessor.assessment, assignment.topic
    order = resume_order(assessment, topic)
    if not order.log:
        assignment.random_part = [docno.decode() for docno in order.sample]
        assignment.num_candidates = len(order.order.candidates.docnos)
        assignment.save(update_fields=["random_part", "num_candidates"])
    size = max(short, BATCH if order.log else GUARDS.warm_up)
    batch = order.draw_batch(min(left, size))
    runs = load_topic_pool(assessment.pool, topic).runs
    first = assignment.documents.count() + 1
    marks_before = len(find_marks(assessment, topic))
    AssignedDocument.objects.bulk_create(
        AssignedDocument(
            assignment=assignment,
            docno=drawn.docno.decode(),
            place=place,
            drawn_from_id=runs[drawn.run],
            drawn_by=drawn.reason,
            marks_before=marks_before,
        )
        for place, drawn in enumerate(batch, first)
    )
    if len(batch) < min(left, size):
        # The pool ends before the budget does.
        assignment.num_documents -= left - len(batch)
        assignment.save(update_fields=["num_documents"])


def order_documents(assignment: Assignment) -> list[Drawn]:
    """Return the documents in the order of judging, with those that come back."""
    assessment, topic = assignment.assessor.assessment, assignment.topic
    if assignment.learns:
        return [Drawn(docno) for docno in assignment.docnos]
    docnos, kind = find_docnos(assignment), kind_of_judging(assessment)
    if kind.is_of_answers:
        seed = assessment.seed + assignment.pk
        pairs = kind.sort_at_random(docnos, seed, topic.number.encode())
        drawn = [Drawn(pair) for pair in pairs]
        return with_repeats(drawn, seed, topic.number.encode()) if kind.has_repeats else drawn
    alike = group_lookalikes(load_texts(assessment, docnos))
    drawn = [Drawn(docno, alike.get(docno)) for docno in docnos]
    if assessment.order == Assessment.Order.DECIDES:
        ordered = drawn
    elif assessment.order == Assessment.Order.DOCNO:
        ordered = sorted(drawn, key=lambda found: found.docno)
    else:
        ordered = shuffle(drawn, assessment.seed + assignment.pk, topic.number.encode())
    return with_repeats(ordered, assessment.seed, topic.number.encode())


def find_docnos(assignment: Assignment) -> list[str]:
    """Return the documents of an assignment: those listed, or those that the rule gives it."""
    if assignment.docnos:
        return list(assignment.docnos)
    assessor, turn = assignment.assessor, assignment.turn
    found = select_documents(assessor.assessment, assignment.topic, turn, find_team(assessor))
    return [document.docno for document in found]


def load_texts(assessment: Assessment, docnos: Iterable[str]) -> Mapping[str, str]:
    """Return the texts of those documents that the collection has."""
    found = find_documents(assessment.track.collection, docnos)
    return {docno: f"{document.title} {document.text}" for docno, document in found.items()}


def shuffle(drawn: Iterable[Drawn], seed: int, topic: bytes) -> list[Drawn]:
    """Put documents in a random order; near-duplicates follow each other."""

    def chance(found: Drawn) -> tuple[bytes, bytes]:
        own = chance_of(seed, topic, found.docno.encode())
        together = own if found.lookalikes is None else _chance_of_group(found.lookalikes)
        return together, own

    def _chance_of_group(number: int) -> bytes:
        return chance_of(seed, topic, b"%d" % number)

    return sorted(drawn, key=chance)


def with_repeats(ordered: list[Drawn], seed: int, topic: bytes) -> list[Drawn]:
    """Let some documents come back, each after at least fifty others.

    >>> drawn = with_repeats([Drawn(str(number)) for number in range(100)], 1, b"7")
    >>> again = [place for place, found in enumerate(drawn) if found.is_repeat]
    >>> [place - drawn.index(Drawn(drawn[place].docno)) > 50 for place in again]
    [True, True, True]
    """
    early = ordered[: max(0, len(ordered) - REPEATED_AFTER)]
    early = sorted(
        early, key=lambda found: chance_of(seed, topic, b"again " + found.docno.encode())
    )
    chosen = set(early[: round(len(ordered) * REPEATED)])
    mixed: list[Drawn] = []
    due: list[tuple[int, Drawn]] = []
    for number, found in enumerate(ordered):
        mixed.append(found)
        if found in chosen:
            due.append((number + REPEATED_AFTER, replace(found, is_repeat=True)))
        while due and due[0][0] <= number:
            mixed.append(due.pop(0)[1])
    return mixed + [again for _, again in due]


# From this share of common word triples on, two texts are nearly the same.
ALIKE = 0.8
# How much of a text is compared.
CHARACTERS_READ = 20_000
WORD = re.compile(r"\w+")


def group_lookalikes(texts: Mapping[str, str]) -> dict[str, int]:
    """Return a number for each docno whose text is nearly that of another; others are left out.

    Two texts are alike if they share 80 % of their triples of words (Jaccard).

    >>> group_lookalikes({"a": "one two three four", "b": "One, two, three, four.", "c": "x y z"})
    {'a': 0, 'b': 0}
    """
    docnos = list(texts)
    table = _count_triples([texts[docno] for docno in docnos])
    common = (table @ table.T).tocoo()
    sizes = np.asarray(table.sum(axis=1)).ravel()
    union = sizes[common.row] + sizes[common.col] - common.data
    alike = (common.data >= ALIKE * union) & (common.row != common.col)
    shape = (len(docnos), len(docnos))
    pairs = scipy.sparse.csr_matrix((alike[alike], (common.row[alike], common.col[alike])), shape)
    _, groups = scipy.sparse.csgraph.connected_components(pairs, directed=False)
    members = np.bincount(groups, minlength=1)
    shared = {int(group): number for number, group in enumerate(np.flatnonzero(members > 1))}
    return {
        docno: shared[int(group)]
        for docno, group in zip(docnos, groups, strict=True)
        if int(group) in shared
    }


def _count_triples(texts: Sequence[str]) -> scipy.sparse.csr_matrix:
    """Return a matrix of texts and triples of words with 1 where the text has the triple."""
    numbers: dict[str, int] = {}
    rows = [_hash_triples(text, numbers) for text in texts]
    found = np.concatenate([np.empty(0, np.uint64), *rows])
    known, places = np.unique(found, return_inverse=True)
    starts = np.cumsum([0, *map(len, rows)])
    ones = np.ones(len(places), np.int32)
    return scipy.sparse.csr_matrix((ones, places, starts), shape=(len(texts), len(known)))


def _hash_triples(text: str, numbers: dict[str, int]) -> NDArray[np.uint64]:
    """Return a different number for each different triple, and one for a text of fewer words.

    Of a collection of two million different words, 21 bits each, no two triples are confused.
    """
    words = WORD.findall(text[:CHARACTERS_READ].casefold())
    word = np.array([numbers.setdefault(word, len(numbers) + 1) for word in words], np.uint64)
    if len(word) < 3:
        word = np.pad(word, (0, 3 - len(word))) if len(word) else np.empty(0, np.uint64)
    bits = np.uint64(21)
    return np.unique((word[:-2] << bits << bits) | (word[1:-1] << bits) | word[2:])
