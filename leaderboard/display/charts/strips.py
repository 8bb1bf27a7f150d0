"""All runs on one line of values: for one topic with their names, for a whole track without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from leaderboard.display.charts.axes import Axis, tick_label
from leaderboard.display.charts.drawing import (
    RADIUS,
    Mark,
    drawing,
    line,
    linked,
    name,
    plot,
    short,
    text,
    text_width,
)
from leaderboard.display.numbers import counted, score

HEIGHT = 84
NAMES, LINE_AT, TICKS, MEDIAN = 10, 44, 72, 88
WIDE, PHONE = 1150, 320
GAP = 10
# How far a name may stand from its dot, in per cent, the nearest first.
SHIFTS = np.array(sorted(np.arange(-4.0, 4.1, 0.5), key=abs))


@dataclass(frozen=True, slots=True)
class Placed:
    """A name above the line: its run, its middle in per cent, and whether a phone has room."""

    mark: Mark
    at: float
    on_phone: bool


def strip(marks: Sequence[Mark], title: str) -> SafeString:
    """Every run on a topic; own runs are named first, then as many others as there is room for."""
    marks = [mark for mark in marks if np.isfinite(mark.value)]
    values = [mark.value for mark in marks]
    axis = Axis.around(min(0.0, *values, 0.0), max(values, default=1.0) or 1.0)
    body = line(0, 100, LINE_AT, LINE_AT, "zero") + _ticks(axis)
    description = "No run has a score."
    if marks:
        median = float(np.median(values))
        body += _median(axis, median)
        description = f"{counted(len(marks), 'run')}, median {score(median)}."
    body += "".join(_name(axis, placed) for placed in _place(axis, marks))
    body += "".join(_dot(axis, mark) for mark in _own_last(marks))
    links = any(mark.href for mark in marks)
    return plot(drawing(title, description, HEIGHT, body, links=links), "strip")


def _own_last(marks: Sequence[Mark]) -> list[Mark]:
    return sorted(marks, key=lambda mark: ("other", "baseline", "own").index(mark.kind))


def _ticks(axis: Axis) -> str:
    return "".join(
        line(axis.at(tick), axis.at(tick), LINE_AT - 16, LINE_AT + 16, "grid")
        + text(axis.at(tick), TICKS, tick_label(tick), anchor="middle")
        for tick in axis.ticks
    )


def _median(axis: Axis, median: float) -> str:
    x = axis.at(median)
    return line(x, x, LINE_AT - 16, LINE_AT + 16, "median") + text(
        x, MEDIAN, "median", anchor="middle"
    )


def _dot(axis: Axis, mark: Mark) -> str:
    shape = (
        f'<circle class="dot {mark.kind}" cx="{short(axis.at(mark.value))}%" cy="{LINE_AT}"'
        f' r="{RADIUS[mark.kind]}"/>'
    )
    return linked(mark.href, f"{name(mark.name)} {score(mark.value)}", shape)


def _name(axis: Axis, placed: Placed) -> str:
    mark = placed.mark
    classes = "" if placed.on_phone else " opt"
    strong = " strong" if mark.kind == "own" else ""
    return line(placed.at, axis.at(mark.value), NAMES + 6, LINE_AT - 5, f"lead{classes}") + text(
        placed.at, NAMES, name(mark.name), f"label{strong}{classes}", "middle"
    )


def _place(axis: Axis, marks: Sequence[Mark]) -> list[Placed]:
    """Names by importance: own, baseline, best, worst, then the rest; none over another."""
    by_value = sorted(marks, key=lambda mark: -mark.value)
    ends = {id(mark) for mark in by_value[:1] + by_value[-1:]}
    rank = {"own": 0, "baseline": 1, "other": 3}
    order = sorted(by_value, key=lambda m: min(rank[m.kind], 2 if id(m) in ends else 3))
    placed: list[Placed] = []
    taken, halves = np.empty(0), np.empty(0)
    for mark in order:
        half = _half(mark, WIDE)
        at = _free(axis.at(mark.value), taken, halves + half)
        if at is not None:
            on_phone = mark.kind == "own" and _fits(at, _half(mark, PHONE), placed)
            placed.append(Placed(mark, at, on_phone))
            taken, halves = np.append(taken, at), np.append(halves, half)
    return placed


def _half(mark: Mark, pixels: int) -> float:
    """Half the width of a name with its gap, in per cent of a drawing so many pixels wide."""
    return 50 * (text_width(mark.name) + GAP) / pixels


def _fits(at: float, half: float, placed: Sequence[Placed]) -> bool:
    """Whether a name has room on a phone beside those that stand there."""
    others = [other for other in placed if other.on_phone]
    return all(abs(other.at - at) >= half + _half(other.mark, PHONE) for other in others)


def _free(wanted: float, taken: NDArray[np.float64], apart: NDArray[np.float64]) -> float | None:
    """The free place nearest to the wanted one, or none within reach."""
    places = wanted + SHIFTS
    free = (np.abs(taken - places[:, None]) >= apart).all(axis=1)
    return float(places[free.argmax()]) if free.any() else None


def dot_line(marks: Sequence[Mark], title: str) -> SafeString:
    """All runs of a track on a small line from 0, without names."""
    marks = [mark for mark in marks if np.isfinite(mark.value)]
    top = max((mark.value for mark in marks), default=0.0) or 1.0
    axis = Axis.around(0.0, top)
    ends = (axis.low, axis.high)
    body = line(0, 100, 8, 8, "zero")
    body += "".join(line(axis.at(end), axis.at(end), 4, 12, "zero") for end in ends)
    body += "".join(text(axis.at(end), 27, tick_label(end), anchor="middle") for end in ends)
    body += "".join(
        f'<circle class="dot {mark.kind}" cx="{short(axis.at(mark.value))}%" cy="8"'
        f' r="{RADIUS[mark.kind]}"/>'
        for mark in _own_last(marks)
    )
    best = f", best {score(top)}" if marks else ""
    return plot(drawing(title, f"{counted(len(marks), 'run')}{best}.", 16, body), "dot-line")
