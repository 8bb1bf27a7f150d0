"""The spread of all runs on every topic: box plots, or bands for many topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.html import escape
from django.utils.safestring import SafeString

from leaderboard.display.charts.axes import UNIT, Axis, from_easy_to_hard, value_grid
from leaderboard.display.charts.drawing import (
    coord,
    escape_name,
    frame_chart,
    link_part,
    render_chart,
    render_line,
    render_text,
    stretch,
)
from leaderboard.display.numbers import counted, score

HEIGHT = 220
# More topics than this are bands, for a box would be thinner than its lines.
BOXES = 150
WIDEST = 1.6


@dataclass(frozen=True, slots=True)
class Box:
    """The lowest, the quartiles and the highest score of all runs on a topic."""

    number: str
    low: float
    first: float
    median: float
    third: float
    high: float
    href: str = ""


def box_plot(boxes: Sequence[Box], title: str, measure: str) -> SafeString:
    """Return a box plot per topic: range, middle half and median."""
    boxes = [box for box in boxes if np.isfinite(box.median)]
    ends = [end for box in boxes for end in (box.low, box.high)]
    within = all(0 <= end <= 1 for end in ends)
    up = UNIT if within else Axis.around(min(0.0, *ends), max(0.0, *ends))
    body = value_grid(up, HEIGHT) + from_easy_to_hard(HEIGHT)
    drawn = len(boxes) <= BOXES
    body += _boxes(boxes, up) if drawn else _bands(boxes, up)
    body += render_text(100, 12, escape(measure), "tick label", "end")
    summary = f"{counted(len(boxes), 'topic')}, the highest median first."
    return frame_chart(render_chart(title, summary, HEIGHT, body, links=drawn), "boxes")


def _boxes(boxes: Sequence[Box], up: Axis) -> str:
    step = 100 / max(len(boxes), 1)
    return "".join(_box(box, place * step, step, up) for place, box in enumerate(boxes))


def _box(box: Box, left: float, step: float, up: Axis) -> str:
    wide = min(0.7 * step, WIDEST)
    middle, start, end = left + step / 2, left + (step - wide) / 2, left + (step + wide) / 2
    values = (box.low, box.first, box.median, box.third, box.high)
    low, first, median, third, high = (up.down(value, HEIGHT) for value in values)
    body = (
        f'<rect class="hit" x="{coord(left)}%" y="0" width="{coord(step)}%" height="{HEIGHT}"/>'
        + render_line(middle, middle, high, low, "spread")
        + f'<rect class="box" x="{coord(start)}%" y="{coord(third)}" width="{coord(wide)}%"'
        f' height="{coord(first - third)}"/>' + render_line(start, end, median, median, "middle")
    )
    summary = f"topic {escape_name(box.number)}: {', '.join(score(value, 3) for value in values)}"
    return link_part(box.href, summary, body)


def _bands(boxes: Sequence[Box], up: Axis) -> str:
    """Return bands for all runs and their middle half, and a line for the median."""
    all_runs = _between([box.high for box in boxes], [box.low for box in boxes], up)
    half = _between([box.third for box in boxes], [box.first for box in boxes], up)
    median = "L".join(_points([box.median for box in boxes], up))
    paths = (
        f'<path class="band-1" d="{all_runs}"/><path class="band-2" d="{half}"/>'
        f'<path class="curve own" d="M{median}"/>'
    )
    return stretch(len(boxes) - 1, HEIGHT, HEIGHT, paths)


def _between(upper: Sequence[float], lower: Sequence[float], up: Axis) -> str:
    return f"M{'L'.join([*_points(upper, up), *reversed(_points(lower, up))])}z"


def _points(values: Sequence[float], up: Axis) -> list[str]:
    return [f"{place} {coord(up.down(value, HEIGHT))}" for place, value in enumerate(values)]
