"""The unjudged documents of each run, and how they could change its score and verdict.

For each run this bounds the scores that it could have.  For each pair with the baseline it checks
whether the verdict stays the same under the judgments that favour either run most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import is_of_rankings, parse_measure
from evaluation.judging import JudgedRun, Judgments
from evaluation.measures import Measure
from evaluation.pooling import ADDITIVE, PairBounds, compare_with_holes, holes
from evaluation.problems import Problems
from evaluation.reading.runs.reader import Ranking
from evaluation.reading.runs.reader import Run as ReadRun
from evaluation.significance import compare_with_baseline, scale_of, topic_order
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.charts import Axis, AxisColumn
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.display.numbers import count
from leaderboard.models import Edition, Run, ScoreSet
from leaderboard.runs.rankings import load_tops
from leaderboard.runs.topic_files import TOP
from leaderboard.scoring.families import match_measure
from leaderboard.scoring.judgments import (
    count_units,
    load_judgments,
    resolve_measure,
    tested_groups,
)
from leaderboard.scoring.verdicts import verdict_of

CUTOFFS = (5, 10, 20, 100)
# The most runs of a board that have a line.
MOST_RUNS = 100
# The verdict between better and worse.
NOT_SIGNIFICANT = "not significant"
# Runs x topics up to which a request bounds the verdicts itself.
MOST_SCORES = 50_000


@dataclass(frozen=True)
class VerdictBounds:
    """A verdict against the baseline, and its bounds under extreme missing judgments.

    `difference`, `low` and `high` are means over the topics; `needed` and `among` are those of
    `PairBounds`.
    """

    difference: float
    low: float
    high: float
    verdict: str
    verdict_low: str
    verdict_high: str
    robust: bool
    needed: int | None
    among: int

    @property
    def stands(self) -> bool:
        """Whether both extremes give this verdict; mixtures of judgments may give another."""
        return self.verdict == self.verdict_low == self.verdict_high

    @property
    def becomes(self) -> str:
        """Say what the extremes give: "the same at both extremes", or "could become worse"."""
        if self.stands:
            return "the same at both extremes"
        could = {self.verdict_low, self.verdict_high} - {self.verdict}
        # A verdict that can reach the other extreme can also become not significant.
        is_any = self.verdict != NOT_SIGNIFICANT and could != {NOT_SIGNIFICANT}
        return f"could become {'any other' if is_any or len(could) > 1 else could.pop()}"

    @property
    def takes(self) -> str:
        """Say how many documents could close or reverse the gap to the baseline: "3 of 40"."""
        if self.needed is None:
            return "impossible" if self.robust else "–"
        return f"{count(self.needed)} of {count(self.among)}"


@dataclass(frozen=True)
class UnjudgedLine:
    """A run with the judged share of its top documents, and the scores it could have."""

    standing: Standing
    judged_at: dict[int, float]
    score: float
    low: float
    high: float
    doubt: VerdictBounds | None


@dataclass(frozen=True)
class UnjudgedTable:
    """The first runs of a board by one measure.

    If `bounds_hold`, no judgment leads beyond low and high; otherwise they are two scenarios.
    """

    measure: str
    measures: list[str]
    bounds_hold: bool
    lines: list[UnjudgedLine]
    more: int

    @property
    def reach(self) -> int:
        """How many documents of every ranking the comparison of pairs reads."""
        return TOP

    @property
    def doubts(self) -> list[UnjudgedLine]:
        """The runs that are compared with the baseline."""
        return [line for line in self.lines if line.doubt is not None]

    @property
    def doubtful(self) -> list[UnjudgedLine]:
        """The runs whose verdict could change."""
        return [line for line in self.lines if line.doubt is not None and not line.doubt.stands]

    @cached_property
    def score_axis(self) -> AxisColumn:
        """The axis of the scores that runs could have."""
        return _column_around([(line.low, line.high) for line in self.lines], "scores")

    @cached_property
    def difference_axis(self) -> AxisColumn:
        """The axis of the differences from the baseline that runs could have."""
        ends = [(line.doubt.low, line.doubt.high) for line in self.lines if line.doubt is not None]
        return replace(_column_around([(0.0, 0.0), *ends], "differences"), dashed=0.0)

    @property
    def table(self) -> CsvTable:
        judged = [
            (f"judged_at_{cutoff}", lambda line, cutoff=cutoff: line.judged_at[cutoff])
            for cutoff in CUTOFFS
        ]
        doubt = [
            (f"difference_{name}" if name in ("low", "high") else name, f"doubt.{name}")
            for name in (field.name for field in fields(VerdictBounds))
        ]
        columns = [
            ("run", "standing.run.pk"),
            ("tag", "standing.run.tag"),
            ("team", "standing.run.team.name"),
            *judged,
            (self.measure, "score"),
            (f"{self.measure} low", "low"),
            (f"{self.measure} high", "high"),
            *doubt,
        ]
        return tabulate(self.lines, columns)


def _column_around(ranges: Sequence[tuple[float, float]], grid: str) -> AxisColumn:
    """Return an axis around the finite values, with at most four labels to fit the column."""
    known = [end for ends in ranges for end in ends if np.isfinite(end)] or [0.0]
    return AxisColumn(Axis.around(min(known), max(known), most=4), grid)


def build_unjudged_table(board: Board, asked: str = "") -> UnjudgedTable:
    """Build the table of the runs that a board shows, by a measure that has bounds."""
    measures = [
        text
        for text in board.measures
        if is_of_rankings(text) and parse_measure(text).definition.bounds != "none"
    ]
    text = match_measure(asked, measures) or choose_measure(board.measure, measures)
    shown = board.shown[:MOST_RUNS]
    doubts = _bound_board_verdicts(board, text) if text else {}
    records = _records(board.edition, shown)
    return UnjudgedTable(
        measure=text,
        measures=measures,
        bounds_hold=bool(text) and parse_measure(text).definition.bounds == "true",
        lines=[_line(board, standing, text, records, doubts) for standing in shown],
        more=len(board.shown) - len(shown),
    )


def choose_measure(ranking: str, measures: Sequence[str]) -> str:
    """Choose the ranking measure if it has true bounds, or else the measure with the best ones."""
    ways = (
        lambda text: text == ranking and parse_measure(text).definition.bounds == "true",
        lambda text: is_sum_over_tops(parse_measure(text)),
        lambda text: parse_measure(text).definition.bounds == "true",
        lambda text: text == ranking,
        lambda text: True,
    )
    found = (text for way in ways for text in measures if way(text))
    return next(found, "")


def is_sum_over_tops(measure: Measure) -> bool:
    """Whether the measure is a sum over top documents, which every ranking file stores."""
    cutoff = measure.parameters.get("k")
    return (
        measure.name in ADDITIVE
        and measure.parameters["holes"] != "condensed"
        and isinstance(cutoff, int)
        and cutoff <= TOP
    )


def _records(edition: Edition, shown: Sequence[Standing]) -> dict[str, bytes]:
    rows = ScoreSet.objects.filter(edition=edition, run__in=[standing.run for standing in shown])
    return {run_id: bytes(record) for run_id, record in rows.values_list("run_id", "record")}


def _line(
    board: Board,
    standing: Standing,
    text: str,
    records: dict[str, bytes],
    doubts: dict[str, VerdictBounds],
) -> UnjudgedLine:
    judgments = load_judgments(board.edition.pk)
    measure = resolve_measure(board.sight.track, text) if text else None
    found = bound_scores(records[standing.run.pk], judgments, measure)
    return UnjudgedLine(standing, *found, doubts.get(standing.run.pk))


# A record never changes, nor do the judgments of an edition.
@lru_cache(maxsize=1024)
def bound_scores(
    record: bytes, judgments: Judgments, measure: Measure | None
) -> tuple[dict[int, float], float, float, float]:
    """Return Judged@k by k, the score of a run, and the lowest and highest it could have."""
    run = JudgedRun.unpack(record, judgments)
    judged_at = holes(run, CUTOFFS).judged_at
    if measure is None:
        return judged_at, np.nan, np.nan, np.nan
    low, high = measure.bounds(_cut_to_measure(run, measure))
    return judged_at, *(measure.aggregate(values) for values in (measure.scores(run), low, high))


def _cut_to_measure(run: JudgedRun, measure: Measure) -> JudgedRun:
    """Cut a run at the cutoff of a measure with true bounds; other measures need all of it."""
    cutoff = measure.parameters.get("k")
    if not isinstance(cutoff, int) or measure.definition.bounds != "true":
        return run
    keep = run.within(cutoff)
    return replace(
        run,
        topic=run.topic[keep],
        rank=run.rank[keep],
        grade=run.grade[keep],
        retrieved=np.minimum(run.retrieved, cutoff),
        document=None if run.document is None else run.document[keep],
    )


def _bound_board_verdicts(board: Board, text: str) -> dict[str, VerdictBounds]:
    """Bound the verdicts of the family; return none if that is impossible or takes too long."""
    measure = resolve_measure(board.sight.track, text)
    family = tuple(sorted(standing.run.pk for standing in board.standings))
    size = len(family) * board.edition.num_evaluated
    if (
        board.baseline is None
        or len(family) < 2
        or not is_sum_over_tops(measure)
        or size > MOST_SCORES
    ):
        return {}
    return dict(bound_verdicts(board.edition.pk, measure, board.baseline.pk, family))


@lru_cache(maxsize=32)
def bound_verdicts(
    edition_id: int, measure: Measure, baseline: str, family: tuple[str, ...]
) -> tuple[tuple[str, VerdictBounds], ...]:
    edition = Edition.objects.select_related("track").get(pk=edition_id)
    judgments = load_judgments(edition_id)
    runs = Run.objects.in_bulk(family)
    others = [run_id for run_id in family if run_id != baseline]
    tops = {run_id: load_top(runs[run_id]) for run_id in family}
    cutoff = int(measure.parameters["k"])  # type: ignore[arg-type]
    pairs = [
        compare_with_holes(measure, tops[run_id], tops[baseline], judgments, cutoff)
        for run_id in others
    ]
    # In the order of draws, so that p is that of the board.
    order = topic_order(judgments.topics)
    verdicts = [
        _verdicts(edition, measure, np.array([getattr(pair, which) for pair in pairs])[:, order])
        for which in ("difference", "low", "high")
    ]
    doubts = [_build_bounds(*found) for found in zip(pairs, *verdicts, strict=True)]
    return tuple(zip(others, doubts, strict=True))


def load_top(run: Run) -> ReadRun:
    """Load the top documents of a run for every topic."""
    rankings = {
        number.encode(errors="surrogateescape"): Ranking(
            [docno.encode(errors="surrogateescape") for docno in docnos],
            -np.arange(len(docnos), dtype=float),
        )
        for number, docnos in load_tops(run).items()
    }
    return ReadRun(run.tag, rankings, lines=0, problems=Problems())


def _verdicts(edition: Edition, measure: Measure, differences: NDArray[np.float64]) -> list[str]:
    """Return the verdict of the track's test for each row, over the family."""
    nothing = np.zeros(differences.shape[1])
    tested = compare_with_baseline(
        differences,
        nothing,
        test=edition.track.test,
        scale=scale_of(measure),
        groups=tested_groups(edition),
    )
    units = count_units(edition)
    return [verdict_of(difference, units) for difference in tested]


def _build_bounds(pair: PairBounds, verdict: str, low: str, high: str) -> VerdictBounds:
    return VerdictBounds(
        difference=float(pair.difference.mean()),
        low=float(pair.low.mean()),
        high=float(pair.high.mean()),
        verdict=verdict,
        verdict_low=low,
        verdict_high=high,
        robust=pair.robust,
        needed=pair.needed,
        among=pair.among,
    )
