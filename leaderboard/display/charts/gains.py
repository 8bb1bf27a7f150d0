"""Discounted gain by rank: a run, its documents in the best order, and the ideal."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from leaderboard.display.charts.axes import Axis, foot, value_grid
from leaderboard.display.charts.curves import LineName, place_names
from leaderboard.display.charts.drawing import (
    escape_name,
    join_points,
    render_plot,
    render_text,
    stretch,
)
from leaderboard.display.numbers import counted, score

HEIGHT = 200
# Up to this many ranks, each has a tick.
TICKS = 10

Curve = NDArray[np.float64]


class Gains(Protocol):
    """Three cumulated gains over the same ranks, each at least the one before it."""

    own: Curve
    reordered: Curve
    ideal: Curve


def gain_chart(gained: Gains, run: str, title: str) -> SafeString:
    """Return the curves of gain, and areas for the loss by ranking and by retrieval."""
    up = Axis.around(0.0, float(gained.ideal[-1]), most=4)
    curves = _between(gained.reordered, gained.ideal, up, "band-1")
    curves += _between(gained.own, gained.reordered, up, "band-2")
    for values, classes in (
        (gained.ideal, "median"),
        (gained.reordered, "named"),
        (gained.own, "own"),
    ):
        curves += f'<path class="curve {classes}" d="M{_points(values, up)}"/>'
    body = _grid(up, len(gained.own)) + stretch(100, 100, HEIGHT, curves)
    body += render_text(0, 12, "DCG", "tick label", dx=6)
    body += render_text(100, HEIGHT - 6, "rank", "tick label", "end", -6)
    body += "".join(place_names(_line_names(gained, run, up), HEIGHT))
    summary = (
        f"After {counted(len(gained.own), 'rank')} {run} has {score(float(gained.own[-1]))},"
        f" its documents in the best order {score(float(gained.reordered[-1]))},"
        f" the ideal {score(float(gained.ideal[-1]))}."
    )
    return render_plot(title, summary, HEIGHT, body, "named")


def _points(values: Curve, up: Axis) -> str:
    return join_points(up.down(value, 100) for value in values.tolist())


def _between(lower: Curve, upper: Curve, up: Axis, classes: str) -> str:
    back = "L".join(reversed(_points(lower, up).split("L")))
    return f'<path class="{classes}" d="M{_points(upper, up)}L{back}z"/>'


def _grid(up: Axis, last: int) -> str:
    """Return the grid, with labels for some ranks including the first and the last."""
    step = max(last // TICKS, 1)
    named = sorted({1, *range(step, last + 1, step)})
    ranks = ((100 * (rank - 1) / (last - 1), str(rank)) for rank in named)
    return value_grid(up, HEIGHT) + foot(HEIGHT, ranks)


def _line_names(gained: Gains, run: str, up: Axis) -> list[LineName]:
    return [
        LineName("ideal", up.down(float(gained.ideal[-1]), HEIGHT)),
        LineName("re-ordered", up.down(float(gained.reordered[-1]), HEIGHT)),
        LineName(escape_name(run), up.down(float(gained.own[-1]), HEIGHT), "label strong"),
    ]
