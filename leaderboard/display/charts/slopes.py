"""Slopes: lines from the rows of one table to those of another, one for each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from leaderboard.display.charts.drawing import (
    coord,
    escape_name,
    render_dot,
    render_plot,
    stretch,
)
from leaderboard.display.numbers import counted

# The height of a row of both tables, as in the style sheet.
ROW = 32.0


@dataclass(frozen=True, slots=True)
class Slope:
    """A run with its rows on both sides, from 1 on; `side` is better, worse or "" (small)."""

    name: str
    left: int
    right: int
    side: str = ""


def slope_chart(slopes: Sequence[Slope], title: str) -> SafeString:
    """Return the lines between two tables; coloured ones are drawn last."""
    height = ROW * max((max(each.left, each.right) for each in slopes), default=1)
    drawn = sorted(slopes, key=lambda each: bool(each.side))
    lines = "".join(_line(each) for each in drawn)
    dots = "".join(
        render_dot(x, _middle(row), f"slope-end {each.side}".rstrip(), 3)
        for each in drawn
        for x, row in ((0, each.left), (100, each.right))
    )
    summary = f"{counted(len(slopes), 'run')}: " + "; ".join(
        f"{each.name} from row {each.left} to {each.right}" for each in slopes
    )
    return render_plot(title, summary, height, stretch(100, height, height, lines) + dots)


def _line(each: Slope) -> str:
    classes = f"slope {each.side}".rstrip()
    path = f"M0 {coord(_middle(each.left))}L100 {coord(_middle(each.right))}"
    return f'<path class="{classes}" d="{path}"><title>{escape_name(each.name)}</title></path>'


def _middle(row: int) -> float:
    return ROW * (row - 0.5)
