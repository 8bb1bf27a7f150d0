"""Scores of Rankfield in ir_measures, and in the `Experiment` of pyterrier.

ir_measures is optional: pip install ir_measures. Importing this module registers the provider
`rankfield` behind those that ir_measures has, so the values of its own measures stay as they are
wherever another provider computes them. Call `provider` itself to have Rankfield compute them.

    >>> import ir_measures
    >>> from ir_measures import AP, nDCG
    >>> qrels, run = {"7": {"d1": 2, "d3": 1}}, {"7": {"d2": 9.5, "d1": 9.0}}
    >>> provider.calc_aggregate([AP, nDCG @ 10], qrels, run)[AP]
    0.25
    >>> [inst] = experiment_measures("INST(T=2)")
    >>> round(ir_measures.calc_aggregate([inst], qrels, run)[inst], 4)
    0.1643
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import ir_measures
import numpy as np
from ir_measures import measures as theirs
from ir_measures.providers.base import Any as Anything
from ir_measures.providers.base import Choices

from evaluation.judging import Judgments, judge, prepare
from evaluation.measures import DIVERSITY, Measure, MeasureError, parse_measure
from evaluation.measures.text import read_measure
from evaluation.reading.objects import qrels_from, run_from
from evaluation.tables import text_of

_ANY = Anything()
_REQUIRED = Anything(required=True)


class RankfieldMeasure(ir_measures.Measure):
    """A measure of Rankfield as one of ir_measures; `experiment_measures` makes it.

    Its text begins with `rankfield:`, so that it is never taken for a measure of ir_measures of
    the same name, whose definition may differ.
    """

    NAME = "rankfield"
    DEFAULT = float("nan")
    SUPPORTED_PARAMS = {"text": theirs.ParamInfo(dtype=str, required=True)}

    @property
    def ours(self) -> Measure:
        return parse_measure(self.params["text"])

    def aggregator(self) -> theirs.base.Agg:
        return _Aggregator(self.ours)

    def __repr__(self) -> str:
        return f"rankfield:{self.params['text']}"


@dataclass
class _Aggregator(theirs.base.Agg):
    """The mean of a board: without topics on which the measure is undefined, rounded once."""

    measure: Measure
    values: list[float] = field(default_factory=list)

    def add(self, value: float) -> None:
        self.values.append(value)

    def result(self) -> float:
        return self.measure.aggregate(np.array(self.values, np.float64))


class RankfieldProvider(ir_measures.Provider):
    """Measures of ir_measures that Rankfield defines in the same way, and those of Rankfield."""

    NAME = "rankfield"
    SUPPORTED_MEASURES = [
        RankfieldMeasure(text=_REQUIRED),
        theirs._AP(cutoff=_ANY, rel=_ANY, judged_only=_ANY),
        theirs._Bpref(rel=_ANY),
        theirs._infAP(rel=_ANY),
        theirs._IPrec(recall=_ANY, rel=_ANY, judged_only=_ANY),
        theirs._nDCG(cutoff=_ANY, dcg=_ANY, gains=_ANY, judged_only=_ANY),
        # Theirs count 0 in NumQ and NumRel where the run does not answer the topic; ours do not.
        theirs._NumRet(rel=_ANY),
        theirs._P(cutoff=_ANY, rel=_ANY, judged_only=_ANY),
        theirs._R(cutoff=_ANY, rel=_ANY, judged_only=_ANY),
        # Without rel, theirs takes the grade as the gain.
        theirs._RBP(cutoff=Choices(ir_measures.providers.base.NOT_PROVIDED), rel=_REQUIRED, p=_ANY),
        theirs._Rprec(rel=_ANY, judged_only=_ANY),
        theirs._RR(cutoff=_ANY, rel=_ANY, judged_only=_ANY),
        theirs._SetAP(rel=_ANY, judged_only=_ANY),
        # Theirs hands beta to trec_eval, which takes its square.
        theirs._SetF(rel=_ANY, beta=Choices(1.0), judged_only=_ANY),
        theirs._SetP(rel=_ANY, relative=_ANY, judged_only=_ANY),
        theirs._SetR(rel=_ANY),
        theirs._Success(cutoff=_ANY, rel=_ANY, judged_only=_ANY),
    ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> ir_measures.Evaluator:
        return RankfieldEvaluator(list(measures), qrels)

    def install_instructions(self) -> str:
        return "pip install rankfield ir_measures"


class RankfieldEvaluator(ir_measures.Evaluator):
    """Judgments, ready for runs. Raises `evaluation.Refused` for what no file may have."""

    def __init__(self, measures: list[Any], qrels: Any) -> None:
        self.ours = {measure: our_measure(measure) for measure in measures}
        subtopics = any(each.name in DIVERSITY for each in self.ours.values())
        self.judgments: Judgments = prepare(qrels_from(qrels, subtopics=subtopics))
        super().__init__(measures, list(map(text_of, self.judgments.topics)))

    def _iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        judged = judge(run_from(run), self.judgments)
        for measure, ours in self.ours.items():
            scores = ours.scores(judged).tolist()
            for topic, score in zip(self.qrel_qids, scores, strict=True):
                # The parent yields the default of the measure where a score is undefined.
                if score == score:
                    yield ir_measures.Metric(query_id=topic, measure=measure, value=score)


def our_measure(measure: Any) -> Measure:
    """Return the measure of Rankfield that one of ir_measures means.

    >>> from ir_measures import nDCG
    >>> our_measure(nDCG(dcg="exp-log2", judged_only=True) @ 5)
    nDCG(gain=exp,holes=condensed)@5
    """
    return measure.ours if isinstance(measure, RankfieldMeasure) else read_measure(str(measure))


def experiment_measures(*names: str) -> list[RankfieldMeasure]:
    """Return measures of Rankfield for `pyterrier.Experiment` and for ir_measures.

    `names` are those of any measure of Rankfield, which may be unknown to ir_measures. Raises
    MeasureError for unknown names, and for sums and geometric means: an Experiment averages.

    >>> experiment_measures("nDCG@10", "RBP(p=0.95)")
    [rankfield:nDCG@10, rankfield:RBP(p=0.95)]
    """
    found = []
    for name in names:
        ours = parse_measure(name)
        if ours.definition.aggregate != "mean":
            kind = ours.definition.aggregate
            raise MeasureError(f"{name}: this is a {kind} over topics, and an Experiment averages")
        found.append(RankfieldMeasure(text=str(ours)))
    return found


provider = ir_measures.providers.register(RankfieldProvider())
ir_measures.DefaultPipeline.providers.append(provider)
