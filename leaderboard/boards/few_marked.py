"""The runs of a board of answers with few marked pairs, and estimates of their scores.

An estimate from drawn pairs stands beside a score and never ranks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

from evaluation.answers.drawn_pairs import PairEstimate
from evaluation.answers.scoring import ENOUGH_JUDGED
from leaderboard.boards.columns import PAPER_DECIMALS, Column, format_decimals
from leaderboard.display.csv_tables import Cell
from leaderboard.display.numbers import MISSING
from leaderboard.models import Edition, Run, ScoreSet

# How scores are estimated, see `evaluation.answers.drawn_pairs`.
METHOD = "stratified sample of pairs"
# The fields of an estimate in files, each after the name of its measure.
PARTS = ("value", "low", "high", "low_over_topics", "high_over_topics", "method", "why_none")


@dataclass(frozen=True)
class FewMarked:
    """A run whose pairs are not marked enough for a score: their share, and its bounds.

    Where pairs were drawn, it has the estimate from them, or the reason why there is none.
    """

    run: Run
    measure: str
    judged: float
    low: float
    high: float
    estimate: PairEstimate | None = None
    why_none: str = ""

    @property
    def is_drawn(self) -> bool:
        return self.estimate is not None or bool(self.why_none)

    @property
    def parts(self) -> dict[str, Cell]:
        """The estimate for programs, with the ends of both 95 % intervals."""
        found: dict[str, Cell] = dict.fromkeys(PARTS)
        if self.estimate is None:
            return found | {"why_none": self.why_none}
        value, margin, over_topics = astuple(self.estimate)
        found |= {"value": value, "low": value - margin, "high": value + margin, "method": METHOD}
        if over_topics is not None:
            found |= {"low_over_topics": value - over_topics}
            found |= {"high_over_topics": value + over_topics}
        return found


def find_few_marked(
    edition: Edition, runs: Mapping[str, Run], measures: list[str]
) -> list[FewMarked]:
    """Return the runs and measures below the share of marked pairs that a score needs."""
    sets = ScoreSet.objects.filter(edition=edition, run__in=runs).exclude(bounds={})
    return [
        _read_few(runs[run_id], measure, *bounds[measure])
        for run_id, bounds in sets.values_list("run_id", "bounds")
        for measure in measures
        if measure in bounds and bounds[measure][0] < ENOUGH_JUDGED
    ]


def _read_few(
    run: Run,
    measure: str,
    judged: float,
    low: float,
    high: float,
    drawn: list[float | None] | str = "",
) -> FewMarked:
    if isinstance(drawn, str):
        return FewMarked(run, measure, judged, low, high, why_none=drawn)
    return FewMarked(run, measure, judged, low, high, PairEstimate(*drawn))


def estimate_columns(drawn: list[FewMarked]) -> list[Column]:
    """Return a column of estimates for each of these measures."""
    measures = dict.fromkeys(each.measure for each in drawn)
    return [_estimate_column(text, [e for e in drawn if e.measure == text]) for text in measures]


def _estimate_column(measure: str, drawn: list[FewMarked]) -> Column:
    of_run = {each.run.pk: each for each in drawn}

    def cells(row: Any) -> list[Cell]:
        found = of_run.get(row.run.pk)
        return [None] * len(PARTS) if found is None else list(found.parts.values())

    def value(row: Any) -> float | None:
        found = of_run.get(row.run.pk)
        return None if found is None or found.estimate is None else found.estimate.value

    def printed(row: Any) -> str:
        found = of_run.get(row.run.pk)
        if found is None or found.estimate is None:
            return MISSING
        parts = (found.estimate.value, found.estimate.margin)
        return " ± ".join(format_decimals(part, PAPER_DECIMALS) for part in parts)

    return Column(
        f"{measure} estimated",
        f"{measure}, estimated",
        tuple(f"{measure}_estimate_{part}" for part in PARTS),
        cells,
        printed,
        order=value,
        falls=True,
        detail="from drawn pairs",
        is_default=False,
        is_in_files=True,
    )
