"""What an assessor has judged so far, over all tracks: a table to keep, and the pace of today."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Min, Sum
from django.utils import timezone

from leaderboard.assessments.queues import TopicProgress, measure_all_progress
from leaderboard.display.csv_tables import Columns, CsvTable, tabulate
from leaderboard.models import Assessor, Assignment, Mark, User

COLUMNS: Columns = [
    ("track", "assignment.assessor.assessment.track.slug"),
    ("assessment", "assignment.assessor.assessment.name"),
    ("topic", "assignment.topic.number"),
    ("documents", "progress.all"),
    ("judged", "progress.judged"),
    ("cannot_judge", "progress.cannot"),
    ("seconds", "work.seconds"),
    ("hours", "work.hours"),
    ("first_mark", lambda line: _render_time(line.work.first)),
    ("last_mark", lambda line: _render_time(line.work.last)),
]


@dataclass(frozen=True)
class Work:
    """The time that an assessor spent on a topic, and when it began and ended."""

    seconds: float = 0.0
    first: datetime | None = None
    last: datetime | None = None

    @property
    def hours(self) -> float:
        return round(self.seconds / 3600, 2)


@dataclass(frozen=True)
class OwnLine:
    """A topic of an assessor."""

    assignment: Assignment
    progress: TopicProgress
    work: Work


def own_progress(user: User) -> CsvTable:
    """Return a line for each topic of the user: documents, seconds, and times in UTC."""
    assignments = list(
        Assignment.objects.of_user(user)
        .select_related("assessor__assessment__track", "topic")
        .order_by("assessor__assessment__track__slug", "assessor", "topic__position")
    )
    progress = measure_all_progress(assignments)
    work = _measure_work(assignments)
    lines = [OwnLine(row, progress[row.pk], work.get(row.pk, Work())) for row in assignments]
    return tabulate(lines, COLUMNS)


def _measure_work(assignments: list[Assignment]) -> dict[int, Work]:
    """Return the work on each assignment with marks; marks that were replaced took time too."""
    marks = Mark.objects.filter(document__assignment__in=assignments).order_by()
    rows = marks.values_list("document__assignment").annotate(Sum("seconds"), Min("at"), Max("at"))
    return {pk: Work(round(seconds or 0.0, 1), *times) for pk, seconds, *times in rows}


def _render_time(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat(timespec="seconds")


# The minutes of judging after which the page suggests a pause.
PAUSE_AFTER = 50


@dataclass(frozen=True)
class Pace:
    """Minutes today (UTC), and the median of the seconds per document."""

    minutes: int
    seconds: int | None


def find_last_mark(assignment: Assignment) -> datetime | None:
    """Return when the last document of an assignment was marked."""
    marks = Mark.objects.filter(document__assignment=assignment)
    last: datetime | None = marks.aggregate(last=Max("at"))["last"]
    return last


def measure_seconds(user: User) -> int | None:
    """Return the median of the seconds that the user took per document, None before the first."""
    marks = Mark.objects.filter(assessor__user=user, seconds__isnull=False)
    seconds = list(marks.exclude(kind=Mark.Kind.UNDO).values_list("seconds", flat=True))
    return round(statistics.median(seconds)) if seconds else None


def measure_pace(assessor: Assessor) -> Pace:
    """Return how long an assessor judged today, and how fast."""
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    marks = Mark.objects.filter(assessor=assessor, at__gte=midnight, seconds__isnull=False)
    seconds = list(marks.exclude(kind=Mark.Kind.UNDO).values_list("seconds", flat=True))
    median = round(statistics.median(seconds)) if seconds else None
    return Pace(round(sum(seconds) / 60), median)
