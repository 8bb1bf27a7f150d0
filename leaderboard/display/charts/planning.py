"""The difference that a number of topics detects: a falling line, its band, and boards as dots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from leaderboard.display.charts.axes import Axis, foot, tick_label, value_grid
from leaderboard.display.charts.drawing import (
    coord,
    escape_name,
    link_part,
    render_dot,
    render_line,
    render_plot,
    render_text,
    stretch,
)
from leaderboard.display.charts.labels import NamedDot, place_labels
from leaderboard.display.numbers import count, counted

HEIGHT = 300
# Higher differences than this many times that of the plan are cut off.
MOST_TIMES = 4.0


@dataclass(frozen=True)
class DetectableCurve:
    """The smallest difference that each number of topics detects.

    `low` and `high` are those of the quieter and the noisier pairs of runs; None if not known.
    """

    topics: NDArray[np.float64]
    difference: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class PlannedDot:
    """A number of topics and the difference that it detects; `is_plan` marks what is planned."""

    topics: int
    difference: float
    name: str
    is_plan: bool = False
    href: str = ""


def detectable_chart(curve: DetectableCurve, dots: Sequence[PlannedDot], title: str) -> SafeString:
    """Return a chart with topics to the right and the detectable difference upwards."""
    across = Axis.along(float(curve.topics[0]), float(curve.topics[-1]), most=6)
    shown = [dot for dot in dots if across.low <= dot.topics <= across.high]
    planned = [dot.difference for dot in shown if dot.is_plan]
    highest = float(curve.difference[0] if curve.high is None else curve.high[0])
    highest = min([highest, *(MOST_TIMES * difference for difference in planned)])
    up = Axis.around(0.0, max([highest, *(dot.difference for dot in shown)]), most=5)
    body = value_grid(up, HEIGHT) + stretch(100, 100, HEIGHT, _lines(curve, across, up))
    body += _topic_foot(across) + "".join(_dot(dot, across, up) for dot in shown)
    body += _names(shown, across, up)
    body += render_text(0, 12, "detectable difference ↑", "tick label", dx=6)
    body += render_text(100, HEIGHT - 6, "topics →", "tick label", "end", -6)
    summary = "; ".join(
        f"{dot.name}: {counted(dot.topics, 'topic')}, {tick_label(round(dot.difference, 4))}"
        for dot in shown
    )
    ends = (
        f"From {count(across.low)} to {count(across.high)} topics the detectable difference falls"
        f" from {tick_label(round(float(curve.difference[0]), 4))}"
        f" to {tick_label(round(float(curve.difference[-1]), 4))}."
    )
    links = any(dot.href for dot in shown)
    return render_plot(title, f"{ends} {summary}.", HEIGHT, body, "detectable", links=links)


def _lines(curve: DetectableCurve, across: Axis, up: Axis) -> str:
    band = ""
    if curve.low is not None and curve.high is not None:
        around = [
            *_points(curve.topics, curve.high, across, up),
            *reversed(_points(curve.topics, curve.low, across, up)),
        ]
        band = f'<path class="band-1" d="M{"L".join(around)}z"/>'
    line = "L".join(_points(curve.topics, curve.difference, across, up))
    return f'{band}<path class="curve own" d="M{line}"/>'


def _points(
    topics: NDArray[np.float64], values: NDArray[np.float64], across: Axis, up: Axis
) -> list[str]:
    """Return the points of a line, cut off at the top of the chart."""
    heights = np.minimum(values, up.high)
    return [
        f"{coord(across.at(x))} {coord(up.down(y, 100))}"
        for x, y in zip(topics.tolist(), heights.tolist(), strict=True)
    ]


def _topic_foot(across: Axis) -> str:
    """Return the numbers of topics below the plot: its ends, and ticks that do not touch them."""
    inner = [tick for tick in across.ticks if 8 < across.at(tick) < 92]
    named = [across.low, *inner, across.high]
    return foot(HEIGHT, ((across.at(tick), count(tick)) for tick in named))


def _dot(dot: PlannedDot, across: Axis, up: Axis) -> str:
    x, y = across.at(dot.topics), up.down(dot.difference, HEIGHT)
    shape = render_dot(x, y, "dot other", 4)
    if dot.is_plan:
        shape = render_line(0, x, y, y, "guide") + render_line(x, x, y, HEIGHT, "guide")
        shape += render_dot(x, y, "dot own", 5)
    title = f"{escape_name(dot.name)}: {counted(dot.topics, 'topic')}"
    return link_part(dot.href, title, shape)


def _names(dots: Sequence[PlannedDot], across: Axis, up: Axis) -> str:
    spots = [
        NamedDot(
            across.at(dot.topics),
            up.down(dot.difference, HEIGHT),
            dot.name,
            "label strong" if dot.is_plan else "label",
        )
        for dot in sorted(dots, key=lambda dot: not dot.is_plan)
    ]
    return place_labels(spots, [], HEIGHT)
