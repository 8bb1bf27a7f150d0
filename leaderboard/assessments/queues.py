"""What an assessor sees next: documents in their order, each in one tab at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Case, Count, When
from django.db.models.functions import Now

from leaderboard.assessments.drawing import draw_batch
from leaderboard.models import AssignedDocument, Assignment

# How long a tab holds the documents that it fetched.
LEASE = timedelta(minutes=2)
# How many documents a tab has ahead: the one on the screen, and three that follow.
FETCHED = 4

State = AssignedDocument.State


@dataclass(frozen=True)
class Handed:
    """Documents for a tab; `is_all` if no others are left for it."""

    documents: list[AssignedDocument]
    is_all: bool


def lease_documents(
    assignment: Assignment, tab: str, held: Collection[int] = (), most: int = FETCHED
) -> Handed:
    """Hand a tab documents until it has `most`, with those that it holds already.

    Documents kept for later come last.
    """
    wanted = most - _renew_leases(assignment, tab, held)
    draw_batch(assignment, tab, held, wanted)
    free = assignment.documents.unjudged().free_for(tab).exclude(pk__in=list(held))
    waiting_first = Case(When(state=State.WAITING, then=0), default=1)
    leased: list[AssignedDocument] = []
    for document in free.order_by(waiting_first, "place")[: 2 * max(wanted, 0)]:
        if len(leased) < wanted and _lease(document, tab):
            leased.append(document)
    return Handed(leased, is_all=len(leased) < wanted)


def _lease(document: AssignedDocument, tab: str) -> bool:
    """Hold a document for a tab; return False if another tab was first."""
    free = AssignedDocument.objects.unjudged().free_for(tab).filter(pk=document.pk)
    return bool(free.update(tab=tab, leased_until=Now() + LEASE))


def _renew_leases(assignment: Assignment, tab: str, held: Collection[int]) -> int:
    """Hold the documents that a tab has for some more time; return how many it still holds."""
    if not held:
        return 0
    own = assignment.documents.unjudged().filter(pk__in=list(held), tab=tab)
    return own.update(leased_until=Now() + LEASE)


@dataclass(frozen=True)
class TopicProgress:
    """How far an assessor is with a topic, in documents; repeats count as documents."""

    waiting: int
    later: int
    judged: int
    cannot: int

    @property
    def done(self) -> int:
        return self.judged + self.cannot

    @property
    def all(self) -> int:
        return self.waiting + self.later + self.done

    @property
    def left(self) -> int:
        return self.waiting + self.later

    @property
    def percent(self) -> int:
        """The share that is done, in whole percent."""
        return 100 * self.done // self.all if self.all else 0


def measure_progress(assignment: Assignment) -> TopicProgress:
    """Count the documents of an assignment by state."""
    return measure_all_progress([assignment])[assignment.pk]


def measure_all_progress(assignments: Iterable[Assignment]) -> dict[int, TopicProgress]:
    """Count the documents of several assignments by state, with one query."""
    assignments = list(assignments)
    counts: dict[int, Counter[str]] = {assignment.pk: Counter() for assignment in assignments}
    drawn: Counter[int] = Counter()
    rows = AssignedDocument.objects.filter(assignment__in=counts).order_by()
    states = rows.values_list("assignment", "state", "is_repeat").annotate(Count("pk"))
    for key, state, is_repeat, documents in states:
        counts[key][state] += documents
        if state != State.PASSED and not is_repeat:
            drawn[key] += documents
    for assignment in assignments:
        undrawn = max(0, assignment.num_documents - drawn[assignment.pk])
        counts[assignment.pk][State.WAITING] += undrawn
    shown = (State.WAITING, State.LATER, State.JUDGED, State.CANNOT)
    return {key: TopicProgress(*(of[state] for state in shown)) for key, of in counts.items()}
