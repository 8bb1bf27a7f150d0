"""Bump chart: the ranks of every run on several boards, joined by a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from leaderboard.display.charts.drawing import (
    coord,
    escape_name,
    frame_chart,
    link_part,
    name_room_class,
    outer_name,
    render_chart,
    render_line,
    render_text,
    stretch,
)
from leaderboard.display.numbers import counted

PITCH = 20.0
TOP = 24.0


@dataclass(frozen=True, slots=True)
class RankLine:
    """A run with its rank on every board; `kind` is the class of its line."""

    name: str
    places: Sequence[int]
    href: str = ""
    kind: str = ""


def rank_chart(boards: Sequence[str], climbers: Sequence[RankLine], title: str) -> SafeString:
    """Return a chart with a column per board and a line per run, named at its end."""
    deepest = max((max(climber.places) for climber in climbers), default=1)
    height = TOP + PITCH * deepest
    across = [_across(place, len(boards)) for place in range(len(boards))]
    body = "".join(
        render_line(x, x, TOP, height, "grid")
        + render_text(x, TOP - 8, escape_name(board), _board_classes(place), "middle")
        for place, (x, board) in enumerate(zip(across, boards, strict=True))
    )
    drawn_last = sorted(climbers, key=lambda climber: climber.kind)
    curves = "".join(_curve(climber, across) for climber in drawn_last)
    body += stretch(100, height, height, curves)
    body += "".join(_dots_and_name(climber, across) for climber in drawn_last)
    summary = f"{counted(len(climbers), 'run')} on {counted(len(boards), 'board')}: " + "; ".join(
        f"{climber.name} {', '.join(map(str, climber.places))}" for climber in climbers
    )
    links = any(climber.href for climber in climbers)
    room = name_room_class([climber.name for climber in climbers])
    return frame_chart(
        render_chart(title, summary + ".", height, body, links=links), f"bumps {room}"
    )


def _across(place: int, boards: int) -> float:
    return 100 * place / (boards - 1) if boards > 1 else 50.0


def _down(place: int) -> float:
    return TOP + PITCH * (place - 0.5)


def _board_classes(place: int) -> str:
    """Return classes that hide every second name on a phone; the table has all names."""
    return "label opt" if place % 2 else "label"


def _curve(climber: RankLine, across: Sequence[float]) -> str:
    points = "L".join(
        f"{coord(x)} {coord(_down(place))}" for x, place in zip(across, climber.places, strict=True)
    )
    return f'<path class="{f"curve climb {climber.kind}".rstrip()}" d="M{points}"/>'


def _dots_and_name(climber: RankLine, across: Sequence[float]) -> str:
    dots = "".join(
        f'<circle class="{f"climb {climber.kind}".rstrip()}" cx="{coord(x)}%"'
        f' cy="{coord(_down(place))}" r="3.5"/>'
        for x, place in zip(across, climber.places, strict=True)
    )
    first, last = climber.places[0], climber.places[-1]
    words = render_text(0, _down(first) + 4, str(first), anchor="end", dx=-10)
    classes = "label strong" if climber.kind == "own" else "label"
    words += outer_name(100, _down(last) + 4, climber.name, classes, dx=10)
    title = f"{escape_name(climber.name)}: {', '.join(map(str, climber.places))}"
    return link_part(climber.href, title, dots + words)
