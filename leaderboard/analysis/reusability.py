"""Whether judgments serve new runs: each team left out in turn, and its best run scored again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

import numpy as np

from evaluation.answers.any_measure import is_of_rankings, parse_measure
from evaluation.pooling import Reusability, TeamLeftOut, TeamRuns, depth_pool, leave_one_team_out
from leaderboard.analysis.rescoring import is_too_large, load_rescoring
from leaderboard.analysis.shifts import Move, Placing
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.models import Team
from leaderboard.scoring.scores import load_measure_means

# The depth where the judgments do not say how deep their pool was.
USUAL_DEPTH = 100


@dataclass(frozen=True)
class TeamLine:
    """A team with the move of its best run once the documents that only it found are unjudged.

    `unique` of these documents are judged, `relevant` of them are relevant. `tau` is between the
    boards before and after; None where undefined.
    """

    team: Team
    best: Standing
    unique: int
    relevant: int
    move: Move
    tau: float | None

    @property
    def change(self) -> float:
        return self.move.change or 0.0


@dataclass(frozen=True)
class LeftOutTeams:
    """All teams of a board by one measure, the largest loss first; `depth` is that of the pool."""

    measure: str
    depth: int
    num_runs: int
    lines: list[TeamLine]

    @property
    def taus(self) -> list[float]:
        return [line.tau for line in self.lines if line.tau is not None]

    @property
    def mean_tau(self) -> float | None:
        return fmean(self.taus) if self.taus else None

    @property
    def lowest_tau(self) -> float | None:
        return min(self.taus, default=None)

    @property
    def most_changed(self) -> TeamLine | None:
        """The team whose best run changes most."""
        return max(self.lines, key=lambda line: abs(line.change), default=None)

    @property
    def table(self) -> CsvTable:
        columns = [
            *(("team", "team.name"), ("unique", "unique"), ("relevant", "relevant")),
            *(("run", "best.run.pk"), ("tag", "best.run.tag")),
            *(("with", "move.before.mean"), ("without", "move.after.mean"), ("change", "change")),
            *(("rank_with", "move.before.rank"), ("rank_without", "move.after.rank")),
            ("tau_b", "tau"),
        ]
        return tabulate(self.lines, columns)


@dataclass(frozen=True)
class MeasureTrust:
    """How stable a measure is with new teams: the mean τ and the largest change of a best run."""

    measure: str
    mean_tau: float | None
    largest_change: float


def rate_measures(board: Board) -> list[MeasureTrust]:
    """Return the stability of every measure, the most stable first; none if that takes too long."""
    runs = [standing.run for standing in board.ranked]
    if is_too_large(runs * len(board.measures)):
        return []
    rated = []
    for measure in filter(is_of_rankings, board.measures):
        means = load_measure_means(board.edition, measure)
        if any(means.get(run.pk) is None for run in runs):
            continue
        direction, found = parse_measure(measure).direction, _compute(board, measure)
        changes = [_change_of_best(team, direction) for team in found.teams]
        taus = [team.tau for team in found.teams if team.tau is not None]
        rated.append(
            MeasureTrust(measure, fmean(taus) if taus else None, max(changes, key=abs, default=0.0))
        )
    return sorted(rated, key=lambda each: -(each.mean_tau or 0.0))


def _change_of_best(team: TeamLeftOut, direction: int) -> float:
    """Return how the best run of a team changes."""
    best = int(np.argmax(direction * team.before))
    return float(team.after[best] - team.before[best])


def teams_of(board: Board) -> dict[Team, list[Standing]]:
    """Return the ranked runs of each team, the best first."""
    teams: dict[Team, list[Standing]] = {}
    for standing in board.ranked:
        teams.setdefault(standing.run.team, []).append(standing)
    return teams


def pool_depth_of(board: Board) -> int:
    """Return how many documents of each run count as pooled."""
    return board.edition.judgment_set.pool_depth or USUAL_DEPTH


def is_too_large_to_leave_out(board: Board) -> bool:
    return is_too_large([standing.run for standing in board.ranked])


def leave_teams_out(board: Board) -> LeftOutTeams:
    """Leave out each team of a board in turn, by its measure."""
    teams, depth = teams_of(board), pool_depth_of(board)
    found = _compute(board, board.measure)
    direction = parse_measure(board.measure).direction
    lines = []
    for (team, standings), left_out in zip(teams.items(), found.teams, strict=True):
        best = standings[0]
        assert best.rank is not None
        before = Placing(best.rank, float(left_out.before[0]))
        after = Placing(best.rank + int(left_out.ranks_lost[0]), float(left_out.after[0]))
        move = Move(best.run, before, after)
        counts = left_out.unique, left_out.unique_relevant
        lines.append(TeamLine(team, best, *counts, move, left_out.tau))
    lines.sort(key=lambda line: direction * line.change)
    return LeftOutTeams(board.measure, depth, len(board.ranked), lines)


def _compute(board: Board, measure: str) -> Reusability:
    teams = teams_of(board).values()
    family = tuple(tuple(standing.run.pk for standing in standings) for standings in teams)
    return compute_reusability(board.edition.pk, measure, family, pool_depth_of(board))


# Neither the judgments of an edition nor an accepted run ever change.
@lru_cache(maxsize=64)
def compute_reusability(
    edition_id: int, measure: str, family: tuple[tuple[str, ...], ...], depth: int
) -> Reusability:
    """Leave out each team of a family, the ids of the runs of each, in this order."""
    every = [run_id for team in family for run_id in team]
    read = load_rescoring(edition_id, measure, every)
    teams, first = {}, 0
    for number, team in enumerate(family):
        numbers = tuple(range(first, first + len(team)))
        teams[str(number)] = TeamRuns(numbers, numbers)
        first += len(team)
    pool = depth_pool(read.runs, depth, read.judgments.topics)
    return leave_one_team_out(read.qrels, pool, teams, read.means, read.rel, read.measure.direction)
