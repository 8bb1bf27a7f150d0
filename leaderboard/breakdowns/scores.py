"""All runs of a board on one measure, as one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leaderboard.models import Collection, Edition, Run, Score, Topic
from leaderboard.scoring import mask_of

# So many topics are asked for by their names; more are read with all others.
FEW = 500


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
        return evaluated_topics(self.edition)

    def of(self, run: Run) -> NDArray[np.float64]:
        return self.values[self.runs.index(run)]

    def column(self, topic: Topic) -> int | None:
        """Where a topic stands, or None where it is not evaluated; no other topic is read."""
        mask = mask_of(self.edition)
        return int(mask[: topic.position].sum()) if mask[topic.position] else None

    @cached_property
    def median(self) -> NDArray[np.float64]:
        """NaN where the measure is undefined for every run."""
        return self._percentiles([50])[0]

    @cached_property
    def quartiles(self) -> NDArray[np.float64]:
        """The first, the median and the third of every topic, float64[3, topics]."""
        return self._percentiles([25, 50, 75])

    def _percentiles(self, shares: list[int]) -> NDArray[np.float64]:
        undefined = np.isnan(self.values)
        some, none = undefined.any(axis=0), undefined.all(axis=0)
        found = np.full((len(shares), self.values.shape[1]), np.nan)
        # Where nothing is undefined the plain percentile is the same, and 25 times as fast.
        for find, columns in (
            (np.percentile, ~some & ~none),
            (np.nanpercentile, some & ~none),
        ):
            if columns.any():
                found[:, columns] = find(self.values[:, columns], shares, axis=0)
        return found


def read_scores(edition: Edition, measure: str, runs: Sequence[Run]) -> Scores:
    rows = Score.objects.filter(score_set__edition=edition, measure=measure)
    arrays = {
        run_id: np.frombuffer(by_topic, dtype="<f8")
        for run_id, by_topic in rows.values_list("score_set__run_id", "by_topic")
    }
    mask = mask_of(edition)
    runs = [run for run in runs if run.pk in arrays]
    values = np.array([arrays[run.pk][mask] for run in runs]).reshape(len(runs), mask.sum())
    return Scores(measure, runs, edition, values)


def evaluated_topics(edition: Edition) -> list[Topic]:
    """The topics that count, in the order of their positions."""
    every = topics_of(edition.track.collection)
    return [topic for topic, counts in zip(every, mask_of(edition), strict=True) if counts]


def topics_at(edition: Edition, places: Sequence[int]) -> list[Topic]:
    """The topics at these places among those that count, few of them without the others."""
    if len(places) > FEW:
        every = evaluated_topics(edition)
        return [every[place] for place in places]
    positions = np.flatnonzero(mask_of(edition))[list(places)].tolist()
    topics = edition.track.collection.topics.filter(position__in=positions)
    by_position = {topic.position: topic for topic in topics}
    return [by_position[position] for position in positions]


def topics_of(collection: Collection) -> list[Topic]:
    return list(collection.topics.order_by("position"))
