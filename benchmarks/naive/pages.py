"""The naive pages: objects from the ORM, numbers formatted by the template."""

from __future__ import annotations

from django.db.models import Avg, Max, Min
from django.template.loader import render_to_string

from benchmarks.naive.models import Run, Score


def board(name: str, measure: str) -> str:
    """Every run with the mean of every measure, best first."""
    runs = Run.objects.filter(board=name).prefetch_related("means")
    ordered = sorted(
        runs,
        key=lambda run: next(mean.value for mean in run.means.all() if mean.measure == measure),
        reverse=True,
    )
    return render_to_string("naive_board.html", {"runs": ordered})


def topics(name: str, measure: str) -> str:
    """The first hundred topics with the worst, the mean and the best score of all runs."""
    rows = Score.objects.filter(run__board=name, measure=measure).values("topic")
    described = rows.annotate(worst=Min("value"), mean=Avg("value"), best=Max("value"))
    return render_to_string("naive_topics.html", {"topics": described.order_by("topic")[:100]})
