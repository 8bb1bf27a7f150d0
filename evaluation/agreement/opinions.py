"""Agreement of the opinions on each document: the first beside the second, by any assessor.

Opinions are float64[opinions, documents], the first opinion on each document first, NaN where there
is none. Where a document has more than two, every two of them are a pair.

    >>> opinions = np.array([[2.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 1.0]])
    >>> pairs = count_opinions(opinions, np.array([0, 0, 1, 1]))
    >>> pairs.share, round(pairs.kappa().value, 6)
    (0.5, 0.2)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evaluation.agreement.assessors import cohen_kappa_of_counts, grades_in
from evaluation.agreement.jackknife import Estimate, estimate_over_topics
from evaluation.ragged import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class GradeAgreement:
    """Agreement on one grade: how often it was given first and second, and by both.

    `positive` is 2 a / (2 a + b + c), the agreement on giving the grade, and `negative`
    2 d / (2 d + b + c), the agreement on not giving it: a pairs have it twice, b + c once and d
    not at all. None where undefined (Spitzer and Fleiss, British Journal of Psychiatry 1974).
    """

    grade: int
    first: int
    second: int
    both: int
    positive: float | None
    negative: float | None


@dataclass(frozen=True, eq=False)
class OpinionPairs:
    """How often each grade met each other one: float64[topics, G, G], earlier opinion in rows.

    `grades` is float64[G], the grades that were given at all, ascending.
    """

    grades: FloatArray
    by_topic: FloatArray

    @property
    def counts(self) -> FloatArray:
        """float64[G, G], the sum over topics."""
        total: FloatArray = self.by_topic.sum(axis=0)
        return total

    @property
    def num_pairs(self) -> int:
        return int(self.by_topic.sum())

    @property
    def share(self) -> float | None:
        """The share of pairs with the same grade; None without pairs."""
        return float(np.trace(self.counts)) / self.num_pairs if self.num_pairs else None

    def kappa(self, level: float = 0.95, groups: IntArray | None = None) -> Estimate:
        """Cohen's kappa of earlier and later opinions, with a jackknife interval over topics.

        Over whole groups where `groups` int[topics] has the group of each topic, from 0.
        """
        counts = self.by_topic
        if groups is not None:
            counts = np.zeros((int(groups.max(initial=-1)) + 1, *self.by_topic.shape[1:]))
            np.add.at(counts, groups, self.by_topic)
        return estimate_over_topics(
            lambda counts: cohen_kappa_of_counts(counts, self.grades), counts, level
        )

    def kappas_by_topic(self) -> FloatArray:
        """float64[topics], NaN where kappa is undefined."""
        return cohen_kappa_of_counts(self.by_topic, self.grades)

    def by_grade(self) -> list[GradeAgreement]:
        """Return the agreement on each grade, ascending."""
        counts, total = self.counts, self.num_pairs
        found = []
        for place, grade in enumerate(self.grades.tolist()):
            first, second = float(counts[place].sum()), float(counts[:, place].sum())
            both = float(counts[place, place])
            given, others = first + second, 2 * total - first - second
            found.append(
                GradeAgreement(
                    grade=int(grade),
                    first=int(first),
                    second=int(second),
                    both=int(both),
                    positive=2 * both / given if given else None,
                    negative=2 * (total - given + both) / others if others else None,
                )
            )
        return found


def count_opinions(opinions: FloatArray, topics: IntArray) -> OpinionPairs:
    """Count the pairs of opinions of float64[opinions, documents] by topic.

    `topics` is int64[documents] and numbers the topic of each document from 0.

    >>> pairs = count_opinions(np.array([[1.0], [0.0], [1.0]]), np.array([0]))
    >>> pairs.counts.tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    grades = grades_in(opinions)
    num_topics, size = int(topics.max(initial=-1)) + 1, len(grades)
    counts = np.zeros(num_topics * size * size)
    for one, other in combinations(opinions, 2):
        both = ~np.isnan(one) & ~np.isnan(other)
        row, column = (np.searchsorted(grades, each[both]) for each in (one, other))
        cells = (topics[both] * size + row) * size + column
        counts += np.bincount(cells, minlength=counts.size)
    return OpinionPairs(grades, counts.reshape(num_topics, size, size))
