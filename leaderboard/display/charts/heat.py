"""Heat map of runs by topics, one ramp from ground to ink; and how hard topics are by answers."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.html import escape
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from leaderboard.display.charts.axes import UNIT, Axis, axis_foot, value_grid
from leaderboard.display.charts.drawing import (
    drawing,
    edge_name,
    linked,
    name,
    plot,
    room_for,
    short,
    stretched,
    text,
)
from leaderboard.display.numbers import counted, score

STEPS = 16
IMAGE_STEPS = 64
# Rows that are high enough to stand beside a name, and those of a longer board.
PITCH, LOW_PITCH, NAMED = 18, 6, 40
TOP, BELOW = 14, 18
INK = bytes((27, 29, 31))
SCATTER_HEIGHT = 260


@dataclass(frozen=True, slots=True)
class HeatRow:
    name: str
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class HeatColumn:
    number: str
    median: float
    href: str = ""
    is_marked: bool = False


def levels(shares: NDArray[np.float64], steps: int) -> NDArray[np.int64]:
    """Shares from 0 to 1 as one of so many steps; -1 where there is none.

    >>> levels(np.array([[0.0, 0.5, 1.0, np.nan]]), 16).tolist()
    [[0, 8, 15, -1]]
    """
    known = np.clip(np.nan_to_num(shares), 0.0, 1.0)
    found = np.minimum((known * steps).astype(np.int64), steps - 1)
    return np.where(np.isnan(shares), -1, found)


def heat_map(
    rows: Sequence[HeatRow],
    columns: Sequence[HeatColumn],
    shares: NDArray[np.float64],
    title: str,
) -> SafeString:
    """A row a run, a column a topic; every column leads to its topic."""
    pitch = PITCH if len(rows) <= NAMED else LOW_PITCH
    depth = pitch * len(rows)
    cells = _cells(levels(shares, STEPS))
    body = (
        f'<svg y="{TOP}" width="100%" height="{depth}" overflow="visible">'
        + stretched(len(columns), len(rows), depth, cells)
        + "".join(_row_name(place, row, pitch) for place, row in enumerate(rows))
        + "</svg>"
    )
    body += "".join(_column(place, columns, depth) for place in range(len(columns)))
    ends = TOP + depth + BELOW
    body += text(0, ends, "← easiest topic") + text(100, ends, "hardest topic →", anchor="end")
    told = f"{counted(len(rows), 'run')} on {counted(len(columns), 'topic')}; stronger is higher."
    room = room_for([row.name for row in rows])
    return plot(drawing(title, told, ends, body, links=True), f"heat {room}")


def _cells(steps: NDArray[np.int64]) -> str:
    """The cells of a step are one path, so that thousands of them stay a short page."""
    paths = []
    for step in range(-1, STEPS):
        where = np.argwhere(steps == step).tolist()
        if where:
            d = "".join(f"M{column} {row}h1v.9h-1z" for row, column in where)
            paths.append(f'<path class="{"none" if step < 0 else f"h{step}"}" d="{d}"/>')
    return "".join(paths)


def _row_name(place: int, row: HeatRow, pitch: int) -> str:
    if pitch == LOW_PITCH and not row.is_own:
        return ""
    classes = "label strong" if row.is_own else "label"
    return edge_name(0, pitch * (place + 0.5) + 4, row.name, classes, "end", -8)


def _column(place: int, columns: Sequence[HeatColumn], depth: int) -> str:
    column, width = columns[place], 100 / len(columns)
    told = f"topic {name(column.number)}: median {score(column.median)}"
    body = (
        f'<rect class="hit" x="{short(place * width)}%" y="{TOP}"'
        f' width="{short(width)}%" height="{depth}"/>'
    )
    if column.is_marked:
        told += ", order of runs inverted"
        body += text((place + 0.5) * width, TOP - 4, "▾", "marked", "middle")
    return linked(column.href, told, body)


def heat_image(shares: NDArray[np.float64]) -> bytes:
    """The cells alone as a PNG, a pixel each: ink that covers the paper more where it is higher.

    Undefined cells are bare like those at the low end.
    """
    steps = np.maximum(levels(shares, IMAGE_STEPS), 0).astype(np.uint8)
    height, width = steps.shape
    lines = np.zeros((height, width + 1), dtype=np.uint8)
    lines[:, 1:] = steps
    cover = bytes(round(255 * step / (IMAGE_STEPS - 1)) for step in range(IMAGE_STEPS))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", INK * IMAGE_STEPS),
            _chunk(b"tRNS", cover),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)


@dataclass(frozen=True, slots=True)
class Difficulty:
    """A topic by its number of relevant documents and its median score."""

    number: str
    relevant: int
    median: float
    href: str = ""


def difficulties(topics: Sequence[Difficulty], measure: str) -> SafeString:
    """A point a topic: up the median of the runs, across the number of relevant documents."""
    topics = [each for each in topics if np.isfinite(each.median)]
    across = Axis.around(0, max((each.relevant for each in topics), default=1) or 1)
    medians = [each.median for each in topics]
    bounded = all(0 <= median <= 1 for median in medians)
    up = UNIT if bounded else Axis.around(min(0.0, *medians), max(medians))
    body = value_grid(up, SCATTER_HEIGHT) + axis_foot(across, SCATTER_HEIGHT)
    body += "".join(_difficulty(each, across, up) for each in topics)
    body += text(0, 12, f"median {escape(measure)}", "tick label", dx=6)
    ground = SCATTER_HEIGHT - 6
    body += text(100, ground, "relevant documents", "tick label", anchor="end", dx=-6)
    told = f"{counted(len(topics), 'topic')}."
    title = f"Relevant documents of a topic against its median {measure}"
    return plot(drawing(title, told, SCATTER_HEIGHT, body, links=True))


def _difficulty(topic: Difficulty, across: Axis, up: Axis) -> str:
    shape = (
        f'<circle class="point" cx="{short(across.at(topic.relevant))}%"'
        f' cy="{short(up.down(topic.median, SCATTER_HEIGHT))}" r="3.5"/>'
    )
    told = f"topic {name(topic.number)}: {topic.relevant} relevant, median {score(topic.median)}"
    return linked(topic.href, told, shape)
