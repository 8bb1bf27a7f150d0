"""The table of a board: its visible columns, its order, its first rows and its links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, ClassVar
from urllib.parse import urlencode

import numpy as np
from django.core.paginator import Page
from django.http import QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from leaderboard.boards.benchmark_boards import EVERY_GROUP, BenchmarkBoard, ColumnGroup, SystemRow
from leaderboard.boards.columns import (
    ALL_COLUMNS,
    ANSWERED,
    CHOSEN,
    RANK,
    SYSTEM,
    TEAM,
    Column,
    available_columns,
    shown_columns,
)
from leaderboard.boards.organised_runs import OrganisedRun, OrganisedRuns
from leaderboard.boards.reported_boards import ReportedBoard, ReportedRow
from leaderboard.boards.rows import FROM, OF_PARAMETERS, TO
from leaderboard.boards.standings import Board, Standing
from leaderboard.display import charts
from leaderboard.display.charts.drawing import text_width
from leaderboard.pages.board_cells import (
    classes_of,
    render_cells,
    render_detail,
    render_head,
    row_class,
)
from leaderboard.pages.page_urls import run_url_pattern
from leaderboard.runs.facts import FILTERS

# The kinds of columns that name the rows.
NAMED = ("run", "system", "reported")
MOST_AIRY_ROWS = 40
# A longer board shows so many rows at first, and besides so many of the reader's own.
FIRST_ROWS, OWN_ROWS = 200, 20
# The menu of baselines has so many rows; any other is a link away, in its row.
OFFERED = 1_000
# The parameter of the address that asks for all rows.
ALL = "all"
# The parameters that filter rows, besides facts.
OWN_FILTERS = ("team", "kind", "text", "best")
# Up to this many cells each has its exact value as a title.
MOST_TITLED = 5_000
# Widths in pixels: of the table on a desktop, of a name at the most, and around a cell.
DESKTOP_WIDTH, NAME_WIDTH, PADDING = 1232, 270.0, 16.0
# The widths of cells by the kind of column, and of the others.
WIDTHS, NUMBER_WIDTH = {"axis": 170.0, "strip": 170.0, "confidence": 120.0, "wins": 100.0}, 61.0


@dataclass(frozen=True)
class BoardTable:
    """The table of a board, with links that change its order and its columns."""

    board: Any
    query: QueryDict
    kind: ClassVar[str] = "board"

    @cached_property
    def columns(self) -> list[Column]:
        return shown_columns(self.board)

    @cached_property
    def choosable(self) -> list[Column]:
        return available_columns(self.board)

    @property
    def optional(self) -> list[Column]:
        return [each for each in self.choosable if not each.is_fixed]

    @property
    def shown(self) -> set[str]:
        """The names of the visible columns."""
        return {each.name for each in self.columns}

    @property
    def shows_all(self) -> bool:
        return ALL_COLUMNS in self.board.choice.columns

    @property
    def classes(self) -> str:
        """The classes of the table: its kind, dense with many rows, and all columns."""
        dense = " dense" if self.num_rows > MOST_AIRY_ROWS else ""
        return self.kind + dense + (" all" if self.shows_all else "")

    @property
    def fits(self) -> bool:
        """Return whether all columns fit a desktop; otherwise the table scrolls in its frame."""
        return sum(map(self._column_width, self.columns)) <= DESKTOP_WIDTH

    def _column_width(self, column: Column) -> float:
        """Estimate the width of a column in pixels."""
        if column.kind in NAMED or column.name == TEAM.name:
            rows = [*self._first, *self._own]
            names = {row.team if column.name == TEAM.name else row.name for row in rows}
            return min(max(map(text_width, names), default=0.0), NAME_WIDTH) + PADDING
        least = WIDTHS.get(column.kind, NUMBER_WIDTH)
        return max(least, text_width(column.detail or column.measure) + PADDING)

    @property
    def heads(self) -> list[SafeString]:
        return self._render_heads(self.columns)

    def _render_heads(self, columns: Sequence[Column]) -> list[SafeString]:
        return [mark_safe(self._render_head(column)) for column in columns]

    def _render_head(self, column: Column) -> str:
        if column is CHOSEN:
            return '<th scope="col"><span class="aside">Chosen</span></th>'
        text = render_head(self, column)
        if column.is_chart:
            return f'<th class="axis{"" if column.on_phone else " opt"}" scope="col">{text}</th>'
        classes = classes_of(column, "pinned" if column.kind in NAMED else "")
        link = f'<a href="{self._sort_link(column)}">{text}</a>{render_detail(self, column)}'
        return f'<th{classes} scope="col"{self._aria_sort(column)}>{link}</th>'

    def _aria_sort(self, column: Column) -> str:
        if column.name != self.sorted_by:
            return ""
        falls = column.falls != self.board.choice.is_reversed
        return f' aria-sort="{"de" if falls else "a"}scending"'

    @property
    def sorted_by(self) -> str:
        """The column that sorts the rows; sorting by rank counts as by what ranks."""
        name: str = self.board.choice.sorted_by
        is_home = name == RANK.name and not self.board.choice.is_reversed
        return str(self.board.home) if is_home else name

    def _sort_link(self, column: Column) -> str:
        """Return the link that sorts by a column, or reverses the order if it already does."""
        if column.name == self.sorted_by and not self.board.choice.is_reversed:
            return self.address(sort=f"-{column.name}")
        home = column.name in (RANK.name, self.board.home)
        return self.address(sort=None if home else column.name)

    def address(self, **changes: str | None) -> str:
        """Return the escaped address of this page with other parameters."""
        query = self.query.copy()
        for name, value in changes.items():
            query.pop(name, None)
            if value is not None:
                query[name] = value
        return escape(f"?{query.urlencode()}")

    @property
    def kept_fields(self) -> list[tuple[str, str]]:
        """The parameters that the form of the columns keeps."""
        return [
            (name, value)
            for name, values in self.query.lists()
            for value in values
            if name not in ("column", "format")
        ]

    @property
    def num_rows(self) -> int:
        """How many rows the table has, shown at first or not."""
        return len(self.board.shown)

    @property
    def first_rows(self) -> int:
        return FIRST_ROWS

    @property
    def is_cut(self) -> bool:
        """Whether only the first rows are shown."""
        return self.num_rows > FIRST_ROWS and self.query.get(ALL) != self._all_rows

    @property
    def _all_rows(self) -> str:
        return f"{self.board.noun}s"

    @property
    def whole_address(self) -> SafeString:
        """The address of the same table with all rows."""
        return mark_safe(self.address(**{ALL: self._all_rows}))

    @property
    def unfiltered_address(self) -> SafeString:
        """The address of the same table without filters."""
        names = (name for name in self.query if name.startswith((OF_PARAMETERS, FROM, TO)))
        return mark_safe(self.address(**dict.fromkeys((*OWN_FILTERS, *FILTERS, *names))))

    @property
    def _first(self) -> list[Any]:
        return list(self.board.shown[: FIRST_ROWS if self.is_cut else None])

    @property
    def _own(self) -> list[Any]:
        rest = self.board.shown[FIRST_ROWS:] if self.is_cut else []
        return [each for each in rest if each.is_own][:OWN_ROWS]

    @property
    def rows(self) -> SafeString:
        """The first rows, or all if the reader asked for them."""
        return mark_safe("\n".join(self._rendered[: len(self._first)]))

    @property
    def own_rows(self) -> SafeString:
        """The reader's own rows after the first ones."""
        return mark_safe("\n".join(self._rendered[len(self._first) :]))

    @cached_property
    def _rendered(self) -> list[str]:
        return self._render_rows(self.columns, [*self._first, *self._own])

    def _render_rows(self, columns: Sequence[Column], rows: Sequence[Any]) -> list[str]:
        """Render rows column by column, so that shared values are looked up once."""
        cells = [render_cells(self, column, rows) for column in columns]
        begins = [f"<tr{row_class(row)}>" for row in rows]
        return [f"{''.join(each)}</tr>" for each in zip(begins, *cells, strict=True)]

    @property
    def baselines(self) -> SafeString:
        """Render the rows as options of the baseline menu; of a very long board the first ones."""
        rows = self.board.rows
        offered = [row for place, row in enumerate(rows) if place < OFFERED or row.is_baseline]
        return mark_safe(
            "".join(
                f'<option value="{row.key}"{" selected" if row.is_baseline else ""}>'
                f"{escape(row.full_name)}</option>"
                for row in offered
            )
        )

    def link_name(self, row: Any) -> str:
        """Return the address of a run or a system."""
        raise NotImplementedError

    def explain_comparison(self, row: Any) -> str:
        """Return the link that explains the comparison with the baseline; "" without one."""
        return ""

    @cached_property
    def baseline_link(self) -> str:
        """The link to this page with another baseline; the key of a row follows it."""
        rest = self.address(baseline=None)
        return f"{rest}&amp;baseline=" if len(rest) > 1 else "?baseline="


@dataclass(frozen=True)
class TrackTable(BoardTable):
    """The table of a track's board; each number leads to its explanation."""

    board: Board

    @cached_property
    def columns(self) -> list[Column]:
        """The columns, with a box beside each run where parameters are shown."""
        shown = shown_columns(self.board)
        return [CHOSEN, *shown] if self.chooses_runs else shown

    @property
    def chooses_runs(self) -> bool:
        """Whether the reader chooses runs that differ in parameters, to compare them."""
        return self.board.sight.can_see_scores and any(
            name.startswith(OF_PARAMETERS) for name in self.board.choice.columns
        )

    @property
    def hidden_fields(self) -> list[tuple[str, str]]:
        """The parameters that the form of the filters keeps."""
        other, sort = self.board.sight.other_edition, self.board.choice.sort
        judgments = other.judgment_set.version if other is not None else ""
        fields = [("as", self.query.get("as", "")), ("judgments", judgments), ("sort", sort)]
        return [(name, value) for name, value in fields if value]

    @cached_property
    def axis(self) -> charts.AxisColumn:
        """The axis of the means, from the whole board regardless of filters."""
        board = self.board
        means = [each.scores[board.measure] for each in board.ranked]
        baseline = board.standing_of(board.baseline) if board.baseline is not None else None
        return charts.board_column(
            np.array(means, dtype=float),
            baseline.scores[board.measure] if baseline is not None else None,
        )

    @cached_property
    def strip_axis(self) -> charts.AxisColumn:
        """The axis of the ranks that runs can have."""
        return charts.rank_column(len(self.board.ranked))

    @cached_property
    def pooled(self) -> set[str]:
        return set(self.board.edition.judgment_set.pooled_runs.values_list("pk", flat=True))

    @cached_property
    def _run_link(self) -> list[str]:
        return escape(run_url_pattern("run", self.board.choice.carried)).split("{}")

    def link_name(self, row: Standing) -> str:
        return row.key.join(self._run_link)

    def explain_number(self, row: Standing) -> str:
        return f"{self._number_link}{row.key}"

    @cached_property
    def _number_link(self) -> str:
        computed = reverse("computed", args=[self.board.sight.track.address])
        return f'<a class="number" href="{computed}?run='

    def explain_measure(self, column: Column) -> str:
        asked = {**self._explanation_parameters, "measure": column.measure}
        return escape(f"&{urlencode(asked)}")

    def explain_comparison(self, row: Standing) -> str:
        before, after = self._comparison_link
        return f"{before}{row.key}{after}"

    @cached_property
    def _comparison_link(self) -> tuple[str, str]:
        page = reverse("statistic", args=[self.board.sight.track.address, "difference"])
        asked = urlencode(self._explanation_parameters)
        return f'<a class="number" href="{page}?run=', escape(f"&{asked}" if asked else "") + '">'

    @cached_property
    def _explanation_parameters(self) -> dict[str, str]:
        """The query parameters that select this board: the reader's choice and the judgments."""
        other = self.board.sight.other_edition
        asked = {"judgments": other.judgment_set.version} if other is not None else {}
        return {**self.board.choice.carried, **asked}


@dataclass(frozen=True)
class ReportedTablePage(BoardTable):
    """A page of the table of reported scores, with links that open and fold groups."""

    board: ReportedBoard
    page: Page[ReportedRow]
    kind: ClassVar[str] = "board of-benchmark"
    is_cut: ClassVar[bool] = False

    @property
    def _first(self) -> list[ReportedRow]:
        return list(self.page.object_list)

    @property
    def _own(self) -> list[ReportedRow]:
        return []

    def address(self, **changes: str | None) -> str:
        """Return the escaped address of the first page with other parameters."""
        return super().address(**{"page": None, **changes})

    @property
    def group_links(self) -> list[tuple[ColumnGroup, str]]:
        """Groups with addresses that open or fold them."""
        return [(group, self._group_address(group)) for group in self.board.column_groups]

    def _group_address(self, group: ColumnGroup) -> str:
        opened = [name for name in self.board.choice.opened if name != group.name]
        query = self.query.copy()
        query.pop("collections", None)
        query.setlist("open", opened if group.is_open else [*opened, group.name])
        return f"?{query.urlencode()}"


@dataclass(frozen=True)
class OrganisedTable(BoardTable):
    """The table of all runs of a track, with a box beside each."""

    board: OrganisedRuns
    kind: ClassVar[str] = "board of-runs"
    # Nothing says here whether a run was pooled.
    pooled: ClassVar[frozenset[str]] = frozenset()

    @cached_property
    def columns(self) -> list[Column]:
        return [CHOSEN, *shown_columns(self.board)]

    def link_name(self, row: OrganisedRun) -> str:
        return reverse("run", args=[row.key])

    @property
    def unfiltered_address(self) -> SafeString:
        return mark_safe("?")


@dataclass(frozen=True)
class BenchmarkTable(BoardTable):
    """The table of a benchmark's board, with links that open and fold groups of tracks."""

    board: BenchmarkBoard
    kind: ClassVar[str] = "board of-benchmark"

    @property
    def hidden_fields(self) -> list[tuple[str, str]]:
        """The parameters that the form of the filters keeps."""
        choice = self.board.choice
        fields = [("phase", self.query["phase"])] if "phase" in self.query else []
        fields += [("sort", choice.sort)] if choice.sort else []
        fields += [("open", name) for name in choice.opened]
        return [*fields, *(("fold", name) for name in choice.folded)]

    @property
    def has_pairs(self) -> bool:
        """Whether there are two systems to compare."""
        return len(self.board.rows) + len(self.board.incomplete) > 1

    @cached_property
    def has_titles(self) -> bool:
        return len(self.board.rows) * len(self.columns) <= MOST_TITLED

    @property
    def group_links(self) -> list[tuple[ColumnGroup, str]]:
        """Groups with addresses that open or fold them; none for a short board without groups."""
        groups = self.board.column_groups
        if len(groups) < 2 and self.board.has_few_columns:
            return []
        return [(group, self._group_address(group)) for group in groups]

    def _group_address(self, group: ColumnGroup) -> str:
        """Return the address that folds an open group or opens a folded one."""
        few, choice = self.board.has_few_columns, self.board.choice
        parameter, listed = ("fold", choice.folded) if few else ("open", choice.opened)
        names = [name for name in listed if name != EVERY_GROUP]
        adds = group.is_open == few
        names = [*names, group.name] if adds else [n for n in names if n != group.name]
        query = self.query.copy()
        query.setlist(parameter, names)
        return f"?{query.urlencode()}"

    @property
    def _incomplete_columns(self) -> list[Column]:
        """The columns that have values of systems that lack a track."""
        return [SYSTEM, TEAM, ANSWERED, *(each for each in self.columns if each.kind == "track")]

    @property
    def incomplete_heads(self) -> list[SafeString]:
        return self._render_heads(self._incomplete_columns)

    @property
    def incomplete_rows(self) -> SafeString:
        """Render the systems that lack a track."""
        rows = self._render_rows(self._incomplete_columns, self.board.shown_incomplete)
        return mark_safe("\n".join(rows))

    @cached_property
    def _system_link(self) -> str:
        home = reverse("benchmark_board", args=[self.board.sight.benchmark.slug])
        return f"{home}systems/"

    def link_name(self, row: SystemRow) -> str:
        return f"{self._system_link}{row.version.system_id}/"

    def link_run(self, column: Column) -> str:
        return escape(run_url_pattern("run", self._asked_measure(column)))

    def link_track(self, column: Column) -> str:
        track = self.board.columns[column.place].address
        return reverse("board", args=[track], query=self._asked_measure(column))

    def _asked_measure(self, column: Column) -> dict[str, str]:
        return {"measure": column.measure} if self.board.choice.measure else {}
