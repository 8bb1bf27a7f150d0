"""The Ladder: a team's shown score changes only when a run beats it by more than a step.

A run that does not beat it shows no score, not even to its own team.  So a team that submits many
similar runs learns nothing about the judgments.  After Blum and Hardt, The Ladder: A Reliable
Leaderboard for Machine Learning Competitions, ICML 2015.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evaluation.answers.any_measure import parse_measure
from evaluation.significance.units import Units
from leaderboard.models import Edition, Run
from leaderboard.scoring.judgments import tested_groups
from leaderboard.scoring.scores import load_measure_means, tested_scores

# Steps are decimal fractions, and so are their multiples.
DIGITS = 9
# The fields of a team that say whether it competes, and until when.
TEAM_FIELDS = ("team__of_organisers",)


@dataclass(frozen=True)
class Ladder:
    """The runs that beat their team's shown score (`risen`), and those shown now (`standing`)."""

    step: float
    risen: frozenset[str]
    standing: list[str]

    def rounded(self, value: float) -> float:
        """Return the value rounded to a step."""
        return round_to_step(value, self.step)


def round_to_step(value: float, step: float) -> float:
    """Return the nearest multiple of the step.

    >>> round_to_step(0.6944, 0.005), round_to_step(0.6976, 0.005)
    (0.695, 0.7)
    """
    return round(round(value / step) * step, DIGITS)


def build_ladder(edition: Edition) -> Ladder:
    """Build the ladder from the runs in the order in which they were received.

    A run that left the board keeps its step.  A late run is shown only if its team has none in
    time.  All the organisers' runs are shown: organisers already have the judgments.
    """
    track = edition.track
    direction = parse_measure(track.primary_measure).direction
    means = load_measure_means(edition, track.primary_measure)
    values = {run: -math.inf if mean is None else direction * mean for run, mean in means.items()}
    runs = Run.objects.filter(track=track, score_sets__edition=edition)
    runs = runs.order_by("received_at", "pk")
    on_board = set(runs.on_the_board().values_list("pk", flat=True))
    rows = list(runs.select_related("team").only("received_at", *TEAM_FIELDS))
    contenders = [(run.pk, run.team_id) for run in rows if not run.team.of_organisers]
    risen = find_rising_runs(contenders, values, track.ladder_step)
    late = {run.pk for run in rows if track.is_late(run.received_at, run.team)}
    late_first = sorted(risen, key=lambda pair: pair[0] not in late)
    last = {team: run for run, team in late_first if run in on_board}
    exempt = [run.pk for run in rows if run.team.of_organisers]
    return Ladder(
        step=track.ladder_step,
        risen=frozenset([run for run, _ in risen] + exempt),
        standing=sorted([*last.values(), *on_board.intersection(exempt)]),
    )


def propose_step(edition: Edition) -> float | None:
    """Return the smallest step that equal runs rarely pass: 2 s / sqrt(topics).

    s is the median standard deviation of the differences by topic between a run and the one that
    its team showed before.  An equal run passes a step of 1, 2 or 3 s / sqrt(topics) with
    probability .16, .023 or .0013.  None where no team has two runs.
    """
    track = edition.track
    direction = parse_measure(track.primary_measure).direction
    means = load_measure_means(edition, track.primary_measure)
    runs = Run.objects.filter(track=track, pk__in=means).order_by("received_at", "pk")
    pairs, shown = [], {}
    for run, team in runs.values_list("pk", "team"):
        before, mean = shown.get(team), means[run]
        if before is not None:
            pairs.append((before, run))
        if mean is not None and (
            before is None or direction * mean > direction * (means[before] or 0.0)
        ):
            shown[team] = run
    if not pairs or edition.num_evaluated < 2:
        return None
    ids = sorted({run for pair in pairs for run in pair})
    place = {run: number for number, run in enumerate(ids)}
    scores = tested_scores(edition, track.primary_measure, ids)
    first, second = np.array([[place[run] for run in pair] for pair in pairs]).T
    units = Units.of(scores[second] - scores[first], tested_groups(edition))
    errors = np.square(units.centred).sum(axis=1) / (units.counts * (units.counts - 1.0))
    return float(2 * np.median(np.sqrt(errors)))


def find_rising_runs(
    runs: Iterable[tuple[str, int]], values: dict[str, float], step: float
) -> list[tuple[str, int]]:
    """Return the pairs of run and team that beat the team's shown score by more than the step."""
    shown: dict[int, float] = {}
    risen = []
    for run, team in runs:
        value = values.get(run, -math.inf)
        if math.isfinite(value) and value > shown.get(team, -math.inf) + step:
            shown[team] = round_to_step(value, step)
            risen.append((run, team))
    return risen
