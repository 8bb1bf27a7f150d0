"""Effectiveness against cost: dots with their intervals over a logarithmic axis, and the front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString

from leaderboard.charts.axes import Axis, tick_label
from leaderboard.charts.drawing import (
    RADIUS,
    Anchor,
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
from leaderboard.templatetags.numbers import counted, score

HEIGHT = 340
# Between the outermost runs and the ends of the axis, in per cent.
MARGIN = 4.0
# Names nearer than this to one that is drawn already are left out: the table has all of them.
NEAR_ACROSS, NEAR_ON_A_PHONE, NEAR_DOWN = 9.0, 30.0, 15.0
# From here on names stand at the left of their dots.
MIDDLE = 70.0


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
    body = _grid(across, up)
    body += stretched(100, HEIGHT, HEIGHT, _front(runs, across, up))
    body += "".join(_run(each, across, up) for each in _drawn_last(runs))
    body += _names(runs, across, up)
    body += text(0, 12, escape(measure), "tick", dx=8) + text(100, HEIGHT - 8, unit, "tick", "end")
    told = "; ".join(f"{each.name} {each.told}, {score(each.mean)}" for each in runs)
    description = f"{counted(len(runs), 'run')}, the cheapest first: {told}."
    links = any(each.href for each in runs)
    return plot(drawing(title, description, HEIGHT, body, links=links), "costs")


def _drawn_last(runs: Sequence[Priced]) -> list[Priced]:
    return sorted(runs, key=lambda each: (each.on_front, each.kind == "own"))


def _grid(across: LogAxis, up: Axis) -> str:
    parts = []
    for tick in up.ticks:
        y = up.down(tick, HEIGHT)
        parts.append(
            line(0, 100, y, y, "grid") + text(0, y + 4, tick_label(tick), anchor="end", dx=-8)
        )
    for tick in across.ticks:
        x = across.at(tick)
        parts.append(line(x, x, 0, HEIGHT, "grid"))
        parts.append(text(x, HEIGHT + 16, f"{tick:,.10g}", anchor="middle"))
    return "".join(parts)


def _front(runs: Sequence[Priced], across: LogAxis, up: Axis) -> str:
    """From each run on the front level to where the next better one begins."""
    steps = sorted((each for each in runs if each.on_front), key=lambda each: each.cost)
    if not steps:
        return ""
    ends = [*(across.at(each.cost) for each in steps[1:]), 100.0]
    path = "".join(
        f"{'L' if place else 'M'}{short(across.at(each.cost))} {short(up.down(each.mean, HEIGHT))}"
        f"H{short(end)}"
        for place, (each, end) in enumerate(zip(steps, ends, strict=True))
    )
    return f'<path class="curve front" d="{path}"/>'


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


def _names(runs: Sequence[Priced], across: LogAxis, up: Axis) -> str:
    """Names beside the dots, the most asked for first, as far as they do not meet."""
    taken: list[tuple[float, float]] = []
    parts = []
    for run in sorted(runs, key=lambda each: (not each.is_named, not each.on_front)):
        x, y = across.at(run.cost), up.down(run.mean, HEIGHT)
        near = [abs(x - a) for a, b in taken if abs(y - b) < NEAR_DOWN]
        if min(near, default=100.0) < NEAR_ACROSS:
            continue
        taken.append((x, y))
        classes = "label strong" if run.is_named or run.kind == "own" else "label"
        if min(near, default=100.0) < NEAR_ON_A_PHONE or not run.on_front:
            classes += " opt"
        anchor: Anchor = "end" if x > MIDDLE else "start"
        dx = -7 if x > MIDDLE else 7
        parts.append(text(x, y - 8, name(run.name), classes, anchor, dx))
    return "".join(parts)
