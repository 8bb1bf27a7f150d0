"""Ties: the scores of a run if its documents of equal score were ordered differently.

Equal scores are ordered by docno, which has nothing to do with relevance. Nearly all measures are
highest if each tie is ordered by grade, highest first, and lowest if it is in the opposite order.

    >>> from io import BytesIO
    >>> from evaluation.judging import judge, prepare
    >>> from evaluation.measures import parse_measure
    >>> from evaluation.reading.judging.qrels import read_qrels
    >>> from evaluation.reading.runs.reader import read_run
    >>> judgments = prepare(read_qrels(BytesIO(b"7 0 a 1\\n7 0 b 0\\n")))
    >>> run = read_run(BytesIO(b"7 Q0 a 1 5 bm25\\n7 Q0 b 2 5 bm25\\n"))
    >>> lowest, highest = turned(run, judgments, -1), turned(run, judgments, 1)
    >>> tie_interval(parse_measure("RR"), judge(lowest, judgments), judge(highest, judgments))
    (0.5, 1.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from evaluation.judging import JudgedRun, Judgments
from evaluation.measures import Measure
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run


def turned(run: Run, judgments: Judgments, first: Literal[1, -1]) -> Run:
    """Order each tie of a run by grade: the highest first, or with -1 the lowest.

    Only judged topics are returned, since others do not count.
    """
    rankings = {
        topic: in_order_of_grades(run.rankings[topic], judged, first)
        for topic, judged in zip(judgments.topics, judgments.grades, strict=True)
        if topic in run.rankings
    }
    return replace(run, rankings=rankings)


def in_order_of_grades(
    ranking: Ranking, judged: Mapping[bytes, int], first: Literal[1, -1]
) -> Ranking:
    """A document without a judgment counts as one of grade 0, as it does when it is scored."""
    if len(ranking.scores) < 2 or (ranking.scores[1:] != ranking.scores[:-1]).all():
        return ranking
    grades = np.array([max(judged.get(docno, 0), 0) for docno in ranking.docnos])
    order = np.lexsort((-first * grades, -ranking.scores))
    return Ranking([ranking.docnos[place] for place in order], ranking.scores[order])


def tie_interval(measure: Measure, one: JudgedRun, other: JudgedRun) -> tuple[float, float]:
    """The lower and the higher mean of two judged runs that differ in the order of ties."""
    means = [measure.aggregate(measure.scores(judged)) for judged in (one, other)]
    return min(means), max(means)
