"""All pairs of ranked runs, each with the verdict that the board gives about it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import parse_measure
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.csv_tables import CsvTable
from leaderboard.scoring.verdicts import LEVEL


@dataclass(frozen=True)
class SignificanceMatrix:
    """The first runs of a board in its order; the family of the tests is the whole board.

    `differences` is row minus column, `p` is adjusted for the family of the question; both are
    float64[runs, runs].  p is NaN if there are too few topics or the tests are still to be made.
    """

    measure: str
    direction: int
    standings: list[Standing]
    differences: NDArray[np.float64]
    p: NDArray[np.float64]
    letters: list[str]
    num_runs: int
    topics: int
    undefined: int
    is_tested: bool

    @property
    def names(self) -> list[str]:
        return [standing.name for standing in self.standings]

    @property
    def level(self) -> float:
        return LEVEL

    @property
    def num_pairs(self) -> int:
        return len(self.standings) * (len(self.standings) - 1) // 2

    @property
    def num_different(self) -> int:
        """How many of the pairs shown differ significantly."""
        return int(np.count_nonzero(np.triu(self.p <= LEVEL, 1)))

    @property
    def is_cut(self) -> bool:
        return self.num_runs > len(self.standings)

    @property
    def table(self) -> CsvTable:
        """A line for each pair: run minus other."""
        runs = [standing.run for standing in self.standings]
        lines = [
            (a.pk, a.tag, b.pk, b.tag, float(self.differences[i, j]), float(self.p[i, j]))
            for (i, a), (j, b) in combinations(enumerate(runs), 2)
        ]
        return CsvTable(["run", "tag", "other", "other_tag", "difference", "p_adjusted"], lines)

    @property
    def run_table(self) -> CsvTable:
        """A line for each run: its mean, its ranks with confidence, and its letters."""
        lines = [
            (
                *(standing.run.pk, standing.run.tag, standing.scores[self.measure]),
                *(standing.interval or ("", "")),
                letters,
            )
            for standing, letters in zip(self.standings, self.letters, strict=True)
        ]
        return CsvTable(["run", "tag", self.measure, "rank_from", "rank_to", "letters"], lines)


def build_significance_matrix(board: Board, most: int) -> SignificanceMatrix:
    """Compare the first `most` runs of a board, which must have at least two ranked runs."""
    shown, pairs = board.ranked[:most], board.decisions
    means = np.array([standing.scores[board.measure] for standing in shown], dtype=np.float64)
    differences = means[:, np.newaxis] - means
    p = np.full(differences.shape, np.nan)
    letters = [""] * len(shown)
    if pairs is not None:
        places = np.array([pairs.places[standing.run.pk] for standing in shown])
        p = pairs.decisions.p[np.ix_(places, places)]
        if board.compares_all:
            letters = [pairs.decisions.letters[place] for place in places.tolist()]
    return SignificanceMatrix(
        measure=board.measure,
        direction=parse_measure(board.measure).direction,
        standings=shown,
        differences=differences,
        p=p if board.compares_all else _with_baseline(p, shown),
        letters=letters,
        num_runs=len(board.ranked),
        topics=pairs.decisions.topics if pairs is not None else board.edition.num_evaluated,
        undefined=pairs.decisions.undefined if pairs is not None else 0,
        is_tested=pairs is not None,
    )


def _with_baseline(p: NDArray[np.float64], shown: list[Standing]) -> NDArray[np.float64]:
    """Return p with the board's own answers for the pairs of the baseline."""
    baseline = next((at for at, standing in enumerate(shown) if standing.is_baseline), None)
    if baseline is None:
        return p
    p = p.copy()
    for place, standing in enumerate(shown):
        if standing.against is not None and standing.against.p_adjusted is not None:
            p[place, baseline] = p[baseline, place] = standing.against.p_adjusted
    return p
