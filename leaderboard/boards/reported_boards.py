"""The board of scores that others report: a row for each system, a column for each collection.

It is never joined with a board of runs. Only a part of the table without a missing cell is ranked:
a missing score is neither guessed nor counted as 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from django.core.paginator import Page, Paginator

from evaluation.complete_cells import (
    FEWEST_SYSTEMS,
    CompletePart,
    Rule,
    count_points,
    find_complete_part,
)
from evaluation.ragged import FloatArray
from evaluation.reading.results import ReportedSystem
from leaderboard.boards.benchmark_boards import ColumnGroup, name_group
from leaderboard.boards.board_files import BoardFile
from leaderboard.boards.columns import (
    BORDA,
    INTERVAL,
    RANK,
    Column,
    fields_of,
    measure_column,
    sort_rows,
)
from leaderboard.boards.disclosure import BenchmarkSight
from leaderboard.boards.rows import Choice, assign_ranks
from leaderboard.collections.reported_scores import (
    ReportedCollection,
    ReportedTable,
    unpack_table,
)
from leaderboard.display.numbers import counted
from leaderboard.models import ReportedScores
from leaderboard.scoring.reported_ranks import ReportedRanks, load_ranks
from leaderboard.scoring.scores import Figures

# What every file of the board says beside its cells.
MARK = "reported, not recomputed"
# So many collections of the opened groups are columns of a page.
MOST_COLUMNS = 100
# Letters of a revision that pages show.
SHORT_REVISION = 8
SYSTEM = Column(
    "system",
    "System",
    ("system", "revision"),
    lambda row: (row.name, row.revision),
    lambda row: row.full_name,
    order=lambda row: row.name.casefold(),
    kind="reported",
    is_words=True,
    is_fixed=True,
    on_phone=True,
    is_paper=True,
)
POSSIBLE = replace(INTERVAL, needs_all_pairs=False, is_paper=True)
ANSWERED = Column(
    "answered",
    "Reported",
    ("reported", "collections"),
    lambda row: (row.answered, row.asked),
    lambda row: f"{row.answered} of {row.asked}",
    order=lambda row: row.answered,
    falls=True,
    detail="collections",
    on_phone=True,
)


@dataclass(frozen=True, kw_only=True)
class ReportedChoice(Choice):
    """A reader's choices: which collections and systems are compared, and by which rule.

    `text` limits the systems before the rule chooses a part of the table.
    """

    rule: Rule = "largest"
    # The groups that are compared; none: all.
    groups: tuple[str, ...] = ()
    # The groups whose collections are shown.
    opened: tuple[str, ...] = ()
    # Which of the collections of the opened groups are shown, MOST_COLUMNS at a time.
    window: int = 1
    # The version of the table; None: the newest.
    version: int | None = None


@dataclass(frozen=True)
class ReportedRow:
    """A system on the board; without a score on each compared collection it has no rank."""

    system: ReportedSystem
    # Its place in the table.
    place: int
    # On how many of the compared collections it has a score.
    answered: int
    asked: int
    at: datetime
    rank: int | None = None
    borda: float | None = None
    borda_rank: int | None = None
    mean: float | None = None
    group_means: Sequence[float] = ()
    # The ranks that it can have by the order on other collections of this kind.
    interval: tuple[int, int] | None = None
    # No run is behind the row, so it has no baseline, and no user owns it.
    team: ClassVar[str] = ""
    facts: ClassVar[Mapping[str, Any]] = {}
    figures: ClassVar[Sequence[Figures]] = ()
    against: ClassVar[None] = None
    verdict: ClassVar[str] = ""
    is_own: ClassVar[bool] = False
    is_baseline: ClassVar[bool] = False
    has_pseudonym: ClassVar[bool] = False
    breaks_after: ClassVar[bool] = False

    @property
    def key(self) -> str:
        return str(self.place)

    @property
    def name(self) -> str:
        return self.system.name

    @property
    def revision(self) -> str:
        return self.system.revision

    @property
    def full_name(self) -> str:
        return f"{self.name} {self.revision[:SHORT_REVISION]}"


@dataclass(frozen=True)
class ReportedBoard:
    """The reported scores of a benchmark, as a reader asked for them."""

    noun: ClassVar[str] = "system"
    home: ClassVar[str] = "borda"
    baseline: ClassVar[None] = None
    compares_all: ClassVar[bool] = False

    sight: BenchmarkSight
    version: ReportedScores
    table: ReportedTable = field(repr=False)
    choice: ReportedChoice
    # The places of the systems and collections that the reader compares, and of those the complete
    # part that the rule keeps.
    systems: list[int]
    collections: list[int]
    part: CompletePart
    # The systems of the part, the best first; and those that lack one of its collections.
    rows: list[ReportedRow]
    incomplete: list[ReportedRow]
    # None until a job has made them, and where nothing is ranked.
    ranks: ReportedRanks | None = None

    @cached_property
    def groups(self) -> list[str]:
        """The names of the groups of compared collections, if there is more than one."""
        found = sorted({self.table.collections[place].group for place in self.part.collections})
        return found if len(found) > 1 else []

    @cached_property
    def all_groups(self) -> list[tuple[str, int]]:
        """Every group of the table with its number of collections."""
        return sorted(Counter(each.group for each in self.table.collections).items())

    @property
    def num_known(self) -> int:
        """How many scores are reported among what the reader compares."""
        cells = self.table.known[np.ix_(self.systems, self.collections)]
        return int(np.count_nonzero(cells))

    @cached_property
    def column_groups(self) -> list[ColumnGroup]:
        """The groups of compared collections, which a reader opens and folds."""
        sizes = Counter(self.table.collections[place].group for place in self.part.collections)
        opened = set(self.choice.opened)
        return [
            ColumnGroup(
                name, name_group(name) if self.groups else "collections", size, name in opened
            )
            for name, size in sorted(sizes.items())
        ]

    @cached_property
    def shown(self) -> list[ReportedRow]:
        """All rows in the order asked for; without an order, those with a rank are first."""
        every = [*self.rows, *self.incomplete]
        return sort_rows(every, self.choice, self.columns_of_table)

    @cached_property
    def columns_of_table(self) -> list[Column]:
        """The columns of a page: of the collections those of a window, and one that sorts."""
        shown = [place for place in self.part.collections.tolist() if self._is_shown(place)]
        return [*self._fixed_columns, *map(self._collection_column, shown)]

    @cached_property
    def columns_of_file(self) -> list[Column]:
        """The columns of files for programs: every compared collection."""
        compared = self.part.collections.tolist()
        return [*self._fixed_columns, *map(self._collection_column, compared)]

    @property
    def _fixed_columns(self) -> list[Column]:
        points = [row.borda for row in self.rows if row.borda is not None]
        return [
            RANK,
            *([POSSIBLE] if self.ranks is not None and self.ranks.decides else []),
            SYSTEM,
            replace(BORDA, best=max(points, default=None)),
            self._mean_column,
            *map(self._group_column, range(len(self.groups))),
            ANSWERED,
        ]

    def _is_shown(self, place: int) -> bool:
        sorts = self.choice.sorted_by == name_column(self.table.collections[place])
        return sorts or place in self.window.object_list

    @cached_property
    def window(self) -> Page[int]:
        """The places of the collections of opened groups that are shown at a time."""
        opened = set(self.choice.opened)
        places = self.part.collections.tolist()
        of_opened = [place for place in places if self.table.collections[place].group in opened]
        return Paginator(of_opened, MOST_COLUMNS).get_page(self.choice.window)

    @property
    def _mean_column(self) -> Column:
        means = [row.mean for row in self.rows if row.mean is not None]
        return measure_column(
            "mean",
            "Mean",
            lambda row: row.mean,
            max(means, default=None),
            falls=True,
            rounded=None,
            kind="mean",
            detail=counted(len(self.part.collections), "collection"),
            on_phone=True,
        )

    def _group_column(self, place: int) -> Column:
        group = self.groups[place]
        means = [row.group_means[place] for row in self.rows]
        size = sum(self.table.collections[each].group == group for each in self.part.collections)
        return measure_column(
            f"group:{group}",
            name_group(group),
            lambda row: row.group_means[place] if row.group_means else None,
            max(means, default=None),
            falls=True,
            rounded=None,
            kind="mean",
            field=f"mean of {name_group(group)}",
            detail=f"mean of {size}",
        )

    def _collection_column(self, place: int) -> Column:
        collection = self.table.collections[place]
        known = self.table.scores[self.systems, place]
        best = None if np.isnan(known).all() else float(np.nanmax(known))
        return measure_column(
            name_column(collection),
            collection.name,
            score_on(self.table.scores, place),
            best,
            falls=True,
            rounded=None,
            kind="mean",
            field=collection.name,
        )

    def file(self, columns: Sequence[Column]) -> BoardFile:
        """Return the board with these columns as its files are written."""
        return BoardFile(
            f"{self.sight.benchmark.slug}-reported",
            columns,
            [row for row in self.shown if row.rank is not None],
            self._describe,
            self._caption,
            has_verdicts=False,
            unranked=[row for row in self.shown if row.rank is None],
            told={"status": MARK},
        )

    def _describe(self) -> dict[str, Any]:
        return {
            "benchmark": self.sight.benchmark.slug,
            "status": MARK,
            "version": self.version.version,
            "source": self.version.source,
            "rule": self.choice.rule,
            "groups": list(self.choice.groups),
            "collections": [self.table.collections[place].name for place in self.part.collections],
            "neighbours_told_apart": self.ranks.told_apart if self.ranks is not None else None,
            "standings": [fields_of(row, self.columns_of_file) for row in self.shown],
        }

    def _caption(self) -> str:
        systems = counted(len(self.rows), "system")
        collections = counted(len(self.part.collections), "collection")
        return (
            f"{self.sight.benchmark.name}: scores reported by {self.version.source}, not"
            f" recomputed; {systems} on {collections} without a missing score."
        )


def name_column(collection: ReportedCollection) -> str:
    return f"collection:{collection.name}"


def score_on(scores: FloatArray, place: int) -> Callable[[ReportedRow], float | None]:
    """Return what finds the score of a row on a collection; None where it is missing."""

    def find(row: ReportedRow) -> float | None:
        value = float(scores[row.place, place])
        return None if math.isnan(value) else value

    return find


def find_reported_board(
    sight: BenchmarkSight, choice: ReportedChoice = ReportedChoice()
) -> ReportedBoard | None:
    """Return the reported scores that were asked for, or the newest; None if there are none."""
    versions = ReportedScores.objects.filter(benchmark=sight.benchmark).latest_first()
    asked = versions.filter(version=choice.version).first() if choice.version is not None else None
    version = asked or versions.first()
    return None if version is None else build_board(sight, version, choice)


def build_board(
    sight: BenchmarkSight, version: ReportedScores, choice: ReportedChoice
) -> ReportedBoard:
    table, text = unpack_table(version), choice.text.casefold()
    groups = {each.group for each in table.collections} & set(choice.groups)
    collections = [
        place for place, each in enumerate(table.collections) if not groups or each.group in groups
    ]
    known = table.known[:, collections]
    systems = [
        place
        for place in np.flatnonzero(known.any(axis=1)).tolist()
        if text in table.systems[place].name.casefold()
    ]
    found = find_complete_part(known[systems], choice.rule)
    part = CompletePart(
        np.array(systems, dtype=np.int64)[found.systems],
        np.array(collections, dtype=np.int64)[found.collections],
    )
    scores = part.of(table.scores)
    ranks = load_ranks(version, part, scores) if len(part.systems) >= FEWEST_SYSTEMS else None
    return ReportedBoard(
        sight=sight,
        version=version,
        table=table,
        choice=choice,
        systems=systems,
        collections=collections,
        part=part,
        rows=_rank(table, part, version.created_at, ranks),
        incomplete=_list_incomplete(table, part, systems, version.created_at),
        ranks=ranks,
    )


def _rank(
    table: ReportedTable, part: CompletePart, at: datetime, ranks: ReportedRanks | None
) -> list[ReportedRow]:
    """Return the systems of the part, those with most points first; more is better."""
    if not part.num_cells:
        return []
    scores, size = part.of(table.scores), len(part.collections)
    points, means = count_points(scores).tolist(), scores.mean(axis=1).tolist()
    group_means = _group_means(table, part, scores)
    intervals = ranks.intervals if ranks is not None else []
    rows = [
        ReportedRow(
            table.systems[place],
            place,
            answered=size,
            asked=size,
            at=at,
            borda=points[at_row],
            mean=means[at_row],
            group_means=group_means[at_row],
            interval=intervals[at_row] if intervals else None,
        )
        for at_row, place in enumerate(part.systems.tolist())
    ]
    rows.sort(key=lambda row: (-(row.borda or 0.0), row.system))
    ranks = assign_ranks([row.borda for row in rows])
    return [replace(row, rank=rank, borda_rank=rank) for row, rank in zip(rows, ranks, strict=True)]


def _group_means(table: ReportedTable, part: CompletePart, scores: FloatArray) -> list[list[float]]:
    """Return the means over each group of each system, groups in the order of their names."""
    groups = np.array([table.collections[place].group for place in part.collections])
    means = [scores[:, groups == group].mean(axis=1) for group in sorted(set(groups.tolist()))]
    return np.array(means).T.tolist()


def _list_incomplete(
    table: ReportedTable, part: CompletePart, systems: Sequence[int], at: datetime
) -> list[ReportedRow]:
    """Return the other systems, those with most of the compared collections first."""
    ranked, size = set(part.systems.tolist()), len(part.collections)
    answered = table.known[:, part.collections].sum(axis=1).tolist()
    rows = [
        ReportedRow(table.systems[place], place, answered=answered[place], asked=size, at=at)
        for place in systems
        if not part.num_cells or place not in ranked
    ]
    return sorted(rows, key=lambda row: (-row.answered, row.system))
