"""Effectiveness against cost: dots with their intervals over a logarithmic axis, and the front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString

from leaderboard.charts.axes import Axis
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
    text_width,
)
from leaderboard.charts.grids import foot, value_grid
from leaderboard.templatetags.numbers import counted, score

HEIGHT = 340
# Between the outermost runs and the ends of the axis, in per cent.
MARGIN = 4.0
# How wide the drawing is on a desk and on a phone, and how high a line of words, in pixels.
WIDE, PHONE, LINE = 1150, 320, 12
# Half the room of a dot, in pixels.
DOT = 5


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
    upright = "".join(
        line(x, x, 0, HEIGHT, "grid") for x in (across.at(tick) for tick in across.ticks)
    )
    named = ((across.at(tick), f"{tick:,.10g}") for tick in across.ticks)
    return value_grid(up, HEIGHT) + upright + foot(HEIGHT, named)


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


@dataclass(frozen=True, slots=True)
class Box:
    """What something covers of a drawing, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        beside = self.right <= other.left or other.right <= self.left
        return not beside and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name may stand beside its dot."""

    anchor: Anchor
    dx: float
    dy: float

    def box(self, x: float, y: float, words: str) -> Box:
        width = text_width(words)
        left = x + self.dx - (width if self.anchor == "end" else 0)
        return Box(left, y + self.dy - LINE, left + width, y + self.dy + 3)


PLACES = [
    Place("start", 8, -7),
    Place("end", -8, -7),
    Place("start", 8, 16),
    Place("end", -8, 16),
]


def _names(runs: Sequence[Priced], across: LogAxis, up: Axis) -> str:
    """Names beside the dots, the most asked for first; none over another, and none over a dot."""
    points = [(run, across.at(run.cost), up.down(run.mean, HEIGHT)) for run in runs]
    points.sort(key=lambda each: _turn(each[0]))
    on_desk, on_phone = (
        [Box(x * wide / 100 - DOT, y - DOT, x * wide / 100 + DOT, y + DOT) for _, x, y in points]
        for wide in (WIDE, PHONE)
    )
    parts = []
    for run, x, y in points:
        boxes = [
            (place, place.box(x * WIDE / 100, y, run.name), place.box(x * PHONE / 100, y, run.name))
            for place in PLACES
        ]
        free = [each for each in boxes if _is_free(each[1], on_desk, WIDE)]
        if not free:
            continue
        # On a phone only what matters most, and that where there is room on both.
        both = [each for each in free if _is_free(each[2], on_phone, PHONE)]
        matters = bool(both) and (run.is_named or run.on_front)
        place, wide, small = (both if matters else free)[0]
        on_desk.append(wide)
        if matters:
            on_phone.append(small)
        classes = "label strong" if run.is_named or run.kind == "own" else "label"
        shown = classes if matters else f"{classes} opt"
        parts.append(text(x, y + place.dy, name(run.name), shown, place.anchor, place.dx))
    return "".join(parts)


def _turn(run: Priced) -> tuple[bool, bool, bool]:
    """Those of the sentence above are named first, then the reader's and the baseline."""
    return not run.is_named, run.kind == "other", not run.on_front


def _is_free(box: Box, taken: Sequence[Box], wide: int) -> bool:
    inside = box.left >= 0 and box.right <= wide and box.top >= 0
    return inside and not any(box.meets(other) for other in taken)
