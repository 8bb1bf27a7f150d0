"""Discounted gain rank by rank: a run, its documents in the best order, and the ideal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from leaderboard.display.charts.axes import Axis, foot, value_grid
from leaderboard.display.charts.curves import Ending, named
from leaderboard.display.charts.drawing import drawing, name, plot, short, stretched, text
from leaderboard.display.numbers import score

HEIGHT = 200
# So many ranks have a tick of their own.
TICKS = 10

Curve = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gained:
    """Three cumulated gains over the same ranks, each at least the one before it."""

    run: str
    own: Curve
    reordered: Curve
    ideal: Curve


def gain_chart(gained: Gained, title: str) -> SafeString:
    """Between the curves lie what ranking lost, darker, and what retrieval lost."""
    up = Axis.around(0.0, float(gained.ideal[-1]), most=4)
    curves = _between(gained.reordered, gained.ideal, up, "band-1")
    curves += _between(gained.own, gained.reordered, up, "band-2")
    for values, classes in (
        (gained.ideal, "median"),
        (gained.reordered, "named"),
        (gained.own, "own"),
    ):
        curves += f'<path class="curve {classes}" d="M{_path(values, up)}"/>'
    body = _grid(up, len(gained.own)) + stretched(100, 100, HEIGHT, curves)
    body += text(0, 12, "DCG", "tick label", dx=6)
    body += text(100, HEIGHT - 6, "rank", "tick label", "end", -6)
    body += "".join(named(_endings(gained, up), HEIGHT))
    told = (
        f"After {len(gained.own)} ranks {gained.run} has {score(float(gained.own[-1]))},"
        f" its documents in the best order {score(float(gained.reordered[-1]))},"
        f" the ideal {score(float(gained.ideal[-1]))}."
    )
    return plot(drawing(title, told, HEIGHT, body), "named")


def _path(values: Curve, up: Axis) -> str:
    across = np.linspace(0, 100, len(values))
    return "L".join(
        f"{short(x)} {short(up.down(y, 100))}" for x, y in zip(across, values.tolist(), strict=True)
    )


def _between(lower: Curve, upper: Curve, up: Axis, classes: str) -> str:
    back = "L".join(reversed(_path(lower, up).split("L")))
    return f'<path class="{classes}" d="M{_path(upper, up)}L{back}z"/>'


def _grid(up: Axis, last: int) -> str:
    """Some ranks have their number, the first and the last among them."""
    step = max(last // TICKS, 1)
    named = sorted({1, *range(step, last + 1, step)})
    ranks = ((100 * (rank - 1) / (last - 1), str(rank)) for rank in named)
    return value_grid(up, HEIGHT) + foot(HEIGHT, ranks)


def _endings(gained: Gained, up: Axis) -> list[Ending]:
    return [
        Ending("ideal", up.down(float(gained.ideal[-1]), HEIGHT)),
        Ending("re-ordered", up.down(float(gained.reordered[-1]), HEIGHT)),
        Ending(name(gained.run), up.down(float(gained.own[-1]), HEIGHT), "label strong"),
    ]
