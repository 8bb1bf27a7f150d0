"""What a benchmark says about a collection that nobody has seen yet.

The collections of its tracks stand for others of their kind; tracks on one collection count as
one.  Everything is made of a board, so of the tracks whose scores its viewer sees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.significance import (
    Components,
    Gap,
    LeftOut,
    PredictedRanks,
    beyond_others,
    compare_gaps,
    find_components,
    leave_one_out,
    number_collections,
    predict_ranks,
)
from leaderboard.boards.benchmark_boards import (
    BenchmarkBoard,
    BenchmarkColumn,
    SystemRow,
    count_points,
)
from leaderboard.display.csv_tables import Cell, CsvTable
from leaderboard.scoring.contests import UnseenRanks

Ranks = tuple[int, int]
ALPHA = 0.05


@dataclass(frozen=True)
class SystemOutlook:
    """A complete system with the ranks that it can have, None where nothing can be said.

    `these` are by the mean over these tracks, `kind` by the mean over collections of their kind,
    `next` on one more collection; `without` are its ranks with each collection left out.
    """

    row: SystemRow
    these: Ranks | None
    kind: Ranks | None
    next: Ranks | None
    without: Ranks | None

    @property
    def ranges(self) -> list[Ranks | None]:
        return [self.these, self.kind, self.next, self.without]


@dataclass(frozen=True)
class LeftOutCollection:
    """The board without one collection: its tracks, how the order changes, who leads."""

    columns: list[BenchmarkColumn]
    left: LeftOut
    leaders: list[SystemRow]
    # The system that moves most, and its ranks with and without the collection.
    moved: SystemRow | None
    ranks: Ranks

    @property
    def name(self) -> str:
        return ", ".join(column.name for column in self.columns)

    @property
    def slugs(self) -> list[str]:
        return [column.slug for column in self.columns]


@dataclass(frozen=True)
class SystemGap:
    """A system on open and on private collections; `gap` is the first mean less the second.

    `beyond` is the same of its lead over the mean of the other systems. Positive, the system is
    better on open collections, whatever the direction of the measure.
    """

    row: SystemRow
    open: float
    private: float
    gap: Gap
    beyond: Gap

    @property
    def both(self) -> list[Gap]:
        return [self.gap, self.beyond]

    @property
    def is_told(self) -> bool:
        """Whether the gap beyond the others is significant."""
        return self.beyond.p is not None and self.beyond.p <= ALPHA


@dataclass(frozen=True)
class NewCollections:
    """What the complete systems of a board would do on collections of the same kind."""

    board: BenchmarkBoard

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The number of the collection of each column."""
        return number_collections(
            [column.sight.track.collection_id for column in self.board.columns]
        )

    @property
    def num_collections(self) -> int:
        return len(set(self.numbers.tolist()))

    @property
    def says_something(self) -> bool:
        """Whether there is more than one system and more than one collection of one phase."""
        has_systems = len(self.board.rows) > 1 and self.board.no_mean != "phases"
        return has_systems and self.num_collections > 1

    @cached_property
    def _signed(self) -> NDArray[np.float64]:
        """What each system has on each track, where more is better."""
        values = np.array([row.values for row in self.board.rows], dtype=np.float64)
        return values * np.array([column.direction for column in self.board.columns])

    @cached_property
    def _added(self) -> NDArray[np.float64]:
        """What ranks the systems, by track: values, or Borda points where there is no mean."""
        if not self.board.no_mean:
            return self._signed
        columns, rows = self.board.columns, self.board.rows
        points = [
            count_points([column], [_only(row, place) for row in rows])
            for place, column in enumerate(columns)
        ]
        return np.array(points, dtype=np.float64).T

    @cached_property
    def unseen(self) -> UnseenRanks | None:
        """What the tests say about the mean over collections of this kind."""
        tests = self.board.tests
        found = tests.unseen if tests is not None else None
        return found if found is not None and found.is_decided else None

    @cached_property
    def predicted(self) -> PredictedRanks:
        return predict_ranks(self._signed, groups=self.numbers)

    @property
    def level(self) -> float:
        """How probable the predicted ranks of one system are at least."""
        return self.predicted.level

    @cached_property
    def _left(self) -> list[LeftOut]:
        return leave_one_out(self._added, groups=self.numbers)

    @cached_property
    def components(self) -> Components | None:
        """What makes a mean, if all measures have one scale and direction."""
        has_means = self.says_something and not self.board.no_mean
        return find_components(self._signed) if has_means else None

    @cached_property
    def rows(self) -> list[SystemOutlook]:
        """The complete systems that the reader's filters leave, in the order asked for."""
        if not self.says_something:
            return []
        places = {row.key: place for place, row in enumerate(self.board.rows)}
        return [self._look(row, places[row.key]) for row in self.board.shown]

    def _look(self, row: SystemRow, place: int) -> SystemOutlook:
        name = self.board.name_in_contest(row)
        pairs = self.board.tests.pairs if self.board.tests is not None else None
        without = [int(left.ranks[place]) for left in self._left]
        return SystemOutlook(
            row=row,
            these=pairs.interval(name) if pairs is not None and pairs.critical else None,
            kind=self.unseen.interval(name) if self.unseen is not None else None,
            next=(int(self.predicted.low[place]), int(self.predicted.high[place])),
            without=(min(without), max(without)),
        )

    @cached_property
    def left_out(self) -> list[LeftOutCollection]:
        """The collections, the one that the order depends on most first.

        Without an order, since all systems are tied, tau counts as 0.
        """
        if not self.says_something:
            return []
        found = [self._leave_out(number, left) for number, left in enumerate(self._left)]
        return sorted(found, key=lambda each: each.left.tau or 0.0)

    def _leave_out(self, number: int, left: LeftOut) -> LeftOutCollection:
        rows = self.board.rows
        own = np.array([row.rank for row in rows])
        moves = np.abs(left.ranks - own)
        most = int(moves.argmax())
        return LeftOutCollection(
            columns=[self.board.columns[place] for place in np.flatnonzero(self.numbers == number)],
            left=left,
            leaders=[row for row, rank in zip(rows, left.ranks, strict=True) if rank == 1],
            moved=rows[most] if moves[most] else None,
            ranks=(int(own[most]), int(left.ranks[most])),
        )

    @cached_property
    def private(self) -> NDArray[np.bool_]:
        """Which collections are private, in the order of their numbers: by one track or more."""
        declared = np.array([column.sight.track.is_private for column in self.board.columns])
        return np.array([declared[self.numbers == n].any() for n in range(self.num_collections)])

    @property
    def has_both_kinds(self) -> bool:
        """Whether some collections are open and some private, and have a mean."""
        has_mean = self.says_something and not self.board.no_mean
        return bool(has_mean and self.private.any() and not self.private.all())

    @cached_property
    def gaps(self) -> list[SystemGap]:
        """The systems that the reader's filters leave; tests are of all complete systems."""
        if not self.has_both_kinds:
            return []
        numbers = range(self.num_collections)
        signed = np.array([self._signed[:, self.numbers == n].mean(axis=1) for n in numbers]).T
        plain = compare_gaps(signed, self.private)
        beyond = compare_gaps(beyond_others(signed), self.private)
        direction = self.board.columns[0].direction
        means = [direction * signed[:, kind].mean(axis=1) for kind in (~self.private, self.private)]
        places = {row.key: place for place, row in enumerate(self.board.rows)}
        return [
            SystemGap(
                row,
                open=float(means[0][place]),
                private=float(means[1][place]),
                gap=plain[place],
                beyond=beyond[place],
            )
            for row in self.board.shown
            for place in (places[row.key],)
        ]

    @property
    def gap_table(self) -> CsvTable:
        """A line for every system: both means, the gap, and the gap beyond the other systems."""
        head = "system version team open private gap gap_low gap_high gap_p"
        head += " beyond beyond_low beyond_high beyond_p"
        return CsvTable(head.split(), [_line_of_gap(each) for each in self.gaps])

    @property
    def table(self) -> CsvTable:
        """A line for every system."""
        head = "system version team rank mean these_low these_high kind_low kind_high"
        head += " next_low next_high next_level without_low without_high"
        return CsvTable(head.split(), [self._line(found) for found in self.rows])

    def _line(self, found: SystemOutlook) -> list[Cell]:
        row, nothing = found.row, (None, None)
        named: list[Cell] = [row.name, row.version.label, row.team, row.rank, row.mean]
        ends = *(found.these or nothing), *(found.kind or nothing), *(found.next or nothing)
        return [*named, *ends, self.level, *(found.without or nothing)]

    @property
    def left_out_table(self) -> CsvTable:
        """A line for every collection that is left out."""
        head = ["tracks", "tau", "foretold", "first", "moved", "moved_from", "moved_to"]
        return CsvTable(head, [_line_without(each) for each in self.left_out])


def _only(row: SystemRow, place: int) -> SystemRow:
    """Return a system with its value on one track."""
    return SystemRow(row.version, row.team, row.runs, [row.values[place]])


def _line_without(found: LeftOutCollection) -> list[Cell]:
    moved: Iterable[Cell] = (None, None, None)
    if found.moved is not None:
        moved = found.moved.full_name, *found.ranks
    first = " ".join(row.full_name for row in found.leaders)
    return [" ".join(found.slugs), found.left.tau, found.left.foretold, first, *moved]


def _line_of_gap(found: SystemGap) -> list[Cell]:
    row = found.row
    ends = [
        end
        for each in (found.gap, found.beyond)
        for end in (each.difference, each.low, each.high, each.p)
    ]
    return [row.name, row.version.label, row.team, found.open, found.private, *ends]


def describe_new_collections(found: NewCollections) -> dict[str, Any]:
    """Return the same as JSON; missing values are null."""
    board = found.board
    return {
        "benchmark": board.sight.benchmark.slug,
        "phase": board.phase,
        "tracks": [column.slug for column in board.columns],
        "measures": [column.measure for column in board.columns],
        "collections": found.num_collections if board.columns else 0,
        "private": [column.slug for column in board.columns if column.sight.track.is_private],
        "gaps": [
            {
                "version": each.row.version.pk,
                "open": each.open,
                "private": each.private,
                "gap": each.gap,
                "beyond": each.beyond,
            }
            for each in found.gaps
        ],
        "tests_ready": board.tests is not None,
        "decided": found.unseen is not None,
        "pairs_apart": found.unseen.apart if found.unseen is not None else None,
        "next_level": found.level if found.says_something else None,
        "components": found.components,
        "systems": [_describe_outlook(each) for each in found.rows],
        "left_out": [
            {
                "tracks": each.slugs,
                "tau": each.left.tau,
                "foretold": each.left.foretold,
                "first": [row.version.pk for row in each.leaders],
                "moved": each.moved.version.pk if each.moved is not None else None,
                "moved_from": each.ranks[0] if each.moved is not None else None,
                "moved_to": each.ranks[1] if each.moved is not None else None,
            }
            for each in found.left_out
        ],
    }


def _describe_outlook(found: SystemOutlook) -> dict[str, Any]:
    row = found.row
    ends = {"these": found.these, "kind": found.kind, "next": found.next, "without": found.without}
    return {
        "system": row.version.system_id,
        "name": row.name,
        "version": row.version.pk,
        "label": row.version.label,
        "team": row.team,
        "rank": row.rank,
        "mean": row.mean,
        **{f"{name}_low": of[0] if of else None for name, of in ends.items()},
        **{f"{name}_high": of[1] if of else None for name, of in ends.items()},
    }
