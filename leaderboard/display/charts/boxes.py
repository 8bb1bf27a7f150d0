"""The spread of all runs on every topic: box plots, or bands for many topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from django.utils.html import escape
from django.utils.safestring import SafeString

from leaderboard.display.charts.axes import Axis, from_easy_to_hard, score_axis, value_grid
from leaderboard.display.charts.drawing import (
    Link,
    coord,
    escape_name,
    hit_area,
    link_part,
    no_link,
    render_line,
    render_plot,
    render_text,
    stretch,
)
from leaderboard.display.numbers import counted, score

HEIGHT = 220
# More topics than this are bands, for a box would be thinner than its lines.
BOXES = 150
WIDEST = 1.6


class BoxSpread(Protocol):
    """A topic with its `spread`: the lowest, the quartiles and the highest score of all runs."""

    number: str
    spread: Sequence[float]


def box_plot(
    topics: Sequence[BoxSpread], title: str, measure: str, link: Link = no_link
) -> SafeString:
    """Return a box plot per topic: range, middle half and median."""
    topics = [topic for topic in topics if np.isfinite(topic.spread[2])]
    up = score_axis([end for topic in topics for end in (topic.spread[0], topic.spread[-1])])
    body = value_grid(up, HEIGHT) + from_easy_to_hard(HEIGHT)
    drawn = len(topics) <= BOXES
    body += _boxes(topics, up, link) if drawn else _bands(topics, up)
    body += render_text(100, 12, escape(measure), "tick label", "end")
    summary = f"{counted(len(topics), 'topic')}, the highest median first."
    return render_plot(title, summary, HEIGHT, body, "boxes", links=drawn)


def _boxes(topics: Sequence[BoxSpread], up: Axis, link: Link) -> str:
    step = 100 / max(len(topics), 1)
    return "".join(
        link_part(link(topic), _describe(topic), _box(topic, place * step, step, up))
        for place, topic in enumerate(topics)
    )


def _describe(topic: BoxSpread) -> str:
    values = ", ".join(score(value, 3) for value in topic.spread)
    return f"topic {escape_name(topic.number)}: {values}"


def _box(topic: BoxSpread, left: float, step: float, up: Axis) -> str:
    wide = min(0.7 * step, WIDEST)
    middle, start, end = left + step / 2, left + (step - wide) / 2, left + (step + wide) / 2
    low, first, median, third, high = (up.down(value, HEIGHT) for value in topic.spread)
    return (
        hit_area(left, step, HEIGHT)
        + render_line(middle, middle, high, low, "spread")
        + f'<rect class="box" x="{coord(start)}%" y="{coord(third)}" width="{coord(wide)}%"'
        f' height="{coord(first - third)}"/>' + render_line(start, end, median, median, "middle")
    )


def _bands(topics: Sequence[BoxSpread], up: Axis) -> str:
    """Return bands for all runs and their middle half, and a line for the median."""
    low, first, median, third, high = (
        [f"{place} {coord(up.down(value, HEIGHT))}" for place, value in enumerate(values)]
        for values in zip(*(topic.spread for topic in topics), strict=True)
    )
    paths = (
        f'<path class="band-1" d="M{"L".join([*high, *reversed(low)])}z"/>'
        f'<path class="band-2" d="M{"L".join([*third, *reversed(first)])}z"/>'
        f'<path class="curve own" d="M{"L".join(median)}"/>'
    )
    return stretch(len(topics) - 1, HEIGHT, HEIGHT, paths)
