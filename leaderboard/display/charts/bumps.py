"""Bump chart: the places of every run on several boards, joined by a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from leaderboard.display.charts.drawing import (
    drawing,
    edge_name,
    line,
    linked,
    name,
    plot,
    room_for,
    short,
    stretched,
    text,
)
from leaderboard.display.numbers import counted

PITCH = 20.0
TOP = 24.0


@dataclass(frozen=True, slots=True)
class Climber:
    """A run with its place on every board, from 1; `kind` is the class of its line."""

    name: str
    places: Sequence[int]
    href: str = ""
    kind: str = ""


def bumps(boards: Sequence[str], climbers: Sequence[Climber], title: str) -> SafeString:
    """A column a board, a line a run; the places at the left, the names where the lines end."""
    deepest = max((max(each.places) for each in climbers), default=1)
    height = TOP + PITCH * deepest
    across = [_across(place, len(boards)) for place in range(len(boards))]
    body = "".join(
        line(x, x, TOP, height, "grid")
        + text(x, TOP - 8, name(board), _board_classes(place), "middle")
        for place, (x, board) in enumerate(zip(across, boards, strict=True))
    )
    drawn_last = sorted(climbers, key=lambda each: each.kind)
    curves = "".join(_curve(each, across) for each in drawn_last)
    body += stretched(100, height, height, curves)
    body += "".join(_dots_and_name(each, across) for each in drawn_last)
    told = f"{counted(len(climbers), 'run')} on {counted(len(boards), 'board')}: " + "; ".join(
        f"{each.name} {', '.join(map(str, each.places))}" for each in climbers
    )
    links = any(each.href for each in climbers)
    room = room_for([each.name for each in climbers])
    return plot(drawing(title, told + ".", height, body, links=links), f"bumps {room}")


def _across(place: int, boards: int) -> float:
    return 100 * place / (boards - 1) if boards > 1 else 50.0


def _down(place: int) -> float:
    return TOP + PITCH * (place - 0.5)


def _board_classes(place: int) -> str:
    """A phone has no room for every second name; the table has all of them."""
    return "label opt" if place % 2 else "label"


def _curve(climber: Climber, across: Sequence[float]) -> str:
    points = "L".join(
        f"{short(x)} {short(_down(place))}" for x, place in zip(across, climber.places, strict=True)
    )
    return f'<path class="{f"curve climb {climber.kind}".rstrip()}" d="M{points}"/>'


def _dots_and_name(climber: Climber, across: Sequence[float]) -> str:
    dots = "".join(
        f'<circle class="{f"climb {climber.kind}".rstrip()}" cx="{short(x)}%"'
        f' cy="{short(_down(place))}" r="3.5"/>'
        for x, place in zip(across, climber.places, strict=True)
    )
    first, last = climber.places[0], climber.places[-1]
    words = text(0, _down(first) + 4, str(first), anchor="end", dx=-10)
    classes = "label strong" if climber.kind == "own" else "label"
    words += edge_name(100, _down(last) + 4, climber.name, classes, dx=10)
    title = f"{name(climber.name)}: {', '.join(map(str, climber.places))}"
    return linked(climber.href, title, dots + words)
