"""Precision at eleven recall levels: a run, the best run, and bands of all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from leaderboard.display.charts.axes import Axis, axis_foot, tick_label, value_grid
from leaderboard.display.charts.drawing import (
    coord,
    escape_name,
    render_plot,
    render_text,
    stretch,
)
from leaderboard.display.numbers import counted, score

HEIGHT = 272
APART = 14

Curve = NDArray[np.float64]


@dataclass(frozen=True)
class RecallCurves:
    """Precision at evenly spaced recall from 0 to 1; `runs` has a row for each other run."""

    run: str
    own: Curve
    runs: Curve
    best_run: str = ""
    best: Curve | None = None
    # The recall and the precision at each relevant document, for the curve of a single topic.
    points: Sequence[tuple[float, float]] = ()

    @property
    def levels(self) -> NDArray[np.float64]:
        return np.linspace(0, 1, len(self.own))


@dataclass(frozen=True, slots=True)
class LineName:
    """The name of a line, and the height where the line ends."""

    words: str
    y: float
    classes: str = "label"


def recall_curves(curves: RecallCurves, title: str) -> SafeString:
    """Return the curve of a run over the bands of all runs and of their middle half."""
    drawn = [curves.own, *curves.runs, *([] if curves.best is None else [curves.best])]
    highest = max([*(precision for _, precision in curves.points), *map(np.max, drawn)])
    axis = Axis.around(0.0, float(highest) or 1.0, most=5)
    lines = [stretch(100, 100, HEIGHT, _bands(curves, axis) + _lines(curves, axis))]
    body = value_grid(axis, HEIGHT) + axis_foot(Axis.around(0, 1), HEIGHT) + "".join(lines)
    body += _dots(curves, axis) + _axis_names() + "".join(place_names(_line_names(curves, axis)))
    summary = ", ".join(
        f"{score(value)} at {tick_label(level, 1)}"
        for level, value in zip(curves.levels, curves.own, strict=True)
    )
    description = f"Precision of {curves.run} by recall: {summary}."
    return render_plot(title, description, HEIGHT, body, "named")


def _axis_names() -> str:
    """Return the names of the axes, at the bottom where curves are rare."""
    return render_text(0, HEIGHT - 6, "precision ↑", "tick label", dx=6) + render_text(
        100, HEIGHT - 6, "recall →", "tick label", "end", -6
    )


def _points(values: Curve, axis: Axis) -> list[str]:
    across = np.linspace(0, 100, len(values))
    return [f"{coord(x)} {coord(axis.down(y, 100))}" for x, y in zip(across, values, strict=True)]


def _bands(curves: RecallCurves, axis: Axis) -> str:
    if len(curves.runs) == 0:
        return ""
    low, q1, q3, high = np.percentile(curves.runs, [0, 25, 75, 100], axis=0)
    paths = []
    for bottom, top, classes in ((low, high, "band-1"), (q1, q3, "band-2")):
        around = [*_points(top, axis), *reversed(_points(bottom, axis))]
        paths.append(f'<path class="{classes}" d="M{"L".join(around)}z"/>')
    return "".join(paths)


def _lines(curves: RecallCurves, axis: Axis) -> str:
    drawn = [(curves.best, "named")] if curves.best is not None else []
    if len(curves.runs):
        drawn.append((np.median(curves.runs, axis=0), "median"))
    drawn.append((curves.own, "own"))
    return "".join(
        f'<path class="curve {classes}" d="M{"L".join(_points(values, axis))}"/>'
        for values, classes in drawn
    )


def _dots(curves: RecallCurves, axis: Axis) -> str:
    return "".join(
        f'<circle class="dot mean" cx="{coord(100 * recall)}%"'
        f' cy="{coord(axis.down(precision, HEIGHT))}" r="3"/>'
        for recall, precision in curves.points
    )


def _line_names(curves: RecallCurves, axis: Axis) -> list[LineName]:
    def end(values: Curve) -> float:
        return axis.down(float(values[-1]), HEIGHT)

    endings = [LineName(escape_name(curves.run), end(curves.own), "label strong")]
    if curves.best is not None:
        endings.append(LineName(f"{escape_name(curves.best_run)}, best", end(curves.best)))
    if len(curves.runs):
        endings.append(LineName("median", end(np.median(curves.runs, axis=0))))
        words = f"all {counted(len(curves.runs), 'run')}"
        endings.append(LineName(words, end(curves.runs.min(axis=0)), "tick"))
    return endings


def place_names(endings: Sequence[LineName], height: float = HEIGHT) -> list[str]:
    """Return the names from the bottom up, each at least a line above the one below."""
    parts, floor = [], float(height)
    for ending in sorted(endings, key=lambda ending: -ending.y):
        y = min(ending.y + 4, floor)
        floor = y - APART
        parts.append(render_text(100, y, ending.words, ending.classes, dx=8))
    return parts
