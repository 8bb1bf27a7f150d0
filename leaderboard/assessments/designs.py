"""Judging designs by name: who gives how many opinions, whose grade counts, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass

from leaderboard.assessments.workload import Workload, measure_workload
from leaderboard.models import Assessment

Overlap, Rule = Assessment.Overlap, Assessment.Rule


@dataclass(frozen=True)
class JudgingDesign:
    """A design: its name, what it sets, and what it is for.

    `asks` is what a form asks beside it, for the size: `percent`, `opinions` or nothing.
    """

    name: str
    title: str
    use: str
    overlap: str
    size: int
    rule: str
    asks: str = ""

    def apply(self, assessment: Assessment, size: int | None = None) -> Assessment:
        """Return a copy of an assessment that follows this design; it is not saved."""
        planned = copy(assessment)
        planned.overlap, planned.rule = self.overlap, self.rule
        planned.overlap_size = size or self.size
        return planned


@dataclass(frozen=True)
class PricedDesign:
    """A design with what it costs on one pool."""

    design: JudgingDesign
    workload: Workload


DESIGNS = (
    JudgingDesign(
        "one",
        "One judge",
        "Each document has one opinion. How far judges agree stays unknown.",
        Overlap.NONE,
        1,
        Rule.FIRST,
    ),
    JudgingDesign(
        "sample",
        "One judge, and a second for a sample",
        "How far judges agree is known at a low price.",
        Overlap.SAMPLE,
        10,
        Rule.FIRST,
        "percent",
    ),
    JudgingDesign(
        "two",
        "Two judges, and a third where they differ",
        "The third is an organiser, who settles each disagreement.",
        Overlap.ALL,
        2,
        Rule.SINGLE,
    ),
    JudgingDesign(
        "third",
        "Two judges, and a third assessor where they differ",
        "Ask a third under Disagreements: that judge sees no other grade, and what two of the "
        "three gave counts. Third opinions cost extra.",
        Overlap.ALL,
        2,
        Rule.AGREED,
    ),
    JudgingDesign(
        "several",
        "Every document by several judges",
        "The most frequent grade counts.",
        Overlap.ALL,
        3,
        Rule.MAJORITY,
        "opinions",
    ),
)
DESIGNS_BY_NAME = {design.name: design for design in DESIGNS}


def price_designs(assessment: Assessment, sizes: Mapping[str, int]) -> list[PricedDesign]:
    """Return every design with its hours on the pool of an assessment, which need not be saved.

    `sizes` has what a form asks beside a design, where it is known.
    """
    return [
        PricedDesign(each, measure_workload(each.apply(assessment, sizes.get(each.asks))))
        for each in DESIGNS
    ]
