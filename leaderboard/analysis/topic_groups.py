"""The scores of a run by groups of topics, such as conversations, and by depth of turn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import AnyMeasure, parse_measure
from evaluation.significance import (
    Interval,
    interval_of_score,
    natural_order,
    places_in_groups,
    scale_of,
    split_scores,
)
from leaderboard.analysis.runs import RunBreakdown
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.models import Topic

# A page lists so many groups, those where the run is worst beside the reference first; a file has
# all of them.
MOST_GROUPS = 50


@dataclass(frozen=True)
class PartOfTopics:
    """The topics of a group, or those at a depth, on which the run has a score.

    `interval` is that of the score at a depth, where no two topics are of one group. A difference
    is the ratio of both scores for a geometric mean.
    """

    name: str
    topics: int
    score: float
    baseline: float | None
    median: float
    interval: Interval | None
    unit: str

    @property
    def low(self) -> float | None:
        return self.interval.low if self.interval is not None else None

    @property
    def high(self) -> float | None:
        return self.interval.high if self.interval is not None else None

    @property
    def difference(self) -> float | None:
        return None if self.baseline is None else self._compare(self.baseline)

    @property
    def from_median(self) -> float | None:
        return self._compare(self.median)

    def _compare(self, reference: float) -> float | None:
        if self.unit == "ratio":
            return self.score / reference if reference else None
        return self.score - reference


@dataclass(frozen=True)
class TopicGroups:
    """A run by the groups that the collection declares, on the topics of its breakdown."""

    breakdown: RunBreakdown

    @cached_property
    def _measure(self) -> AnyMeasure:
        return parse_measure(self.breakdown.board.measure)

    @property
    def unit(self) -> str:
        return scale_of(self._measure).unit

    @property
    def exists(self) -> bool:
        return bool(self.breakdown.board.sight.track.collection.num_groups)

    @cached_property
    def _topics(self) -> list[Topic]:
        return [line.topic for line in self.breakdown.topics]

    @cached_property
    def groups(self) -> list[PartOfTopics]:
        """The groups in the order of their names, as people read numbers."""
        if not self.exists:
            return []
        names = [topic.group for topic in self._topics]
        order = [*dict.fromkeys(names)]
        found = {part.name: part for part in self._split(names)}
        return [found[order[place]] for place in natural_order(order) if order[place] in found]

    @cached_property
    def depths(self) -> list[PartOfTopics]:
        """The first topics of all groups, then the second ones and so on.

        A depth counts all topics of the collection, also those that are not evaluated.
        """
        if not self.exists:
            return []
        every = self.breakdown.board.sight.track.collection.topics
        rows = list(every.order_by("position").values_list("number", "group"))
        places = places_in_groups(*([row[field] for row in rows] for field in (0, 1)))
        depth_of = dict(zip((number for number, _ in rows), places.tolist(), strict=True))
        return self._split([depth_of[topic.number] for topic in self._topics], by_depth=True)

    def _split(self, labels: Sequence[Hashable], by_depth: bool = False) -> list[PartOfTopics]:
        lines = self.breakdown.topics
        own = split_scores(np.array([line.score for line in lines]), labels)
        median = split_scores(np.array([line.median for line in lines]), labels)
        baseline = None
        if self.breakdown.has_baseline:
            values = [np.nan if line.baseline is None else line.baseline for line in lines]
            baseline = split_scores(np.array(values), labels)
        return [
            PartOfTopics(
                name=str(label),
                topics=len(scores),
                score=self._measure.aggregate(scores),
                baseline=None if baseline is None else self._value(baseline[label]),
                median=self._measure.aggregate(median[label]),
                interval=interval_of_score(scores, self._measure) if by_depth else None,
                unit=self.unit,
            )
            for label, scores in own.items()
            if len(scores)
        ]

    def _value(self, scores: NDArray[np.float64]) -> float | None:
        return self._measure.aggregate(scores) if len(scores) else None

    def difference_of(self, part: PartOfTopics) -> float | None:
        """Return how far a part is from what the reader compares with."""
        return part.difference if self.breakdown.against == "baseline" else part.from_median

    @property
    def worst_first(self) -> list[PartOfTopics]:
        """The groups where the run is worst beside the reference, as many as a page lists."""

        def key(part: PartOfTopics) -> float:
            difference = self.difference_of(part)
            return np.inf if difference is None else self._measure.direction * difference

        return sorted(self.groups, key=key)[:MOST_GROUPS]

    @property
    def tables(self) -> dict[str, CsvTable]:
        """Both tables at full precision."""
        columns = [
            *(("topics", "topics"), ("score", "score"), ("low", "low"), ("high", "high")),
            *(("baseline", "baseline"), ("from_baseline", "difference")),
            *(("median", "median"), ("from_median", "from_median")),
        ]
        without_interval = [column for column in columns if column[0] not in ("low", "high")]
        return {
            "groups": tabulate(self.groups, [("group", "name"), *without_interval]),
            "depths": tabulate(self.depths, [("depth", "name"), *columns]),
        }


def describe_part(part: PartOfTopics) -> dict[str, Any]:
    """Return a group or a depth as JSON; missing values are null."""
    names = "topics", "score", "baseline", "median", "low", "high"
    return {
        "name": part.name,
        **{name: getattr(part, name) for name in names},
        "from_baseline": part.difference,
        "from_median": part.from_median,
    }
