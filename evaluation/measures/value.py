"""A measure as a value: immutable, hashable, with a text that parses back to itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from evaluation.judging import JudgedRun
from evaluation.measures.declaring import (
    MEASURES,
    TREC_EVAL,
    Definition,
    Formula,
    Gains,
    Value,
    value_text,
)
from evaluation.ragged import FloatArray

GEOMETRIC_FLOOR = 0.00001


class Bounds(NamedTuple):
    """Two scores per topic: every unjudged document non-relevant, and at the top grade.

    For a measure where lower is better, the two are exchanged.
    """

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Measure:
    """One measure with its parameters.

    Made by `parse_measure`; `given` holds the values that differ from their defaults, in
    canonical order, `at` the value behind `@`.

    >>> from evaluation.measures import parse_measure
    >>> measure = parse_measure("nDCG(discount=jk, gain=exp)@10")
    >>> str(measure), measure.range, measure.trec_name
    ('nDCG(gain=exp,discount=jk)@10', (0, 1), '')
    >>> parse_measure("AP").resolved(rel=2)
    AP(rel=2)
    """

    name: str
    given: tuple[tuple[str, Value], ...] = ()
    at: int | float | None = None

    @property
    def definition(self) -> Definition:
        """What is declared, without bounds where a parameter takes them away."""
        declared = MEASURES[self.name]
        if declared.unbounded is None or declared.unbounded not in self.given:
            return declared
        return replace(declared, bounds="none")

    @property
    def formula(self) -> Formula:
        """What computes the scores from a judged run and the parameters."""
        return self.definition.formula

    @property
    def parameters(self) -> dict[str, Value]:
        """Every parameter by name, including defaults; `rel` is None if it is not set."""
        values = {p.name: p.default for p in self.definition.parameters} | dict(self.given)
        if self.definition.at is not None:
            values[self.definition.at.name] = self.at
        return values

    @property
    def takes_rel(self) -> bool:
        """Whether the value depends on the lowest relevant grade."""
        graded = self.parameters.get("gain") == "graded"
        return self.definition.parameter("rel") is not None and not graded

    @property
    def direction(self) -> int:
        """+1 where higher is better, -1 where lower is better."""
        return 1 if self.definition.higher_is_better else -1

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest possible value."""
        low, high = self.definition.range
        gains: Gains = dict(self.given).get("gains", ())  # type: ignore[assignment]
        return (-math.inf, high) if any(gain < 0 for _, gain in gains) else (low, high)

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
    def trec_name(self) -> str:
        """The name in trec_eval; empty if there is none."""
        values = self.parameters
        if {name for name, _ in self.given} - {"rel", "x"}:
            return ""
        for template in self.definition.trec_name.split():
            if ("{k}" in template) == (values.get("k") is not None):
                return template.format(**values)
        return ""

    def scores(self, judged: JudgedRun) -> FloatArray:
        """One float64 per topic, in the order of the judgments; NaN where it is undefined.

        Raises MeasureError where the judgments do not allow the measure (a grade above 1023
        under `gain=exp`).
        """
        values = self.parameters
        if values.pop("holes") == "condensed":
            judged = judged.condensed()
        if "rel" in values and values["rel"] is None:
            values["rel"] = 1
        return self.formula(judged, **values)

    def aggregate(self, scores: FloatArray) -> float:
        """Return the value of a run: mean, sum or geometric mean of the defined scores.

        NaN where every score is undefined, 0 where there is no topic.
        """
        defined = scores[~np.isnan(scores)]
        if self.definition.aggregate == "sum":
            return self.total(defined)
        if len(defined) == 0:
            return math.nan if len(scores) else 0.0
        if self.definition.aggregate == "mean":
            return self.total(defined) / len(defined)
        logarithms = [math.log(max(score, GEOMETRIC_FLOOR)) for score in defined.tolist()]
        return math.exp(self.total(np.array(logarithms)) / len(defined))

    def total(self, values: FloatArray) -> float:
        """Return the exact sum, rounded once, so that it does not depend on the order of topics."""
        return math.fsum(values)

    def resolved(self, rel: int = 1) -> Measure:
        """Return the measure with the track's threshold as its `rel`."""
        if not self.takes_rel:
            return self
        chosen = dict(self.given).get("rel", rel)
        others = tuple(pair for pair in self.given if pair[0] != "rel")
        return replace(self, given=others if chosen == 1 else (("rel", chosen), *others))

    def bounds(self, judged: JudgedRun) -> Bounds:
        """The scores with every retrieved unjudged document non-relevant, and at the top grade.

        At the top grade they enter R and the ideal too. `definition.bounds` says whether
        these enclose every possible value or are two scenarios. RBP adds p^n for what was not
        retrieved.  Source: Moffat and Zobel, TOIS 2008; Lu, Moffat, Culpepper, IRJ 2016.
        """
        if self.parameters["holes"] == "condensed":
            judged = judged.condensed()
        none = self.scores(judged.filled(0))
        every = self.scores(judged.filled(judged.judgments.top_grade))
        if self.name == "RBP":
            every = none + Measure("RBPResidual", self._residual()).scores(judged)
        return Bounds(none, every) if self.direction > 0 else Bounds(every, none)

    def _residual(self) -> tuple[tuple[str, Value], ...]:
        return tuple((name, value) for name, value in self.given if name in ("p", "holes"))

    def __str__(self) -> str:
        inside = ",".join(f"{name}={value_text(value)}" for name, value in self.given)
        cutoff = "" if self.at is None else f"@{value_text(self.at)}"
        return self.name + (f"({inside})" if inside else "") + cutoff

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class TrecMeasure(Measure):
    """A measure requested by trec_eval's name, computed and averaged as in trec_eval.

    Formulas that differ from ours are declared with `as_trec_eval`. Topics are added one after
    the other, rounding after each, as a loop in C does. `written` is the text of the parameters
    behind trec_eval's name. The text of the measure is that of `ours`.

    >>> from evaluation.measures import parse_measures
    >>> (asked,) = parse_measures("P_10")
    >>> asked.measure.aggregate(np.array([0.1] * 10)), asked.measure.ours.aggregate(
    ...     np.array([0.1] * 10)
    ... )
    (0.09999999999999999, 0.1)
    """

    written: str = ""

    @property
    def ours(self) -> Measure:
        """The same measure under our name, with our definition."""
        return Measure(self.name, self.given, self.at)

    @property
    def formula(self) -> Formula:
        theirs = TREC_EVAL.get(self.name)
        if theirs is None:
            return super().formula
        return partial(theirs, written=self.written)

    def total(self, values: FloatArray) -> float:
        """Return the sum, added topic by topic in the order of the judgments."""
        # From Python 3.12, `sum` compensates rounding errors, so it is not used here.
        return float(np.add.accumulate(values)[-1]) if len(values) else 0.0
