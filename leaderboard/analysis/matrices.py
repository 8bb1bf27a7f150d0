"""All pairs of ranked runs, tested by Tukey's HSD."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.measures import parse_measure
from evaluation.significance import tukey_hsd
from evaluation.significance.tukey import Tail
from leaderboard.boards.standings import LEVEL, Board, Standing
from leaderboard.scoring.comparisons import score_matrix


@dataclass(frozen=True)
class SignificanceMatrix:
    """The first runs of a board in its order; the test's family is the whole board.

    `differences` is row minus column, `p` is adjusted for all pairs of the family; both are
    float64[runs, runs].  p is NaN if there are too few topics to test.
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
    margin: float | None
    residual_variance: float | None

    @property
    def num_pairs(self) -> int:
        return len(self.standings) * (len(self.standings) - 1) // 2

    @property
    def num_different(self) -> int:
        """How many of the pairs shown differ significantly."""
        return int(np.count_nonzero(np.triu(self.p < LEVEL, 1)))

    @property
    def is_cut(self) -> bool:
        return self.num_runs > len(self.standings)


def build_significance_matrix(board: Board, most: int) -> SignificanceMatrix:
    """Compare the first `most` runs of a board, which must have at least two ranked runs."""
    # The same order as in the board's own comparison, so that both give the same numbers.
    family = sorted(standing.run.pk for standing in board.standings)
    direction = parse_measure(board.measure).direction
    pairs = tukey_hsd(score_matrix(board.edition, board.measure, family), direction=direction)
    shown = board.ranked[:most]
    rows = [family.index(standing.run.pk) for standing in shown]
    differences = pairs.differences[np.ix_(rows, rows)]
    return SignificanceMatrix(
        measure=board.measure,
        direction=direction,
        standings=shown,
        differences=differences,
        p=_adjust_p(differences, pairs.tail if board.has_enough_topics else None),
        letters=[board.pairs.letters.get(standing.run.pk, "") for standing in shown],
        num_runs=len(board.ranked),
        topics=pairs.topics,
        undefined=pairs.undefined,
        margin=pairs.margin if board.has_enough_topics else None,
        residual_variance=pairs.residual_variance,
    )


def _adjust_p(differences: NDArray[np.float64], tail: Tail | None) -> NDArray[np.float64]:
    """Return the adjusted p of the pairs shown; all pairs of hundreds of runs are too many."""
    if tail is None:
        return np.full(differences.shape, np.nan)
    p = np.ones(differences.shape)
    upper = np.triu_indices(len(differences), 1)
    p[upper] = tail(np.abs(differences[upper]))
    p.T[upper] = p[upper]
    return p
