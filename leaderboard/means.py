"""The means of an edition's runs, as boards read them again and again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Max

from leaderboard.infrastructure.process_cache import Memory
from leaderboard.models import Edition, Score, ScoreSet

# Editions whose means a process remembers; those of 500 runs by 10 measures take half a megabyte.
REMEMBERED = 16
# By run and measure; None where a measure is undefined on every topic.
Means = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True)
class Measured:
    """The means of runs, and how many of their first ten are judged; all by run."""

    means: Means
    judged: Mapping[str, float]


# By an edition and what tells that its scores are the same.
remembered: Memory[tuple[object, ...], Measured] = Memory(REMEMBERED)


def measured_in(edition: Edition) -> Measured:
    """Of every run of the edition; read once in a process while no score comes or goes."""
    scores = Score.objects.filter(score_set__edition=edition)
    # A score never changes; its number is not used again but where a transaction was undone.
    made = scores.aggregate(Count("pk"), Max("pk"), Max("score_set__created_at"))
    stamp = edition.pk, *made.values()
    return remembered.recall([stamp], lambda stamps: {stamp: _read(edition)})[stamp]


def _read(edition: Edition) -> Measured:
    means: dict[str, dict[str, float | None]] = defaultdict(dict)
    rows = Score.objects.filter(score_set__edition=edition)
    for run_id, measure, mean in rows.values_list("score_set__run_id", "measure", "mean"):
        means[run_id][measure] = mean
    judged = ScoreSet.objects.filter(edition=edition).values_list("run_id", "judged_at_10")
    return Measured(means, dict(judged))
