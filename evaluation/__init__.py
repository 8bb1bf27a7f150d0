"""Evaluation of ranked retrieval: read runs and qrels, judge, measure, compare.

The package uses no database and no web framework. `import evaluation` loads numpy only; what
compares runs or assessors is loaded when it is first used.

    >>> qrels = {"7": {"d1": 2, "d2": 0, "d3": 1}}
    >>> run = {"7": {"d2": 9.5, "d1": 9, "d4": 8}}
    >>> evaluate(qrels, run, ["AP", "nDCG@10", "P(rel=2)@5"])
    measure     value
    AP          0.2500
    nDCG@10     0.4796
    P(rel=2)@5  0.2000
    run, 1 topic

`evaluate`, `compare`, `rank_intervals`, `pool` and `kappa` take paths, mappings, DataFrames and
datasets. Below them, `read_qrels`, `read_run`, `judge` and `parse_measure` give every step:

    >>> from io import BytesIO
    >>> qrels = read_qrels(BytesIO(b"7 0 d1 2\\n7 0 d2 0\\n7 0 d3 1\\n"))
    >>> run = read_run(BytesIO(b"7 Q0 d2 1 9.5 demo\\n7 Q0 d1 2 9 demo\\n7 Q0 d4 3 8 demo\\n"))
    >>> measure = parse_measure("AP")
    >>> measure.scores(judge(run, prepare(qrels)))
    array([0.25])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
from evaluation.reading.judging.qrels import Qrels, read_qrels, read_qrels_leniently
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run, read_run, read_run_leniently
from evaluation.reading.runs.run_rules import RunRules

if TYPE_CHECKING:
    from evaluation.library.assessors import kappa
    from evaluation.library.comparisons import compare, rank_intervals
    from evaluation.library.pools import pool
    from evaluation.library.scores import evaluate

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
    "compare",
    "evaluate",
    "judge",
    "kappa",
    "parse_measure",
    "parse_measures",
    "pool",
    "prepare",
    "rank_intervals",
    "read_qrels",
    "read_qrels_leniently",
    "read_run",
    "read_run_leniently",
]

# What starting a command would load in vain.
_LATE = {
    "compare": "comparisons",
    "evaluate": "scores",
    "kappa": "assessors",
    "pool": "pools",
    "rank_intervals": "comparisons",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'evaluation' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"evaluation.library.{_LATE[name]}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
