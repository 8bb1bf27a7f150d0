"""Reusability of judgments for new runs, by leaving out one team at a time.

Documents that only this team contributed to the pool lose their judgments, and the team's runs
are scored again (Zobel, SIGIR 1998; by group Voorhees, CLEF 2001).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from evaluation.agreement import compare_boards, ranks
from evaluation.pooling.pools import Pool, is_judged
from evaluation.ragged import FloatArray, IntArray
from evaluation.reading.judging.qrels import Qrels

# Maps judgments and the numbers of runs to their mean scores, float64[runs].
Rescore = Callable[[Qrels, Sequence[int]], FloatArray]


@dataclass(frozen=True)
class TeamRuns:
    """The runs of a team: all of them by number on the board, the pooled by number in the pool."""

    on_board: tuple[int, ...]
    in_pool: tuple[int, ...]


@dataclass(frozen=True)
class TeamLeftOut:
    """The scores of a team's runs without its own judgments, in the order of `runs`.

    unique, unique_relevant: judged documents of this team only, and the relevant ones.
    before, after: float64[k], mean scores; drop: (before - after) / before, 0 where before is 0.
    ranks_lost: int64[k], rank after minus rank before; scores of other teams do not change.
    tau: between the boards before and after; None below two runs or if all are tied on one.
    """

    team: str
    runs: tuple[int, ...]
    unique: int
    unique_relevant: int
    before: FloatArray
    after: FloatArray
    drop: FloatArray
    ranks_lost: IntArray
    tau: float | None


@dataclass(frozen=True)
class Reusability:
    """The results of all teams, with means and extremes over all their runs.

    `mean_error` is the mean of |before - after|. `lowest_tau` is the tau of the team whose
    absence changes the board most. The means are 0 if no team has a run.
    """

    teams: tuple[TeamLeftOut, ...]
    mean_error: float
    mean_drop: float
    largest_drop: float
    most_ranks_lost: int
    lowest_tau: float | None


def leave_one_team_out(
    qrels: Qrels,
    pool: Pool,
    teams: Mapping[str, TeamRuns],
    rescore: Rescore,
    rel: int = 1,
    direction: int = 1,
) -> Reusability:
    """Leave out each team in turn and score its runs again.

    `rescore` scores runs with judgments. It is called once for all runs 0 ... R - 1 of the
    teams, and once per team. It must keep the top grade of the scale, which the remaining
    judgments may not reach. `rel` is the grade from which a document
    is relevant.
    """
    everyone = sorted(run for team in teams.values() for run in team.on_board)
    board = np.full(max(everyone, default=-1) + 1, np.nan)
    board[everyone] = rescore(qrels, everyone) if everyone else []
    left_out = tuple(
        _left_out(name, team, qrels, pool, board, rescore, rel, direction)
        for name, team in teams.items()
    )
    return _summary(left_out)


def without_judgments(qrels: Qrels, removed: Mapping[bytes, set[bytes]]) -> Qrels:
    """Return the judgments without some documents; a topic without judgments stays."""
    kept = {
        topic: {d: grade for d, grade in graded.items() if d not in removed.get(topic, ())}
        for topic, graded in qrels.grades.items()
    }
    return replace(qrels, grades=kept)


def _left_out(
    name: str,
    team: TeamRuns,
    qrels: Qrels,
    pool: Pool,
    board: FloatArray,
    rescore: Rescore,
    rel: int,
    direction: int,
) -> TeamLeftOut:
    alone = pool.brought_only_by(team.in_pool)
    judged = [
        (t, d) for t, docnos in alone.items() for d in docnos if is_judged(qrels.grades, t, d)
    ]
    runs = list(team.on_board)
    before, later = board[runs], board.copy()
    later[runs] = rescore(without_judgments(qrels, alone), runs) if runs else []
    lost = before - later[runs]
    return TeamLeftOut(
        team=name,
        runs=team.on_board,
        unique=len(judged),
        unique_relevant=sum(qrels.grades[topic][docno] >= rel for topic, docno in judged),
        before=before,
        after=later[runs],
        drop=np.divide(lost, before, out=np.zeros(len(runs)), where=before != 0),
        ranks_lost=(ranks(later, direction) - ranks(board, direction))[runs],
        tau=compare_boards(board, later, direction).tau_b,
    )


def _summary(teams: tuple[TeamLeftOut, ...]) -> Reusability:
    errors = [float(e) for team in teams for e in np.abs(team.before - team.after)]
    drops = [float(drop) for team in teams for drop in team.drop]
    return Reusability(
        teams=teams,
        mean_error=fmean(errors) if errors else 0.0,
        mean_drop=fmean(drops) if drops else 0.0,
        largest_drop=max(drops, default=0.0),
        most_ranks_lost=max((int(lost) for team in teams for lost in team.ranks_lost), default=0),
        lowest_tau=min((team.tau for team in teams if team.tau is not None), default=None),
    )
