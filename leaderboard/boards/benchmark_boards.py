"""The board of a benchmark: a row for each system, a column for each track, and what sums them up.

Everything on it is made of the columns that its viewer sees.  A mean is taken over tracks of one
phase, of complete systems, and of measures with one range and direction; else the board says why
there is none.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from evaluation import complete_cells
from evaluation.answers.any_measure import parse_measure
from evaluation.significance import Difference
from leaderboard.boards.columns import (
    AGAINST,
    ANSWERED,
    BORDA,
    EFFECT,
    INTERVAL,
    LAST,
    PAGE_DECIMALS,
    RANK,
    SYSTEM,
    TEAM,
    Column,
    best_of,
    measure_column,
    seen_columns,
    sort_rows,
)
from leaderboard.boards.disclosure import BenchmarkSight, Sight
from leaderboard.boards.rows import (
    AGAINST_ALL,
    AGAINST_BASELINE,
    Choice,
    FactFilter,
    assign_ranks,
    find_fact_filters,
)
from leaderboard.display.numbers import counted
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Edition, Run, Score, SystemVersion, Team
from leaderboard.scoring.contest_tests import ContestTests, load_tests
from leaderboard.scoring.contests import Contest, ContestLead, Part, explain_missing_mean
from leaderboard.scoring.families import match_measure
from leaderboard.scoring.scores import BoardFigures, Figures
from leaderboard.scoring.verdicts import verdict_of

# The choice that shows the tracks of all phases, and the one that shows all versions.
EVERY_PHASE = EVERY_VERSION = "all"
# Up to this many tracks have their columns shown at first.
MOST_OPEN = 24
# Stands for all groups in a reader's choice.
EVERY_GROUP = "*"
# The kinds of columns that are shown on request, since tracks fill the table.
ON_REQUEST = {"wins", "date"}


@dataclass(frozen=True, kw_only=True)
class BenchmarkChoice(Choice):
    """A reader's choices for the board of a benchmark, whose `measure` counts on all tracks.

    Without it, the benchmark's measure counts, or else the primary measure of each track.
    """

    # None: the last phase that shows something.
    phase: str | None = None
    # The slugs of the tracks that count; none: all of the phase.
    tracks: tuple[str, ...] = ()
    # The date up to which collections count, those without a date left out; "" counts all.
    until: str = ""
    versions: str = ""
    # The groups whose tracks are shown or hidden, whatever their number.
    opened: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()


@dataclass(frozen=True)
class BenchmarkColumn:
    """A track on the board: the measure that counts there, and the value of each run."""

    sight: Sight
    edition: Edition
    measure: str
    group: str
    values: Mapping[str, float | None] = field(repr=False)

    @property
    def track_id(self) -> int:
        return self.sight.track.pk

    @property
    def direction(self) -> int:
        return parse_measure(self.measure).direction

    @property
    def slug(self) -> str:
        return str(self.sight.track.slug)

    @property
    def address(self) -> str:
        return str(self.sight.track.address)

    @property
    def name(self) -> str:
        return str(self.sight.track.name)

    @property
    def decimals(self) -> int:
        """How many decimals of a mean pages show."""
        return self.sight.decimals or PAGE_DECIMALS

    @property
    def made_by(self) -> str:
        """Who judged: people, machine, both, or "" if it is not stated."""
        return str(self.edition.judgment_set.made_by)


@dataclass(frozen=True)
class SystemRow:
    """A system on the board, in one of its versions; `values` has one place per column."""

    # A track with pseudonyms is not on the board, and no test of all pairs divides its rows.
    has_pseudonym = breaks_after = False

    version: SystemVersion
    team: str
    # The id of its run on each track, by the id of the track.
    runs: Mapping[int, str]
    values: list[float | None]
    is_own: bool = False
    is_baseline: bool = False
    mean: float | None = None
    group_means: list[float | None] = field(default_factory=list)
    rank: int | None = None
    borda: float | None = None
    borda_rank: int | None = None
    interval: tuple[int, int] | None = None
    against: Difference | None = None
    verdict: str = ""
    all_figures: BoardFigures = field(default_factory=BoardFigures, repr=False, compare=False)

    @property
    def figures(self) -> list[Figures]:
        return self.all_figures.of(self.runs.values())

    @property
    def key(self) -> str:
        return str(self.version.pk)

    @property
    def name(self) -> str:
        return str(self.version.system)

    @property
    def full_name(self) -> str:
        return f"{self.name} {self.version.label}"

    @property
    def facts(self) -> Mapping[str, Any]:
        stated: Mapping[str, Any] = self.version.system.facts
        return stated

    @property
    def at(self) -> datetime:
        made: datetime = self.version.created_at
        return made

    @property
    def answered(self) -> int:
        """On how many columns the system has a value."""
        return sum(value is not None for value in self.values)

    @property
    def is_complete(self) -> bool:
        return self.answered == len(self.values)


@dataclass(frozen=True)
class BenchmarkBoard:
    """The board of a benchmark as one viewer sees it."""

    noun = "system"

    sight: BenchmarkSight
    choice: BenchmarkChoice
    phase: str
    columns: list[BenchmarkColumn]
    # The tracks of the phase whose scores this viewer does not see yet.
    hidden: list[Sight]
    # Complete systems, the best first; and those that lack a column, which have no rank.
    rows: list[SystemRow]
    incomplete: list[SystemRow]
    # Why there is no mean; "" if there is one.
    no_mean: str
    # The tracks of the phase whose scores this viewer sees, in or out of the choice; and those of
    # them that lack the measure that counts.
    choosable: list[Sight] = field(default_factory=list)
    unmeasured: list[Sight] = field(default_factory=list)
    # The contest of the rows, in their order; None without tests.
    contest: Contest | None = None
    tests: ContestTests | None = None

    @property
    def phases(self) -> list[str]:
        return self.sight.phases

    @cached_property
    def groups(self) -> list[str]:
        """The names of the groups of columns in order, if there is more than one."""
        found = list(dict.fromkeys(column.group for column in self.columns))
        return found if len(found) > 1 else []

    @property
    def baseline(self) -> SystemRow | None:
        return next((row for row in self.rows if row.is_baseline), None)

    @property
    def family(self) -> str:
        """The question that the tests answer: `baseline` or `all`."""
        asks_all = self.baseline is None or self.choice.family == AGAINST_ALL
        return AGAINST_ALL if asks_all else AGAINST_BASELINE

    @property
    def compares_all(self) -> bool:
        return self.family == AGAINST_ALL

    @property
    def shows_scores(self) -> bool:
        """Whether the viewer sees all scores of every column."""
        return all(column.sight.can_see_scores for column in self.columns)

    @property
    def is_untested(self) -> bool:
        """Whether a job has yet to compare the systems."""
        return self.contest is not None and self.tests is None

    @property
    def leaders(self) -> list[SystemRow]:
        """The first row, or several whose means are exactly equal."""
        return [row for row in self.rows if row.rank == 1]

    @property
    def decimals(self) -> int:
        """How many decimals of a mean over tracks pages show."""
        return self.rounded or PAGE_DECIMALS

    @property
    def rounded(self) -> int | None:
        """The fewest decimals to which a track rounds its means; None if none does."""
        known = [column.sight.decimals for column in self.columns]
        return min((decimals for decimals in known if decimals is not None), default=None)

    @property
    def home(self) -> str:
        """The name of the column that ranks the systems."""
        return "borda" if self.no_mean else "mean"

    def value_of(self, row: SystemRow) -> float | None:
        """Return what ranks a system."""
        return row.borda if self.no_mean else row.mean

    @cached_property
    def best(self) -> list[float | None]:
        """The best value of every column, over complete and incomplete systems."""
        rows = self.rows + self.incomplete
        return [
            best_of((row.values[place] for row in rows), column.direction)
            for place, column in enumerate(self.columns)
        ]

    @cached_property
    def best_means(self) -> list[float | None]:
        """The best mean, followed by the best mean of every group."""
        if self.no_mean or not self.rows:
            return [None] * (1 + len(self.groups))
        direction = self.columns[0].direction
        means = [[row.mean for row in self.rows]]
        means += [
            list(of_group) for of_group in zip(*(row.group_means for row in self.rows), strict=True)
        ]
        return [best_of(of, direction) for of in means]

    @property
    def judges(self) -> dict[str, list[BenchmarkColumn]]:
        """The columns by who judged them: people, machine, both, or "" if it is not stated."""
        found: dict[str, list[BenchmarkColumn]] = defaultdict(list)
        for column in self.columns:
            found[column.made_by].append(column)
        return dict(found)

    @property
    def lead(self) -> ContestLead | None:
        """The lead of the first system: over the baseline, or else over the second."""
        if self.tests is None or len(self.rows) < 2 or len(self.leaders) != 1:
            return None
        other = self.rows[1] if self.compares_all else self.baseline
        asked = (self.rows[0], other)
        for found in self.tests.leads:
            if asked == (self.row_named(found.row), self.row_named(found.other)):
                return found
        return None

    def name_in_contest(self, row: SystemRow) -> str:
        """Return what stands for a complete system in the contest: its run on the first column."""
        return row.runs[self.columns[0].track_id]

    def row_named(self, name: str) -> SystemRow:
        """Return the row of a system in the contest."""
        return next(row for row in self.rows if self.name_in_contest(row) == name)

    @cached_property
    def teams(self) -> list[str]:
        return sorted({row.team for row in self.rows + self.incomplete if row.team})

    @cached_property
    def fact_filters(self) -> list[FactFilter]:
        """The facts in which the systems differ."""
        return find_fact_filters(self.rows + self.incomplete, self.choice)

    @cached_property
    def shown(self) -> list[SystemRow]:
        """The complete systems that the reader's filters leave, in the order asked for."""
        left = [row for row in self.rows if self.choice.matches(row)]
        return sort_rows(left, self.choice, self.columns_of_table)

    @cached_property
    def column_groups(self) -> list[ColumnGroup]:
        """The groups of tracks; all tracks are one where the benchmark has no groups."""
        sizes = Counter(column.group for column in self.columns)
        if not self.groups:
            size = len(self.columns)
            title = counted(size, "track")
            return [ColumnGroup(EVERY_GROUP, title, size, self._is_open(EVERY_GROUP))]
        return [
            ColumnGroup(group, name_group(group), sizes[group], self._is_open(group))
            for group in self.groups
        ]

    @property
    def has_few_columns(self) -> bool:
        """Whether all tracks are shown until the reader folds them."""
        return len(self.columns) <= MOST_OPEN

    def _is_open(self, group: str) -> bool:
        if self.has_few_columns:
            return not {group, EVERY_GROUP} & set(self.choice.folded)
        return bool({group, EVERY_GROUP} & set(self.choice.opened))

    @cached_property
    def columns_of_table(self) -> list[Column]:
        """Every column that has values on this board, in order."""
        shows_ranks = self.compares_all and self.contest is not None
        possible = [replace(INTERVAL, is_paper=True)] if shows_ranks else []
        columns = [RANK, *possible, SYSTEM, TEAM]
        if self.columns and not self.no_mean:
            columns += [self._mean_column, *map(self._group_column, range(len(self.groups)))]
        if self.contest is not None and not self.compares_all:
            # An effect size is one of a single track.
            columns += [each for each in AGAINST if each is not EFFECT]
        if self.no_mean != "phases":
            columns.append(replace(BORDA, best=best_of((row.borda for row in self.rows), 1)))
        columns += [ANSWERED] if self.incomplete else []
        columns += map(self._track_column, range(len(self.columns)))
        columns += seen_columns(LAST, self.shows_scores)
        return [
            replace(
                each,
                detail="max t" if each.kind == "p" else each.detail,
                is_default=each.is_default and each.kind not in ON_REQUEST,
            )
            for each in columns
        ]

    @property
    def _mean_column(self) -> Column:
        return measure_column(
            "mean",
            "Mean",
            lambda row: row.mean,
            self.best_means[0],
            falls=self.columns[0].direction > 0,
            rounded=self.rounded,
            kind="mean",
            detail=counted(len(self.columns), "track"),
            ranks=True,
            is_fixed=True,
            on_phone=True,
        )

    def _group_column(self, place: int) -> Column:
        """Return the column of the means over the tracks of a group."""
        group = self.groups[place]
        size = sum(column.group == group for column in self.columns)
        return measure_column(
            f"group:{group}",
            name_group(group),
            lambda row: row.group_means[place] if row.group_means else None,
            self.best_means[1 + place],
            falls=self.columns[0].direction > 0,
            rounded=self.rounded,
            kind="mean",
            field=f"mean of {name_group(group)}",
            detail=f"mean of {size}",
        )

    def _track_column(self, place: int) -> Column:
        column = self.columns[place]
        opened = {group.name for group in self.column_groups if group.is_open}
        return measure_column(
            column.slug,
            column.name,
            lambda row: row.values[place],
            self.best[place],
            falls=column.direction > 0,
            rounded=column.sight.decimals,
            kind="track",
            detail=column.measure,
            measure=column.measure,
            place=place,
            is_default=bool({column.group, EVERY_GROUP} & opened),
        )

    def falls_by(self, name: str) -> bool:
        """Whether sorting by a column puts its largest value first."""
        found = (column.falls for column in self.columns_of_table if column.name == name)
        return next(found, False)

    @property
    def shown_incomplete(self) -> list[SystemRow]:
        return [row for row in self.incomplete if self.choice.matches(row)]

    def row_of(self, version_id: int) -> SystemRow | None:
        every = self.rows + self.incomplete
        return next((row for row in every if row.version.pk == version_id), None)


@dataclass(frozen=True)
class ColumnGroup:
    """Tracks whose columns are opened and folded together."""

    name: str
    title: str
    size: int
    is_open: bool


def name_group(group: str) -> str:
    """Return the name of a group, in words for the tracks without one."""
    return group or "other tracks"


def find_benchmark_board(
    sight: BenchmarkSight, choice: BenchmarkChoice = BenchmarkChoice(), *, tested: bool = True
) -> BenchmarkBoard:
    """Return the board of a benchmark as this viewer may see it, with or without its tests."""
    phase = _choose_phase(sight, choice)
    everything = phase == EVERY_PHASE and len(sight.phases) > 1
    wanted = [seen for seen in sight.sights if everything or seen.track.phase == phase]
    shown = [seen for seen in wanted if sight.shows(seen)]
    chosen = [seen for seen in shown if seen.track.slug in choice.tracks] or shown
    if choice.until:
        chosen = [seen for seen in chosen if seen.track.is_by(choice.until)]
    columns = _load_columns(sight, chosen, choice)
    rows = _load_rows(sight, columns, choice)
    complete = [row for row in rows if row.is_complete and columns]
    no_mean = "phases" if everything else explain_missing_mean(each.measure for each in columns)
    board = BenchmarkBoard(
        sight=sight,
        choice=choice,
        phase=phase,
        columns=columns,
        hidden=[seen for seen in wanted if not sight.shows(seen)],
        rows=_rank(columns, complete, no_mean, ranks_by_points=not everything),
        incomplete=_sort_incomplete(row for row in rows if not row.is_complete),
        no_mean=no_mean,
        choosable=shown,
        unmeasured=[seen for seen in chosen if seen not in [c.sight for c in columns]],
    )
    return _with_tests(board) if tested else board


def _sort_incomplete(rows: Iterable[SystemRow]) -> list[SystemRow]:
    """Return the rows with the most answered tracks first."""
    return sorted(rows, key=lambda row: (-row.answered, row.name.casefold(), row.version.pk))


def _choose_phase(sight: BenchmarkSight, choice: BenchmarkChoice) -> str:
    """Return the phase asked for, or else the last one that shows something."""
    asks_all = choice.phase == EVERY_PHASE and len(sight.phases) > 1
    if choice.phase is not None and (choice.phase in sight.phases or asks_all):
        return choice.phase
    shown = [seen.track.phase for seen in sight.sights if sight.shows(seen)]
    latest = [phase for phase in sight.phases if phase in shown] or sight.phases
    return latest[-1] if latest else ""


def _load_columns(
    sight: BenchmarkSight, shown: Sequence[Sight], choice: BenchmarkChoice
) -> list[BenchmarkColumn]:
    """Return a column for each track, without the tracks that lack the measure asked for."""
    measures: dict[int, str] = {}
    for seen in shown:
        asked = choice.measure or sight.benchmark.measure
        found = match_measure(asked, seen.measures) if asked else seen.primary_measure
        if found is not None:
            measures[seen.track.pk] = found
    editions = {seen.track.pk: seen.shown_edition for seen in shown}
    values = _load_values(sight, editions, set(measures.values()))
    columns = []
    for seen in shown:
        edition = editions[seen.track.pk]
        if edition is None or seen.track.pk not in measures:
            continue
        measure = measures[seen.track.pk]
        edition.track = seen.track
        means = values.get((edition.pk, measure), {})
        columns.append(
            BenchmarkColumn(
                sight=seen,
                edition=edition,
                measure=measure,
                group=seen.track.group,
                values=_shown_values(seen, measure, means),
            )
        )
    return columns


def _shown_values(
    sight: Sight, measure: str, means: Mapping[str, float | None]
) -> dict[str, float | None]:
    """Return the means as this viewer may see them: rounded, and only risen ones of a ladder."""
    ladder = sight.ladder
    return {
        run_id: sight.round_mean(measure, mean)
        for run_id, mean in means.items()
        if ladder is None or run_id in ladder.risen
    }


def _load_values(
    sight: BenchmarkSight, editions: Mapping[int, Edition | None], measures: Iterable[str]
) -> dict[tuple[int, str], dict[str, float | None]]:
    """Return the mean of every run of a system, by edition and measure."""
    scores = Score.objects.filter(
        score_set__edition__in=[edition.pk for edition in editions.values() if edition],
        score_set__run__version__system__benchmark=sight.benchmark,
        measure__in=measures,
    )
    found: dict[tuple[int, str], dict[str, float | None]] = defaultdict(dict)
    for edition_id, measure, run_id, mean in scores.values_list(
        "score_set__edition", "measure", "score_set__run", "mean"
    ):
        found[edition_id, measure][run_id] = mean
    return found


def _load_rows(
    sight: BenchmarkSight, columns: Sequence[BenchmarkColumn], choice: BenchmarkChoice
) -> list[SystemRow]:
    """Return a row for each system with a run on a column: its newest version, or all of them.

    The newest version that answers all columns goes before newer ones that do not yet.
    """
    runs: dict[int, dict[int, str]] = defaultdict(dict)
    found = Run.objects.on_the_board().filter(
        version__system__benchmark=sight.benchmark,
        track__in=[column.track_id for column in columns],
    )
    for version_id, track_id, run_id in found.values_list("version", "track", "pk"):
        runs[version_id][track_id] = run_id
    versions = SystemVersion.objects.filter(pk__in=runs).select_related("system")
    teams = _load_team_names(columns)
    figures = BoardFigures([column.edition for column in columns])
    rows = []
    for version in versions:
        own = runs[version.pk]
        values = [column.values.get(own.get(column.track_id, "")) for column in columns]
        if all(value is None for value in values):
            continue
        rows.append(
            SystemRow(
                version=version,
                team=teams.get(version.system.team_id, ""),
                runs=own,
                values=values,
                is_own=sight.owns(version.system),
                all_figures=figures,
            )
        )
    baseline = _find_baseline(sight, choice)
    if choice.versions != EVERY_VERSION:
        rows = keep_newest(rows, choice)
    return [replace(row, is_baseline=True) if baseline(row) else row for row in rows]


def keep_newest(rows: Sequence[SystemRow], choice: BenchmarkChoice) -> list[SystemRow]:
    """Return one row per system; a version that the reader names as baseline stays too."""

    def order(row: SystemRow) -> tuple[Any, ...]:
        newest_first = -row.version.created_at.timestamp(), -row.version.pk
        return row.version.system_id, not row.is_complete, *newest_first

    kept = [next(of) for _, of in groupby(sorted(rows, key=order), lambda r: r.version.system_id)]
    named = [row for row in rows if str(row.version.pk) == choice.baseline and row not in kept]
    return [*kept, *named]


def _find_baseline(sight: BenchmarkSight, choice: BenchmarkChoice) -> Callable[[SystemRow], bool]:
    """Return what says whether a row is the baseline: the version asked for, or the benchmark's."""
    if read_whole_number(choice.baseline) is not None:
        return lambda row: str(row.version.pk) == choice.baseline
    return lambda row: row.version.system_id == sight.benchmark.baseline_id


def _load_team_names(columns: Sequence[BenchmarkColumn]) -> dict[int, str]:
    teams = Team.objects.filter(benchmark__tracks__in=[column.track_id for column in columns])
    return dict(teams.values_list("pk", "name"))


def _rank(
    columns: Sequence[BenchmarkColumn],
    rows: Sequence[SystemRow],
    no_mean: str,
    ranks_by_points: bool,
) -> list[SystemRow]:
    """Return the rows with mean, sub-means, Borda points and ranks, the best first."""
    points = count_points(columns, rows) if ranks_by_points else [None] * len(rows)
    has_mean = bool(columns) and not no_mean
    summed = [
        replace(
            row,
            borda=point,
            mean=mean_of_known(row.values) if has_mean else None,
            group_means=_group_means(columns, row) if has_mean else [],
        )
        for row, point in zip(rows, points, strict=True)
    ]
    direction = columns[0].direction if columns else 1

    def value(row: SystemRow) -> float | None:
        return direction * row.mean if row.mean is not None else row.borda

    summed.sort(key=lambda row: (-(row.borda or 0), row.name, row.version.pk))
    borda_ranks = dict(
        zip(
            (row.version.pk for row in summed),
            assign_ranks([row.borda for row in summed]),
            strict=True,
        )
    )
    summed.sort(key=lambda row: (-(value(row) or 0), row.name, row.version.pk))
    ranks = assign_ranks([value(row) for row in summed])
    return [
        replace(row, rank=rank, borda_rank=borda_ranks[row.version.pk])
        for row, rank in zip(summed, ranks, strict=True)
    ]


def count_points(columns: Sequence[BenchmarkColumn], rows: Sequence[SystemRow]) -> list[float]:
    """Return the Borda points of each complete system: on each column, n less its rank.

    Equal values share the mean of their ranks; the points of all columns are added.  So a system
    gets a point for each that it is ahead of, and half a point for each other of the same value.
    """
    if not rows or not columns:
        return [0.0] * len(rows)
    values = np.array([row.values for row in rows], dtype=np.float64)
    directions = np.array([column.direction for column in columns])
    return list(complete_cells.count_points(values * directions).tolist())


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that there are; None if there are none."""
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _group_means(columns: Sequence[BenchmarkColumn], row: SystemRow) -> list[float | None]:
    """Return the mean of the columns of each group, in the order of the groups."""
    of_group: dict[str, list[float | None]] = defaultdict(list)
    for column, value in zip(columns, row.values, strict=True):
        of_group[column.group].append(value)
    return [mean_of_known(values) for values in of_group.values()] if len(of_group) > 1 else []


def _with_tests(board: BenchmarkBoard) -> BenchmarkBoard:
    """Return the board with the tests of its complete systems, if all its scores are shown."""
    if board.no_mean or not board.shows_scores or len(board.rows) < 2:
        return board
    parts = tuple(Part(column.edition, column.measure) for column in board.columns)
    # In the order of ids, so that the same systems are one contest however they rank.
    ordered = sorted(board.rows, key=lambda row: row.version.pk)
    contest = Contest(
        parts,
        tuple(tuple(row.runs[column.track_id] for column in board.columns) for row in ordered),
        board.name_in_contest(board.baseline) if board.baseline is not None else None,
        benchmark=board.sight.benchmark,
    )
    board = replace(board, contest=contest)
    tests = load_tests(contest)
    if tests is None:
        return board
    rows = [_with_results(board, row, tests) for row in board.rows]
    return replace(board, rows=rows, tests=tests)


def _with_results(board: BenchmarkBoard, row: SystemRow, tests: ContestTests) -> SystemRow:
    """Return a row with its ranks, or with its difference from the baseline, as was asked."""
    name, pairs = board.name_in_contest(row), tests.pairs
    if board.family == AGAINST_ALL:
        decided = pairs is not None and pairs.critical is not None
        return replace(row, interval=pairs.interval(name) if decided else None)
    if row.is_baseline:
        return row
    against, direction = tests.against[name], board.columns[0].direction
    return replace(row, against=against, verdict=verdict_of(against, against.topics, direction))
