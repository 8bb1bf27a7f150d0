"""Two systems on every track of a benchmark: two dots on a line, and what lies between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from leaderboard.display.charts.axes import BELOW, MIDDLE, Axis, score_axis, tick_label
from leaderboard.display.charts.drawing import (
    escape_name,
    link_part,
    name_room_class,
    outer_name,
    render_dot,
    render_line,
    render_plot,
    render_text,
)
from leaderboard.display.numbers import counted, score

PITCH = 24


@dataclass(frozen=True, slots=True)
class DuelLine:
    """A track with the scores of both systems; `side` is better where b is, worse where a is."""

    name: str
    a: float
    b: float
    side: str = ""
    href: str = ""


def duel_chart(lines: Sequence[DuelLine], a: str, b: str, title: str) -> SafeString:
    """Return a row for every track: a ring for a, a dot for b."""
    axis = score_axis([value for line in lines for value in (line.a, line.b)])
    height = PITCH * len(lines)
    body = "".join(_grid(axis, tick, height) for tick in axis.ticks)
    body += "".join(_row(line, place, axis, a, b) for place, line in enumerate(lines))
    ahead = sum(line.side == "better" for line in lines)
    behind = sum(line.side == "worse" for line in lines)
    summary = f"{counted(len(lines), 'track')}: {b} ahead on {ahead}, {a} on {behind}."
    room = name_room_class([line.name for line in lines])
    return render_plot(title, summary, height + BELOW + 4, body, f"heat {room}", links=True)


def _grid(axis: Axis, tick: float, height: float) -> str:
    x = axis.at(tick)
    return render_line(x, x, 0, height, "grid") + render_text(
        x, height + BELOW, tick_label(tick), anchor="middle"
    )


def _row(line: DuelLine, place: int, axis: Axis, a: str, b: str) -> str:
    y = PITCH * (place + 0.5)
    left, right = axis.at(line.a), axis.at(line.b)
    shape = render_line(left, right, y, y, f"moved {line.side}".rstrip())
    shape += render_dot(left, y, f"dot moved {line.side}".rstrip(), 4)
    shape += render_dot(right, y, f"point {line.side}".rstrip(), 4)
    told = f"{escape_name(a)} {score(line.a)}, {escape_name(b)} {score(line.b)}"
    name = outer_name(0, y + MIDDLE, line.name, "label", "end", -8)
    return name + link_part(line.href, f"{escape_name(line.name)}: {told}", shape)
