"""Measures of any kind of run: of rankings, and of answers, which need nuggets or marks.

>>> parse_measure("nDCG@10"), parse_measure("strict_vital")
(nDCG@10, Nuggets(of=vital,partial=0))
"""

from __future__ import annotations

from typing import TypeAlias

from evaluation import measures
from evaluation.answers.measures import AnswerMeasure, is_answer_measure, parse_answer_measure
from evaluation.measures import Measure, MeasureError

AnyMeasure: TypeAlias = Measure | AnswerMeasure


def parse_measure(text: str) -> AnyMeasure:
    """Return the measure of rankings that a text names, or else that of answers.

    Raises MeasureError, which says what is allowed.
    """
    try:
        return measures.parse_measure(text)
    except MeasureError:
        if not is_answer_measure(text):
            raise
    return parse_answer_measure(text)


def is_of_rankings(text: str) -> bool:
    """Return whether a text names a measure of rankings.

    >>> is_of_rankings("AP"), is_of_rankings("SupportR")
    (True, False)
    """
    return isinstance(parse_measure(text), Measure)
