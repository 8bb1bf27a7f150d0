"""Effectiveness against cost: dots with their intervals over a logarithmic axis, and the front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString

from leaderboard.display.charts.axes import Axis, foot, value_grid
from leaderboard.display.charts.drawing import (
    RADIUS,
    Kind,
    drawing,
    line,
    linked,
    name,
    plot,
    short,
    stretched,
    text,
)
from leaderboard.display.charts.labels import Spot, Stroke, labels
from leaderboard.display.numbers import counted, score

HEIGHT = 340
# Between the outermost runs and the ends of the axis, in per cent.
MARGIN = 4.0


@dataclass(frozen=True, slots=True)
class Priced:
    """A run with its cost, its mean and the interval of the mean."""

    name: str
    cost: float
    told: str
    mean: float
    low: float
    high: float
    on_front: bool
    is_measured: bool
    # Named before others, and in bold.
    is_named: bool = False
    kind: Kind = "other"
    href: str = ""


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A line on which every step multiplies."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float]) -> LogAxis:
        """An axis that has room beside the values.

        >>> axis = LogAxis.over([1.0, 100.0])
        >>> [round(axis.at(value)) for value in (1, 10, 100)]
        [4, 50, 96]
        """
        low, high = math.log10(min(values)), math.log10(max(values))
        if high - low < 0.3:
            low, high = low - 0.5, high + 0.5
        room = (high - low) * MARGIN / (100 - 2 * MARGIN)
        return cls(low - room, high + room)

    def at(self, value: float) -> float:
        """Where a value stands, in per cent from the left."""
        return 100 * (math.log10(value) - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        """Powers of ten; between them 2 and 5 times as much where there are few.

        >>> LogAxis(-1.1, 0.5).ticks
        [0.1, 0.2, 0.5, 1.0, 2.0]
        """
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        every = max(1, round((self.high - self.low) / 6))
        steps = (1, 2, 5) if self.high - self.low < 2.2 else (1,)
        values = [
            float(f"{step}e{power}") for power in powers for step in steps if not power % every
        ]
        return [value for value in values if self.low <= math.log10(value) <= self.high]


def costs(runs: Sequence[Priced], unit: str, measure: str, title: str) -> SafeString:
    """Across what a run costs, up what it is worth; the steps join the runs on the front."""
    across = LogAxis.over([each.cost for each in runs])
    up = Axis.around(min(each.low for each in runs), max(each.high for each in runs), most=5)
    steps = _steps(runs, across, up)
    body = _grid(across, up)
    body += stretched(100, HEIGHT, HEIGHT, _front(steps))
    body += "".join(_run(each, across, up) for each in _drawn_last(runs))
    body += _names(runs, across, up, steps)
    body += text(0, 12, escape(measure), "tick", dx=8) + text(100, HEIGHT - 8, unit, "tick", "end")
    told = "; ".join(f"{each.name} {each.told}, {score(each.mean)}" for each in runs)
    description = f"{counted(len(runs), 'run')}, the cheapest first: {told}."
    links = any(each.href for each in runs)
    return plot(drawing(title, description, HEIGHT, body, links=links), "costs")


def _drawn_last(runs: Sequence[Priced]) -> list[Priced]:
    return sorted(runs, key=lambda each: (each.on_front, each.kind == "own"))


def _grid(across: LogAxis, up: Axis) -> str:
    upright = "".join(
        line(x, x, 0, HEIGHT, "grid") for x in (across.at(tick) for tick in across.ticks)
    )
    named = ((across.at(tick), f"{tick:,.10g}") for tick in across.ticks)
    return value_grid(up, HEIGHT) + upright + foot(HEIGHT, named)


def _steps(runs: Sequence[Priced], across: LogAxis, up: Axis) -> list[Stroke]:
    """From each run on the front level to where the next better one begins, and there up to it."""
    front = sorted((each for each in runs if each.on_front), key=lambda each: each.cost)
    corners = [(across.at(each.cost), up.down(each.mean, HEIGHT)) for each in front]
    ends = [*corners[1:], (100.0, corners[-1][1])] if corners else []
    strokes = []
    for (x, y), (end, level) in zip(corners, ends, strict=True):
        strokes += [Stroke(x, end, y, y), Stroke(end, end, y, level)]
    return strokes


def _front(steps: Sequence[Stroke]) -> str:
    path = "".join(
        f"{'L' if place else 'M'}{short(each.x1)} {short(each.y1)}H{short(each.x2)}"
        for place, each in enumerate(steps[::2])
    )
    return f'<path class="curve front" d="{path}"/>' if path else ""


def _run(run: Priced, across: LogAxis, up: Axis) -> str:
    x, y = across.at(run.cost), up.down(run.mean, HEIGHT)
    shape = line(x, x, up.down(run.high, HEIGHT), up.down(run.low, HEIGHT), "whisker")
    classes = f"dot {run.kind}" + ("" if run.on_front else " beaten")
    radius = RADIUS[run.kind] + 1
    if run.is_measured:
        shape += f'<circle class="{classes}" cx="{short(x)}%" cy="{short(y)}" r="{short(radius)}"/>'
    else:
        # A nested drawing moves the square by pixels about a point in per cent.
        side = short(2 * radius)
        shape += (
            f'<svg class="stated" x="{short(x)}%" y="{short(y)}"><rect class="{classes}"'
            f' x="{short(-radius)}" y="{short(-radius)}" width="{side}" height="{side}"/></svg>'
        )
    title = f"{name(run.name)}: {score(run.mean)} for {escape(run.told)}"
    return linked(run.href, title, shape)


def _names(runs: Sequence[Priced], across: LogAxis, up: Axis, steps: Sequence[Stroke]) -> str:
    """Names beside the dots and off the steps, the most asked for first."""
    spots = [
        Spot(across.at(run.cost), up.down(run.mean, HEIGHT), run.name, _label_classes(run))
        for run in sorted(runs, key=_turn)
    ]
    return labels(spots, [*_whiskers(runs, across, up), *steps], HEIGHT)


def _label_classes(run: Priced) -> str:
    return "label strong" if run.is_named or run.kind == "own" else "label"


def _whiskers(runs: Sequence[Priced], across: LogAxis, up: Axis) -> list[Stroke]:
    return [
        Stroke(x, x, up.down(run.high, HEIGHT), up.down(run.low, HEIGHT))
        for run in runs
        for x in [across.at(run.cost)]
    ]


def _turn(run: Priced) -> tuple[bool, bool, bool]:
    """Those of the sentence above are named first, then the reader's and the baseline."""
    return not run.is_named, run.kind == "other", not run.on_front
