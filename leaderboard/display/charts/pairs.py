"""Comparison of two runs: interval of the difference, scores by topic, ranks of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from leaderboard.display.charts.axes import Axis, axis_foot, upright_grid, value_grid
from leaderboard.display.charts.drawing import (
    Link,
    coord,
    cut_name,
    escape_name,
    link_part,
    no_link,
    render_dot,
    render_line,
    render_plot,
    render_text,
    say_drawn,
    thin_out,
)
from leaderboard.display.numbers import interval, score, signed

INTERVAL_HEIGHT = 38
SCATTER_HEIGHT = 380
PITCH = 10.0
MIDDLE = 4.56
STUB = 12


@dataclass(frozen=True, slots=True)
class Point:
    """One topic with the scores of both runs."""

    number: str
    a: float
    b: float

    @property
    def side(self) -> str:
        return "better" if self.a > self.b else "worse" if self.a < self.b else "same"


def difference_interval(
    difference: float, low: float, high: float, title: str, negligible: float | None = None
) -> SafeString:
    """Return a difference with its 95 % interval; the negligible range is shaded."""
    reach = max(abs(low), abs(high), negligible or 0.0) or 0.01
    axis = Axis.around(-reach, reach, most=4)
    middle = INTERVAL_HEIGHT / 2
    body = ""
    if negligible:
        x, width = axis.at(-negligible), axis.at(negligible) - axis.at(-negligible)
        body += (
            f'<rect class="shade" x="{coord(x)}%" y="0" width="{coord(width)}%"'
            f' height="{INTERVAL_HEIGHT}"/>'
        )
    body += upright_grid(axis, INTERVAL_HEIGHT) + axis_foot(axis, INTERVAL_HEIGHT, sign=True)
    body += render_line(axis.at(low), axis.at(high), middle, middle, "strip")
    body += f'<circle class="dot mean" cx="{coord(axis.at(difference))}%" cy="{middle}" r="4"/>'
    summary = f"{signed(difference)}, 95 % interval {interval(low, high)}."
    return render_plot(title, summary, INTERVAL_HEIGHT, body, "interval")


def scatter(
    points: Sequence[Point],
    title: str,
    run_a: str,
    run_b: str,
    current: str = "",
    link: Link = no_link,
) -> SafeString:
    """Return a point per topic by the scores of both runs; equal scores are on the diagonal.

    Of thousands of topics some are drawn, evenly spaced in their order, and always the current one.
    """
    axis = Axis.around(0, max([1.0, *(max(point.a, point.b) for point in points)]))
    drawn = thin_out(points)
    shown = say_drawn(len(drawn), len(points), "topic")
    drawn = [*drawn, *(each for each in points if each.number == current and each not in drawn)]
    wins = sum(point.side == "better" for point in points)
    losses = sum(point.side == "worse" for point in points)
    above, below = (escape_name(cut_name(run)) for run in (run_a, run_b))
    ground = SCATTER_HEIGHT - 10
    body = [
        _square_grid(axis),
        f'<line class="dashed" x1="0%" x2="100%" y1="{SCATTER_HEIGHT}" y2="0"/>',
        *(_point(point, axis, link(point), point.number == current) for point in drawn),
        render_text(0, 14, f"▲ {above} better on {wins}", "side better", dx=8),
        render_text(100, ground, f"▼ {below} better on {losses}", "side worse", "end", -8),
    ]
    if len(drawn) < len(points):
        body.append(render_text(0, 34, f"{shown} drawn", "tick label", dx=8))
    summary = f"{shown}; {run_a} is better on {wins}, {run_b} on {losses}."
    links = link is not no_link
    return render_plot(title, summary, SCATTER_HEIGHT, "".join(body), "scatter", links=links)


def _point(point: Point, axis: Axis, href: str, is_current: bool) -> str:
    x, y = axis.at(point.b), axis.down(point.a, SCATTER_HEIGHT)
    shape = render_dot(x, y, f"point {point.side}", 3)
    if is_current:
        shape += render_dot(x, y, "ring", 6)
        shape += render_text(x, y + 4, escape_name(point.number), "label strong", "start", 10)
    name = escape_name(point.number)
    return link_part(href, f"topic {name}: {score(point.a)} against {score(point.b)}", shape)


def _square_grid(axis: Axis) -> str:
    upright = upright_grid(axis, SCATTER_HEIGHT)
    return value_grid(axis, SCATTER_HEIGHT) + upright + axis_foot(axis, SCATTER_HEIGHT)


@dataclass(frozen=True, slots=True)
class RankPair:
    """The ranks of a document in two rankings; None below the cutoff."""

    left: int | None
    right: int | None
    relevant: bool


def rank_lines(documents: Sequence[RankPair], depth: int) -> SafeString:
    """Return lines between two rankings; a short stub if the other rank is below the cutoff.

    The unit is a card, stretched to the height of the column, since cards vary by screen.
    """
    paths = "".join(
        _rank_line(document, "join relevant" if document.relevant else "join")
        for document in sorted(documents, key=lambda document: document.relevant)
    )
    height = coord(PITCH * depth - 0.87)
    return mark_safe(
        f'<div class="joints"><svg class="joined" viewBox="0 0 100 {height}"'
        f' preserveAspectRatio="none" aria-hidden="true">{paths}</svg></div>'
    )


def _rank_line(document: RankPair, classes: str) -> str:
    """Return the line of one document, with strokes of no length as dots at its ends."""
    left, right = document.left, document.right
    if left is not None and right is not None:
        y1, y2 = coord(_middle(left)), coord(_middle(right))
        curve, dots = f"M0 {y1}C50 {y1} 50 {y2} 100 {y2}", f"M0 {y1}h.01M100 {y2}h.01"
    elif left is not None:
        y = coord(_middle(left))
        curve, dots = f"M0 {y}h{STUB}", f"M{STUB} {y}h.01"
    else:
        y = coord(_middle(right or 1))
        curve, dots = f"M100 {y}h-{STUB}", f"M{100 - STUB} {y}h.01"
    return f'<path class="{classes}" d="{curve}"/><path class="{classes} end" d="{dots}"/>'


def _middle(rank: int) -> float:
    return PITCH * (rank - 1) + MIDDLE
