"""Heat map of runs by topics, and topic difficulty by the number of relevant documents."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from django.utils.html import escape
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from leaderboard.display.charts.axes import (
    BELOW,
    Axis,
    axis_foot,
    from_easy_to_hard,
    score_axis,
    value_grid,
)
from leaderboard.display.charts.drawing import (
    Link,
    escape_name,
    hit_area,
    link_part,
    name_room_class,
    no_link,
    outer_name,
    render_dot,
    render_plot,
    render_text,
    say_drawn,
    stretch,
    text_width,
    thin_out,
)
from leaderboard.display.numbers import counted, score

STEPS = 16
IMAGE_STEPS = 64
# Rows that are high enough to stand beside a name, and those of a longer board.
PITCH, LOW_PITCH, NAMED = 18, 6, 40
TOP, LABELS, FOOT = 14, 16, 18
# With low rows only every third has the height of a name.
NAMED_LOW = 3
# The least width of the cells in pixels, on a wide screen and on a phone.
WIDE, NARROW = 1000, 220
INK = bytes((27, 29, 31))
SCATTER_HEIGHT = 260


class HeatRow(Protocol):
    name: str
    is_own: bool


class HeatColumn(Protocol):
    """A topic; the order of runs is inverted on it if runs good elsewhere are poor here."""

    number: str
    relevant: int
    median: float
    is_inverted: bool


def ramp_steps(shares: NDArray[np.float64], steps: int) -> NDArray[np.int64]:
    """Return the step of each share from 0 to 1; -1 if it is undefined.

    >>> ramp_steps(np.array([[0.0, 0.5, 1.0, np.nan]]), 16).tolist()
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
    link: Link = no_link,
    *,
    marks: bool = False,
) -> SafeString:
    """Return a heat map with a row per run and a column per topic, linked to its topic.

    `marks` marks the topics on which the order of runs is inverted.
    """
    pitch = PITCH if len(rows) <= NAMED else LOW_PITCH
    depth = pitch * len(rows)
    cells = _cells(ramp_steps(shares, STEPS))
    body = (
        f'<svg y="{TOP}" width="100%" height="{depth}" overflow="visible">'
        + stretch(len(columns), len(rows), depth, cells)
        + "".join(_row_name(place, row, pitch) for place, row in enumerate(rows))
        + "</svg>"
    )
    width = 100 / len(columns)
    body += "".join(
        link_part(link(column), *_column(column, place * width, width, depth, marks))
        for place, column in enumerate(columns)
    )
    body += _column_labels(columns, TOP + depth + LABELS - 4)
    ends = TOP + depth + LABELS + FOOT
    body += from_easy_to_hard(ends - BELOW)
    summary = (
        f"{counted(len(rows), 'run')} on {counted(len(columns), 'topic')}; stronger is higher."
    )
    room = name_room_class([row.name for row in rows])
    return render_plot(title, summary, ends, body, f"heat {room}", links=True)


def _cells(steps: NDArray[np.int64]) -> str:
    """Return one path per step, so that thousands of cells need a short page."""
    paths = []
    for step in range(-1, STEPS):
        where = np.argwhere(steps == step).tolist()
        if where:
            d = "".join(f"M{column} {row}h1v.9h-1z" for row, column in where)
            paths.append(f'<path class="{"none" if step < 0 else f"h{step}"}" d="{d}"/>')
    return "".join(paths)


def _row_name(place: int, row: HeatRow, pitch: int) -> str:
    if pitch == LOW_PITCH and place % NAMED_LOW:
        return ""
    classes = "label strong" if row.is_own else "label"
    return outer_name(0, pitch * (place + 0.5) + 4, row.name, classes, "end", -8)


def _column_labels(columns: Sequence[HeatColumn], y: float) -> str:
    """Label as many columns with their topic as have room, fewer on a phone."""
    longest = max(len(column.number) for column in columns)
    room = text_width("0" * (longest + 1), 11) * len(columns)
    wide, narrow = math.ceil(room / WIDE), math.ceil(room / NARROW)
    # Multiples of the step of wide screens, so that a phone shows some of the same.
    narrow = wide * math.ceil(narrow / wide)
    return "".join(
        render_text(
            100 * (place + 0.5) / len(columns),
            y,
            escape_name(columns[place].number),
            "tick" if place % narrow == 0 else "tick opt",
            "middle",
        )
        for place in range(0, len(columns), wide)
    )


def _column(
    column: HeatColumn, left: float, width: float, depth: int, marks: bool
) -> tuple[str, str]:
    """Return the words of a column and its area, with a mark above it if it has one."""
    words = f"topic {escape_name(column.number)}: median {score(column.median)}"
    area = hit_area(left, width, depth, TOP)
    if not (marks and column.is_inverted):
        return words, area
    mark = render_text(left + 0.5 * width, TOP - 4, "▾", "marked", "middle")
    return f"{words}, order of runs inverted", area + mark


def heat_image(shares: NDArray[np.float64]) -> bytes:
    """Return the cells as a PNG with a pixel each, darker for higher values.

    Undefined cells are empty like those at the low end.
    """
    steps = np.maximum(ramp_steps(shares, IMAGE_STEPS), 0).astype(np.uint8)
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


def difficulty_chart(
    topics: Sequence[HeatColumn], measure: str, link: Link = no_link
) -> SafeString:
    """Return a chart with a point per topic: median score by number of relevant documents."""
    topics = [topic for topic in topics if np.isfinite(topic.median)]
    across = Axis.around(0, max((topic.relevant for topic in topics), default=1) or 1)
    up = score_axis([topic.median for topic in topics])
    body = value_grid(up, SCATTER_HEIGHT) + axis_foot(across, SCATTER_HEIGHT)
    drawn = thin_out(topics)
    shown = say_drawn(len(drawn), len(topics), "topic")
    body += "".join(_difficulty(topic, across, up, link(topic)) for topic in drawn)
    if len(drawn) < len(topics):
        body += render_text(100, 12, f"{shown} drawn", "tick label", "end", -6)
    body += render_text(0, 12, f"median {escape(measure)}", "tick label", dx=6)
    ground = SCATTER_HEIGHT - 6
    body += render_text(100, ground, "relevant documents", "tick label", anchor="end", dx=-6)
    summary = f"{shown}."
    title = f"Relevant documents of a topic against its median {measure}"
    return render_plot(title, summary, SCATTER_HEIGHT, body, links=True)


def _difficulty(topic: HeatColumn, across: Axis, up: Axis, href: str) -> str:
    shape = render_dot(
        across.at(topic.relevant), up.down(topic.median, SCATTER_HEIGHT), "point", 3.5
    )
    topic_name, median = escape_name(topic.number), score(topic.median)
    title = f"topic {topic_name}: {topic.relevant} relevant, median {median}"
    return link_part(href, title, shape)
