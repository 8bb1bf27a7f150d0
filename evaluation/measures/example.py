"""A small ranking with the value of every measure, for docstrings and the page of measures.

The judgments are D1 = 2, D2 = 1, D3 = 0, D4 = 1, D5 = 0 and D9 = 2. The ranking is
D1 U1 D3 D2 U2 D5 D4; U1 and U2 are unjudged.

    >>> example("AP")
    0.4821
"""

from __future__ import annotations

import numpy as np

from evaluation.judging import JudgedRun, prepare
from evaluation.measures.names import parse_measure
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels

GRADES = {b"D1": 2, b"D2": 1, b"D3": 0, b"D4": 1, b"D5": 0, b"D9": 2}


def example_run() -> JudgedRun:
    """Return the record of the small ranking."""
    return JudgedRun(
        topic=np.zeros(5, np.int32),
        rank=np.array([1, 3, 4, 6, 7], np.int32),
        grade=np.array([2, 0, 1, 0, 1], np.int32),
        retrieved=np.array([7]),
        judgments=prepare(Qrels({b"1": GRADES}, Problems())),
    )


def example(text: str) -> float:
    """Return the value of a measure on the small ranking, with four decimals."""
    measure = parse_measure(text)
    return round(measure.aggregate(measure.scores(example_run())), 4)
