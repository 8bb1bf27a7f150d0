"""The scores of runs on an edition: their means, and their scores by topic as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress

import numpy as np
from django.db.models import Count, Max
from numpy.typing import NDArray

from evaluation.significance import Collected, topic_order
from leaderboard.infrastructure.process_cache import ProcessCache
from leaderboard.models import Edition, Score, ScoreSet
from leaderboard.scoring.judgments import load_topic_numbers, load_topics, topic_mask

# How many editions' means a process caches; 500 runs by 10 measures take half a megabyte.
CACHE_SIZE = 16
# So many runs are asked for by name; to name more takes longer than to read all of the edition.
MOST_NAMED = 500
# By run and measure; None if a measure is undefined on every topic.
Means = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True)
class EditionMeans:
    """The means and the Judged@10 of each run of an edition."""

    means: Means
    judged: Mapping[str, float]

    def by(self, measure: str) -> dict[str, float | None]:
        """Return the mean of each run that was scored by the measure."""
        return {run: of[measure] for run, of in self.means.items() if measure in of}


@dataclass(frozen=True)
class Figures:
    """Counts of a run, besides its scores; those of topics are of all, judged or not."""

    num_topics: int
    num_answered: int
    num_retrieved: int
    judged_at_10: float


@dataclass(frozen=True)
class BoardFigures:
    """The figures of all runs on these editions, read when a column first asks for them."""

    editions: Sequence[Edition] = field(default=(), repr=False)

    def of(self, run_ids: Iterable[str]) -> list[Figures]:
        """Return the figures of those of these runs that were scored."""
        return [self._by_run[run_id] for run_id in run_ids if run_id in self._by_run]

    @cached_property
    def _by_run(self) -> dict[str, Figures]:
        topics = {each.pk: each.judgment_set.collection.num_topics for each in self.editions}
        counted = ScoreSet.objects.filter(edition__in=list(topics)).values_list(
            "run", "edition", "run__num_answered", "run__num_retrieved", "judged_at_10"
        )
        return {run_id: Figures(topics[of], *numbers) for run_id, of, *numbers in counted}


# The key is the id of an edition and a stamp that changes with its scores.
means_cache: ProcessCache[tuple[object, ...], EditionMeans] = ProcessCache(CACHE_SIZE)


def load_means(edition: Edition) -> EditionMeans:
    """Return the means of every run of the edition, cached until a score is added or deleted."""
    scores = Score.objects.filter(score_set__edition=edition)
    # A score never changes, and its id is used again only after a transaction was rolled back.
    made = scores.aggregate(Count("pk"), Max("pk"), Max("score_set__created_at"))
    stamp = edition.pk, *made.values()
    return means_cache.get_many([stamp], lambda stamps: {stamp: _read_means(edition)})[stamp]


def _read_means(edition: Edition) -> EditionMeans:
    means: dict[str, dict[str, float | None]] = defaultdict(dict)
    rows = Score.objects.filter(score_set__edition=edition)
    for run_id, measure, mean in rows.values_list("score_set__run_id", "measure", "mean"):
        means[run_id][measure] = mean
    judged = ScoreSet.objects.filter(edition=edition).values_list("run_id", "judged_at_10")
    return EditionMeans(means, dict(judged))


def load_measure_means(edition: Edition, measure: str) -> dict[str, float | None]:
    """Return the mean of every run of the edition on a measure; None if it is undefined."""
    rows = Score.objects.filter(score_set__edition=edition, measure=measure)
    return dict(rows.values_list("score_set__run_id", "mean"))


def score_matrix(edition: Edition, measure: str, run_ids: Sequence[str]) -> NDArray[np.float64]:
    """Return the scores of these runs as float64[runs, evaluated topics], topics by position."""
    rows = Score.objects.filter(score_set__edition=edition, measure=measure)
    if len(run_ids) <= MOST_NAMED:
        rows = rows.filter(score_set__run__in=run_ids)
    return stack_scores(edition, dict(rows.values_list("score_set__run_id", "by_topic")), run_ids)


def stack_scores(
    edition: Edition, by_topic: Mapping[str, bytes], run_ids: Sequence[str]
) -> NDArray[np.float64]:
    """Return the same matrix from the stored scores of each run; the array is read-only."""
    mask = topic_mask(edition)
    every = np.frombuffer(b"".join(by_topic[run_id] for run_id in run_ids), dtype="<f8")
    values = every.reshape(len(run_ids), mask.size)
    return values if mask.all() else values[:, mask]


def tested_scores(edition: Edition, measure: str, run_ids: Sequence[str]) -> NDArray[np.float64]:
    """Return the score matrix with the topics in the order of draws, so that p is the same."""
    return score_matrix(edition, measure, run_ids)[:, topic_order(_evaluated_numbers(edition))]


def collect_scores(edition: Edition, measure: str, run_ids: Sequence[str]) -> Collected:
    """Return the score matrix with the keys of its topics.

    A topic is known by collection and number: two tracks of one collection share it, and so is a
    group of topics.
    """
    collection, numbers = edition.track.collection, _evaluated_numbers(edition)
    keys = [(collection.slug, number) for number in numbers]
    group_of = load_topics(collection.pk).group_of
    groups = [(collection.slug, group_of[number]) for number in numbers] if group_of else None
    return Collected(score_matrix(edition, measure, run_ids), keys, groups)


def _evaluated_numbers(edition: Edition) -> list[bytes]:
    return list(compress(load_topic_numbers(edition.track.collection_id), topic_mask(edition)))
