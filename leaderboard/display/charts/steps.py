"""The best score over time as steps, with runs and changes of judgments; and as a badge."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol

from django.utils.safestring import SafeString

from leaderboard.display.charts.axes import BELOW, Axis, value_grid
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
from leaderboard.display.numbers import counted, date, score

HEIGHT = 260
HALF_A_DAY = 43_200.0
# From this position on, in per cent, a point is near the right edge.
NEAR = 75


class DatedRun(Protocol):
    """A run with its time, its mean, and the best mean until then."""

    label: str
    at: datetime
    mean: float
    best: float
    kind: Kind


class JudgmentChange(Protocol):
    """A time at which the judgments changed."""

    at: datetime
    version: str


def step_chart(
    runs: Sequence[DatedRun],
    turns: Sequence[JudgmentChange],
    title: str,
    link: Link = no_link,
    noun: str = "run",
) -> SafeString:
    """Return the chart; changes before the first run are not drawn."""
    latest = max(dated.at for dated in (*runs, *turns))
    across, upright = _time_axis(runs[0].at, latest), _value_axis(runs)
    body = value_grid(upright, HEIGHT) + _days(runs[0].at, latest, across)
    body += "".join(_turn(dated, across) for dated in turns if _is_inside(dated, across))
    body += stretch(100, 100, HEIGHT, _steps(runs, across, upright))
    body += "".join(_dot(dated, across, upright, link(dated)) for dated in runs)
    first, last = runs[0], runs[-1]
    summary = (
        f"{counted(len(runs), noun)} from {date(first.at)} to {date(last.at)};"
        f" the best score went from {score(first.best)} to {score(last.best)}."
    )
    return render_plot(title, summary, HEIGHT, body, links=True)


def _time_axis(first: datetime, latest: datetime) -> Axis:
    low, high = first.timestamp(), latest.timestamp()
    room = (high - low) * 0.03 or HALF_A_DAY
    return Axis(low - room, high + room, ())


def _value_axis(runs: Sequence[DatedRun]) -> Axis:
    values = [dated.mean for dated in runs]
    return Axis.around(min(values), max(values), most=5)


def _is_inside(turn: JudgmentChange, across: Axis) -> bool:
    return across.low <= turn.at.timestamp() <= across.high


def _days(first: datetime, last: datetime, across: Axis) -> str:
    """Return the labels of the first and the last day; the table has the others."""
    words = render_text(across.at(first.timestamp()), HEIGHT + BELOW, date(first))
    if first.astimezone(UTC).date() == last.astimezone(UTC).date():
        return words
    return words + render_text(
        across.at(last.timestamp()), HEIGHT + BELOW, date(last), anchor="end"
    )


def _turn(turn: JudgmentChange, across: Axis) -> str:
    x = across.at(turn.at.timestamp())
    # Near the right edge its name has room on the left alone.
    anchor, dx = ("end", -5) if x > NEAR else ("start", 5)
    words = render_text(x, 10, escape_name(f"judgments {turn.version}"), "tick label", anchor, dx)
    return render_line(x, x, 0, HEIGHT, "dashed") + words


def _steps(runs: Sequence[DatedRun], across: Axis, upright: Axis) -> str:
    points = [(across.at(dated.at.timestamp()), upright.down(dated.best, 100)) for dated in runs]
    (x, y), *rest = points
    path = f"M{coord(x)} {coord(y)}" + "".join(f"H{coord(x)}V{coord(y)}" for x, y in rest)
    return f'<path class="curve" d="{path}H100"/>'


def _dot(run: DatedRun, across: Axis, upright: Axis, href: str) -> str:
    x, y = across.at(run.at.timestamp()), upright.down(run.mean, HEIGHT)
    dot = render_dot(x, y, f"dot {run.kind}", RADIUS[run.kind])
    return link_part(href, f"{escape_name(run.label)}, {date(run.at)}: {score(run.mean)}", dot)
