"""The naive pages: objects from the ORM, numbers formatted by the template."""

from __future__ import annotations

from collections import defaultdict

from django.db.models import Avg, Max, Min
from django.template.loader import render_to_string

from benchmarks.naive.models import Mean, Run, Score


def board(name: str, measure: str) -> str:
    """Every run with the mean of every measure, best first: averaged as the page is asked for."""
    means: dict[int, list[Mean]] = defaultdict(list)
    rows = Score.objects.filter(run__board=name).values("run", "measure")
    for row in rows.annotate(mean=Avg("value"), low=Min("value"), high=Max("value")):
        mean = Mean(measure=row["measure"], value=row["mean"], low=row["low"], high=row["high"])
        means[row["run"]].append(mean)
    runs = list(Run.objects.filter(board=name))
    for run in runs:
        run.all_means = means[run.pk]
    return _board(runs, measure)


def board_of_means(name: str, measure: str) -> str:
    """The same where somebody keeps the means in a table of their own."""
    runs = list(Run.objects.filter(board=name).prefetch_related("means"))
    for run in runs:
        run.all_means = list(run.means.all())
    return _board(runs, measure)


def _board(runs: list[Run], measure: str) -> str:
    ordered = sorted(
        runs,
        key=lambda run: next(mean.value for mean in run.all_means if mean.measure == measure),
        reverse=True,
    )
    return render_to_string("naive_board.html", {"runs": ordered})


def topics(name: str, measure: str) -> str:
    """The first hundred topics with the worst, the mean and the best score of all runs."""
    rows = Score.objects.filter(run__board=name, measure=measure).values("topic")
    described = rows.annotate(worst=Min("value"), mean=Avg("value"), best=Max("value"))
    return render_to_string("naive_topics.html", {"topics": described.order_by("topic")[:100]})
