"""Marks become judgments: the log of an assessment, its settlement, and what is still open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from evaluation import marks as mark_log
from evaluation.answers.labels import NAMES
from evaluation.settlement import Settled, settle
from leaderboard.assessments.distribution import documents_by_topic
from leaderboard.collections.answer_pools import read_pair
from leaderboard.collections.nuggets import load_bank
from leaderboard.collections.stored_judgments import render_qrels
from leaderboard.infrastructure.batches import iterate_batches
from leaderboard.infrastructure.whole_numbers import next_name
from leaderboard.models import Assessment, Collection, Mark, Track


def load_marks(assessment: Assessment) -> Iterator[mark_log.Mark]:
    """Yield every mark of an assessment, in the order of writing, under pseudonyms."""
    rows = Mark.objects.of(assessment).select_related(
        "assessor", "guideline", "replaces", "document__assignment__topic"
    )
    for marks in iterate_batches(rows, "pk"):
        yield from map(as_logged, marks)


def as_logged(mark: Mark) -> mark_log.Mark:
    """Return a stored mark as a line of the log."""
    document = mark.document
    return mark_log.Mark(
        topic=document.assignment.topic.number,
        docno=document.docno,
        assessor=mark.assessor.name,
        grade=mark.grade,
        kind=mark.kind,
        reason=mark.reason,
        turn=document.assignment.turn,
        at=mark.at,
        seconds=mark.seconds,
        guideline=mark.guideline.number,
        rationale=mark.rationale,
        spans=tuple((start, end) for start, end in mark.spans),
        key=name_mark(mark),
        replaces="" if mark.replaces is None else name_mark(mark.replaces, mark.assessor.name),
        order=document.place,
        is_repeat=document.is_repeat,
        by=mark.by,
    )


def name_mark(mark: Mark, assessor: str = "") -> str:
    """Return the identity of a mark in the log: two assessors may have used the same key."""
    return f"{assessor or mark.assessor.name}-{mark.key}"


def settle_marks(assessment: Assessment) -> list[Settled]:
    """Return the grade of every document with a mark, by the rule and by the organisers."""
    decisions = {
        (settled.topic.number, settled.docno): settled.grade
        for settled in assessment.settlements.select_related("topic")
    }
    return settle(load_marks(assessment), assessment.rule, decisions)


@dataclass(frozen=True)
class JudgingOutcome:
    """What closing an assessment now would make."""

    settled: list[Settled]
    num_pooled: int
    num_cannot: int
    open_disagreements: list[Settled]

    @property
    def num_graded(self) -> int:
        return sum(found.grade is not None for found in self.settled)

    @property
    def num_ungraded(self) -> int:
        """How many documents of the pool have no grade."""
        return self.num_pooled - self.num_graded


def find_outcome(assessment: Assessment) -> JudgingOutcome:
    """Return what the marks of an assessment amount to."""
    settled = settle_marks(assessment)
    decided = set(assessment.settlements.values_list("topic__number", "docno"))
    if assessment.rule == Assessment.Rule.AGREED:
        decided |= {(found.topic, found.docno) for found in settled if found.grade is not None}
    cannot = Mark.objects.of(assessment).standing().filter(kind=Mark.Kind.CANNOT)
    return JudgingOutcome(
        settled=settled,
        num_pooled=sum(documents_by_topic(assessment).values()),
        num_cannot=cannot.count(),
        open_disagreements=[
            found
            for found in settled
            if found.is_disputed and (found.topic, found.docno) not in decided
        ],
    )


def render_judgments(assessment: Assessment, outcome: JudgingOutcome) -> Iterator[bytes]:
    """Yield the judgments as qrels: those before the pool, then those made here."""
    before = assessment.pool.judged_in
    if before is not None:
        yield from render_qrels(before)
    for found in outcome.settled:
        if found.grade is not None:
            yield f"{found.topic} 0 {found.docno} {found.grade}\n".encode()


def render_layer(assessment: Assessment, outcome: JudgingOutcome) -> Iterator[bytes]:
    """Yield the settled labels of pairs as lines of marks, by the keys of their texts."""
    pool = assessment.pool
    bank = None if pool.nuggets_id is None else load_bank(pool.nuggets_id)
    for found in outcome.settled:
        if found.grade is None:
            continue
        pair = read_pair(found.docno)
        mark = {"topic": found.topic, "label": NAMES[found.grade]}
        if bank is None:
            mark |= {"about": "support", "sentence": pair.key, "docno": pair.other}
        else:
            nugget = bank.topics[found.topic][int(pair.other) - 1]
            mark |= {"about": "nugget", "answer": pair.key, "nugget": nugget.key}
        yield json.dumps(mark).encode() + b"\n"


def next_layer_name(track: Track) -> str:
    """Return a name with the next number for a layer by people."""
    return next_name("people-", track.mark_layers.values_list("version", flat=True))


def next_version_name(collection: Collection) -> str:
    """Return a version with the next number after the highest one used: "v3" after v1 and v2."""
    return next_name("v", collection.judgment_sets.values_list("version", flat=True))
