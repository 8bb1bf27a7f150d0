"""The table of the board page: a head and a cell for every visible column.

A board of hundreds of runs has thousands of cells, so we build strings instead of templates.
Names come from users, so every cell escapes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from urllib.parse import urlencode

import numpy as np
from django.http import QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from evaluation.significance import Difference
from leaderboard.boards.columns import ALL_COLUMNS, RANK, Column, available_columns, shown_columns
from leaderboard.boards.standings import Board, Standing, find_order_of
from leaderboard.display import charts
from leaderboard.display.charts.drawing import text_width
from leaderboard.display.numbers import (
    MISSING,
    counted,
    day,
    difference_text,
    exact,
    instant,
    interval,
    p_value,
    scores,
    signed,
    span,
)
from leaderboard.models import Run
from leaderboard.pages.page_urls import run_url_pattern
from leaderboard.pages.template_tags import badge, marked

JUDGED_AT_10 = "Judged@10"
EMPTY_CELL = '<td class="num opt"></td>'
MOST_AIRY_RUNS = 40
# Widths in pixels: of the table on a desktop, and of its columns.
DESKTOP_WIDTH = 1232
NUMBER_WIDTH, NAME_WIDTH, PADDING = 60.0, 270.0, 16.0
COLUMN_WIDTHS = {"axis": 170.0, "strip": 170.0, "confidence": 120.0, "wins": 100.0}
# Columns that a phone shows; the others appear after "all columns".
PHONE_COLUMNS = ("rank", "run", "axis", "strip", "difference")
TEXT_COLUMNS = ("run", "team", "type")


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
        return max(
            COLUMN_WIDTHS.get(column.name, NUMBER_WIDTH), text_width(column.measure) + PADDING
        )

    @property
    def heads(self) -> list[SafeString]:
        return [mark_safe(self._render_head(column)) for column in self.columns]

    def _render_head(self, column: Column) -> str:
        if column.name == "axis":
            name = escape(self.board.measure)
            drawn = charts.column_head(self.axis)
            words = f'<span class="aside">{name} on an axis</span>'
            return f'<th class="axis" scope="col">{drawn}{words}</th>'
        if column.name == "strip":
            drawn = charts.column_head(self.strip_axis)
            return f'<th class="axis opt" scope="col"><small>{column.title}</small>{drawn}</th>'
        text = HEADS.get(column.name, _column_head)(self, column)
        link = f'<a href="{self._sort_link(column)}">{text}</a>'
        return f'<th{self._classes(column)} scope="col"{self._aria_sort(column)}>{link}</th>'

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

    def _classes(self, column: Column, more: str = "") -> str:
        stays = column.name in PHONE_COLUMNS or column.measure == self.board.measure
        pinned = "pinned" if column.name == "run" else ""
        names = ["" if column.name in TEXT_COLUMNS else "num", more, "" if stays else "opt", pinned]
        classes = " ".join(filter(None, names))
        return f' class="{classes}"' if classes else ""

    @property
    def rows(self) -> SafeString:
        """Render all rows, column by column, so that shared values are looked up once."""
        columns = [CELLS.get(column.name, _measure_cells)(self, column) for column in self.columns]
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


def _column_head(table: BoardTable, column: Column) -> str:
    """Return the title of a column; it may break before the cutoff of a measure."""
    return escape(column.title).replace("@", "<wbr>@")


def _difference_head(table: BoardTable, column: Column) -> str:
    name = escape(str(table.board.baseline))
    long = f'<span class="opt">vs <bdi>{name}</bdi></span>'
    return f'{long}<span class="phone">vs baseline</span>'


def _wins_head(table: BoardTable, column: Column) -> str:
    topics = counted(table.board.edition.num_evaluated, "topic")
    return f"W/L/T<small>{topics}</small>"


HEADS: dict[str, Callable[[BoardTable, Column], str]] = {
    "interval": lambda *_: "Rank<br>can be",
    "judged": lambda *_: "Judged<br>@10",
    "difference": _difference_head,
    "confidence": lambda *_: "Interval<small>95 %</small>",
    "p": lambda table, _: f"p<small>{table.board.correction}</small>",
    "effect": lambda *_: "Effect<small>d</small>",
    "wins": _wins_head,
}

Cells = Callable[[BoardTable, Column], Iterable[str]]
# A cell that needs only the standing.
Cell = Callable[[Standing], str]


def _cells_by_standing(cell: Cell) -> Cells:
    return lambda table, column: map(cell, table.board.shown)


def _rank_cell(each: Standing) -> str:
    span_ = f'<small class="phone">{span(*each.interval)}</small>' if each.interval else ""
    rank = MISSING if each.rank is None else each.rank
    return f'<td class="num rank">{rank}{span_}</td>'


def _interval_cell(each: Standing) -> str:
    return f'<td class="interval opt">{span(*each.interval) if each.interval else ""}</td>'


def _run_cells(table: BoardTable, column: Column) -> Iterator[str]:
    href, pooled = escape(run_url_pattern("run", table.board.choice.carried)), table.pooled
    for each in table.board.shown:
        words = badges_of(each, pooled)
        own = ["yours"] if each.is_own else []
        known = [*own, *(["baseline"] if each.is_baseline else []), *words]
        signs = "".join([f" {badge(word)}" for word in known])
        shown = f'<span class="opt">{signs}</span>' if signs else ""
        told = "".join([f", {word}" for word in words])
        yield (
            f'<th scope="row"><a href="{href.format(each.run.pk)}">'
            f"<bdi>{escape(str(each.run))}</bdi></a>"
            f"{shown}"
            f'<small class="phone"><bdi>{escape(str(each.run.team))}</bdi>{told}</small></th>'
        )


def badges_of(standing: Standing, pooled: set[str]) -> list[str]:
    """Return the badges of a run, except baseline and yours."""
    run = standing.run
    kind = [str(run.kind)] if run.kind != Run.Kind.AUTOMATIC else []
    unpooled = ["unpooled"] if pooled and run.pk not in pooled else []
    return [*kind, *unpooled, *(["late"] if run.is_late else [])]


def _team_cell(each: Standing) -> str:
    return f'<td class="opt"><bdi>{escape(str(each.run.team))}</bdi></td>'


def _type_cell(each: Standing) -> str:
    return f'<td class="opt">{each.run.kind}</td>'


def _axis_cells(table: BoardTable, column: Column) -> list[str]:
    shown, measure = table.board.shown, table.board.measure
    kinds = [each.kind for each in shown]
    means = [each.scores[measure] for each in shown]
    drawn = charts.mean_cells(table.axis, means, kinds)
    return [f'<td class="axis">{each}</td>' for each in drawn]


def _strip_cells(table: BoardTable, column: Column) -> Iterator[str]:
    """Draw the ranks that each run can have, with a dot at its own."""
    for each in table.board.shown:
        drawn = ""
        if each.interval is not None and each.rank is not None:
            drawn = charts.rank_strip(table.strip_axis, each.rank, *each.interval, each.kind)
        yield f'<td class="axis opt">{drawn}</td>'


def _measure_cells(table: BoardTable, column: Column) -> list[str]:
    measure, best = column.measure, table.best[column.measure]
    plain, marked = (f"<td{table._classes(column, more)}>" for more in ("", "best"))
    values = [each.scores[measure] for each in table.board.shown]
    begins = [marked if column.is_fixed or value == best else plain for value in values]
    return _number_cells(table, measure, begins, values)


def _judged_cells(table: BoardTable, column: Column) -> list[str]:
    values = [each.judged_at_10 for each in table.board.shown]
    return _number_cells(table, JUDGED_AT_10, ['<td class="num opt">'] * len(values), values)


def _number_cells(
    table: BoardTable, measure: str, begins: list[str], values: list[float | None]
) -> list[str]:
    """Return cells of scores; each links to its explanation."""
    of_measure, decimals = table.explanation_links[measure], table.board.decimals
    return [
        f'{begin}{link}{of_measure}" title="{exact(value)}">{text}</a></td>'
        for begin, link, value, text in zip(
            begins, table.number_links, values, scores(values, decimals), strict=True
        )
    ]


def _difference_cells(table: BoardTable, column: Column) -> Iterator[str]:
    against, with_baseline = [each.against for each in table.board.shown], table.baseline_link
    printed = [
        difference_text(each.difference, each.unit) if each is not None else MISSING
        for each in against
    ]
    for each, link, text in zip(table.board.shown, table.comparison_links, printed, strict=True):
        if each.is_baseline or each.against is None:
            yield f'<td class="num">{"baseline" if each.is_baseline else MISSING}</td>'
            continue
        p = each.against.p_adjusted
        shown = text if each.against.difference is None else marked(text, each.verdict)
        small = "" if p is None else f'<small class="phone">p {escape(p_value(p))}</small>'
        yield (
            f'<td class="num">{link}{shown}</a>'
            f'{small}<a class="make" href="{with_baseline}{each.run.pk}">as baseline</a></td>'
        )


def _comparison_cells(number: Callable[[Difference], str]) -> Cells:
    """Return cells of a statistic against the baseline; empty if there is none."""

    def cells(table: BoardTable, column: Column) -> Iterator[str]:
        for each, link in zip(table.board.shown, table.comparison_links, strict=True):
            text = number(each.against) if each.against is not None else ""
            yield f'<td class="num opt">{link}{text}</a></td>' if text else EMPTY_CELL

    return cells


def _confidence_text(against: Difference) -> str:
    if against.low is None or against.high is None:
        return ""
    return interval(against.low, against.high, unit=against.unit)


def _p_text(against: Difference) -> str:
    p = against.p_adjusted
    return "" if p is None else f'<span title="{exact(p)}">{escape(p_value(p))}</span>'


def _effect_text(against: Difference) -> str:
    return "" if against.effect_size is None else signed(against.effect_size, 2)


def _wins_text(against: Difference) -> str:
    counts = (against.wins, against.losses, against.ties)
    return ' <span class="split">/</span> '.join(map(str, counts))


def _date_cell(each: Standing) -> str:
    received = each.run.received_at
    return f'<td class="num opt" title="{instant(received)}">{day(received)}</td>'


# Any other column shows a measure.
CELLS: dict[str, Cells] = {
    "rank": _cells_by_standing(_rank_cell),
    "interval": _cells_by_standing(_interval_cell),
    "run": _run_cells,
    "team": _cells_by_standing(_team_cell),
    "type": _cells_by_standing(_type_cell),
    "axis": _axis_cells,
    "strip": _strip_cells,
    "judged": _judged_cells,
    "difference": _difference_cells,
    "confidence": _comparison_cells(_confidence_text),
    "p": _comparison_cells(_p_text),
    "effect": _comparison_cells(_effect_text),
    "wins": _comparison_cells(_wins_text),
    "date": _cells_by_standing(_date_cell),
}
