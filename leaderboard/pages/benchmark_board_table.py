"""The table of a benchmark's board: its visible columns, its order and its links.

A board of 500 systems on 100 tracks has 50,000 cells, so they are short strings, built column by
column; names come from users, so they are escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from django.http import QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from leaderboard.boards.benchmark_boards import BenchmarkBoard, SystemRow
from leaderboard.boards.benchmark_columns import (
    EVERY_GROUP,
    MOST_OPEN,
    BenchmarkTableColumn,
    ColumnGroup,
    columns_of_benchmark,
    find_groups,
    incomplete_columns,
    shown_benchmark_columns,
)
from leaderboard.boards.columns import ALL_COLUMNS
from leaderboard.display.charts.drawing import text_width
from leaderboard.display.numbers import (
    MISSING,
    day,
    difference_text,
    differs_on,
    exact,
    instant,
    p_value,
    scores,
    span,
)
from leaderboard.display.signs import badge, marked
from leaderboard.pages.board_table import DESKTOP_WIDTH, NAME_WIDTH, PADDING, table_classes
from leaderboard.pages.page_urls import run_url_pattern

# Up to this many cells each has its exact value as a title.
MOST_TITLED = 5_000
JUDGE_BADGES = {"machine": "machine", "both": "people + machine"}
NUMBER_WIDTH = 62.0
# Besides the fixed ones.
PHONE_COLUMNS = ("difference", "borda", "answered")


@dataclass(frozen=True)
class BenchmarkBoardTable:
    """The table of a benchmark's board, with links that change its order, columns and groups."""

    board: BenchmarkBoard
    query: QueryDict
    # The query parameters that links to other pages keep.
    carried: Mapping[str, str]

    @cached_property
    def columns(self) -> list[BenchmarkTableColumn]:
        return shown_benchmark_columns(self.board)

    @cached_property
    def choosable(self) -> list[BenchmarkTableColumn]:
        return columns_of_benchmark(self.board)

    @property
    def optional(self) -> list[BenchmarkTableColumn]:
        return [column for column in self.choosable if not column.is_fixed]

    @property
    def shown(self) -> set[str]:
        """The names of the visible columns."""
        return {column.name for column in self.columns}

    @property
    def shows_all(self) -> bool:
        return ALL_COLUMNS in self.board.choice.columns

    @property
    def has_pairs(self) -> bool:
        """Whether there are two systems to compare."""
        return len(self.board.rows) + len(self.board.incomplete) > 1

    @property
    def classes(self) -> str:
        return table_classes("board of-benchmark", len(self.board.shown), self.shows_all)

    @property
    def fits(self) -> bool:
        """Return whether all columns fit a desktop; otherwise the table scrolls in its frame."""
        return sum(map(self._column_width, self.columns)) <= DESKTOP_WIDTH

    def _column_width(self, column: BenchmarkTableColumn) -> float:
        """Estimate the width of a column in pixels."""
        if not column.is_words:
            return max(NUMBER_WIDTH, text_width(column.detail) + PADDING)
        names = {row.name if column.kind == "system" else row.team for row in self.board.shown}
        return min(max(map(text_width, names), default=0.0), NAME_WIDTH) + PADDING

    @property
    def group_links(self) -> list[tuple[ColumnGroup, str]]:
        """Groups with addresses that open or fold them; none for a short board without groups."""
        groups = find_groups(self.board)
        if len(groups) < 2 and len(self.board.columns) <= MOST_OPEN:
            return []
        return [(group, self._group_address(group)) for group in groups]

    def _group_address(self, group: ColumnGroup) -> str:
        """Return the address that folds an open group or opens a folded one."""
        few = len(self.board.columns) <= MOST_OPEN
        listed = "folded" if few else "opened"
        parameter = "fold" if few else "open"
        names = [name for name in getattr(self.board.choice, listed) if name != EVERY_GROUP]
        adds = group.is_open == few
        names = [*names, group.name] if adds else [n for n in names if n != group.name]
        query = self.query.copy()
        query.setlist(parameter, names)
        return f"?{query.urlencode()}"

    @property
    def heads(self) -> list[SafeString]:
        return [mark_safe(self._render_head(column)) for column in self.columns]

    @property
    def incomplete_heads(self) -> list[SafeString]:
        return [mark_safe(self._render_head(each)) for each in incomplete_columns(self.columns)]

    def _render_head(self, column: BenchmarkTableColumn) -> str:
        title = f"<bdi>{escape(column.title)}</bdi>"
        if column.kind == "interval":
            title = "Possible<br>ranks"
        if column.kind == "difference":
            name = escape(self.board.baseline.name if self.board.baseline is not None else "")
            title = f'<span class="opt">vs <bdi>{name}</bdi></span>'
            title += '<span class="phone">vs baseline</span>'
        link = f'<a href="{self._sort_link(column)}">{title}</a>'
        detail = f"<small>{escape(column.detail)}</small>" if column.detail else ""
        if column.track is not None:
            detail = self._render_track_detail(column)
        classes = _class_of(column, "pinned" if column.kind == "system" else "")
        return f'<th{classes} scope="col"{self._aria_sort(column)}>{link}{detail}</th>'

    def _render_track_detail(self, column: BenchmarkTableColumn) -> str:
        """Return the link to a track's own board, with its measure and a badge of its judges."""
        track = column.track
        assert track is not None
        made_by = JUDGE_BADGES.get(track.made_by, "")
        judges = f'<b class="badge by-machine">{made_by}</b>' if made_by else ""
        href = escape(self._track_link(track.slug, track.measure))
        return f'<small><a href="{href}">{escape(track.measure)}</a>{judges}</small>'

    def _track_link(self, slug: str, measure: str) -> str:
        asked = {"measure": measure} if self.board.choice.measure else {}
        return reverse("board", args=[slug], query=asked)

    def _aria_sort(self, column: BenchmarkTableColumn) -> str:
        if column.name != self.sorted_by:
            return ""
        return f' aria-sort="{"de" if self._falls(column) else "a"}scending"'

    def _falls(self, column: BenchmarkTableColumn) -> bool:
        return self.board.falls_by(column.name) != self.board.choice.is_reversed

    @property
    def sorted_by(self) -> str:
        """The column that sorts the rows; sorting by rank counts as what ranks."""
        name = self.board.choice.sorted_by
        home = "borda" if self.board.no_mean else "mean"
        return home if name == "rank" and not self.board.choice.is_reversed else name

    def _sort_link(self, column: BenchmarkTableColumn) -> str:
        """Return the link that sorts by a column, or reverses the order if it already does."""
        if column.name == self.sorted_by and not self.board.choice.is_reversed:
            return self.address(sort=f"-{column.name}")
        home = column.name in ("rank", "borda" if self.board.no_mean else "mean")
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
    def rows(self) -> SafeString:
        """Render the ranked systems."""
        return self._render_rows(self.columns, self.board.shown)

    @property
    def incomplete_rows(self) -> SafeString:
        """Render the systems that lack a track."""
        return self._render_rows(incomplete_columns(self.columns), self.board.shown_incomplete)

    def _render_rows(
        self, shown: Sequence[BenchmarkTableColumn], rows: Sequence[SystemRow]
    ) -> SafeString:
        columns = [CELLS[column.kind](self, column, rows) for column in shown]
        begins = [f"<tr{_row_class(row)}>" for row in rows]
        return mark_safe("</tr>\n".join(map("".join, zip(begins, *columns, strict=True))) + "</tr>")

    @property
    def baselines(self) -> SafeString:
        """Render every complete system as an option of the baseline menu."""
        return mark_safe(
            "".join(
                f'<option value="{row.version.pk}"{" selected" if row.is_baseline else ""}>'
                f"{escape(name_version(row))}</option>"
                for row in self.board.rows
            )
        )

    @cached_property
    def system_link(self) -> str:
        """The pattern of the link to a system, for its id."""
        home = reverse("benchmark_board", args=[self.board.sight.benchmark.slug])
        return f'<a href="{home}systems/{{}}/">'

    @cached_property
    def has_titles(self) -> bool:
        return len(self.board.rows) * len(self.columns) <= MOST_TITLED


def name_version(row: SystemRow) -> str:
    """Return the name of a system with the label of its version."""
    return f"{row.name} {row.version.label}"


def _class_of(column: BenchmarkTableColumn, more: str = "") -> str:
    """Return the class attribute of a head or a cell; a phone shows few columns."""
    on_phone = column.is_fixed or column.name in PHONE_COLUMNS
    names = ["" if column.is_words else "num", "" if on_phone else "opt", more]
    return f' class="{text}"' if (text := " ".join(filter(None, names))) else ""


def _row_class(row: SystemRow) -> str:
    names = " ".join(
        name for name, holds in {"own": row.is_own, "baseline": row.is_baseline}.items() if holds
    )
    return f' class="{names}"' if names else ""


Cells = Callable[
    [BenchmarkBoardTable, BenchmarkTableColumn, Sequence[SystemRow]], Iterator[str] | list[str]
]


def _rank_cells(
    table: BenchmarkBoardTable, column: BenchmarkTableColumn, rows: Sequence[SystemRow]
) -> Iterator[str]:
    for row in rows:
        possible = f'<small class="phone">{span(*row.interval)}</small>' if row.interval else ""
        yield f'<td class="num rank">{column.printed(row)}{possible}</td>'


def _interval_cells(
    table: BenchmarkBoardTable, column: BenchmarkTableColumn, rows: Sequence[SystemRow]
) -> Iterator[str]:
    for row in rows:
        yield f'<td class="interval num opt">{span(*row.interval) if row.interval else ""}</td>'


def _system_cells(
    table: BenchmarkBoardTable, column: BenchmarkTableColumn, rows: Sequence[SystemRow]
) -> Iterator[str]:
    for row in rows:
        signs = "".join(
            f" {badge(word)}"
            for word, holds in {"yours": row.is_own, "baseline": row.is_baseline}.items()
            if holds
        )
        shown = f'<span class="opt">{signs}</span>' if signs else ""
        yield (
            f'<th scope="row">{table.system_link.format(row.version.system_id)}'
            f"<bdi>{escape(row.name)}</bdi></a>"
            f' <span class="version"><bdi>{escape(row.version.label)}</bdi></span>{shown}'
            f'<small class="phone"><bdi>{escape(row.team)}</bdi></small></th>'
        )


def _word_cells(
    table: BenchmarkBoardTable, column: BenchmarkTableColumn, rows: Sequence[SystemRow]
) -> Iterator[str]:
    for row in rows:
        yield f'<td class="opt"><bdi>{escape(column.printed(row))}</bdi></td>'


def _mean_cells(
    table: BenchmarkBoardTable, column: BenchmarkTableColumn, rows: Sequence[SystemRow]
) -> Iterator[str]:
    plain, best = _class_of(column), _class_of(column, "best")
    values = [column.value(row) for row in rows]
    for value, text in zip(values, scores(values, table.board.decimals), strict=True):
        begin = best if value is not None and value == column.best else plain
        yield f'<td{begin} title="{exact(value)}">{text}</td>'


def _track_cells(
    table: BenchmarkBoardTable, column: BenchmarkTableColumn, rows: Sequence[SystemRow]
) -> Iterator[str]:
    """Return the values of a track; each leads to the run that has it."""
    track = column.track
    assert track is not None
    asked = {"measure": track.measure} if table.board.choice.measure else {}
    before, after = escape(run_url_pattern("run", asked)).split("{}")
    values = [row.values[table.board.columns.index(track)] for row in rows]
    for row, value, text in zip(rows, values, scores(values, track.decimals), strict=True):
        if value is None:
            yield f'<td class="t">{MISSING}</td>'
            continue
        best = " best" if value == column.best else ""
        title = f' title="{exact(value)}"' if table.has_titles else ""
        href = f"{before}{row.runs[track.track_id]}{after}"
        yield f'<td class="t{best}"{title}><a href="{href}">{text}</a></td>'


def _difference_cells(
    table: BenchmarkBoardTable, column: BenchmarkTableColumn, rows: Sequence[SystemRow]
) -> Iterator[str]:
    for row in rows:
        against = row.against
        if row.is_baseline or against is None:
            yield f'<td class="num">{"baseline" if row.is_baseline else MISSING}</td>'
            continue
        p = against.p_adjusted
        small = "" if p is None else f'<small class="phone">p {escape(p_value(p))}</small>'
        text = difference_text(against.difference, against.unit)
        title = f' title="{_interval_title(row)}"'
        yield f'<td class="num"{title}>{marked(text, row.verdict)}{small}</td>'


def _interval_title(row: SystemRow) -> str:
    """Return the interval of a difference, for the title of its cell."""
    against = row.against
    if against is None or against.low is None or against.high is None:
        return ""
    ends = (difference_text(end, against.unit, 4) for end in (against.low, against.high))
    return f"95 % interval {' to '.join(ends)}; {differs_on(against)}"


def _number_cells(
    table: BenchmarkBoardTable, column: BenchmarkTableColumn, rows: Sequence[SystemRow]
) -> Iterator[str]:
    plain, best = _class_of(column), _class_of(column, "best")
    for row in rows:
        begin = best if column.is_best(row) else plain
        if column.name == "date":
            when = row.version.created_at
            yield f'<td{begin} title="{instant(when)}">{day(when)}</td>'
            continue
        yield f"<td{begin}>{escape(column.printed(row))}</td>"


CELLS: dict[str, Cells] = {
    "rank": _rank_cells,
    "interval": _interval_cells,
    "system": _system_cells,
    "words": _word_cells,
    "mean": _mean_cells,
    "track": _track_cells,
    "difference": _difference_cells,
    "number": _number_cells,
}
