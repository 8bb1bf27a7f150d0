"""Orders that learn from grades: the documents of a topic, the log, and the next batch.

The log is what is stored anyway: documents in the order in which they were handed out, each with
its run, its reason and the number of marks known then, and the marks, which are never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from django.core.files.storage import default_storage

from evaluation.pooling import (
    Candidates,
    Event,
    GuardedOrder,
    Guards,
    HandedOut,
    Marked,
    OrderSettings,
    Pooled,
    replay,
    resume,
)
from evaluation.pooling.pools import gathered
from evaluation.problems import Problems
from evaluation.reading.runs.reader import Run as ReadRun
from leaderboard.assessments.progress import relevant_from
from leaderboard.collections.pools import MOST_DEPTH, find_depth, read_topic_lines
from leaderboard.models import Assessment, AssignedDocument, Assignment, Mark, Pool, Run, Topic
from leaderboard.runs.rankings import Rankings

GUARDS = Guards()


@dataclass(frozen=True, eq=False)
class TopicPool:
    """The documents of a topic to judge, with the keys and the teams of the pooled runs."""

    candidates: Candidates
    runs: tuple[str, ...]
    teams: tuple[str, ...]


def load_topic_pool(pool: Pool, topic: Topic) -> TopicPool:
    """Return what an order draws from; an approved pool never changes, so it is read once."""
    return _read_topic_pool(pool.pk, pool.file.name, topic.pk)


@lru_cache(maxsize=32)
def _read_topic_pool(pool_id: int, file: str, topic_id: int) -> TopicPool:
    pool, topic = Pool.objects.get(pk=pool_id), Topic.objects.get(pk=topic_id)
    # The order of the pool's summary is that of its archive too.
    found = pool.runs.in_bulk()
    runs = [found[key] for key in pool.summary["runs"] if key in found]
    number = topic.number.encode()
    depth = find_depth(pool) or MOST_DEPTH
    places = gathered([_read_ranking(run, topic.number) for run in runs], depth, [number])[number]
    docnos = [line.docno.encode() for line in read_topic_lines(pool, topic)]
    documents = [Pooled(docno, places[docno]) for docno in docnos if docno in places]
    return TopicPool(
        Candidates.of(number, documents, len(runs)),
        tuple(run.pk for run in runs),
        tuple(str(run.team_id) for run in runs),
    )


def _read_ranking(run: Run, number: str) -> ReadRun:
    with default_storage.open(run.ranking_file.name) as file:
        ranking = Rankings(file).ranking(number)
    rankings = {} if ranking is None else {number.encode(): ranking}
    return ReadRun(run.tag, rankings, lines=0, problems=Problems())


def load_log(assessment: Assessment, topic: Topic) -> list[Event]:
    """Return what was handed out and marked on a topic, in the order in which it came."""
    pooled = load_topic_pool(assessment.pool, topic)
    known = frozenset(pooled.candidates.docnos)
    marks = iter(_load_marks(assessment, topic))
    log: list[Event] = []
    for handed, marks_before in _load_handed_out(assessment, topic, pooled.runs):
        taken = sum(isinstance(event, Marked) for event in log)
        log += islice(marks, marks_before - taken)
        log.append(handed)
    log += marks
    return [event for event in log if event.docno in known]


def _load_handed_out(
    assessment: Assessment, topic: Topic, runs: Sequence[str]
) -> list[tuple[HandedOut, int]]:
    """Return the documents that the order handed out, each with the number of marks before it."""
    given = Assignment.objects.of_topic(assessment, topic)
    rows = AssignedDocument.objects.filter(assignment__in=given).exclude(drawn_by="")
    values = rows.order_by("pk").values_list("docno", "drawn_from", "drawn_by", "marks_before")
    numbers = {run: number for number, run in enumerate(runs)}
    return [
        # A run that was deleted since counts as the first one.
        (HandedOut(docno.encode(), numbers.get(run, 0), reason), marks_before)
        for docno, run, reason, marks_before in values
    ]


def find_marks(assessment: Assessment, topic: Topic) -> list[tuple[str, str, int | None]]:
    """Return document, kind and grade of every mark on a topic, in the order of writing."""
    given = Assignment.objects.of_topic(assessment, topic)
    marks = Mark.objects.filter(document__assignment__in=given).order_by("pk")
    return list(marks.values_list("document__docno", "kind", "grade"))


def _load_marks(assessment: Assessment, topic: Topic) -> list[Marked]:
    """Return every mark as the order learns it; one without a grade takes the grade back."""
    least = relevant_from(assessment)
    return [
        Marked(docno.encode(), None if grade is None else grade >= least)
        for docno, _, grade in find_marks(assessment, topic)
    ]


def settings_of(assessment: Assessment, topic: Topic) -> OrderSettings:
    """Return what the order of a topic is made from; the topic itself is part of each chance."""
    teams = load_topic_pool(assessment.pool, topic).teams
    guards = replace(GUARDS, sample=assessment.random_part)
    return OrderSettings(assessment.order, assessment.seed, teams, guards)


def resume_order(assessment: Assessment, topic: Topic) -> GuardedOrder:
    """Return the order of a topic as it is after everything handed out and marked."""
    candidates = load_topic_pool(assessment.pool, topic).candidates
    return resume(settings_of(assessment, topic), candidates, load_log(assessment, topic))


def replay_order(assessment: Assessment, topic: Topic) -> GuardedOrder:
    """Draw again all that was handed out on a topic; ReplayError where a document differs."""
    candidates = load_topic_pool(assessment.pool, topic).candidates
    return replay(settings_of(assessment, topic), candidates, load_log(assessment, topic))
