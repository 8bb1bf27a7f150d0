"""The scores of one run, from any source."""

from __future__ import annotations

from typing import Unpack

from evaluation.library.settings import Measures, Scorer, Settings
from evaluation.reading.objects import QrelsSource, RunSource
from evaluation.scoring import RunScores, score_run


def evaluate(
    qrels: QrelsSource,
    run: RunSource,
    measures: Measures = ("AP", "nDCG@10"),
    **settings: Unpack[Settings],
) -> RunScores:
    """Score a run against judgments.

    `qrels` and `run` are paths (packed files are unpacked), `{topic: {docno: value}}`, DataFrames
    of pandas or polars, arrays with the columns topic, docno and value, named tuples of ir_measures
    or ir_datasets, Qrels and Run of ranx, or a dataset of ir_datasets. `measures` are
    names as this project, trec_eval or ir_measures writes them, or objects whose text is such a
    name. Topics of the run without judgments are ignored. For `settings` see
    `evaluation.library.settings.Settings`.

    Raises `Refused` for a file or an object that cannot be used, and `MeasureError`.

    >>> qrels = {"7": {"d1": 2, "d2": 0, "d3": 1}}
    >>> run = {"7": {"d2": 9.5, "d1": 9, "d4": 8}}
    >>> print(evaluate(qrels, run, ["AP", "nDCG@10", "P(rel=2)@5"]))
    measure     value
    AP          0.2500
    nDCG@10     0.4796
    P(rel=2)@5  0.2000
    run, 1 topic
    >>> evaluate(qrels, run, "official", rel=2)["map"]
    0.5
    """
    scorer = Scorer.of(qrels, measures, settings)
    return score_run(scorer.read(run), scorer.judgments, scorer.asked, scorer.rules)
