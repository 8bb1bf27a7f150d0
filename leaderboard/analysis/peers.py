"""The runs with which a team compares its own: those of the same type, if of enough teams."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.boards.standings import Board
from leaderboard.models import Run, Team

# With fewer other teams, the best and the worst could identify them.
FEWEST_TEAMS = 3


@dataclass(frozen=True)
class Spread:
    """The best, the median and the worst value of each column; NaN if no run has a value."""

    best: NDArray[np.float64]
    median: NDArray[np.float64]
    worst: NDArray[np.float64]

    def at(self, column: int) -> list[float]:
        return [float(values[column]) for values in (self.best, self.median, self.worst)]


def compute_spread(values: NDArray[np.float64], direction: int = 1) -> Spread:
    """Return the spread of float64[runs, columns]; with direction -1 lower is better.

    >>> compute_spread(np.array([[1.0, np.nan], [0.0, np.nan], [0.25, np.nan]])).median.tolist()
    [0.25, nan]
    """
    known = ~np.isnan(values).all(axis=0)
    found, good = np.full((3, values.shape[1]), np.nan), direction * values[:, known]
    found[0, known] = direction * np.nanmax(good, axis=0)
    found[1, known] = np.nanmedian(values[:, known], axis=0)
    found[2, known] = direction * np.nanmin(good, axis=0)
    return Spread(*found)


def find_peers_by_kind(board: Board, team: Team) -> dict[str, list[Run]]:
    """Return the runs of each type on the board, with the team's own but no organisers' runs.

    A type is missing if fewer than FEWEST_TEAMS other teams have a run of it.
    """
    runs = [standing.run for standing in board.standings if not standing.run.team.of_organisers]
    by_kind = {kind: [run for run in runs if run.kind == kind] for kind in Run.Kind.values}
    return {
        kind: peers
        for kind, peers in by_kind.items()
        if len({run.team_id for run in peers} - {team.pk}) >= FEWEST_TEAMS
    }
