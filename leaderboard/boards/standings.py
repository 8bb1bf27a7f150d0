"""The board: every ranked run of an edition in order, and how sure that order is."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

from evaluation.measures import parse_measure
from evaluation.significance import Difference, minimum_detectable
from leaderboard.boards.disclosure import Sight
from leaderboard.models import Edition, Run, Track
from leaderboard.runs.facts import FILTERS, Fact
from leaderboard.scoring.comparisons import AllPairs, against_baseline, all_pairs
from leaderboard.scoring.families import Measured, measured_in, ranking_measure

LEVEL = 0.05
NO_PAIRS = AllPairs(None, {}, {}, {}, None)
# What pages print of a run that is one of many; a run has its own page for the rest.
ON_BOARDS = (
    *("tag", "filename", "description", "kind", "facts", "is_primary", "received_at"),
    *("track_id", "team_id", "sha256", "ranking_file", "num_answered"),
    "num_retrieved",
)
# With fewer topics no pattern of wins is rare enough: 2 / 2^5 is more than LEVEL.
FEWEST_TOPICS = 6


@dataclass(frozen=True)
class Choice:
    """What a reader asks of a board; whatever is unknown falls back to the track's own."""

    measure: str = ""
    baseline: str = ""
    sort: str = ""
    team: str = ""
    kind: str = ""
    text: str = ""
    best_per_team: bool = False
    # By the name of a fact the word that runs have to state.
    facts: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    # What goes along to other pages, as it was asked.
    carried: Mapping[str, str] = field(default_factory=dict)

    @property
    def filters(self) -> bool:
        return bool(self.team or self.kind or self.text or self.best_per_team or self.facts)

    @property
    def sorted_otherwise(self) -> bool:
        """Whether the lines stand in another order than that of the ranks."""
        return bool(self.sort) and self.sort not in ("rank", self.measure)

    @property
    def sorted_by(self) -> str:
        """The column of the order: its name in an address without the sign of the turn."""
        return self.sort.removeprefix("-") or "rank"

    @property
    def turned(self) -> bool:
        """Whether the order runs the other way round."""
        return self.sort.startswith("-")


@dataclass(frozen=True)
class FactFilter:
    """A fact by which a board can be filtered: the words its runs state, and the one chosen."""

    fact: Fact
    words: list[str]
    chosen: str


@dataclass(frozen=True)
class Standing:
    """One line of a board; `rank` is None where the measure is undefined for the run."""

    run: Run
    rank: int | None
    scores: dict[str, float | None]
    # None where the viewer sees but means, as are the fields beneath.
    judged_at_10: float | None
    interval: tuple[int, int] | None = None
    against: Difference | None = None
    is_baseline: bool = False
    is_own: bool = False
    verdict: str = ""
    # Every run down to here is significantly better than every run beneath.
    breaks_after: bool = False


@dataclass(frozen=True)
class Board:
    sight: Sight
    edition: Edition
    measure: str
    measures: list[str]
    choice: Choice
    standings: list[Standing]
    shown: list[Standing]
    baseline: Run | None
    pairs: AllPairs
    teams: list[str] = field(default_factory=list)

    def standing_of(self, run: Run) -> Standing | None:
        return self.standing_with(run.pk)

    def standing_with(self, run_id: str) -> Standing | None:
        return next((each for each in self.standings if each.run.pk == run_id), None)

    @property
    def goes_by_pseudonyms(self) -> bool:
        """Whether this viewer reads other names than those of the teams."""
        return self.sight.track.hides_names and not self.sight.organises

    @property
    def decimals(self) -> int:
        """How many decimals of a mean the tables print."""
        return self.sight.decimals or 3

    @cached_property
    def has_late(self) -> bool:
        """Whether a run on it came after the deadline."""
        return any(each.run.is_late for each in self.standings)

    @cached_property
    def fact_filters(self) -> list[FactFilter]:
        """The facts in which the runs differ."""
        filters = []
        for name, fact in FILTERS.items():
            values = [each.run.facts.get(name) for each in self.standings]
            if all(value == values[0] for value in values):
                continue
            words = [word for word in fact.options if any(fact.matches(v, word) for v in values)]
            filters.append(FactFilter(fact, words, self.choice.facts.get(name, "")))
        return filters

    @property
    def others(self) -> list[str]:
        """The measures beside the one that ranks."""
        return [measure for measure in self.measures if measure != self.measure]

    @property
    def missing(self) -> list[str]:
        """The measures of the track that this board was made without."""
        return [measure for measure in self.sight.track.measures if measure not in self.measures]

    @cached_property
    def best(self) -> dict[str, float]:
        """The best value of every measure."""
        return {measure: self._best(measure) for measure in self.measures}

    def _best(self, measure: str) -> float:
        values = [each.scores[measure] for each in self.standings]
        known = [value for value in values if value is not None]
        best = max if parse_measure(measure).direction > 0 else min
        return best(known, default=math.nan)

    @property
    def with_verdict(self) -> dict[str, list[Standing]]:
        """The standings by their verdict: `better`, `worse`, `not significant`, ``."""
        groups: dict[str, list[Standing]] = {"better": [], "worse": [], "not significant": []}
        for each in self.standings:
            if each.verdict:
                groups[each.verdict].append(each)
        return groups

    @property
    def ranked(self) -> list[Standing]:
        """The standings with a rank; the others have no value of the measure."""
        return [each for each in self.standings if each.rank is not None]

    @property
    def leaders(self) -> list[Standing]:
        """The first; several where their values are exactly equal."""
        return [each for each in self.ranked if each.rank == 1]

    @property
    def num_compared(self) -> int:
        """How many runs are tested against the baseline."""
        return sum(each.against is not None for each in self.standings)

    @property
    def is_untested(self) -> bool:
        """Whether the runs differ from the baseline by what no test has looked at yet."""
        against = [each.against for each in self.standings if each.against is not None]
        known = [each for each in against if each.difference is not None]
        return bool(known) and all(each.p is None for each in known)

    @property
    def median_judged(self) -> float:
        """The Judged@10 of the run in the middle."""
        return statistics.median(each.judged_at_10 or 0.0 for each in self.standings)

    @property
    def can_tell(self) -> bool:
        """Whether there are topics enough for any difference to be significant."""
        return self.edition.num_evaluated >= FEWEST_TOPICS

    @property
    def detectable_effect(self) -> float | None:
        """The effect d that one comparison detects with power .8 on this many topics."""
        return minimum_detectable(self.edition.num_evaluated) if self.can_tell else None


def verdict_of(against: Difference | None, topics: int, direction: int = 1) -> str:
    """What the test allows to say: `better`, `worse`, `not significant`; `` without a test."""
    if against is None or against.p_adjusted is None or against.difference is None:
        return ""
    if against.p_adjusted > LEVEL or topics < FEWEST_TOPICS:
        return "not significant"
    return "better" if direction * against.difference > 0 else "worse"


@dataclass(frozen=True)
class Findings:
    """What the tests say of a family; nothing, where a viewer sees but rounded means."""

    pairs: AllPairs = NO_PAIRS
    baseline: Run | None = None
    against: Mapping[str, Difference] = field(default_factory=dict)


def find_board(sight: Sight, choice: Choice | None = None) -> Board | None:
    """The board of a track with all that is behind it; None where that may not be seen."""
    return find_means(sight, choice) if sight.everything else None


def find_order(sight: Sight, choice: Choice | None = None) -> Board | None:
    """The same without its tests, for pages that show none."""
    return find_means(sight, choice, tested=False) if sight.everything else None


def find_board_with(sight: Sight, choice: Choice, *run_ids: str) -> Board | None:
    """As `find_means_with`; None where what is behind the means may not be seen."""
    return find_means_with(sight, choice, *run_ids) if sight.everything else None


def find_means_with(sight: Sight, choice: Choice, *run_ids: str) -> Board | None:
    """The board, where these runs stand on it; else that of every run, also of those left out."""
    board = find_means(sight, choice)
    if board is None or all(board.standing_with(run_id) for run_id in run_ids):
        return board
    return find_means(sight.with_every_run(), choice)


def find_means(sight: Sight, choice: Choice | None = None, *, tested: bool = True) -> Board | None:
    """The board as this viewer may see it, be it one of rounded means; None where there is none.

    Rounded means have neither tests nor intervals, and those that are equal share a rank.
    """
    edition = sight.board_edition
    if edition is None:
        return None
    edition.track = sight.track
    runs = _runs_of(sight, edition)
    measured = _as_seen(sight, measured_in(edition), runs)
    measures = _made(sight.track, measured.means.values())
    choice = _known(choice or Choice(), sight, measures)
    runs = {run_id: run for run_id, run in runs.items() if choice.measure in measured.means[run_id]}
    tests = _tests_of(edition, choice, runs, tested) if sight.everything else Findings()
    standings = _standings(sight, edition, choice.measure, measures, runs, measured, tests)
    return Board(
        sight=sight,
        edition=edition,
        measure=choice.measure,
        measures=measures,
        choice=choice,
        standings=standings,
        shown=_shown(standings, choice),
        baseline=tests.baseline,
        pairs=tests.pairs,
        teams=sorted({each.run.team.name for each in standings}),
    )


def _made(track: Track, means: Iterable[Mapping[str, object]]) -> list[str]:
    """The track's measures; while others are made, those that the board was made with."""
    counts = Counter(chain.from_iterable(means))
    made = [each for each, number in counts.items() if number == max(counts.values())]
    wanted = [each for each in track.measures if each in made or not counts]
    return wanted or sorted(made)


def _known(choice: Choice, sight: Sight, measures: list[str]) -> Choice:
    track = sight.track
    home = ranking_measure(track, measures)
    measure = choice.measure if choice.measure in measures else home
    sort = choice.sort if choice.sorted_by in {*measures, *ORDERS} else ""
    baseline = choice.baseline or (track.baseline_id or "")
    return replace(choice, measure=measure, sort=sort, baseline=baseline)


def _runs_of(sight: Sight, edition: Edition) -> dict[str, Run]:
    """The family by id, with what pages of many runs print; track and teams are shared."""
    runs = Run.objects.on_the_board().filter(score_sets__edition=edition).only(*ON_BOARDS)
    scored = list(runs)
    # Read after the runs, or a team that joined between the two would be missing.
    teams = {team.pk: team for team in sight.track.teams.all()}
    for run in scored:
        # As setting both would do, which takes as long as all of the query.
        run._state.fields_cache |= {"track": sight.track, "team": teams[run.team_id]}
    return {run.pk: run for run in sight.on_the_board(edition, scored)}


def _tests_of(edition: Edition, choice: Choice, runs: dict[str, Run], tested: bool) -> Findings:
    family, measure = sorted(runs), choice.measure
    baseline = runs.get(choice.baseline) or runs.get(edition.track.baseline_id or "")
    if not tested:
        return Findings(baseline=baseline)
    can_tell = edition.num_evaluated >= FEWEST_TOPICS
    pairs = all_pairs(edition, measure, family) if can_tell else NO_PAIRS
    if baseline is None:
        return Findings(pairs)
    against = against_baseline(edition, measure, baseline.pk, family)
    return Findings(pairs, baseline, against)


def _standings(
    sight: Sight,
    edition: Edition,
    measure: str,
    measures: list[str],
    runs: dict[str, Run],
    measured: Measured,
    tests: Findings,
) -> list[Standing]:
    """The runs in the order of their full values; equal values share a rank (1, 2, 2, 4)."""
    direction, topics = parse_measure(measure).direction, edition.num_evaluated
    means = measured.means
    baseline = tests.baseline.pk if tests.baseline is not None else sight.track.baseline_id

    values = {run_id: means[run_id].get(measure) for run_id in runs}
    ordered = [run.pk for run in by_value(runs.values(), values, direction)]
    ranks = ranks_of([values[run_id] for run_id in ordered])
    intervals = [tests.pairs.interval(run_id) for run_id in ordered]
    breaks = _clean_breaks(intervals)
    return [
        Standing(
            run=runs[run_id],
            rank=ranks[place],
            scores={each: means[run_id].get(each) for each in measures},
            judged_at_10=measured.judged.get(run_id),
            interval=intervals[place],
            against=tests.against.get(run_id),
            is_baseline=run_id == baseline,
            is_own=sight.owns(runs[run_id]),
            verdict=verdict_of(tests.against.get(run_id), topics, direction),
            breaks_after=place in breaks,
        )
        for place, run_id in enumerate(ordered)
    ]


def _as_seen(sight: Sight, measured: Measured, runs: Iterable[str]) -> Measured:
    """What this viewer may see of these runs."""
    means = {run_id: measured.means.get(run_id, {}) for run_id in runs}
    if sight.decimals is not None:
        means = {
            run_id: {measure: sight.rounded(measure, mean) for measure, mean in of_run.items()}
            for run_id, of_run in means.items()
        }
    return Measured(means, measured.judged if sight.everything else {})


def by_value(runs: Iterable[Run], values: Mapping[str, float | None], direction: int) -> list[Run]:
    """The best first; of equal ones the tag that comes first, and last what is undefined."""

    def key(run: Run) -> tuple[bool, float, str]:
        value = values[run.pk]
        return value is None, -direction * (value or 0.0), run.tag

    return sorted(runs, key=key)


def ranks_of(values: Sequence[float | None]) -> list[int | None]:
    """The ranks of values in order: equal ones share a rank, and those that are missing have none.

    >>> ranks_of([0.5, 0.4, 0.4, 0.1, None])
    [1, 2, 2, 4, None]
    """
    ranks: list[int | None] = []
    for place, value in enumerate(values):
        tied = place > 0 and value is not None and values[place - 1] == value
        ranks.append(None if value is None else ranks[-1] if tied else place + 1)
    return ranks


def _clean_breaks(intervals: Sequence[tuple[int, int] | None]) -> set[int]:
    """The places below which every rank interval begins under all that end above."""
    breaks = set()
    lowest = 0
    for place, (above, below) in enumerate(pairwise(intervals)):
        if above is None or below is None:
            break
        lowest = max(lowest, above[1])
        if below[0] > lowest:
            breaks.add(place)
    return breaks


def _shown(standings: list[Standing], choice: Choice) -> list[Standing]:
    """What the reader's filters leave, in the reader's order; rank and family stay."""
    if not choice.filters and not choice.sorted_otherwise:
        return standings
    shown = [each for each in standings if _matches(each, choice)]
    if choice.best_per_team:
        first: dict[int, Standing] = {}
        for each in shown:
            first.setdefault(each.run.team_id, each)
        shown = list(first.values())
    if not choice.sorted_otherwise:
        return _breaks_kept(shown, standings)
    return [replace(each, breaks_after=False) for each in _in_order(shown, choice)]


@dataclass(frozen=True)
class Order:
    """What a column is sorted by, None where there is nothing; and which end comes first."""

    key: Callable[[Standing], Any]
    falls: bool = False


def _of_difference(name: str) -> Callable[[Standing], Any]:
    return lambda each: None if each.against is None else getattr(each.against, name)


ORDERS = {
    "rank": Order(lambda each: each.rank),
    "interval": Order(lambda each: each.interval),
    "run": Order(lambda each: str(each.run).casefold()),
    "team": Order(lambda each: each.run.team.name.casefold()),
    "type": Order(lambda each: str(each.run.kind)),
    "judged": Order(lambda each: each.judged_at_10, falls=True),
    "difference": Order(_of_difference("difference"), falls=True),
    "confidence": Order(_of_difference("low"), falls=True),
    "p": Order(_of_difference("p_adjusted")),
    "effect": Order(_of_difference("effect_size"), falls=True),
    "wins": Order(_of_difference("wins"), falls=True),
    "date": Order(lambda each: each.run.received_at, falls=True),
}


def order_of(column: str) -> Order:
    """How a board is sorted by a column: one of ORDERS or a measure, its best value first."""
    if column in ORDERS:
        return ORDERS[column]
    return Order(lambda each: each.scores[column], falls=parse_measure(column).direction > 0)


def _in_order(shown: list[Standing], choice: Choice) -> list[Standing]:
    """By the column of the choice; equal lines keep the order of the ranks, missing ones end."""
    order = order_of(choice.sorted_by)
    known = [each for each in shown if order.key(each) is not None]
    known.sort(key=order.key, reverse=order.falls != choice.turned)
    return [*known, *(each for each in shown if order.key(each) is None)]


def _breaks_kept(shown: list[Standing], standings: list[Standing]) -> list[Standing]:
    """A clean break below a hidden run shows below the last shown one above it."""
    level, levels = 0, {}
    for each in standings:
        levels[each.run.pk] = level
        level += each.breaks_after
    below = [*(levels[each.run.pk] for each in shown[1:]), 0]
    return [
        replace(each, breaks_after=next_level > levels[each.run.pk])
        for each, next_level in zip(shown, below, strict=False)
    ]


def _matches(standing: Standing, choice: Choice) -> bool:
    run, text, wanted = standing.run, choice.text.casefold(), choice.facts.items()
    return (
        (not choice.team or run.team.name == choice.team)
        and (not choice.kind or run.kind == choice.kind)
        and all(FILTERS[name].matches(run.facts.get(name), word) for name, word in wanted)
        and (text in run.tag.casefold() or text in run.team.name.casefold())
    )
