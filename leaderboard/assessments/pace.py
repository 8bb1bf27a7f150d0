"""The time that an assessor spends."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from django.utils import timezone

from leaderboard.models import Assessor, Mark

# The minutes of judging after which the page suggests a pause.
PAUSE_AFTER = 50


@dataclass(frozen=True)
class Pace:
    """Minutes today (UTC), and the median of the seconds per document."""

    minutes: int
    seconds: int | None


def measure_pace(assessor: Assessor) -> Pace:
    """Return how long an assessor judged today, and how fast."""
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    marks = Mark.objects.filter(assessor=assessor, at__gte=midnight, seconds__isnull=False)
    seconds = list(marks.exclude(kind=Mark.Kind.UNDO).values_list("seconds", flat=True))
    median = round(statistics.median(seconds)) if seconds else None
    return Pace(round(sum(seconds) / 60), median)
