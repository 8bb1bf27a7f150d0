"""Summaries of many boards for the front page: ranks by the primary measure and the leader.

The number of queries does not depend on the number of tracks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import F

from evaluation.answers.any_measure import parse_measure
from evaluation.significance import Difference
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.rows import assign_ranks
from leaderboard.boards.standings import FEWEST_TOPICS, sort_by_value
from leaderboard.models import Edition, Run, Score
from leaderboard.scoring.contest_tests import ContestTests, load_tests_on_first_sight
from leaderboard.scoring.contests import AllPairs
from leaderboard.scoring.families import family_ids, load_runs, with_values
from leaderboard.scoring.judgments import count_units
from leaderboard.scoring.verdicts import verdict_of


@dataclass(frozen=True)
class RankedPlace:
    """A run on a board; `rank` is None if the measure is undefined for it."""

    run: Run
    rank: int | None
    mean: float | None
    interval: tuple[int, int] | None
    verdict: str
    is_baseline: bool
    is_own: bool


@dataclass(frozen=True)
class BoardSummary:
    """A board on the front page; it has only stored tests, and none if only means are shown."""

    sight: Sight
    edition: Edition
    places: list[RankedPlace]

    @property
    def num_teams(self) -> int:
        return len({place.run.team_id for place in self.places})

    @property
    def decimals(self) -> int:
        return self.sight.decimals or 3

    @property
    def leader(self) -> RankedPlace | None:
        first = self.places[:1]
        return first[0] if first and first[0].rank is not None else None

    @cached_property
    def by_run(self) -> dict[str, RankedPlace]:
        return {place.run.pk: place for place in self.places}


@dataclass
class EditionData:
    """The runs, means and stored tests of an edition."""

    runs: list[Run] = field(default_factory=list)
    means: dict[str, float | None] = field(default_factory=dict)
    tests: list[ContestTests] = field(default_factory=list)


def summarise_boards(sights: Sequence[Sight]) -> dict[int, BoardSummary]:
    """Return the board of each track that the viewer may see, by track id."""
    editions = {sight.track.pk: sight.shown_edition for sight in sights}
    known = _load_editions([edition for edition in editions.values() if edition is not None])
    return {
        sight.track.pk: _summarise(sight, edition, known[edition.pk])
        for sight in sights
        if (edition := editions[sight.track.pk]) is not None
    }


def _load_editions(editions: Sequence[Edition]) -> dict[int, EditionData]:
    """Load the data of all editions with three queries."""
    found: dict[int, EditionData] = defaultdict(EditionData)
    for edition_id, runs in load_runs(editions).items():
        found[edition_id].runs = runs
    primary = F("score_set__edition__track__primary_measure")
    scores = Score.objects.filter(score_set__edition__in=editions, measure=primary)
    for edition_id, run_id, mean in scores.values_list(
        "score_set__edition", "score_set__run", "mean"
    ):
        found[edition_id].means[run_id] = mean
    for tests in load_tests_on_first_sight(editions):
        found[tests.edition_id].tests.append(tests)
    return found


def _summarise(sight: Sight, edition: Edition, known: EditionData) -> BoardSummary:
    edition.track = track = sight.track
    measure, direction = track.primary_measure, parse_measure(track.primary_measure).direction
    shown = sight.select_board_runs(edition, known.runs, known.means)
    means = {run.pk: sight.round_mean(measure, known.means.get(run.pk)) for run in shown}
    runs = sort_by_value(shown, means, direction)
    family = family_ids(track, known.runs, runs)
    pairs, against = _select_tests(sight, edition, known, family)
    # Ranks within a larger family than the board are not those of the board.
    on_board = len(family) == len(runs)
    units = count_units(edition)
    ranks = assign_ranks([means[run.pk] for run in runs])
    places = [
        RankedPlace(
            run=run,
            rank=rank,
            mean=means[run.pk],
            interval=pairs.interval(run.pk) if pairs is not None and on_board else None,
            verdict=verdict_of(against.get(run.pk), units, direction),
            is_baseline=run.pk == track.baseline_id,
            is_own=sight.owns(run),
        )
        for run, rank in zip(runs, ranks, strict=True)
    ]
    return BoardSummary(sight, edition, places)


def _select_tests(
    sight: Sight, edition: Edition, known: EditionData, family: list[str]
) -> tuple[AllPairs | None, dict[str, Difference]]:
    """Return the stored tests of this family: against the baseline, or else all pairs."""
    pairs, against = None, {}
    valued = with_values(family, known.means)
    for stored in known.tests:
        if not sight.can_see_scores or stored.family not in (family, valued):
            continue
        if stored.pairs is None:
            against = stored.against
        elif count_units(edition) >= FEWEST_TOPICS:
            pairs = stored.pairs
    return None if against else pairs, against
