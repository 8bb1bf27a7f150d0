"""Charts in table cells: all cells of a column share one axis.

The lines that run through all rows are drawn once, as a symbol in the head of the column, so a
row of a large board costs three short elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np
from django.utils.safestring import SafeString, mark_safe
from numpy.typing import NDArray

from leaderboard.display.charts.axes import Axis, AxisColumn, tick_label
from leaderboard.display.charts.drawing import (
    RADIUS,
    ChartMark,
    Kind,
    coord,
    coords,
    escape_name,
)
from leaderboard.display.numbers import MISSING, count, counted, score, scores

FENCE = 1.5
TOO_FEW_FOR_A_FENCE = 5
MARGIN = 0.03
# The least distance of two labelled values, in per cent of the narrowest cell.
APART = 35


def board_column(means: NDArray[np.float64], baseline: float | None = None) -> AxisColumn:
    """Return the axis of a board, without runs far below the rest: under a box plot's fence."""
    means = means[np.isfinite(means)]
    if means.size == 0:
        return AxisColumn(Axis.around(0.0, 1.0), digits=2)
    lower = means.min()
    if means.size >= TOO_FEW_FOR_A_FENCE:
        q1, q3 = np.percentile(means, [25, 75])
        fence = q1 - FENCE * (q3 - q1)
        lower = means[means >= fence].min()
    return AxisColumn(_roomy(float(lower), float(means.max())), digits=2, dashed=baseline)


def rank_column(runs: int) -> AxisColumn:
    """Return the axis for the ranks of this many runs."""
    axis = Axis.along(0.5, max(runs, 2) + 0.5, most=6)
    whole = tuple(tick for tick in (1.0, *axis.ticks) if tick >= 1 and tick == round(tick))
    return AxisColumn(replace(axis, ticks=tuple(sorted(set(whole)))), grid="ranks", digits=0)


def rank_strip(column: AxisColumn, rank: int, low: int, high: int, kind: Kind) -> SafeString:
    """Return a cell with a bar from the best to the worst rank and a dot at the run's own."""
    return _ranks_cell(column, rank, low, high, kind, "possible ranks")


def mixed_ranks(column: AxisColumn, rank: int, low: int, high: int, kind: Kind) -> SafeString:
    """Return the same cell for the ranks of a run over random choices of judges."""
    return _ranks_cell(column, rank, low, high, kind, "by other judges")


def _ranks_cell(
    column: AxisColumn, rank: int, low: int, high: int, kind: Kind, words: str
) -> SafeString:
    at = column.axis.at
    ends = f'x1="{coord(at(low))}%" x2="{coord(at(high))}%"'
    line = f'<line class="strip {kind}" {ends} y1="50%" y2="50%"/>'
    title = f"rank {rank}, {words} {low} to {high}" if low != high else f"rank {rank}"
    return _cell(column, title, line + _dot_at(coord(at(rank)), kind, 4))


def _roomy(low: float, high: float) -> Axis:
    """Return an axis a little wider than its values, without negative ticks for scores."""
    room = MARGIN * (high - low) or 0.05
    axis = Axis.along(low - room, high + room, most=5)
    return replace(axis, ticks=tuple(tick for tick in axis.ticks if tick >= min(0.0, low)))


def column_head(column: AxisColumn) -> SafeString:
    """Return the head of a column: labelled ticks, and the grid that its cells use."""
    kept = _on_phone(column.axis)
    labels = "".join(
        f'<text class="tick{"" if tick in kept else " opt"}"'
        f' x="{coord(column.axis.at(tick))}%" y="12" text-anchor="middle">'
        f"{tick_label(tick, column.digits)}</text>"
        for tick in column.axis.ticks
    )
    return mark_safe(
        f'<svg class="ticks" width="100%" height="16" aria-hidden="true">'
        f'<symbol id="{column.grid}" overflow="visible">{_through(column)}</symbol>{labels}</svg>'
    )


def _on_phone(axis: Axis) -> list[float]:
    """Return the ticks to label in a narrow cell: the outer two, or one between them."""
    ticks = axis.ticks
    if not ticks or axis.at(ticks[-1]) - axis.at(ticks[0]) < APART:
        return list(ticks[len(ticks) // 2 : len(ticks) // 2 + 1])
    return [ticks[0], ticks[-1]]


def _through(column: AxisColumn) -> str:
    """Return the background of all rows: the grid and the baseline."""
    at = column.axis.at
    parts = []
    lines = [(tick, "grid") for tick in column.axis.ticks]
    if column.dashed is not None and column.dashed >= column.axis.low:
        lines.append((column.dashed, "dashed"))
    for value, classes in lines:
        x = coord(at(value))
        parts.append(f'<line class="{classes}" x1="{x}%" x2="{x}%" y1="0" y2="100%"/>')
    return "".join(parts)


def mean_cells(
    column: AxisColumn,
    means: Sequence[float | None],
    kinds: Iterable[Kind] | None = None,
) -> list[SafeString]:
    """Return cells with a dot at the mean.

    All cells are built in one step, since a board can have hundreds of runs.
    """
    values, at = np.array(means, dtype=float), column.axis.at
    titles, dots = scores(means, 3), coords(at(values))
    off, kinds, cells = values < column.axis.low, kinds or repeat("other"), []
    for kind, title, x, is_off in zip(kinds, titles, dots, off, strict=False):
        if title == MISSING:
            cells.append(_cell(column, "no score", ""))
        elif is_off:
            cells.append(_cell(column, f"{title}, left of this axis", _off()))
        else:
            cells.append(_cell(column, title, _dot_at(x, kind, 4)))
    return cells


def dots_cell(column: AxisColumn, marks: Sequence[ChartMark]) -> SafeString:
    """Return all runs of a measure on one line; own runs and the baseline are on top."""
    layers = {"other": 0, "baseline": 1, "own": 2}
    marks = sorted(
        (mark for mark in marks if np.isfinite(mark.value)), key=lambda mark: layers[mark.kind]
    )
    title = ", ".join(f"{escape_name(m.name)} {score(m.value)}" for m in marks if m.kind != "other")
    body = "".join(_dot(column, mark.value, mark.kind, RADIUS[mark.kind]) for mark in marks)
    return _cell(column, title or counted(len(marks), "run"), body)


def range_cell(
    column: AxisColumn, worst: float, median: float, best: float, own: float | None = None
) -> SafeString:
    """Return the range from worst to best with the median and a dot for this run."""
    if np.isnan(median):
        return _cell(column, "no score", "")
    at = column.axis.at
    x = coord(at(median))
    body = (
        f'<line class="range" x1="{coord(at(worst))}%" x2="{coord(at(best))}%" y1="50%" y2="50%"/>'
        f'<svg x="{x}%" y="50%" overflow="visible"><path class="median" d="M0-6V6"/></svg>'
    )
    title = f"worst {score(worst)}, median {score(median)}, best {score(best)}"
    if own is not None and np.isfinite(own):
        title += f", the dot {score(own)}"
        body += _dot(column, own, "own", RADIUS["own"])
    return _cell(column, title, body)


def bounds_cell(
    column: AxisColumn, low: float, value: float, high: float, kind: Kind = "other"
) -> SafeString:
    """Return a value between its bounds: a line for the bounds, a dot for the value."""
    if np.isnan(value):
        return _cell(column, "no score", "")
    ends = sorted((low, high))
    x1, x2 = (coord(column.axis.at(end)) for end in ends)
    body = f'<line class="range" x1="{x1}%" x2="{x2}%" y1="50%" y2="50%"/>'
    title = f"{score(value)}, from {score(ends[0])} to {score(ends[1])}"
    return _cell(column, title, body + _dot(column, value, kind, 4))


def _dot(column: AxisColumn, value: float, kind: Kind, radius: float) -> str:
    return _dot_at(coord(column.axis.at(value)), kind, radius)


def _dot_at(x: str, kind: Kind, radius: float) -> str:
    return f'<circle class="dot {kind}" cx="{x}%" cy="50%" r="{radius}"/>'


def _off() -> str:
    """Return the mark of a run left of the axis; the table shows its number."""
    return '<svg y="50%" overflow="visible"><path class="off" d="M0 0l7-4v8z"/></svg>'


def _cell(column: AxisColumn, title: str, body: str) -> SafeString:
    return mark_safe(
        f'<svg class="cell" role="img"><title>{title}</title>'
        f'<use href="#{column.grid}"/>{body}</svg>'
    )


def moved_rank_cell(column: AxisColumn, rank: int, rank_without: int) -> SafeString:
    """Return a cell with a dot at the rank, and a hollow one at the rank without, if it moves."""
    at, dots = column.axis.at, ""
    x, end = coord(at(rank)), coord(at(rank_without))
    words = f"rank {rank} with and without its own documents"
    if rank != rank_without:
        words = f"rank {rank} with its own documents, {rank_without} without"
        moved = "worse" if rank_without > rank else "better"
        dots = f'<line class="moved {moved}" x1="{x}%" x2="{end}%" y1="50%" y2="50%"/>'
        dots += f'<circle class="dot moved {moved}" cx="{end}%" cy="50%" r="4"/>'
    dots += f'<circle class="dot mean" cx="{x}%" cy="50%" r="4"/>'
    head = f'<svg class="cell" role="img"><title>{words}</title><use href="#{column.grid}"/>'
    return mark_safe(f"{head}{dots}</svg>")


def count_bar(number: int, largest: int) -> SafeString:
    """Return a cell with a bar for a count beside it; the largest of the column fills it."""
    width = coord(100 * number / largest) if largest else "0"
    return mark_safe(
        '<svg class="cell" aria-hidden="true">'
        f'<svg y="50%" overflow="visible"><rect class="count-bar" y="-4" width="{width}%"'
        ' height="8" rx="2"/></svg></svg>'
    )


def judged_bar(done: int, every: int, turn: int = 1) -> SafeString:
    """Return a bar of the documents that are done; that of a second opinion is hatched."""
    kind = "second" if turn > 1 else "first"
    ends = "finished" if done >= every else "going"
    words = f"{'second' if turn > 1 else 'first'} opinion, {count(done)} of {count(every)}"
    filled = f'<rect class="done" width="{coord(100 * done / max(every, 1))}%" height="7"/>'
    return mark_safe(
        f'<svg class="judged {kind} {ends}" role="img"><title>{words}</title>'
        f'<rect class="every" width="100%" height="7"/>{filled if done else ""}</svg>'
    )
