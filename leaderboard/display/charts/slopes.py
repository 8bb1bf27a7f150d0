"""Slopes and bumps: the runs of two or more boards, each joined by a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from django.utils.safestring import SafeString

from leaderboard.display.charts.drawing import (
    Link,
    coord,
    escape_name,
    link_part,
    name_room_class,
    no_link,
    outer_name,
    render_dot,
    render_line,
    render_plot,
    render_text,
    stretch,
)
from leaderboard.display.numbers import counted

# The height of a row of both tables, as in the style sheet.
ROW = 32.0


@dataclass(frozen=True, slots=True)
class Slope:
    """A run with its rows on both sides, from 1 on; `side` is better, worse or "" (small)."""

    name: str
    left: int
    right: int
    side: str = ""


def slope_chart(slopes: Sequence[Slope], title: str) -> SafeString:
    """Return the lines between two tables; coloured ones are drawn last."""
    height = ROW * max((max(each.left, each.right) for each in slopes), default=1)
    drawn = sorted(slopes, key=lambda each: bool(each.side))
    lines = "".join(_line(each) for each in drawn)
    dots = "".join(
        render_dot(x, _middle(row), f"slope-end {each.side}".rstrip(), 3)
        for each in drawn
        for x, row in ((0, each.left), (100, each.right))
    )
    summary = f"{counted(len(slopes), 'run')}: " + "; ".join(
        f"{each.name} from row {each.left} to {each.right}" for each in slopes
    )
    return render_plot(title, summary, height, stretch(100, height, height, lines) + dots)


def _line(each: Slope) -> str:
    classes = f"slope {each.side}".rstrip()
    path = f"M0 {coord(_middle(each.left))}L100 {coord(_middle(each.right))}"
    return f'<path class="{classes}" d="{path}"><title>{escape_name(each.name)}</title></path>'


def _middle(row: int) -> float:
    return ROW * (row - 0.5)


PITCH = 20.0
TOP = 24.0


class RankLine(Protocol):
    """A run with its rank on every board; `kind` is the class of its line."""

    name: str
    places: Sequence[int]
    kind: str


def rank_chart(
    boards: Sequence[str], climbers: Sequence[RankLine], title: str, link: Link = no_link
) -> SafeString:
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
    body += "".join(_dots_and_name(climber, across, link(climber)) for climber in drawn_last)
    places = "; ".join(f"{line.name} {', '.join(map(str, line.places))}" for line in climbers)
    summary = f"{counted(len(climbers), 'run')} on {counted(len(boards), 'board')}: {places}."
    room = name_room_class([climber.name for climber in climbers])
    return render_plot(title, summary, height, body, f"bumps {room}", links=link is not no_link)


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


def _dots_and_name(climber: RankLine, across: Sequence[float], href: str) -> str:
    classes = f"climb {climber.kind}".rstrip()
    dots = "".join(
        render_dot(x, _down(place), classes, 3.5)
        for x, place in zip(across, climber.places, strict=True)
    )
    first, last = climber.places[0], climber.places[-1]
    words = render_text(0, _down(first) + 4, str(first), anchor="end", dx=-10)
    classes = "label strong" if climber.kind == "own" else "label"
    words += outer_name(100, _down(last) + 4, climber.name, classes, dx=10)
    title = f"{escape_name(climber.name)}: {', '.join(map(str, climber.places))}"
    return link_part(href, title, dots + words)
