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
# Widths in pixels: of the table on a desktop, of a name at the most, and around a cell.
DESKTOP_WIDTH, NAME_WIDTH, PADDING = 1232, 270.0, 16.0


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
    def is_dense(self) -> bool:
        return len(self.board.shown) > MOST_AIRY_RUNS

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
    def rows(self) -> SafeString:
        """Render all rows, column by column, so that shared values are looked up once."""
        columns = [column.rendered(self, column) for column in self.columns]
        begins = [f"<tr{_row_class(each)}>" for each in self.board.shown]
        return mark_safe("</tr>\n".join(map("".join, zip(begins, *columns, strict=True))) + "</tr>")

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
    def best(self) -> dict[str, float]:
        return self.board.best

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
        return [
            f'<a class="number" href="{computed}?run={each.run.pk}' for each in self.board.shown
        ]

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
            f'<a class="number" href="{page}?run={each.run.pk}{asked}">'
            for each in self.board.shown
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
