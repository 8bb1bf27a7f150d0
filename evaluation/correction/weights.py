"""A measure as a sum over documents: the weight of a rank times the value of a grade.

>>> from evaluation.measures import parse_measure
>>> parts = split_measure(parse_measure("DCG@3"), top_grade=2, depth=5)
>>> parts.discounts.round(4).tolist(), parts.values(np.array([-1, 0, 1, 2])).tolist()
([1.0, 0.6309, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.conventions import POOLED
from evaluation.judging import Judgments, judge
from evaluation.measures import Measure, MeasureError
from evaluation.pooling import ADDITIVE, worth
from evaluation.problems import Problems
from evaluation.ragged import FloatArray, IntArray, ratio
from evaluation.reading.runs.reader import Run

# Measures whose mean people correct; nDCG keeps the ideal of the machine.
CORRECTED = (*ADDITIVE, "nDCG", "Judged")


@dataclass(frozen=True, eq=False)
class MeasureParts:
    """`discounts` float64[k] by rank from 1; `by_grade` float64: the values of grades from -1.

    `highest` is the largest possible mean; margins are shares of it. An exact measure does not
    depend on grades, so its sample says nothing new.
    """

    discounts: FloatArray
    by_grade: FloatArray
    highest: float
    is_exact: bool = False

    def values(self, grades: IntArray) -> FloatArray:
        """The value of each grade; 0 below -1, as for junk and unjudged documents."""
        return np.where(grades < POOLED, 0.0, self.by_grade[np.maximum(grades, POOLED) + 1])


def explain_uncorrected(measure: Measure, depth: int) -> str:
    """Why a measure has no corrected mean from a sample of the first `depth`; "" if it has one.

    >>> from evaluation.measures import parse_measure
    >>> explain_uncorrected(parse_measure("AP"), 10)[:51]
    'AP is not a sum over documents, so no honest number'
    >>> explain_uncorrected(parse_measure("P@10"), 10)
    ''
    """
    parameters = measure.parameters
    if (
        measure.name not in CORRECTED
        or parameters["holes"] == "condensed"
        or parameters.get("ideal", "judged") != "judged"
    ):
        return (
            f"{measure} is not a sum over documents, so no honest number comes from a sample of"
            f" them; {', '.join(CORRECTED)} have one"
        )
    cutoff = parameters.get("k")
    if measure.name != "RBP" and not (isinstance(cutoff, int) and cutoff <= depth):
        return f"{measure} reads more than the first {depth} documents, from which people judged"
    return ""


def split_measure(measure: Measure, top_grade: int, depth: int) -> MeasureParts:
    """Split a measure by its own formula; RBP is that of the first `depth` documents.

    MeasureError where `explain_uncorrected` has a reason.
    """
    if reason := explain_uncorrected(measure, depth):
        raise MeasureError(reason)
    if measure.name == "Judged":
        cutoff = float(measure.parameters["k"])  # type: ignore[arg-type]
        first = (np.arange(depth) < cutoff).astype(np.float64)
        known = np.append(0.0, np.full(top_grade + 1, 1 / cutoff))
        return MeasureParts(first, known, 1.0, is_exact=True)
    summed = find_summed(measure)
    table = np.stack([worth(summed, top_grade, depth, grade) for grade in range(top_grade + 1)])
    first = table[:, 0]
    largest = int(np.argmax(np.abs(first)))
    discounts = ratio(table[largest], first[largest])
    highest = 1.0 if measure.name == "nDCG" else float(discounts.sum() * max(first.max(), 0.0))
    return MeasureParts(discounts, np.append(0.0, first), highest)


def find_summed(measure: Measure) -> Measure:
    """The sum that a measure is a multiple of: DCG of nDCG, each other itself."""
    if measure.name != "nDCG":
        return measure
    return Measure("DCG", measure.given, measure.at)


def scale_topics(measure: Measure, judgments: Judgments) -> FloatArray:
    """float64[T]: 1, or for nDCG 1 / the machine's ideal of each topic, 0 where that is 0."""
    if measure.name != "nDCG":
        return np.ones(len(judgments.topics))
    ideal = Measure("IDCG", measure.given, measure.at)
    nothing = judge(Run("", {}, 0, Problems()), judgments)
    return ratio(1.0, ideal.scores(nothing))
