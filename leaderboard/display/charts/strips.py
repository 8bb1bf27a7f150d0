"""All runs on one line of values, with names for one topic, without for a track."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from leaderboard.display.charts.axes import Axis, tick_label
from leaderboard.display.charts.drawing import (
    RADIUS,
    ChartMark,
    escape_name,
    link_part,
    render_dot,
    render_line,
    render_plot,
    render_text,
    text_width,
)
from leaderboard.display.numbers import counted, score

HEIGHT = 84
NAMES, LINE_AT, TICKS, MEDIAN = 10, 44, 72, 88
WIDE, PHONE = 1150, 320
GAP = 10
# Allowed distances of a name from its dot in per cent, the nearest first.
SHIFTS = np.array(sorted(np.arange(-4.0, 4.1, 0.5), key=abs))


@dataclass(frozen=True, slots=True)
class Placed:
    """A name above the line: its run, its centre in per cent, and whether it fits a phone."""

    mark: ChartMark
    at: float
    on_phone: bool


def strip_chart(marks: Sequence[ChartMark], title: str, median: float | None = None) -> SafeString:
    """Return every run on a topic; own runs are named first, then others if there is room.

    `median` is that of all runs, where not all of them have a mark.
    """
    marks = [mark for mark in marks if np.isfinite(mark.value)]
    values = [mark.value for mark in marks]
    shown = [*values, median] if marks and median is not None else values
    axis = Axis.around(min(0.0, *shown, 0.0), max(shown, default=1.0) or 1.0)
    body = render_line(0, 100, LINE_AT, LINE_AT, "zero") + _ticks(axis)
    description = "No run has a score."
    if marks:
        median = float(np.median(values)) if median is None else median
        body += _median(axis, median)
        description = f"{counted(len(marks), 'run')}, median {score(median)}."
    body += "".join(_name(axis, placed) for placed in _place(axis, marks))
    body += "".join(_dot(axis, mark) for mark in _own_last(marks))
    links = any(mark.href for mark in marks)
    return render_plot(title, description, HEIGHT, body, "strip", links=links)


def _own_last(marks: Sequence[ChartMark]) -> list[ChartMark]:
    return sorted(marks, key=lambda mark: ("other", "baseline", "own").index(mark.kind))


def _ticks(axis: Axis) -> str:
    return "".join(
        render_line(axis.at(tick), axis.at(tick), LINE_AT - 16, LINE_AT + 16, "grid")
        + render_text(axis.at(tick), TICKS, tick_label(tick), anchor="middle")
        for tick in axis.ticks
    )


def _median(axis: Axis, median: float) -> str:
    x = axis.at(median)
    return render_line(x, x, LINE_AT - 16, LINE_AT + 16, "median") + render_text(
        x, MEDIAN, "median", anchor="middle"
    )


def _dot(axis: Axis, mark: ChartMark) -> str:
    shape = render_dot(axis.at(mark.value), LINE_AT, f"dot {mark.kind}", RADIUS[mark.kind])
    return link_part(mark.href, f"{escape_name(mark.name)} {score(mark.value)}", shape)


def _name(axis: Axis, placed: Placed) -> str:
    mark = placed.mark
    classes = "" if placed.on_phone else " opt"
    strong = " strong" if mark.kind == "own" else ""
    return render_line(
        placed.at, axis.at(mark.value), NAMES + 6, LINE_AT - 5, f"lead{classes}"
    ) + render_text(placed.at, NAMES, escape_name(mark.name), f"label{strong}{classes}", "middle")


def _place(axis: Axis, marks: Sequence[ChartMark]) -> list[Placed]:
    """Place names by importance: own, baseline, best, worst, then the rest, without overlap."""
    by_value = sorted(marks, key=lambda mark: -mark.value)
    ends = {id(mark) for mark in by_value[:1] + by_value[-1:]}
    rank = {"own": 0, "baseline": 1, "other": 3}
    order = sorted(by_value, key=lambda m: min(rank[m.kind], 2 if id(m) in ends else 3))
    placed: list[Placed] = []
    taken, halves = np.empty(0), np.empty(0)
    for mark in order:
        half = _half_width(mark, WIDE)
        at = _find_free_place(axis.at(mark.value), taken, halves + half)
        if at is not None:
            on_phone = mark.kind == "own" and _fits(at, _half_width(mark, PHONE), placed)
            placed.append(Placed(mark, at, on_phone))
            taken, halves = np.append(taken, at), np.append(halves, half)
    return placed


def _half_width(mark: ChartMark, pixels: int) -> float:
    """Return half the width of a name with its gap, in per cent of the drawing."""
    return 50 * (text_width(mark.name) + GAP) / pixels


def _fits(at: float, half: float, placed: Sequence[Placed]) -> bool:
    """Return whether a name fits on a phone beside the names placed there."""
    others = [other for other in placed if other.on_phone]
    return all(abs(other.at - at) >= half + _half_width(other.mark, PHONE) for other in others)


def _find_free_place(
    wanted: float, taken: NDArray[np.float64], apart: NDArray[np.float64]
) -> float | None:
    """Return the nearest free position within reach, or None."""
    places = wanted + SHIFTS
    free = (np.abs(taken - places[:, None]) >= apart).all(axis=1)
    return float(places[free.argmax()]) if free.any() else None


def dot_line(marks: Sequence[ChartMark], title: str) -> SafeString:
    """Return all runs of a track on a small line from 0, without names."""
    marks = [mark for mark in marks if np.isfinite(mark.value)]
    top = max((mark.value for mark in marks), default=0.0) or 1.0
    axis = Axis.around(0.0, top)
    ends = (axis.low, axis.high)
    body = render_line(0, 100, 8, 8, "zero")
    body += "".join(render_line(axis.at(end), axis.at(end), 4, 12, "zero") for end in ends)
    body += "".join(render_text(axis.at(end), 27, tick_label(end), anchor="middle") for end in ends)
    body += "".join(
        render_dot(axis.at(mark.value), 8, f"dot {mark.kind}", RADIUS[mark.kind])
        for mark in _own_last(marks)
    )
    best = f", best {score(top)}" if marks else ""
    return render_plot(title, f"{counted(len(marks), 'run')}{best}.", 16, body, "dot-line")
