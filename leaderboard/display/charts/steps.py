"""The best score over time as steps, every run as a dot, and what changed the judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.safestring import SafeString

from leaderboard.display.charts.axes import BELOW, Axis, value_grid
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
from leaderboard.display.numbers import counted, date, score

HEIGHT = 260
HALF_A_DAY = 43_200.0
# From so many per cent on a place is near the right edge.
NEAR = 75


@dataclass(frozen=True, slots=True)
class Dated:
    """A run at its time, with the best value until then."""

    at: datetime
    value: float
    best: float
    name: str
    kind: Kind = "other"
    href: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A moment from which on something else holds."""

    at: datetime
    name: str


def step_chart(runs: Sequence[Dated], turns: Sequence[Turn], title: str) -> SafeString:
    """Time goes to the right; a turn before the first run is not drawn."""
    latest = max(each.at for each in (*runs, *turns))
    across, upright = _time_axis(runs[0].at, latest), _value_axis(runs)
    body = value_grid(upright, HEIGHT) + _days(runs[0].at, latest, across)
    body += "".join(_turn(each, across) for each in turns if _is_inside(each, across))
    body += stretched(100, 100, HEIGHT, _steps(runs, across, upright))
    body += "".join(_dot(each, across, upright) for each in runs)
    first, last = runs[0], runs[-1]
    told = (
        f"{counted(len(runs), 'run')} from {date(first.at)} to {date(last.at)};"
        f" the best score went from {score(first.best)} to {score(last.best)}."
    )
    return plot(drawing(title, told, HEIGHT, body, links=True))


def _time_axis(first: datetime, latest: datetime) -> Axis:
    low, high = first.timestamp(), latest.timestamp()
    room = (high - low) * 0.03 or HALF_A_DAY
    return Axis(low - room, high + room, ())


def _value_axis(runs: Sequence[Dated]) -> Axis:
    values = [each.value for each in runs]
    return Axis.around(min(values), max(values), most=5)


def _is_inside(turn: Turn, across: Axis) -> bool:
    return across.low <= turn.at.timestamp() <= across.high


def _days(first: datetime, last: datetime, across: Axis) -> str:
    """The first and the last day; between them the table says when."""
    words = text(across.at(first.timestamp()), HEIGHT + BELOW, date(first))
    if first.astimezone(UTC).date() == last.astimezone(UTC).date():
        return words
    return words + text(across.at(last.timestamp()), HEIGHT + BELOW, date(last), anchor="end")


def _turn(turn: Turn, across: Axis) -> str:
    x = across.at(turn.at.timestamp())
    # Near the right edge its name has room on the left alone.
    anchor, dx = ("end", -5) if x > NEAR else ("start", 5)
    words = text(x, 10, name(turn.name), "tick label", anchor, dx)
    return line(x, x, 0, HEIGHT, "dashed") + words


def _steps(runs: Sequence[Dated], across: Axis, upright: Axis) -> str:
    points = [(across.at(each.at.timestamp()), upright.down(each.best, 100)) for each in runs]
    (x, y), *rest = points
    path = f"M{short(x)} {short(y)}" + "".join(f"H{short(x)}V{short(y)}" for x, y in rest)
    return f'<path class="curve" d="{path}H100"/>'


def _dot(run: Dated, across: Axis, upright: Axis) -> str:
    x, y = across.at(run.at.timestamp()), upright.down(run.value, HEIGHT)
    dot = (
        f'<circle class="dot {run.kind}" cx="{short(x)}%" cy="{short(y)}" r="{RADIUS[run.kind]}"/>'
    )
    return linked(run.href, f"{name(run.name)}, {date(run.at)}: {score(run.value)}", dot)
