"""Judge noise: what repeats, prompts and versions of one machine do to a board.

>>> scores = np.array([[[0.2, 0.4], [0.1, 0.9]], [[0.6, 0.8], [0.5, 0.1]]])
>>> noise = measure_noise(scores)
>>> noise.low.round(2).tolist(), noise.high.round(2).tolist()
([0.3, 0.1], [0.7, 0.7])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.agreement.mixtures import MIXTURES, mix_judges
from evaluation.ragged import FloatArray, IntArray

# A grade of the scale that has a smaller share of the documents is hardly used.
HARDLY_USED = 0.005
# With fewer documents than this many a rare grade says nothing.
FEWEST_DOCUMENTS = 1000


@dataclass(frozen=True, eq=False)
class JudgeNoise:
    """The spread of R means over draws of judges: float64[R] each.

    `low` and `high` hold 95 % of the means of random boards, on which each topic is judged by one
    of the judges; `least` and `most` are the means by a single judge.
    """

    low: FloatArray
    high: FloatArray
    least: FloatArray
    most: FloatArray


def measure_noise(scores: FloatArray, draws: int = MIXTURES, seed: int = 0) -> JudgeNoise:
    """Return the spread of means, from the scores of every run by every judge.

    `scores` is float64[J, R, T]; what is NaN does not count. It is the noise of the judges alone,
    on these topics: other topics would add their own.
    """
    judges, _, topics = scores.shape
    boards = mix_judges(scores, np.ones((judges, topics), bool), draws=draws, seed=seed)
    low, high = np.nanpercentile(boards, (2.5, 97.5), axis=0)
    alone = np.nanmean(scores, axis=2)
    return JudgeNoise(low, high, np.nanmin(alone, axis=0), np.nanmax(alone, axis=0))


def count_flips(decisions: IntArray) -> tuple[int, int]:
    """How many pairs of runs have another verdict by some judge, and how many pairs there are.

    `decisions` is int[J, R, R]: 1 where the run of the row is better, -1 where it is worse, 0
    where the two cannot be told apart.

    >>> one, other = np.array([[0, 1], [-1, 0]]), np.zeros((2, 2), int)
    >>> count_flips(np.stack([one, other])), count_flips(np.stack([one, one]))
    ((1, 1), (0, 1))
    """
    runs = decisions.shape[1]
    pairs = np.triu_indices(runs, 1)
    of_pairs = decisions[:, pairs[0], pairs[1]]
    flipped = (of_pairs != of_pairs[:1]).any(axis=0)
    return int(flipped.sum()), len(flipped)


def find_unused_grades(counts: Mapping[int, int], top_grade: int) -> list[int]:
    """The grades from 0 to the highest that a judge hardly uses, by the documents of each grade.

    None with fewer than a thousand documents.

    >>> find_unused_grades({0: 9000, 1: 12000, 2: 5340, 3: 1}, top_grade=3)
    [3]
    """
    total = sum(counts.values())
    if total < FEWEST_DOCUMENTS:
        return []
    scale = range(top_grade + 1)
    return [grade for grade in scale if counts.get(grade, 0) < HARDLY_USED * total]
