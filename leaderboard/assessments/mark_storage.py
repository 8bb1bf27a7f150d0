"""Marks made elsewhere become rows: assessors without accounts, their topics and their log."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence

from django.utils import timezone

from evaluation import marks as mark_log
from leaderboard.assessments.distribution import count_opinions, find_topics, select_documents
from leaderboard.assessments.mark_files import WorkPlace, choose_guidelines, place_of
from leaderboard.assessments.marking import STATE_AFTER
from leaderboard.models import (
    Assessment,
    Assessor,
    AssignedDocument,
    Assignment,
    Guideline,
    Mark,
    Topic,
)

BATCH = 1000
# An update of many rows names each of them, so fewer fit into a statement.
UPDATED = 200
LONGEST_KEY = Mark._meta.get_field("key").max_length

# An assessor and a topic.
Share = tuple[str, str]


def store_marks(assessment: Assessment, marks: Sequence[mark_log.Mark]) -> list[Assessor]:
    """Store checked marks with their assessors, assignments and documents.

    What an assessor left unjudged of a topic waits for the organisers to reassign it.
    """
    names = dict.fromkeys(mark.assessor for mark in marks)
    assessors = {
        name: Assessor.objects.create(assessment=assessment, user=None, name=name) for name in names
    }
    topics = {topic.number: topic for topic in find_topics(assessment)}
    turns = choose_turns(assessment, marks)
    places = order_places(marks)
    left = find_left(assessment, topics, turns, places)
    documents: dict[WorkPlace, AssignedDocument] = {}
    for share, own in places.items():
        name, number = share
        assignment = Assignment.objects.create(
            assessor=assessors[name],
            topic=topics[number],
            turn=turns[share],
            num_documents=sum(not place.is_repeat for place in own) + len(left.get(share, ())),
            drawn_at=timezone.now(),
        )
        documents |= _store_documents(assignment, own, left.get(share, ()))
    append_marks(marks, documents, choose_guidelines(assessment))
    follow_marks(documents.values())
    finish_judged(assessors.values())
    return list(assessors.values())


def choose_turns(assessment: Assessment, marks: Sequence[mark_log.Mark]) -> dict[Share, int]:
    """Return the turn of each assessor and topic.

    It is the one that the marks name, unless somebody here has that turn, or another assessor of
    the file graded one of the documents in it: then it is the next free one.
    """
    here = Assignment.objects.filter(assessor__assessment=assessment)
    held = set(here.values_list("topic__number", "turn"))
    graded: dict[Share, set[str]] = {}
    for mark in mark_log.replay(marks):
        if mark.grade is not None and not mark.is_repeat:
            graded.setdefault((mark.assessor, mark.topic), set()).add(mark.docno)
    turns: dict[Share, int] = {}
    used: dict[tuple[str, int], set[str]] = {}
    for mark in marks:
        share = mark.assessor, mark.topic
        if share in turns:
            continue
        own, turn = graded.get(share, set()), mark.turn
        while (mark.topic, turn) in held or own & used.get((mark.topic, turn), set()):
            turn += 1
        turns[share] = turn
        used.setdefault((mark.topic, turn), set()).update(own)
    return turns


def order_places(marks: Iterable[mark_log.Mark]) -> dict[Share, dict[WorkPlace, int]]:
    """Return the documents of each assessor and topic with their numbers in the order of judging.

    Where the marks do not say the order, it is that of their arrival.
    """
    orders: dict[Share, dict[WorkPlace, int | None]] = {}
    for mark in marks:
        own = orders.setdefault((mark.assessor, mark.topic), {})
        own.setdefault(place_of(mark), mark.order)
    return {share: _number_places(own) for share, own in orders.items()}


def _number_places(orders: Mapping[WorkPlace, int | None]) -> dict[WorkPlace, int]:
    stated = {place: order for place, order in orders.items() if order is not None}
    if len(set(stated.values())) == len(orders):
        return stated
    return {place: number for number, place in enumerate(orders, 1)}


def find_left(
    assessment: Assessment,
    topics: Mapping[str, Topic],
    turns: Mapping[Share, int],
    places: Mapping[Share, Iterable[WorkPlace]],
) -> dict[Share, list[str]]:
    """Return the documents that an opinion needs and nobody has, by the last who has a part."""
    last = {(number, turn): (name, number) for (name, number), turn in turns.items()}
    opinions = count_opinions(assessment, list(topics.values()))
    left = {}
    for (number, turn), share in last.items():
        if turn > opinions[topics[number]]:
            continue
        marked = {
            place.docno
            for other, own in places.items()
            if other[1] == number and turns[other] == turn
            for place in own
        }
        needed = select_documents(assessment, topics[number], turn, team=None)
        left[share] = [found.docno for found in needed if found.docno not in marked]
    return left


def _store_documents(
    assignment: Assignment, numbers: Mapping[WorkPlace, int], left: Sequence[str]
) -> dict[WorkPlace, AssignedDocument]:
    """Store the documents of an assignment; return those with marks by their places."""
    marked = [
        AssignedDocument(
            assignment=assignment, docno=place.docno, is_repeat=place.is_repeat, place=number
        )
        for place, number in numbers.items()
    ]
    unmarked = [
        AssignedDocument(assignment=assignment, docno=docno, place=number)
        for number, docno in enumerate(left, max(numbers.values()) + 1)
    ]
    AssignedDocument.objects.bulk_create([*marked, *unmarked], batch_size=BATCH)
    return dict(zip(numbers, marked, strict=True))


def append_marks(
    marks: Iterable[mark_log.Mark],
    documents: Mapping[WorkPlace, AssignedDocument],
    guidelines: Mapping[int | None, Guideline],
) -> None:
    """Store marks in the order of their log; each follows the mark before it on its document."""
    last: dict[WorkPlace, Mark] = {}
    waiting: list[Mark] = []
    used: set[tuple[int, str]] = set()
    for mark in marks:
        place = place_of(mark)
        before = last.get(place)
        if len(waiting) == BATCH or (before is not None and before.pk is None):
            Mark.objects.bulk_create(waiting)
            waiting = []
        row = _build_row(mark, documents[place], guidelines, used)
        row.replaces = before
        last[place] = row
        waiting.append(row)
    Mark.objects.bulk_create(waiting)
    for place, row in last.items():
        documents[place].mark = None if row.kind == Mark.Kind.UNDO else row
    changed = [documents[place] for place in last]
    AssignedDocument.objects.bulk_update(changed, ["mark"], batch_size=UPDATED)


def follow_marks(documents: Iterable[AssignedDocument]) -> None:
    """Bring documents into the state that their marks lead to."""
    judged = [document for document in documents if document.mark is not None]
    for document in judged:
        document.state = STATE_AFTER[Mark.Kind(document.mark.kind)]
    AssignedDocument.objects.bulk_update(judged, ["state"], batch_size=UPDATED)


def _build_row(
    mark: mark_log.Mark,
    document: AssignedDocument,
    guidelines: Mapping[int | None, Guideline],
    used: set[tuple[int, str]],
) -> Mark:
    assessor_id = document.assignment.assessor_id
    key = _shorten_key(mark)
    if (assessor_id, key) in used:
        key = _digest(mark.key)
    used.add((assessor_id, key))
    return Mark(
        document=document,
        assessor_id=assessor_id,
        key=key,
        kind=mark.kind,
        grade=mark.grade,
        reason=mark.reason,
        rationale=mark.rationale,
        spans=[list(span) for span in mark.spans],
        seconds=mark.seconds,
        by=mark.by,
        guideline=guidelines.get(mark.guideline, guidelines[None]),
        at=mark.at or timezone.now(),
    )


def _shorten_key(mark: mark_log.Mark) -> str:
    """Return the key of a mark among those of its assessor, with which an export begins it."""
    if not mark.key:
        return secrets.token_hex(16)
    key = mark.key.removeprefix(f"{mark.assessor}-")
    return key if 0 < len(key) <= LONGEST_KEY else _digest(mark.key)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:LONGEST_KEY]


def finish_judged(assessors: Iterable[Assessor]) -> None:
    """Finish the topics of which nothing is left to judge."""
    unfinished = AssignedDocument.objects.unjudged().values("assignment")
    done = Assignment.objects.filter(assessor__in=list(assessors)).exclude(pk__in=unfinished)
    done.update(finished_at=timezone.now())
