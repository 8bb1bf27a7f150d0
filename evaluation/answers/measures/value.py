"""A measure of answers as a value, with a text that parses back to itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaluation.answers.judged import JudgedAnswers
from evaluation.answers.labels import CONTRADICTS, NONE, SUPPORT
from evaluation.answers.measures.declaring import ANSWER_MEASURES, AnswerDefinition, Share
from evaluation.measures.declaring import Value, value_text
from evaluation.ragged import FloatArray, ratio


class AnswerScores(NamedTuple):
    """The scores of one run by one measure: float64[T], NaN where a topic does not count.

    `overall` is their mean, or what a measure of runs or of pairs gives instead.
    """

    by_topic: FloatArray
    overall: float


class AnswerBounds(NamedTuple):
    """The scores with every unjudged pair as none, and as full."""

    low: AnswerScores
    high: AnswerScores


@dataclass(frozen=True)
class AnswerMeasure:
    """One measure of answers with its parameters, made by `parse_answer_measure`.

    >>> from evaluation.answers.measures import parse_answer_measure
    >>> parse_answer_measure("strict_vital"), parse_answer_measure("SupportP(cites=first)")
    (Nuggets(of=vital,partial=0), SupportP)
    """

    name: str
    given: tuple[tuple[str, Value], ...] = ()

    @property
    def definition(self) -> AnswerDefinition:
        return ANSWER_MEASURES[self.name]

    @property
    def parameters(self) -> dict[str, Value]:
        """Every parameter by name, including defaults."""
        return {p.name: p.default for p in self.definition.parameters} | dict(self.given)

    @property
    def direction(self) -> int:
        """+1 where higher is better, -1 where lower is better."""
        return 1 if self.definition.higher_is_better else -1

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest possible value."""
        return self.definition.range

    @property
    def unit(self) -> str:
        return self.definition.unit

    @property
    def description(self) -> str:
        return self.definition.description

    @property
    def source(self) -> str:
        return self.definition.source

    @property
    def takes_rel(self) -> bool:
        """Whether the value depends on the lowest relevant grade of a track: it never does."""
        return False

    @property
    def trec_name(self) -> str:
        """The name in trec_eval, which has no such measure."""
        return ""

    def resolved(self, rel: int = 1) -> AnswerMeasure:
        """Return the measure itself, which depends on no lowest relevant grade of a track."""
        return self

    def aggregate(self, scores: FloatArray) -> float:
        """Return the exact mean of the defined scores; NaN where nothing counts."""
        defined = scores[~np.isnan(scores)]
        return math.fsum(defined) / len(defined) if len(defined) else math.nan

    def scores(self, judged: JudgedAnswers) -> AnswerScores:
        """Return the scores of a run by topic and over all."""
        # No function of Python has a parameter that is called class.
        values = {("kind" if n == "class" else n): v for n, v in self.parameters.items()}
        is_pooled = values.pop("over", "topics") != "topics"
        found = self.definition.formula(judged, **values)
        undefined = np.full(judged.size, np.nan)
        if isinstance(found, float):
            return AnswerScores(undefined, found)
        counts = judged.domains[self.definition.domain]
        if is_pooled and isinstance(found, Share):
            whole = math.fsum(found.whole[counts])
            return AnswerScores(undefined, math.fsum(found.part[counts]) / whole if whole else 0.0)
        by_topic = ratio(*found) if isinstance(found, Share) else found
        by_topic = np.where(counts, by_topic, np.nan)
        return AnswerScores(by_topic, self.aggregate(by_topic))

    def bounds(self, judged: JudgedAnswers) -> AnswerBounds:
        """Return the scores with every unjudged pair as none, and as full.

        Where contradictions count, it is as none, and as contradicting. A criterion with a
        negative weight is met at the lower bound.
        """
        best = CONTRADICTS if self.definition.contradicts else SUPPORT
        low = self.scores(judged.filled(NONE, NONE, SUPPORT))
        high = self.scores(judged.filled(best, SUPPORT, NONE))
        return AnswerBounds(low, high)

    def judged_share(self, judged: JudgedAnswers) -> float:
        """Return which share of the pairs that the measure needs has a mark; 1 of no pairs."""
        kinds = self.definition.unjudged
        counted = judged.domains[self.definition.domain]
        shares = [1.0]
        for kind, (marked, pairs) in {
            "nuggets": judged.judged_nuggets,
            "support": judged.judged_support,
        }.items():
            total = pairs[counted].sum()
            if kinds in (kind, "both") and total:
                shares.append(float(marked[counted].sum() / total))
        return min(shares)

    def __str__(self) -> str:
        inside = ",".join(f"{name}={value_text(value)}" for name, value in self.given)
        return self.name + (f"({inside})" if inside else "")

    __repr__ = __str__
