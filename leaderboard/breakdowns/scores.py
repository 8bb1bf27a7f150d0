"""All runs of a board on one measure, as one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leaderboard.models import Collection, Edition, Run, Score, Topic
from leaderboard.scoring import mask_of


@dataclass(frozen=True)
class Scores:
    """All runs of a board on one measure: `values[i]` are those of `runs[i]`, NaN = undefined.

    Columns are the evaluated topics in the order of their positions.
    """

    measure: str
    runs: list[Run]
    topics: list[Topic]
    values: NDArray[np.float64]

    def of(self, run: Run) -> NDArray[np.float64]:
        return self.values[self.runs.index(run)]

    @cached_property
    def median(self) -> NDArray[np.float64]:
        """NaN where the measure is undefined for every run."""
        return self.quartiles[1]

    @cached_property
    def quartiles(self) -> NDArray[np.float64]:
        """The first, the median and the third of every topic, float64[3, topics]."""
        known = ~np.isnan(self.values).all(axis=0)
        quartiles = np.full((3, len(known)), np.nan)
        quartiles[:, known] = np.nanpercentile(self.values[:, known], [25, 50, 75], axis=0)
        return quartiles


def read_scores(edition: Edition, measure: str, runs: Sequence[Run]) -> Scores:
    rows = Score.objects.filter(score_set__edition=edition, measure=measure)
    arrays = {
        run_id: np.frombuffer(by_topic, dtype="<f8")
        for run_id, by_topic in rows.values_list("score_set__run_id", "by_topic")
    }
    mask = mask_of(edition)
    topics = evaluated_topics(edition)
    runs = [run for run in runs if run.pk in arrays]
    values = np.array([arrays[run.pk][mask] for run in runs]).reshape(len(runs), len(topics))
    return Scores(measure, runs, topics, values)


def evaluated_topics(edition: Edition) -> list[Topic]:
    """The topics that count, in the order of their positions."""
    every = topics_of(edition.track.collection)
    return [topic for topic, counts in zip(every, mask_of(edition), strict=True) if counts]


def topics_of(collection: Collection) -> list[Topic]:
    return list(collection.topics.order_by("position"))
