"""The agreement of a board's measures: how similar their rankings are."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement import ranks, tau_ap_matrix, tau_matrix
from evaluation.answers.any_measure import parse_measure
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.csv_tables import RUN_COLUMNS, CsvTable, tabulate
from leaderboard.models import Run

# A run is short if it retrieves less than this share of the median number of documents.
SHORT_RUN_SHARE = 0.5


@dataclass(frozen=True)
class RunByMeasures:
    """A run with its mean and rank by every measure, None if the measure is undefined for it.

    `places` are ranks without ties: runs with equal means are in the order of the board.
    """

    standing: Standing
    means: list[float | None]
    ranks: list[int | None]
    places: list[int]
    documents: float
    is_short: bool

    @property
    def run(self) -> Run:
        return self.standing.run

    @property
    def name(self) -> str:
        return self.standing.name

    @property
    def kind(self) -> str:
        """The class of its line in the chart."""
        return "own" if self.standing.is_own else "asks" if self.is_short else ""

    @property
    def values(self) -> list[tuple[int | None, float | None]]:
        """The rank and the mean by every measure."""
        return list(zip(self.ranks, self.means, strict=True))

    @property
    def moves(self) -> int:
        """The difference between the best and the worst rank."""
        known = [rank for rank in self.ranks if rank is not None]
        return max(known, default=0) - min(known, default=0)


@dataclass(frozen=True)
class FurthestMeasures:
    """The two measures whose rankings agree least."""

    one: str
    other: str
    tau: float


@dataclass(frozen=True)
class MeasureCorrelation:
    """The agreement of all measures.

    `tau` and `tau_ap` are float64[measures, measures]; the column is the reference of tau_ap.
    """

    measures: list[str]
    tau: NDArray[np.float64]
    tau_ap: NDArray[np.float64]
    runs: list[RunByMeasures]

    @property
    def short_runs(self) -> list[RunByMeasures]:
        return [run for run in self.runs if run.is_short]

    @property
    def leaders(self) -> list[list[Run]]:
        """The runs that each measure ranks first."""
        return [
            [run.run for run in self.runs if run.ranks[place] == 1]
            for place in range(len(self.measures))
        ]

    @property
    def is_led_by_one(self) -> bool:
        """Whether every measure ranks the same runs first."""
        return all(first == self.leaders[0] for first in self.leaders)

    @property
    def furthest_apart(self) -> FurthestMeasures | None:
        pairs = [
            FurthestMeasures(self.measures[one], self.measures[other], float(self.tau[one, other]))
            for one, other in combinations(range(len(self.measures)), 2)
            if not math.isnan(self.tau[one, other])
        ]
        return min(pairs, key=lambda pair: pair.tau, default=None)

    def drawn(self, most: int) -> list[RunByMeasures]:
        """Return the first runs, placed among themselves so that the chart has no gaps."""
        drawn = self.runs[:most]
        columns = [sorted(column) for column in zip(*(run.places for run in drawn), strict=True)]
        return [
            replace(
                run,
                places=[
                    column.index(place) + 1
                    for column, place in zip(columns, run.places, strict=True)
                ],
            )
            for run in drawn
        ]

    @property
    def table(self) -> CsvTable:
        """A line for each run: its mean and its rank by every measure."""
        columns = list(RUN_COLUMNS)
        for place, measure in enumerate(self.measures):
            columns += [
                (measure, lambda run, place=place: run.means[place]),
                (f"rank by {measure}", lambda run, place=place: run.ranks[place]),
            ]
        return tabulate(self.runs, [*columns, ("documents_a_topic", "documents")])

    @property
    def measure_table(self) -> CsvTable:
        """A line for every two measures; tau_ap compares the boards of the two."""
        places = permutations(range(len(self.measures)), 2)
        lines = [
            (self.measures[i], self.measures[j], float(self.tau[i, j]), float(self.tau_ap[i, j]))
            for i, j in places
        ]
        return CsvTable(["measure", "other", "tau_b", "tau_ap"], lines)


def compute_correlation(board: Board) -> MeasureCorrelation:
    """Compute the agreement of a board's measures, with the runs in the order of the board."""
    boards = np.array([_signed_means(board, measure) for measure in board.measures])
    boards = boards.reshape(len(board.measures), len(board.standings))
    return MeasureCorrelation(
        measures=board.measures,
        tau=tau_matrix(boards),
        tau_ap=tau_ap_matrix(boards),
        runs=_ranked_runs(board, boards),
    )


def _signed_means(board: Board, measure: str) -> list[float]:
    """Return the means of the runs so that higher is better, NaN if undefined."""
    direction = parse_measure(measure).direction
    values = [standing.scores[measure] for standing in board.standings]
    return [math.nan if value is None else direction * value for value in values]


def _ranked_runs(board: Board, boards: NDArray[np.float64]) -> list[RunByMeasures]:
    documents = [_documents(standing.run) for standing in board.standings]
    usual = statistics.median(documents) if documents else 0.0
    by_measure = [_ranks(row) for row in boards]
    places = [np.argsort(np.argsort(-row, kind="stable")) + 1 for row in boards]
    return [
        RunByMeasures(
            standing=standing,
            means=[standing.scores[measure] for measure in board.measures],
            ranks=[row[place] for row in by_measure],
            places=[int(row[place]) for row in places],
            documents=documents[place],
            is_short=documents[place] < SHORT_RUN_SHARE * usual,
        )
        for place, standing in enumerate(board.standings)
    ]


def _documents(run: Run) -> float:
    """Return how many documents a run retrieves per answered topic."""
    return run.num_retrieved / run.num_answered if run.num_answered else 0.0


def _ranks(good: NDArray[np.float64]) -> list[int | None]:
    """Return the ranks among the runs for which the measure is defined, None for the others."""
    known = ~np.isnan(good)
    found = iter(ranks(good[known]).tolist())
    return [next(found) if defined else None for defined in known]
