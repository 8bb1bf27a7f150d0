"""The table of the board page: its visible columns, its order and its links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from urllib.parse import urlencode

import numpy as np
from django.http import QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from leaderboard.boards.columns import (
    ALL_COLUMNS,
    JUDGED_AT_10,
    RANK,
    Column,
    available_columns,
    shown_columns,
)
from leaderboard.boards.standings import Board, Standing, find_order_of
from leaderboard.display import charts
from leaderboard.display.charts.drawing import text_width
from leaderboard.pages.page_urls import run_url_pattern

MOST_AIRY_RUNS = 40
# A longer board shows so many rows at first, and besides so many of the reader's own runs.
FIRST_ROWS, OWN_ROWS = 200, 20
# The parameter of the address that asks for all rows, and its value.
ALL, ALL_ROWS = "all", "runs"
# Widths in pixels: of the table on a desktop, of a name at the most, and around a cell.
DESKTOP_WIDTH, NAME_WIDTH, PADDING = 1232, 270.0, 16.0


def table_classes(kind: str, num_rows: int, shows_all: bool) -> str:
    """Return the classes of a board's table: its kind, dense with many rows, and all columns."""
    dense = " dense" if num_rows > MOST_AIRY_RUNS else ""
    return kind + dense + (" all" if shows_all else "")


@dataclass(frozen=True)
class BoardTable:
    """The table of a board, with links that change its order and its columns."""

    board: Board
    query: QueryDict

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
    def shown(self) -> list[str]:
        """The names of the visible columns."""
        return [each.name for each in self.columns]

    @property
    def shows_all(self) -> bool:
        return ALL_COLUMNS in self.board.choice.columns

    @property
    def classes(self) -> str:
        return table_classes("board", len(self.board.shown), self.shows_all)

    @property
    def fits(self) -> bool:
        """Return whether all columns fit a desktop; otherwise the table scrolls in its frame."""
        return sum(map(self._column_width, self.columns)) <= DESKTOP_WIDTH

    def _column_width(self, column: Column) -> float:
        """Estimate the width of a column in pixels."""
        if column.name in ("run", "team"):
            runs = [each.run for each in self.board.shown]
            names = {str(run if column.name == "run" else run.team) for run in runs}
            return min(max(map(text_width, names), default=0.0), NAME_WIDTH) + PADDING
        return max(column.width, text_width(column.measure) + PADDING)

    @property
    def heads(self) -> list[SafeString]:
        return [mark_safe(self._render_head(column)) for column in self.columns]

    def _render_head(self, column: Column) -> str:
        text = column.head(self, column)
        if column.is_chart:
            return f'<th class="axis{"" if column.on_phone else " opt"}" scope="col">{text}</th>'
        link = f'<a href="{self._sort_link(column)}">{text}</a>'
        return f'<th{column.classes()} scope="col"{self._aria_sort(column)}>{link}</th>'

    def _aria_sort(self, column: Column) -> str:
        if column.name != self.sorted_by:
            return ""
        falls = find_order_of(column.name).is_descending != self.board.choice.is_reversed
        return f' aria-sort="{"de" if falls else "a"}scending"'

    @property
    def sorted_by(self) -> str:
        """The column that sorts the rows; sorting by rank counts as the ranking measure."""
        name = self.board.choice.sorted_by
        return (
            self.board.measure if name == RANK.name and not self.board.choice.is_reversed else name
        )

    def _sort_link(self, column: Column) -> str:
        """Return the link that sorts by a column, or reverses the order if it already does."""
        if column.name == self.sorted_by and not self.board.choice.is_reversed:
            return self._address(sort=f"-{column.name}")
        home = column.name in (RANK.name, self.board.measure)
        return self._address(sort=None if home else column.name)

    def _address(self, **changes: str | None) -> str:
        query = self.query.copy()
        for name, value in changes.items():
            query.pop(name, None)
            if value is not None:
                query[name] = value
        return escape(f"?{query.urlencode()}")

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
        return self.num_rows > FIRST_ROWS and self.query.get(ALL) != ALL_ROWS

    @property
    def whole_address(self) -> SafeString:
        """The address of the same table with all rows."""
        return mark_safe(self._address(**{ALL: ALL_ROWS}))

    @cached_property
    def standings(self) -> list[Standing]:
        """The rows that are rendered: the first ones and the reader's own, or all."""
        return [*self._first, *self._own]

    @property
    def _first(self) -> list[Standing]:
        return self.board.shown[: FIRST_ROWS if self.is_cut else None]

    @property
    def _own(self) -> list[Standing]:
        rest = self.board.shown[FIRST_ROWS:] if self.is_cut else []
        return [each for each in rest if each.is_own][:OWN_ROWS]

    @property
    def rows(self) -> SafeString:
        """The first rows, or all if the reader asked for them."""
        return mark_safe("\n".join(self._rendered[: len(self._first)]))

    @property
    def own_rows(self) -> SafeString:
        """The reader's own runs after the first rows."""
        return mark_safe("\n".join(self._rendered[len(self._first) :]))

    @cached_property
    def _rendered(self) -> list[str]:
        """Render the rows column by column, so that shared values are looked up once."""
        columns = [column.rendered(self, column) for column in self.columns]
        begins = [f"<tr{_row_class(each)}>" for each in self.standings]
        return [f"{''.join(cells)}</tr>" for cells in zip(begins, *columns, strict=True)]

    @property
    def baselines(self) -> SafeString:
        """Render every run as an option of the baseline menu."""
        return mark_safe(
            "".join(
                f'<option value="{each.run.pk}"{" selected" if each.is_baseline else ""}>'
                f"{escape(str(each.run))}</option>"
                for each in self.board.standings
            )
        )

    # Values that the cells of several columns share.

    @cached_property
    def axis(self) -> charts.Column:
        """The axis of the means, from the whole board regardless of filters."""
        board = self.board
        means = [each.scores[board.measure] for each in board.ranked]
        baseline = board.standing_of(board.baseline) if board.baseline is not None else None
        return charts.board_column(
            np.array(means, dtype=float),
            baseline.scores[board.measure] if baseline is not None else None,
        )

    @cached_property
    def strip_axis(self) -> charts.Column:
        """The axis of the ranks that runs can have."""
        return charts.rank_column(len(self.board.ranked))

    @cached_property
    def pooled(self) -> set[str]:
        return set(self.board.edition.judgment_set.pooled_runs.values_list("pk", flat=True))

    @cached_property
    def run_link(self) -> str:
        """The pattern of the link to a run, for its id."""
        return escape(run_url_pattern("run", self.board.choice.carried))

    @cached_property
    def number_links(self) -> list[str]:
        """The start of the link that explains a number, for each row."""
        computed = reverse("computed", args=[self.board.sight.track.slug])
        return [f'<a class="number" href="{computed}?run={each.run.pk}' for each in self.standings]

    @cached_property
    def explanation_links(self) -> dict[str, str]:
        """The end of the link that explains a number, by measure."""
        measures = [*self.board.measures, JUDGED_AT_10]
        return {
            each: escape(f"&{urlencode({**self._explanation_parameters, 'measure': each})}")
            for each in measures
        }

    @cached_property
    def _explanation_parameters(self) -> dict[str, str]:
        """The query parameters that select this board: the reader's choice and the judgments."""
        other = self.board.sight.other_edition
        asked = {"judgments": other.judgment_set.version} if other is not None else {}
        return {**self.board.choice.carried, **asked}

    @cached_property
    def comparison_links(self) -> list[str]:
        """The link that explains the comparison with the baseline, for each row."""
        page = reverse("statistic", args=[self.board.sight.track.slug, "difference"])
        asked = (
            escape(f"&{urlencode(self._explanation_parameters)}")
            if self._explanation_parameters
            else ""
        )
        return [
            f'<a class="number" href="{page}?run={each.run.pk}{asked}">' for each in self.standings
        ]

    @cached_property
    def baseline_link(self) -> str:
        """The link to this page with another baseline; the run id follows it."""
        rest = self._address(baseline=None)
        return f"{rest}&amp;baseline=" if len(rest) > 1 else "?baseline="


def _row_class(standing: Standing) -> str:
    marks = {
        "own": standing.is_own,
        "baseline": standing.is_baseline,
        "break": standing.breaks_after,
    }
    names = " ".join(name for name, holds in marks.items() if holds)
    return f' class="{names}"' if names else ""
