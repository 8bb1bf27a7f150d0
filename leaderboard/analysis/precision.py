"""The precision of every run of a board by recall and by depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evaluation.curves import mean_curve
from evaluation.judging import JudgedRun, Judgments
from evaluation.measures.ranks import LEVELS
from leaderboard.boards.standings import Board
from leaderboard.display.csv_tables import Columns, CsvTable, tabulate
from leaderboard.models import Run, ScoreSet, Track
from leaderboard.scoring.judgments import load_judgments

DEPTHS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


@dataclass(frozen=True)
class PrecisionLine:
    """The precision of one run and among all runs, at a depth or at a level of recall."""

    at: float
    own: float
    median: float
    best: float


@dataclass(frozen=True)
class Precision:
    """Mean precision over the topics, a row for each run in the order of the board.

    `by_recall` has a column for each of the levels 0, .1, ... 1; `by_depth` one for each depth.
    """

    runs: list[Run]
    depths: tuple[int, ...]
    by_recall: NDArray[np.float64]
    by_depth: NDArray[np.float64]

    @property
    def best_run(self) -> Run:
        """The first run of the board."""
        return self.runs[0]

    def curve_of(self, run: Run) -> NDArray[np.float64]:
        return self.by_recall[self.runs.index(run)]

    def depth_lines(self, run: Run) -> list[PrecisionLine]:
        own, best = self.by_depth[self.runs.index(run)], self.by_depth.max(axis=0)
        return precision_lines(self.depths, own, np.median(self.by_depth, axis=0), best)

    def level_lines(self, run: Run) -> list[PrecisionLine]:
        """The precision at each level of recall, beside that of the first run of the board."""
        median, best = np.median(self.by_recall, axis=0), self.curve_of(self.best_run)
        levels = np.linspace(0, 1, self.by_recall.shape[1]).round(1).tolist()
        return precision_lines(levels, self.curve_of(run), median, best)

    def tables_of(self, run: Run) -> dict[str, CsvTable]:
        values: Columns = [("run", "own"), ("median", "median")]
        recall = [("recall", "at"), *values, (f"best run, {self.best_run}", "best")]
        return {
            "recall": tabulate(self.level_lines(run), recall),
            "depth": tabulate(self.depth_lines(run), [("depth", "at"), *values, ("best", "best")]),
        }


def precision_lines(places: Sequence[float], *columns: NDArray[np.float64]) -> list[PrecisionLine]:
    values = zip(places, *(column.tolist() for column in columns), strict=True)
    return [PrecisionLine(*of_place) for of_place in values]


def read_precision(board: Board) -> Precision:
    """Compute the precision of all runs of a board with the track's relevance threshold."""
    edition, track = board.edition, board.sight.track
    judgments = load_judgments(edition.pk)
    rows = ScoreSet.objects.filter(edition=edition, run__in=[s.run for s in board.standings])
    records = {run_id: bytes(record) for run_id, record in rows.values_list("run_id", "record")}
    runs = [standing.run for standing in board.standings if standing.run.pk in records]
    depths = choose_depths(track)
    means = [
        compute_precision(records[run.pk], judgments, track.relevance_threshold, depths)
        for run in runs
    ]
    return Precision(
        runs=runs,
        depths=depths,
        by_recall=np.array([mean.by_recall for mean in means]),
        by_depth=np.array([mean.by_depth for mean in means]),
    )


@dataclass(frozen=True)
class RunPrecision:
    """The mean precision of one run over its topics."""

    by_recall: NDArray[np.float64]
    by_depth: NDArray[np.float64]


# A record never changes, and the page of every run of a board needs the precision of all runs.
@lru_cache(maxsize=1024)
def compute_precision(
    record: bytes, judgments: Judgments, rel: int, depths: tuple[int, ...]
) -> RunPrecision:
    judged = JudgedRun.unpack(record, judgments)
    return RunPrecision(mean_curve(judged, rel).precision, precision_at(judged, depths, rel))


def precision_at(judged: JudgedRun, depths: Sequence[int], rel: int) -> NDArray[np.float64]:
    """Return the mean precision at each depth, computed in one pass over the ranks."""
    ranks = np.sort(judged.rank[judged.relevant(rel)])
    found = np.searchsorted(ranks, depths, side="right")
    return found / (np.array(depths) * len(judged.judgments.topics))


def choose_depths(track: Track) -> tuple[int, ...]:
    return tuple(depth for depth in DEPTHS if depth <= track.depth) or DEPTHS[:1]


def precision_measures(track: Track) -> list[str]:
    """Return the names of the measures that give the same numbers."""
    recall = [f"IPrec@{level}" for level in LEVELS]
    return [*recall, *(f"P@{depth}" for depth in choose_depths(track))]
