"""Effectiveness against cost, a parameter or another measure, with intervals and the front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from django.utils.html import escape
from django.utils.safestring import SafeString

from leaderboard.display.charts.axes import Axis, foot, value_grid
from leaderboard.display.charts.drawing import (
    RADIUS,
    Kind,
    Link,
    coord,
    escape_name,
    link_part,
    no_link,
    render_dot,
    render_line,
    render_plot,
    render_text,
    stretch,
)
from leaderboard.display.charts.labels import NamedDot, Stroke, place_labels
from leaderboard.display.numbers import MINUS, counted, score

HEIGHT = 340
# Between the outermost runs and the ends of the axis, in per cent.
MARGIN = 4.0

# Up to this many names are tried; more would take longer than the page.
MOST_NAMED = 40


class Across(Protocol):
    """An axis to the right: places in per cent, and labelled ticks."""

    def at(self, value: float) -> float: ...
    @property
    def labels(self) -> list[tuple[float, str]]:
        """The ticks as places in per cent, each with its label."""
        ...


class PricedRun(Protocol):
    """A run with its cost, its mean and the interval of the mean."""

    name: str
    cost: float
    cost_text: str
    mean: float
    low: float
    high: float
    # The interval of what is across; empty for a cost.
    left: float
    right: float
    on_front: bool
    is_measured: bool
    # Named before others, and in bold.
    is_named: bool
    kind: Kind


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic axis."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float]) -> LogAxis:
        """Return an axis with a margin around the values.

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
        """Return the position of a value, in per cent from the left."""
        return 100 * (math.log10(value) - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        """Return powers of ten, and 2 and 5 times those if they are few.

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

    @property
    def labels(self) -> list[tuple[float, str]]:
        return [(self.at(tick), f"{tick:,.10g}") for tick in self.ticks]


@dataclass(frozen=True, slots=True)
class NumberAxis:
    """An axis of equal steps, with a margin around the values."""

    axis: Axis

    @classmethod
    def over(cls, values: Sequence[float]) -> NumberAxis:
        room = (max(values) - min(values)) * MARGIN / (100 - 2 * MARGIN)
        return cls(Axis.around(min(values) - room, max(values) + room, most=6))

    def at(self, value: float) -> float:
        return self.axis.at(value)

    @property
    def labels(self) -> list[tuple[float, str]]:
        return [(self.at(tick), f"{tick:,.6g}".replace("-", MINUS)) for tick in self.axis.ticks]


@dataclass(frozen=True, slots=True)
class WordAxis:
    """An axis of words, each in the middle of its part."""

    words: Sequence[str]

    def at(self, value: float) -> float:
        """Return the place of the word of this number.

        >>> WordAxis(["base", "large"]).at(1)
        75.0
        """
        return 100 * (value + 0.5) / len(self.words)

    @property
    def labels(self) -> list[tuple[float, str]]:
        most = max(4, 96 // max(len(self.words), 1))
        return [(self.at(place), word[:most]) for place, word in enumerate(self.words)]


def axis_across(
    values: Sequence[float], words: Sequence[str] = (), *, is_measure: bool = False
) -> Across:
    """Return the axis of words, of numbers, or of numbers over more than a power of ten."""
    if words:
        return WordAxis(words)
    is_wide = not is_measure and min(values) > 0 and max(values) >= 10 * min(values)
    return LogAxis.over(values) if is_wide else NumberAxis.over(values)


def cost_chart(
    runs: Sequence[PricedRun],
    unit: str,
    measure: str,
    title: str,
    link: Link = no_link,
    across: Across | None = None,
    joins_front: bool = True,
) -> SafeString:
    """Return a chart with the cost to the right and the mean upwards; steps join the front."""
    across = across or LogAxis.over([priced.cost for priced in runs])
    up = Axis.around(
        min(priced.low for priced in runs), max(priced.high for priced in runs), most=5
    )
    steps = _steps(runs, across, up) if joins_front else []
    body = _grid(across, up)
    body += stretch(100, HEIGHT, HEIGHT, _front(steps))
    body += "".join(_run(priced, across, up, link(priced)) for priced in _sort_for_drawing(runs))
    body += _names(runs, across, up, steps)
    body += render_text(0, 12, escape(measure), "tick", dx=8) + render_text(
        100, HEIGHT - 8, unit, "tick", "end"
    )
    summary = "; ".join(
        f"{priced.name} {priced.cost_text}, {score(priced.mean)}" for priced in runs
    )
    order = ", the cheapest first" if joins_front else ""
    description = f"{counted(len(runs), 'run')}{order}: {summary}."
    return render_plot(title, description, HEIGHT, body, "costs", links=link is not no_link)


def _sort_for_drawing(runs: Sequence[PricedRun]) -> list[PricedRun]:
    return sorted(runs, key=lambda priced: (priced.on_front, priced.kind == "own"))


def _grid(across: Across, up: Axis) -> str:
    labels = across.labels
    upright = "".join(render_line(x, x, 0, HEIGHT, "grid") for x, _ in labels)
    named = ((x, escape(label)) for x, label in labels)
    return value_grid(up, HEIGHT) + upright + foot(HEIGHT, named)


def _steps(runs: Sequence[PricedRun], across: Across, up: Axis) -> list[Stroke]:
    """Return the steps of the front, from each run to the next better one."""
    front = sorted((priced for priced in runs if priced.on_front), key=lambda priced: priced.cost)
    corners = [(across.at(priced.cost), up.down(priced.mean, HEIGHT)) for priced in front]
    ends = [*corners[1:], (100.0, corners[-1][1])] if corners else []
    strokes = []
    for (x, y), (end, level) in zip(corners, ends, strict=True):
        strokes += [Stroke(x, end, y, y), Stroke(end, end, y, level)]
    return strokes


def _front(steps: Sequence[Stroke]) -> str:
    path = "".join(
        f"{'L' if place else 'M'}{coord(priced.x1)} {coord(priced.y1)}H{coord(priced.x2)}"
        for place, priced in enumerate(steps[::2])
    )
    return f'<path class="curve front" d="{path}"/>' if path else ""


def _run(run: PricedRun, across: Across, up: Axis, href: str) -> str:
    x, y = across.at(run.cost), up.down(run.mean, HEIGHT)
    shape = render_line(x, x, up.down(run.high, HEIGHT), up.down(run.low, HEIGHT), "whisker")
    if run.left < run.right:
        shape += render_line(across.at(run.left), across.at(run.right), y, y, "whisker")
    classes = f"dot {run.kind}" + ("" if run.on_front else " beaten")
    radius = RADIUS[run.kind] + 1
    if run.is_measured:
        shape += render_dot(x, y, classes, radius)
    else:
        # A nested drawing moves the square by pixels about a point in per cent.
        side = coord(2 * radius)
        shape += (
            f'<svg class="stated" x="{coord(x)}%" y="{coord(y)}"><rect class="{classes}"'
            f' x="{coord(-radius)}" y="{coord(-radius)}" width="{side}" height="{side}"/></svg>'
        )
    title = f"{escape_name(run.name)}: {score(run.mean)} for {escape(run.cost_text)}"
    return link_part(href, title, shape)


def _names(runs: Sequence[PricedRun], across: Across, up: Axis, steps: Sequence[Stroke]) -> str:
    """Return the names beside the dots and off the steps, the most important first."""
    spots = [
        NamedDot(across.at(run.cost), up.down(run.mean, HEIGHT), run.name, _label_classes(run))
        for run in sorted(runs, key=_turn)[:MOST_NAMED]
    ]
    return place_labels(spots, [*_whiskers(runs, across, up), *steps], HEIGHT)


def _label_classes(run: PricedRun) -> str:
    return "label strong" if run.is_named or run.kind == "own" else "label"


def _whiskers(runs: Sequence[PricedRun], across: Across, up: Axis) -> list[Stroke]:
    return [
        Stroke(x, x, up.down(run.high, HEIGHT), up.down(run.low, HEIGHT))
        for run in runs
        for x in [across.at(run.cost)]
    ]


def _turn(run: PricedRun) -> tuple[bool, bool, bool]:
    """Return the order of naming: runs of the text first, then own runs and the baseline."""
    return not run.is_named, run.kind == "other", not run.on_front
