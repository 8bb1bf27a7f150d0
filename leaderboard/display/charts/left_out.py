"""Cells of teams left out: ranks with and without their own documents, and counts as bars."""

from __future__ import annotations

from django.utils.safestring import SafeString, mark_safe

from leaderboard.display.charts.axes import AxisColumn
from leaderboard.display.charts.drawing import coord


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
