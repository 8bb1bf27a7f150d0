"""Shifts: what changes between two boards of the same runs by one measure.

An analysis says which board is before and which is after. Moves, leaders, the agreement of the two
orders and the verdicts that turn follow from their means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement import BoardAgreement, compare_boards, ranks, top_tau_b
from evaluation.answers.any_measure import parse_measure
from leaderboard.models import Run

# From this number of ranks on a move is large.
LARGE_MOVE = 3

# The means of runs on a board, None or NaN where a measure is undefined.
Means = Sequence[float | None] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Placing:
    """A run on a board: its rank, its mean and its verdict against the baseline.

    The mean is None where the measure is undefined, the verdict "" where there is none.
    """

    rank: int
    mean: float | None
    verdict: str = ""


def place_runs(means: Means, direction: int, verdicts: Sequence[str] = ()) -> list[Placing]:
    """Return the place of every run of a board; runs without a mean share the last rank.

    >>> [place.rank for place in place_runs([0.2, None, 0.5, None], direction=1)]
    [2, 3, 1, 3]
    """
    values = np.array(means, dtype=np.float64)
    places = ranks(_fill_undefined(values, direction), direction).tolist()
    return [
        Placing(rank, None if np.isnan(mean) else mean, verdict)
        for rank, mean, verdict in zip(
            places, values.tolist(), verdicts or [""] * len(values), strict=True
        )
    ]


def _fill_undefined(means: NDArray[np.float64], direction: int) -> NDArray[np.float64]:
    """Return the means with undefined ones replaced so that they rank last."""
    return np.where(np.isnan(means), -direction * np.inf, means)


@dataclass(frozen=True, slots=True)
class Move:
    """A run with its places on both boards."""

    run: Run
    before: Placing
    after: Placing

    @property
    def gained(self) -> int:
        """How many ranks the run gains; negative if it loses some."""
        return self.before.rank - self.after.rank

    @property
    def lost(self) -> int:
        return -self.gained

    @property
    def side(self) -> str:
        """Whether the rank after is `better` or `worse`; empty if it is the same."""
        return "better" if self.gained > 0 else "worse" if self.gained < 0 else ""

    @property
    def is_large(self) -> bool:
        return abs(self.gained) >= LARGE_MOVE

    @property
    def change(self) -> float | None:
        """The mean after less the mean before; None if either is undefined."""
        if self.before.mean is None or self.after.mean is None:
            return None
        return self.after.mean - self.before.mean


@dataclass(frozen=True)
class OverturnedPair:
    """Two runs on which the boards decide differently; verdicts are on the first run.

    `before` and `after` are `better`, `worse` or `not significant`; `differences` are the mean of
    the first run less that of the second on each board.
    """

    first: Run
    second: Run
    before: str
    after: str
    differences: tuple[float, float]

    @property
    def is_reversed(self) -> bool:
        return {self.before, self.after} == {"better", "worse"}


@dataclass(frozen=True)
class Shift:
    """The moves of all runs; the board before is the reference."""

    measure: str
    moves: list[Move]

    @cached_property
    def by_size(self) -> list[Move]:
        """The moves, the largest first."""
        return sorted(
            self.moves, key=lambda move: (-abs(move.gained), move.after.rank, move.run.pk)
        )

    @property
    def leader(self) -> Move:
        """The first run after; of several the one that moved most."""
        return min(self.by_size, key=lambda move: move.after.rank)

    @property
    def num_moved(self) -> int:
        return sum(move.gained != 0 for move in self.moves)

    @property
    def turned(self) -> list[Move]:
        """The runs whose verdict against the baseline changes, the largest move first."""
        return [move for move in self.by_size if move.before.verdict != move.after.verdict]

    @property
    def by_rank_before(self) -> list[Move]:
        return sorted(self.moves, key=lambda move: (move.before.rank, move.run.pk))

    @property
    def by_rank_after(self) -> list[Move]:
        return sorted(self.moves, key=lambda move: (move.after.rank, move.run.pk))

    @property
    def mean_change(self) -> float | None:
        """How much higher the means are after, on average over the runs."""
        changes = [move.change for move in self.by_rank_before if move.change is not None]
        return sum(changes) / len(changes) if changes else None

    @cached_property
    def agreement(self) -> BoardAgreement:
        """How far the orders of both boards agree."""
        return compare_boards(*self._boards, self._direction)

    @cached_property
    def top(self) -> float | None:
        """Kendall's tau_b over the first ten runs before."""
        before, after = self._boards
        return top_tau_b(self._direction * after, self._direction * before)

    @property
    def _direction(self) -> int:
        return parse_measure(self.measure).direction

    @property
    def _boards(self) -> list[NDArray[np.float64]]:
        """Both boards as float64[runs], where runs without a mean are last."""
        sides = [
            [move.before.mean for move in self.moves],
            [move.after.mean for move in self.moves],
        ]
        return [_fill_undefined(np.array(side, dtype=float), self._direction) for side in sides]


def find_shift(
    measure: str, runs: Sequence[Run], before: Sequence[Placing], after: Sequence[Placing]
) -> Shift:
    """Return what changes between two boards, each the places of these runs."""
    return Shift(measure, [Move(*placed) for placed in zip(runs, before, after, strict=True)])
