"""All runs of a board on one measure, as one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leaderboard.models import Collection, Edition, Run, Score, Topic
from leaderboard.scoring.comparisons import stack_scores
from leaderboard.scoring.judgments import topic_mask

# So many topics are asked for by their names; more are read with all others.
FEW_TOPICS = 500


@dataclass(frozen=True)
class Scores:
    """All runs of a board on one measure: `values[i]` are those of `runs[i]`, NaN = undefined.

    Columns are the evaluated topics in the order of their positions.
    """

    measure: str
    runs: list[Run]
    edition: Edition
    values: NDArray[np.float64]

    @cached_property
    def topics(self) -> list[Topic]:
        return load_evaluated_topics(self.edition)

    def of(self, run: Run) -> NDArray[np.float64]:
        return self.values[self.runs.index(run)]

    def column(self, topic: Topic) -> int | None:
        """Where a topic stands, or None where it is not evaluated; no other topic is read."""
        mask = topic_mask(self.edition)
        return int(mask[: topic.position].sum()) if mask[topic.position] else None

    @cached_property
    def median(self) -> NDArray[np.float64]:
        """NaN where the measure is undefined for every run."""
        return quantiles(self.values, [0.5])[0]

    @cached_property
    def quartiles(self) -> NDArray[np.float64]:
        """The first, the median and the third of every topic, float64[3, topics]."""
        return quantiles(self.values, [0.25, 0.5, 0.75])


def quantiles(values: NDArray[np.float64], shares: Sequence[float]) -> NDArray[np.float64]:
    """Of every column those that are defined, as np.nanquantile has them, float64[shares, columns].

    One sort of all columns costs a fifth of numpy's partitions, and undefined values end up last.

    >>> quantiles(np.array([[1.0, np.nan], [0.0, np.nan], [0.25, np.nan]]), [0.5]).tolist()
    [[0.25, nan]]
    """
    if not len(values):
        return np.full((len(shares), values.shape[1]), np.nan)
    ordered = np.sort(values, axis=0)
    last = np.maximum(len(values) - np.isnan(values).sum(axis=0) - 1, 0)
    places = np.multiply.outer(np.asarray(shares), last)
    below = places.astype(np.intp)
    low = np.take_along_axis(ordered, below, axis=0)
    high = np.take_along_axis(ordered, np.minimum(below + 1, last), axis=0)
    part, apart = places - below, high - low
    return np.where(part < 0.5, low + apart * part, high - apart * (1 - part))


def read_scores(edition: Edition, measure: str, runs: Sequence[Run]) -> Scores:
    rows = Score.objects.filter(score_set__edition=edition, measure=measure)
    by_topic = dict(rows.values_list("score_set__run_id", "by_topic"))
    runs = [run for run in runs if run.pk in by_topic]
    return Scores(measure, runs, edition, stack_scores(edition, by_topic, [run.pk for run in runs]))


def load_evaluated_topics(edition: Edition) -> list[Topic]:
    """The topics that count, in the order of their positions."""
    every = load_topics(edition.track.collection)
    return [topic for topic, counts in zip(every, topic_mask(edition), strict=True) if counts]


def load_topics_at(edition: Edition, places: Sequence[int]) -> list[Topic]:
    """The topics at these places among those that count, few of them without the others."""
    if len(places) > FEW_TOPICS:
        every = load_evaluated_topics(edition)
        return [every[place] for place in places]
    positions = np.flatnonzero(topic_mask(edition))[list(places)].tolist()
    topics = edition.track.collection.topics.filter(position__in=positions)
    by_position = {topic.position: topic for topic in topics}
    return [by_position[position] for position in positions]


def load_topics(collection: Collection) -> list[Topic]:
    return list(collection.topics.order_by("position"))
