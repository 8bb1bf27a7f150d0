"""Precision-recall curves of one topic and of a whole run.

>>> from evaluation.measures import example_run
>>> curve = precision_recall(example_run(), place=0)
>>> curve.recall.tolist(), curve.precision.round(4).tolist()
([0.25, 0.5, 0.75], [1.0, 0.5, 0.4286])
>>> round(curve.area, 4)
0.4821
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evaluation.judging import JudgedRun
from evaluation.measures.ranks import LEVELS, interpolated_by_level, precision_at_rows
from evaluation.ragged import FloatArray, IntArray, ratio


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """The raw steps of one topic: a point at the rank of each relevant document retrieved.

    Between two relevant ranks recall is constant and precision falls, so no point is missing.

    rank, recall, precision: one value per relevant document retrieved.
    interpolated: precision at the recall levels 0, 0.1, ... 1, as `IPrec` has it.
    """

    topic: bytes
    rank: IntArray
    recall: FloatArray
    precision: FloatArray
    interpolated: FloatArray

    @property
    def area(self) -> float:
        """The area under the raw steps, which is average precision.

        The area by trapezoids differs: it is lower over all ranks, and mostly higher over the
        relevant ranks only.
        """
        steps = np.diff(self.recall, prepend=0.0)
        return float(np.sum(self.precision * steps))


@dataclass(frozen=True, eq=False)
class MeanCurve:
    """Interpolated precision at each recall level, averaged over the topics."""

    levels: FloatArray
    precision: FloatArray


def precision_recall(run: JudgedRun, place: int, rel: int = 1) -> PrecisionRecallCurve:
    """The curve of the topic at this place of the judgments; empty where R is 0.

    Source: Salton and McGill, Introduction to Modern Information Retrieval, 1983.
    """
    run = run.only(place)
    relevant = run.relevant(rel)
    count = np.arange(1, np.count_nonzero(relevant) + 1)
    return PrecisionRecallCurve(
        topic=run.judgments.topics[place],
        rank=run.rank[relevant].astype(np.int64),
        recall=ratio(count, run.judgments.num_relevant(rel)[place]),
        precision=precision_at_rows(run, relevant)[relevant],
        interpolated=interpolated_by_level(run, rel)[place],
    )


def mean_curve(run: JudgedRun, rel: int = 1) -> MeanCurve:
    """Average the interpolated curves over all judged topics, including those with R = 0.

    trec_eval: iprec_at_recall.  Source: Salton and McGill, 1983.

    >>> from evaluation.measures import example_run
    >>> mean_curve(example_run()).precision.round(2).tolist()
    [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.43, 0.43, 0.0, 0.0]
    """
    by_level = interpolated_by_level(run, rel).T.tolist()
    means = [math.fsum(values) / len(values) if values else math.nan for values in by_level]
    return MeanCurve(np.array(LEVELS), np.array(means))
