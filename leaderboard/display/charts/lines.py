"""A line per system over collections in their order, with the interval of each score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from leaderboard.display.charts.axes import BELOW, Axis, value_grid
from leaderboard.display.charts.curves import LineName, place_names
from leaderboard.display.charts.drawing import (
    RADIUS,
    Kind,
    coord,
    cut_name,
    escape_name,
    link_part,
    render_dot,
    render_line,
    render_plot,
    render_text,
    stretch,
)
from leaderboard.display.numbers import counted, score

HEIGHT = 300
# The classes of lines: the baseline is dashed, own systems are stronger than others.
CURVES = {"own": "curve own", "baseline": "curve median", "other": "curve named"}
# Of the room between two collections, what the lines of all systems are moved apart, so that
# their intervals are beside each other.
SPREAD = 0.12


@dataclass(frozen=True, slots=True)
class LinePoint:
    """A score on one of the collections, by its place; without an interval both ends are it."""

    place: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SeriesLine:
    name: str
    kind: Kind
    points: Sequence[LinePoint]


def line_chart(labels: Sequence[str], lines: Sequence[SeriesLine], title: str) -> SafeString:
    """Return the chart; every line has a point."""
    ends = [end for line in lines for point in line.points for end in (point.low, point.high)]
    up = Axis.around(min(ends), max(ends), most=6)
    step = 100 / len(labels)
    body = value_grid(up, HEIGHT)
    body += "".join(
        render_text(step * (place + 0.5), HEIGHT + BELOW, escape_name(label), "tick", "middle")
        for place, label in enumerate(labels)
    )
    curves, dots = "", ""
    for number, line in enumerate(lines):
        apart = (number - (len(lines) - 1) / 2) / max(len(lines), 1) * 2 * SPREAD
        across = [step * (point.place + 0.5 + apart) for point in line.points]
        curves += _curve(line, across, up)
        dots += _points(line, across, up, labels)
    names = [
        LineName(
            escape_name(cut_name(line.name)),
            up.down(line.points[-1].value, HEIGHT),
            "label strong" if line.kind == "own" else "label",
        )
        for line in lines
    ]
    body += stretch(100, 100, HEIGHT, curves) + dots + "".join(place_names(names, HEIGHT))
    summary = "; ".join(
        f"{line.name} from {score(line.points[0].value)} to {score(line.points[-1].value)}"
        for line in lines
    )
    described = f"{counted(len(lines), 'system')} on {counted(len(labels), 'date')}: {summary}."
    return render_plot(title, described, HEIGHT, body, "named")


def _curve(line: SeriesLine, across: Sequence[float], up: Axis) -> str:
    points = "L".join(
        f"{coord(x)} {coord(up.down(point.value, 100))}"
        for x, point in zip(across, line.points, strict=True)
    )
    return f'<path class="{CURVES[line.kind]}" d="M{points}"/>'


def _points(line: SeriesLine, across: Sequence[float], up: Axis, labels: Sequence[str]) -> str:
    drawn = ""
    for x, point in zip(across, line.points, strict=True):
        ends = up.down(point.high, HEIGHT), up.down(point.low, HEIGHT)
        shape = render_line(x, x, *ends, "whisker")
        y = up.down(point.value, HEIGHT)
        shape += render_dot(x, y, f"dot {line.kind}", RADIUS[line.kind])
        where = f"{escape_name(line.name)}, {escape_name(labels[point.place])}"
        drawn += link_part("", f"{where}: {score(point.value)}", shape)
    return drawn
