"""Axes: the range of a drawing, positions of values, and labelled ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from leaderboard.display.charts.drawing import render_line, render_text
from leaderboard.display.numbers import MINUS

Values = TypeVar("Values", float, NDArray[np.float64])

STEPS = (1.0, 2.0, 5.0, 10.0)
# Within this, values are equal but for rounding, and so are ticks.
SMALLEST_RANGE = 1e-11


@dataclass(frozen=True, slots=True)
class Axis:
    """A range from `low` to `high` with labelled ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def around(cls, low: float, high: float, most: int = 6) -> Axis:
        """Return an axis that ends on ticks at or beyond the values.

        >>> Axis.around(-0.32, 0.75)
        Axis(low=-0.4, high=0.8, ticks=(-0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8))
        """
        if high - low < SMALLEST_RANGE:
            return cls(low - 1.0, high + 1.0, (low,))
        step = tick_step(low, high, most)
        ticks = multiples(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9), step)
        return cls(ticks[0], ticks[-1], ticks)

    @classmethod
    def along(cls, low: float, high: float, most: int = 6) -> Axis:
        """Return an axis that ends at the values, with its ticks inside.

        >>> Axis.along(0.14, 0.38).ticks
        (0.15, 0.2, 0.25, 0.3, 0.35)
        """
        step = tick_step(low, high, most)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return cls(low, high, multiples(first, last, step))

    def at(self, value: Values) -> Values:
        """Return the position of a value, or of each in an array, in per cent from the left."""
        return 100 * (value - self.low) / (self.high - self.low)

    def down(self, value: float, height: float) -> float:
        """Return the position of a value on a vertical axis, in pixels from the top."""
        return height * (self.high - value) / (self.high - self.low)


UNIT = Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))


def score_axis(values: Sequence[float]) -> Axis:
    """Return the axis of scores: from 0 to 1 if all lie there, otherwise one that includes 0."""
    if all(0 <= value <= 1 for value in values):
        return UNIT
    return Axis.around(min(0.0, *values), max(0.0, *values))


@dataclass(frozen=True, slots=True)
class AxisColumn:
    """The axis and background that all cells of a table column share.

    `grid` is the id of the lines, which the column head defines for the cells; `dashed` is the
    value of the baseline.
    """

    axis: Axis
    grid: str = "grid"
    digits: int | None = None
    dashed: float | None = None


def tick_step(low: float, high: float, most: int) -> float:
    """Return 1, 2 or 5 times a power of ten, the smallest that needs at most `most` steps."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in STEPS if step * power >= rough * (1 - 1e-9))


def multiples(first: int, last: int, step: float) -> tuple[float, ...]:
    return tuple(round(index * step, 12) for index in range(first, last + 1))


def tick_label(value: float, digits: int | None = None, *, sign: bool = False) -> str:
    """Return the label of a tick, as short as possible.

    >>> tick_label(0.25), tick_label(0.2, 2), tick_label(1.0), tick_label(-0.2, sign=True)
    ('.25', '.20', '1', '−.2')
    """
    text = f"{abs(value):g}" if digits is None else f"{abs(value):.{digits}f}"
    text = text[1:] if text.startswith("0.") else text
    if not text.strip(".0"):
        return text
    return (MINUS if value < 0 else "+" if sign else "") + text


# Pixels from a line down to the baseline of its label, and from a plot to the labels below.
MIDDLE, BELOW = 4, 16


def value_grid(up: Axis, height: float, *, sign: bool = False) -> str:
    """Return a line across for every tick with its value at the left; zero has another style."""
    return "".join(
        render_line(0, 100, y, y, "zero" if tick == 0 else "grid")
        + render_text(0, y + MIDDLE, tick_label(tick, sign=sign), anchor="end", dx=-8)
        for tick in up.ticks
        for y in [up.down(tick, height)]
    )


def upright_grid(across: Axis, height: float) -> str:
    """Return a vertical line for every tick."""
    return "".join(
        render_line(x, x, 0, height, "zero" if tick == 0 else "grid")
        for tick in across.ticks
        for x in [across.at(tick)]
    )


def foot(height: float, marks: Iterable[tuple[float, str]]) -> str:
    """Return labels below a plot, each centred at its position in per cent."""
    return "".join(render_text(x, height + BELOW, words, anchor="middle") for x, words in marks)


def axis_foot(across: Axis, height: float, *, sign: bool = False) -> str:
    """Return the values of an axis below a plot."""
    return foot(height, ((across.at(tick), tick_label(tick, sign=sign)) for tick in across.ticks))


def from_easy_to_hard(height: float) -> str:
    """Return the label below a plot whose topics are ordered by their medians."""
    return render_text(0, height + BELOW, "← easiest topic") + render_text(
        100, height + BELOW, "hardest topic →", anchor="end"
    )
