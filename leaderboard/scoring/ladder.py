"""The Ladder: what a team shows moves only when a run beats it by more than a step.

Whoever sends many runs that hardly differ learns nothing of the judgments by it: of a run that
does not rise no value shows, to its own team neither.  After Blum and Hardt, The Ladder: A
Reliable Leaderboard for Machine Learning Competitions, ICML 2015.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.measures import parse_measure
from leaderboard.models import Edition, Run
from leaderboard.scoring.families import means_of

# Steps are decimal fractions, and so are their multiples.
DIGITS = 9


@dataclass(frozen=True)
class Ladder:
    """`risen` are the runs that beat what their team showed; `standing` show now."""

    step: float
    risen: frozenset[str]
    standing: list[str]

    def rounded(self, value: float) -> float:
        return to_step(value, self.step)


def to_step(value: float, step: float) -> float:
    """The nearest multiple of the step.

    >>> to_step(0.6944, 0.005), to_step(0.6976, 0.005)
    (0.695, 0.7)
    """
    return round(round(value / step) * step, DIGITS)


def ladder_of(edition: Edition) -> Ladder:
    """The runs in the order in which they came; one that left the board keeps its step.

    A late run stands only where its team has none in time.  The organisers' runs all stand: who
    has the judgments learns nothing of them.
    """
    track = edition.track
    direction = parse_measure(track.primary_measure).direction
    means = means_of(edition, track.primary_measure)
    values = {run: -math.inf if mean is None else direction * mean for run, mean in means.items()}
    runs = Run.objects.filter(track=track, score_sets__edition=edition)
    runs = runs.order_by("received_at", "pk")
    on_board = set(runs.on_the_board().values_list("pk", flat=True))
    rows = list(runs.values_list("pk", "team_id", "team__of_organisers", "received_at"))
    contenders = [(run, team) for run, team, of_organisers, _ in rows if not of_organisers]
    risen = rising(contenders, values, track.ladder_step)
    late = {run for run, _, _, at in rows if track.is_late(at)}
    late_first = sorted(risen, key=lambda each: each[0] not in late)
    last = {team: run for run, team in late_first if run in on_board}
    exempt = [run for run, _, of_organisers, _ in rows if of_organisers]
    return Ladder(
        step=track.ladder_step,
        risen=frozenset([run for run, _ in risen] + exempt),
        standing=sorted([*last.values(), *on_board.intersection(exempt)]),
    )


def rising(
    runs: Iterable[tuple[str, int]], values: dict[str, float], step: float
) -> list[tuple[str, int]]:
    """Those of the runs with their teams that beat what the team shows by more than the step."""
    shown: dict[int, float] = {}
    risen = []
    for run, team in runs:
        value = values.get(run, -math.inf)
        if math.isfinite(value) and value > shown.get(team, -math.inf) + step:
            shown[team] = to_step(value, step)
            risen.append((run, team))
    return risen
