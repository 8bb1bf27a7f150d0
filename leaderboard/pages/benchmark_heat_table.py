"""The heat map of a benchmark: systems by tracks, each cell with its difference and a colour.

A benchmark of 500 systems on 100 tracks has 50,000 cells, so they are short strings; names come
from users, so they are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape

from django.http import QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from leaderboard.analysis.benchmark_differences import (
    BenchmarkDifferences,
    DifferenceRow,
    Gap,
    unit_of,
)
from leaderboard.boards.benchmark_boards import BenchmarkColumn
from leaderboard.display.numbers import MISSING, difference_text, p_value, score
from leaderboard.display.signs import badge, marked
from leaderboard.pages.board_table import MOST_TITLED

# The colours of each side, as in the style sheet.
STEPS = 6


@dataclass(frozen=True)
class BenchmarkHeatTable:
    """The heat map, with heads that sort by their track."""

    found: BenchmarkDifferences
    query: QueryDict

    @property
    def heads(self) -> list[SafeString]:
        heads = [self._render_head("mean", "Mean", "")] if self.found.has_means else []
        heads += [
            self._render_head(column.slug, column.name, column.measure)
            for column in self.found.board.columns
        ]
        return [mark_safe(head) for head in heads]

    def _render_head(self, name: str, title: str, detail: str) -> str:
        choice = self.found.board.choice
        is_sorted = name == choice.sorted_by
        falls = self.found.board.falls_by(name) != choice.is_reversed
        sort = f' aria-sort="{"de" if falls else "a"}scending"' if is_sorted else ""
        query = self.query.copy()
        query["sort"] = f"-{name}" if is_sorted and not choice.is_reversed else name
        small = f"<small>{escape(detail)}</small>" if detail else ""
        link = f'<a href="{escape(f"?{query.urlencode()}")}"><bdi>{escape(title)}</bdi></a>'
        return f'<th class="num" scope="col"{sort}>{link}{small}</th>'

    @property
    def reference_row(self) -> SafeString:
        """Render what the systems are held against, with its scores."""
        found, board = self.found, self.found.board
        name = f"Mean of {len(found.averaged)}"
        if found.baseline is not None:
            name = self._render_name(found.baseline.version.system_id, found.baseline.name)
            name += f' <span class="opt">{badge("baseline")}</span>'
        values = [score(found.reference_mean, board.decimals)] if found.has_means else []
        values += [
            score(value, column.decimals)
            for column, value in zip(board.columns, found.reference, strict=True)
        ]
        cells = "".join(f'<td class="num">{value}</td>' for value in values)
        return mark_safe(f'<tr class="baseline"><th scope="row">{name}</th>{cells}</tr>')

    @property
    def rows(self) -> SafeString:
        return mark_safe("\n".join(map(self._render_row, self.found.rows)))

    def _render_row(self, row: DifferenceRow) -> str:
        name = self._render_name(row.row.version.system_id, row.row.name)
        label = escape(row.row.version.label)
        own = ' class="own"' if row.row.is_own else ""
        cells = "".join(self._render_gaps(row))
        return (
            f'<tr{own}><th scope="row">{name} <span class="version opt"><bdi>{label}</bdi></span>'
            f"</th>{cells}</tr>"
        )

    def _render_gaps(self, row: DifferenceRow) -> Iterator[str]:
        columns = self.found.board.columns
        if row.overall is not None:
            decimals = self.found.board.decimals
            yield self._render_cell(row.overall, columns[0], decimals, "Mean")
        for column, gap in zip(columns, row.gaps, strict=True):
            yield self._render_cell(gap, column, column.decimals, column.name)

    def _render_cell(self, gap: Gap, column: BenchmarkColumn, decimals: int, name: str) -> str:
        if gap.difference is None:
            return f'<td class="num">{MISSING}</td>'
        step = colour_step(gap.strength)
        text = difference_text(gap.difference, unit_of(column), decimals)
        title = ""
        if self.has_titles:
            p = "" if gap.p is None else f", p {p_value(gap.p)}"
            title = f' title="{escape(f"{name}: {score(gap.value, decimals)}{p}")}"'
        shown = marked(text, gap.verdict) if gap.verdict else text
        return f'<td class="num{step}"{title}>{shown}</td>'

    def _render_name(self, system_id: int, name: str) -> str:
        return f"{self._system_link.format(system_id)}<bdi>{escape(name)}</bdi></a>"

    @cached_property
    def _system_link(self) -> str:
        home = reverse("benchmark_board", args=[self.found.board.sight.benchmark.slug])
        return f'<a href="{home}systems/{{}}/">'

    @cached_property
    def has_titles(self) -> bool:
        return len(self.found.rows) * len(self.found.board.columns) <= MOST_TITLED


def colour_step(strength: float) -> str:
    """Return the class of a colour with a space before it, "" for none.

    >>> colour_step(0.01), colour_step(-1.0), colour_step(0.0)
    (' up-1', ' down-6', '')
    """
    step = math.ceil(abs(strength) * STEPS)
    return f" {'up' if strength > 0 else 'down'}-{step}" if step else ""
