"""What rankings of systems are compared with: the scores of another track, as an edition has them.

An edition names the runs that are ranked and the edition of their scores; neither ever changes.
Another run on the other board makes another edition of the rankings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement.orders import EQUAL
from evaluation.answers.any_measure import parse_measure
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels
from evaluation.reading.system_rankings import FEWEST_SYSTEMS
from leaderboard.models import Edition, Run, Score, Track


def pin_truth(track: Track) -> dict[str, Any]:
    """Return which runs the rankings of a track are about, with the edition of their scores.

    They are the runs on the board of the other track that have a value of its measure.
    """
    truth = track.truth
    if truth is None or truth.edition_id is None:
        return {"edition": None, "measure": "", "runs": []}
    measure = track.systems_measure or truth.primary_measure
    scored = Score.objects.filter(score_set__edition=truth.edition_id, measure=measure)
    runs = Run.objects.filter(track=truth).on_the_board()
    known = runs.filter(score_sets__scores__in=scored.exclude(mean=None))
    ids = known.order_by("pk").values_list("pk", flat=True)
    return {"edition": truth.edition_id, "measure": measure, "runs": list(ids)}


def has_order(pinned: Mapping[str, Any]) -> bool:
    """Whether there are enough systems for an order."""
    return len(pinned["runs"]) >= FEWEST_SYSTEMS


def find_truth_positions(track: Track) -> list[int]:
    """Return the positions of the topics that the board of the systems evaluates."""
    truth = track.truth
    if truth is None or truth.edition is None:
        return []
    return [position for position, counts in enumerate(truth.edition.mask) if counts]


@dataclass(frozen=True, eq=False)
class SystemScores:
    """The systems that an edition is about: their ids, means, and scores by position of a topic.

    `by_topic` is float64[systems, topics of the collection], NaN where undefined.
    """

    systems: list[str]
    measure: str
    means: NDArray[np.float64]
    by_topic: NDArray[np.float64]

    @property
    def direction(self) -> int:
        return parse_measure(self.measure).direction if self.measure else 1


def load_truth(edition: Edition) -> SystemScores:
    """Return the scores that an edition of rankings reads; those of deleted runs are gone."""
    pinned = edition.settings["ranked_runs"]
    scores = Score.objects.filter(
        score_set__edition=pinned["edition"],
        score_set__run__in=pinned["runs"],
        measure=pinned["measure"],
    )
    rows = scores.order_by("score_set__run").values_list("score_set__run", "mean", "by_topic")
    found = [(run, mean, np.frombuffer(values, dtype="<f8")) for run, mean, values in rows]
    return SystemScores(
        systems=[run for run, _, _ in found],
        measure=pinned["measure"],
        means=np.array([mean for _, mean, _ in found], dtype=np.float64),
        by_topic=np.array([values for _, _, values in found]).reshape(len(found), -1),
    )


def grade_systems(truth: SystemScores, numbers: tuple[bytes, ...]) -> Qrels:
    """Return the systems as judged documents: a grade is how many others are worse on the topic.

    So measures of rankings say how well an entrant orders the systems of each topic.
    """
    grades = {}
    for number, values in zip(numbers, truth.direction * truth.by_topic.T, strict=True):
        worse = (values[:, np.newaxis] - values > EQUAL).sum(axis=1)
        known = ~np.isnan(values)
        grades[number] = {
            run.encode(): int(grade)
            for run, grade, is_known in zip(truth.systems, worse, known, strict=True)
            if is_known
        }
    return Qrels(grades, Problems())
