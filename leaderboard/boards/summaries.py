"""Summaries of many boards for the front page: ranks by the primary measure and the leader.

The number of queries does not depend on the number of tracks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import F, Q

from evaluation.measures import parse_measure
from evaluation.significance import Difference
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.standings import FEWEST_TOPICS, NO_PAIRS, by_value, ranks_of, verdict_of
from leaderboard.models import Comparison, Edition, Run, Score
from leaderboard.scoring.comparisons import HSD, AllPairs, StoredComparison, load_comparisons
from leaderboard.scoring.families import load_runs


@dataclass(frozen=True)
class Place:
    """A run on a board; `rank` is None where the measure is undefined for it."""

    run: Run
    rank: int | None
    mean: float | None
    interval: tuple[int, int] | None
    verdict: str
    is_baseline: bool
    is_own: bool


@dataclass(frozen=True)
class Glance:
    """A board in a line; tests are those that a job has made, and none where one sees but means."""

    sight: Sight
    edition: Edition
    places: list[Place]

    @property
    def num_teams(self) -> int:
        return len({each.run.team_id for each in self.places})

    @property
    def decimals(self) -> int:
        return self.sight.decimals or 3

    @property
    def leader(self) -> Place | None:
        first = self.places[:1]
        return first[0] if first and first[0].rank is not None else None

    @cached_property
    def by_run(self) -> dict[str, Place]:
        return {each.run.pk: each for each in self.places}


@dataclass
class Known:
    """What the tables hold of an edition."""

    runs: list[Run] = field(default_factory=list)
    means: dict[str, float | None] = field(default_factory=dict)
    tests: list[StoredComparison] = field(default_factory=list)


def glance_at(sights: Sequence[Sight]) -> dict[int, Glance]:
    """By track its board, where the viewer may see one."""
    editions = {sight.track.pk: sight.board_edition for sight in sights}
    known = _read([edition for edition in editions.values() if edition is not None])
    return {
        sight.track.pk: _glance(sight, edition, known[edition.pk])
        for sight in sights
        if (edition := editions[sight.track.pk]) is not None
    }


def _read(editions: Sequence[Edition]) -> dict[int, Known]:
    """Three queries for all editions."""
    found: dict[int, Known] = defaultdict(Known)
    for edition_id, runs in load_runs(editions).items():
        found[edition_id].runs = runs
    primary = F("score_set__edition__track__primary_measure")
    scores = Score.objects.filter(score_set__edition__in=editions, measure=primary)
    for edition_id, run_id, mean in scores.values_list(
        "score_set__edition", "score_set__run", "mean"
    ):
        found[edition_id].means[run_id] = mean
    made = Comparison.objects.filter(
        Q(baseline=None, test=HSD)
        | Q(baseline=F("edition__track__baseline"), test=F("edition__track__test")),
        edition__in=editions,
        measure=F("edition__track__primary_measure"),
    )
    for kept in load_comparisons(made):
        found[kept.edition_id].tests.append(kept)
    return found


def _glance(sight: Sight, edition: Edition, known: Known) -> Glance:
    edition.track = track = sight.track
    measure, direction = track.primary_measure, parse_measure(track.primary_measure).direction
    shown = sight.on_the_board(edition, known.runs, known.means)
    means = {run.pk: sight.rounded(measure, known.means.get(run.pk)) for run in shown}
    runs = by_value(shown, means, direction)
    pairs, against = _tests(sight, edition, known, runs)
    ranks = ranks_of([means[run.pk] for run in runs])
    places = [
        Place(
            run=run,
            rank=rank,
            mean=means[run.pk],
            interval=pairs.interval(run.pk),
            verdict=verdict_of(against.get(run.pk), edition.num_evaluated, direction),
            is_baseline=run.pk == track.baseline_id,
            is_own=sight.owns(run),
        )
        for run, rank in zip(runs, ranks, strict=True)
    ]
    return Glance(sight, edition, places)


def _tests(
    sight: Sight, edition: Edition, known: Known, runs: Sequence[Run]
) -> tuple[AllPairs, dict[str, Difference]]:
    """Rank intervals, and each run against the baseline; nothing that is not of this family."""
    family = sorted(run.pk for run in runs)
    pairs, against = NO_PAIRS, {}
    for kept in known.tests:
        if not sight.everything or kept.family != family:
            continue
        if kept.pairs is None:
            against = kept.against
        elif edition.num_evaluated >= FEWEST_TOPICS:
            pairs = kept.pairs
    return pairs, against
