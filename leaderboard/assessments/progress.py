"""How far the judging of a pool is, by topic and by assessor, counted by the database."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np
from django.db.models import Count, Max, Min, Q, Sum
from django.utils import timezone

from evaluation.answers.labels import CONTRADICTS
from leaderboard.assessments.distribution import documents_by_topic, find_topics
from leaderboard.assessments.kinds import kind_of_judging
from leaderboard.assessments.workload import count_marks
from leaderboard.models import (
    Assessment,
    Assessor,
    AssignedDocument,
    Assignment,
    Mark,
    Topic,
)
from leaderboard.models.assessments import DocumentState

# The present pace is that of the last days, this many.
RECENT_DAYS = 7


@dataclass(frozen=True)
class Cell:
    """What an assessor has done of a topic, repeats not counted; `turn` 1 is the first opinion."""

    assignment: int
    turn: int
    done: int
    later: int
    all: int

    @property
    def is_done(self) -> bool:
        return self.done >= self.all


@dataclass(frozen=True)
class Opinions:
    """First opinions, and how many of them are a relevant grade."""

    graded: int = 0
    relevant: int = 0

    @property
    def relevant_share(self) -> float | None:
        return self.relevant / self.graded if self.graded else None


@dataclass(frozen=True)
class TopicOfAssessors:
    """A topic with a cell per assessor, None where the assessor does not judge it."""

    topic: Topic
    cells: list[Cell | None]
    opinions: Opinions
    to_settle: int


@dataclass(frozen=True)
class AssessorColumn:
    """An assessor with what is done over all topics and the median of seconds per document."""

    assessor: Assessor
    done: int
    later: int
    all: int
    num_topics: int
    seconds: float | None


@dataclass(frozen=True)
class Dispute:
    """A document whose assessors gave different grades, the lowest and the highest of them."""

    topic: int
    docno: str
    low: int
    high: int

    @property
    def width(self) -> int:
        return self.high - self.low


@dataclass(frozen=True)
class Progress:
    """The judging of a pool as it is now; `daily` is the recent number of marks per day."""

    topics: list[TopicOfAssessors]
    assessors: list[AssessorColumn]
    num_pooled: int
    num_graded: int
    num_cannot: int
    num_twice: int
    disputes: list[Dispute]
    hours: float
    seconds: float | None
    num_done: int
    num_left: int
    daily: float
    today: date

    @property
    def share(self) -> float:
        """The share of the pool that has a grade."""
        return self.num_graded / self.num_pooled if self.num_pooled else 0.0

    @property
    def num_ungraded(self) -> int:
        return self.num_pooled - self.num_graded

    @property
    def is_part_graded(self) -> bool:
        return 0 < self.num_graded < self.num_pooled

    @property
    def hours_expected(self) -> float | None:
        """The hours that it takes from beginning to end, at the median pace."""
        if self.seconds is None:
            return None
        return self.hours + self.num_left * self.seconds / 3600

    @property
    def ends_on(self) -> date | None:
        """The day on which the judging is finished at the present pace."""
        if not self.daily or not self.num_left:
            return None
        days = math.ceil(self.num_left / self.daily)
        return self.today + timedelta(days=days) if days < 10_000 else None

    @property
    def opinions(self) -> Opinions:
        """The first opinions on all topics."""
        return Opinions(
            sum(line.opinions.graded for line in self.topics),
            sum(line.opinions.relevant for line in self.topics),
        )


def measure_assessment(assessment: Assessment, now: datetime | None = None) -> Progress:
    """Count the documents, marks and hours of an assessment."""
    now = now or timezone.now()
    cells = _count_cells(assessment)
    seconds = load_seconds(assessment)
    assessors = _summarise_assessors(assessment, cells, seconds)
    twice = _find_judged_twice(assessment)
    disputes = _without_settled(assessment, twice)
    documents = documents_by_topic(assessment)
    done = sum(column.done for column in assessors)
    every = [value for values in seconds.values() for value in values]
    return Progress(
        topics=_line_up(assessment, cells, assessors, disputes),
        assessors=assessors,
        num_pooled=sum(documents.values()),
        num_graded=_count_graded(assessment),
        num_cannot=_count_cannot(assessment),
        num_twice=len(twice),
        disputes=disputes,
        hours=(Mark.objects.of(assessment).aggregate(Sum("seconds"))["seconds__sum"] or 0) / 3600,
        seconds=float(np.median(every)) if every else None,
        num_done=done,
        num_left=max(0, count_marks(assessment, documents) + count_third(assessment) - done),
        daily=_count_per_day(assessment, now),
        today=timezone.localdate(now),
    )


def measure_share(assessment: Assessment) -> float:
    """Return which share of the pool has a grade."""
    pooled = sum(documents_by_topic(assessment).values())
    graded = _count_graded(assessment)
    return graded / pooled if pooled else 0.0


def find_disputes(assessment: Assessment) -> list[Dispute]:
    """Return the documents on which assessors differ and nobody has decided, widest first."""
    return _without_settled(assessment, _find_judged_twice(assessment))


def count_third(assessment: Assessment) -> int:
    """Count the documents that others were asked about because two assessors differ."""
    settling = Assignment.objects.of(assessment).filter(settles=True)
    return settling.aggregate(Sum("num_documents"))["num_documents__sum"] or 0


def _count_graded(assessment: Assessment) -> int:
    """Count the documents that have at least one grade."""
    graded = AssignedDocument.objects.of(assessment).graded()
    return graded.values("assignment__topic", "docno").distinct().count()


def _count_cannot(assessment: Assessment) -> int:
    """Count the answers of assessors who could not judge a document."""
    own = AssignedDocument.objects.of(assessment).filter(is_repeat=False)
    return own.filter(state=DocumentState.CANNOT).count()


def _count_cells(assessment: Assessment) -> dict[tuple[int, int], Cell]:
    """Return the cell of each topic and assessor."""
    own = Q(documents__is_repeat=False)
    done = Q(documents__state__in=[DocumentState.JUDGED, DocumentState.CANNOT])
    rows = Assignment.objects.filter(assessor__assessment=assessment).annotate(
        done=Count("documents", filter=own & done),
        later=Count("documents", filter=own & Q(documents__state=DocumentState.LATER)),
    )
    found = rows.order_by("pk").values_list(
        *("topic", "assessor", "pk", "turn", "done", "later", "num_documents")
    )
    return {(topic, assessor): Cell(*rest) for topic, assessor, *rest in found}


def load_seconds(assessment: Assessment) -> dict[int, list[float]]:
    """Return the seconds of the marks that stand, by assessor."""
    marks = Mark.objects.of(assessment).standing()
    answers = marks.filter(kind__in=[Mark.Kind.GRADE, Mark.Kind.CANNOT])
    rows = answers.exclude(seconds=None).order_by()
    found: dict[int, list[float]] = defaultdict(list)
    for assessor, seconds in rows.values_list("assessor", "seconds"):
        found[assessor].append(seconds)
    return found


def _summarise_assessors(
    assessment: Assessment,
    cells: Mapping[tuple[int, int], Cell],
    seconds: Mapping[int, Sequence[float]],
) -> list[AssessorColumn]:
    """Return everyone who judges or has judged."""
    own: dict[int, list[Cell]] = defaultdict(list)
    for (_, assessor), cell in cells.items():
        own[assessor].append(cell)
    columns = []
    for assessor in assessment.assessors.select_related("user"):
        given = own[assessor.pk]
        column = AssessorColumn(
            assessor=assessor,
            done=sum(cell.done for cell in given),
            later=sum(cell.later for cell in given),
            all=sum(cell.all for cell in given),
            num_topics=len(given),
            seconds=float(np.median(seconds[assessor.pk])) if assessor.pk in seconds else None,
        )
        if column.done or assessor.removed_at is None:
            columns.append(column)
    return columns


def _find_judged_twice(assessment: Assessment) -> list[Dispute]:
    """Return the documents that have more than one grade, which may be the same."""
    rows = (
        AssignedDocument.objects.of(assessment).graded().values_list("assignment__topic", "docno")
    )
    several = rows.annotate(low=Min("mark__grade"), high=Max("mark__grade"), marks=Count("pk"))
    found = several.filter(marks__gt=1).order_by("assignment__topic__position", "docno")
    return [Dispute(topic, docno, low, high) for topic, docno, low, high, _ in found]


def _without_settled(assessment: Assessment, documents: Iterable[Dispute]) -> list[Dispute]:
    settled = set(assessment.settlements.values_list("topic", "docno"))
    if assessment.rule == Assessment.Rule.AGREED:
        settled |= _find_agreed(assessment)
    disputes = [
        each for each in documents if each.width and (each.topic, each.docno) not in settled
    ]
    return sorted(disputes, key=lambda each: -each.width)


def _find_agreed(assessment: Assessment) -> set[tuple[int, str]]:
    """Return the documents to which more than half of the assessors gave the same grade."""
    graded = AssignedDocument.objects.of(assessment).graded().order_by()
    rows = graded.values_list("assignment__topic", "docno", "mark__grade").annotate(Count("pk"))
    times: dict[tuple[int, str], list[int]] = defaultdict(list)
    for topic, docno, _, number in rows:
        times[topic, docno].append(number)
    return {document for document, of in times.items() if 2 * max(of) > sum(of)}


def _line_up(
    assessment: Assessment,
    cells: Mapping[tuple[int, int], Cell],
    assessors: Iterable[AssessorColumn],
    disputes: Iterable[Dispute],
) -> list[TopicOfAssessors]:
    columns = [column.assessor.pk for column in assessors]
    opinions = _count_first_opinions(assessment)
    to_settle = Counter(each.topic for each in disputes)
    return [
        TopicOfAssessors(
            topic=topic,
            cells=[cells.get((topic.pk, column)) for column in columns],
            opinions=opinions.get(topic.pk, Opinions()),
            to_settle=to_settle[topic.pk],
        )
        for topic in find_topics(assessment)
    ]


def _count_first_opinions(assessment: Assessment) -> dict[int, Opinions]:
    """Count the first opinions on each topic."""
    is_relevant = Q(mark__grade__gte=relevant_from(assessment))
    if kind_of_judging(assessment).is_of_answers:
        is_relevant &= ~Q(mark__grade=CONTRADICTS)
    first = AssignedDocument.objects.of(assessment).graded().filter(assignment__turn=1)
    rows = first.values_list("assignment__topic").annotate(
        graded=Count("pk"), relevant=Count("pk", filter=is_relevant)
    )
    return {
        topic: Opinions(graded, relevant)
        for topic, graded, relevant in rows.order_by("assignment__topic")
    }


def relevant_from(assessment: Assessment) -> int:
    """Return the lowest grade that counts as relevant."""
    before = assessment.pool.judged_in
    return before.relevant_from if before is not None else 1


def _count_per_day(assessment: Assessment, now: datetime) -> float:
    """Return how many documents were judged per day, in the last days."""
    since = now - timedelta(days=RECENT_DAYS)
    marks = Mark.objects.of(assessment).standing().filter(kind=Mark.Kind.GRADE)
    recent = marks.filter(at__gt=since).aggregate(number=Count("pk"), first=Min("at"))
    if not recent["number"]:
        return 0.0
    begun = max(since, min(assessment.opened_at or recent["first"], recent["first"]))
    days = max(1.0, (now - begun) / timedelta(days=1))
    return float(recent["number"] / days)
