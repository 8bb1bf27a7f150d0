"""Evaluation of ranked retrieval: read runs and qrels, judge, measure.

The package reads bytes and arrays and returns arrays. It uses no database and no web framework.
Everything imported here needs numpy only; import `evaluation.significance` and
`evaluation.pooling` by name.

    >>> from io import BytesIO
    >>> qrels = read_qrels(BytesIO(b"7 0 d1 2\\n7 0 d2 0\\n7 0 d3 1\\n"))
    >>> run = read_run(BytesIO(b"7 Q0 d2 1 9.5 demo\\n7 Q0 d1 2 9 demo\\n7 Q0 d4 3 8 demo\\n"))
    >>> judged = judge(run, prepare(qrels))
    >>> for text in ("AP", "nDCG@10", "P(rel=2)@5"):
    ...     measure = parse_measure(text)
    ...     print(text, round(measure.aggregate(measure.scores(judged)), 4))
    AP 0.25
    nDCG@10 0.4796
    P(rel=2)@5 0.2
"""

from evaluation.conventions import CONVENTIONS, HOUSE, SCORING_VERSION, TREC_EVAL_9, Convention
from evaluation.judging import JudgedRun, Judgments, judge, prepare
from evaluation.measures import (
    MEASURES,
    Measure,
    MeasureError,
    parse_measure,
    parse_measures,
)
from evaluation.problems import Problem, Problems, Refused
from evaluation.reading.qrels import Qrels, read_qrels, read_qrels_leniently
from evaluation.reading.rankings import Ranking
from evaluation.reading.run_rules import RunRules
from evaluation.reading.runs import Run, read_run, read_run_leniently

__all__ = [
    "CONVENTIONS",
    "HOUSE",
    "MEASURES",
    "SCORING_VERSION",
    "TREC_EVAL_9",
    "Convention",
    "JudgedRun",
    "Judgments",
    "Measure",
    "MeasureError",
    "Problem",
    "Problems",
    "Qrels",
    "Ranking",
    "Refused",
    "Run",
    "RunRules",
    "judge",
    "parse_measure",
    "parse_measures",
    "prepare",
    "read_qrels",
    "read_qrels_leniently",
    "read_run",
    "read_run_leniently",
]
