"""What stands behind a plot: level lines with their values, and values along its foot."""

from __future__ import annotations

from collections.abc import Iterable

from leaderboard.charts.axes import Axis, tick_label
from leaderboard.charts.drawing import line, text

# From a level line down to the foot of its value, and from the foot of a plot to that of words.
MIDDLE, BELOW = 4, 16


def value_grid(up: Axis, height: float, *, sign: bool = False) -> str:
    """A line across for every tick, its value left of the plot; the one at zero is the ground."""
    return "".join(
        line(0, 100, y, y, "zero" if tick == 0 else "grid")
        + text(0, y + MIDDLE, tick_label(tick, sign=sign), anchor="end", dx=-8)
        for tick in up.ticks
        for y in [up.down(tick, height)]
    )


def upright_grid(across: Axis, height: float) -> str:
    """A line down for every tick."""
    return "".join(
        line(x, x, 0, height, "zero" if tick == 0 else "grid")
        for tick in across.ticks
        for x in [across.at(tick)]
    )


def foot(height: float, marks: Iterable[tuple[float, str]]) -> str:
    """Words beneath a plot, each in the middle under its place in per cent."""
    return "".join(text(x, height + BELOW, words, anchor="middle") for x, words in marks)


def axis_foot(across: Axis, height: float, *, sign: bool = False) -> str:
    """The values of an axis beneath a plot."""
    return foot(height, ((across.at(tick), tick_label(tick, sign=sign)) for tick in across.ticks))


def from_easy_to_hard(height: float) -> str:
    """Beneath a plot whose topics stand in the order of their medians."""
    return text(0, height + BELOW, "← easiest topic") + text(
        100, height + BELOW, "hardest topic →", anchor="end"
    )
