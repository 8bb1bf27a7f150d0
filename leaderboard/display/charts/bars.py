"""Bar charts: the difference on every topic, and a histogram of scores."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from leaderboard.display.charts.axes import Axis, axis_foot, tick_label, value_grid
from leaderboard.display.charts.drawing import (
    Anchor,
    Link,
    coord,
    escape_name,
    hit_area,
    link_part,
    no_link,
    render_chart,
    render_line,
    render_plot,
    render_text,
    stretch,
)
from leaderboard.display.numbers import counted, signed

HEIGHT = 210
# From the plot to the counts of its sides, above it and below it.
COUNT_ABOVE, COUNT_BELOW = 8, 15
LINKED_BARS = 300
LABELLED = 3
LINE = 14
WIDEST = 3.0
WORDS = 60

HISTOGRAM_HEIGHT = 120
BINS = 20
LABEL_BINS = 9


@dataclass(frozen=True, slots=True)
class Bar:
    """The difference on one topic."""

    number: str
    difference: float
    text: str = ""

    @property
    def side(self) -> str:
        return "better" if self.difference > 0 else "worse" if self.difference < 0 else "same"


@dataclass(frozen=True, slots=True)
class BarField:
    """The area of a bar chart: `bars` in order from the left, `axis` vertical."""

    bars: Sequence[Bar]
    axis: Axis

    def x(self, index: float) -> float:
        return 100 * index / len(self.bars)

    def y(self, value: float) -> float:
        return self.axis.down(value, HEIGHT)


def difference_bars(
    bars: Sequence[Bar],
    title: str,
    above: str = "above",
    below: str = "below",
    link: Link = no_link,
) -> SafeString:
    """Return a chart with a bar per topic in the given order, or an outline above 300 topics.

    The three largest bars of each side are labelled. Each side is counted outside of the plot, at
    the end where bars in falling order have that side.
    """
    bars = [bar for bar in bars if np.isfinite(bar.difference)]
    if not bars:
        return render_chart(title, "No topic has a difference.", 0, "")
    differences = [bar.difference for bar in bars]
    axis = Axis.around(min(0.0, *differences), max(0.0, *differences))
    field = BarField(bars, axis)
    links = len(bars) <= LINKED_BARS
    body = (
        value_grid(axis, HEIGHT, sign=True)
        + (_bars(field, link) if links else _outline(field))
        + render_line(0, 100, field.y(0), field.y(0), "zero")
        + _sides(field.bars, above, below)
        + (_labels(field) if _falls(differences) else _numbers(field))
    )
    return render_plot(title, _describe(bars, above, below), HEIGHT, body, "bars", links=links)


def _bars(field: BarField, link: Link) -> str:
    step = field.x(1)
    width = min(step * 0.88, WIDEST)
    zero = field.y(0)
    parts = []
    for index, bar in enumerate(field.bars):
        x = field.x(index) + (step - width) / 2
        top, bottom = sorted((zero, field.y(bar.difference)))
        shape = hit_area(field.x(index), step, HEIGHT) + (
            f'<rect class="bar {bar.side}" x="{coord(x)}%" y="{coord(top)}"'
            f' width="{coord(width)}%" height="{coord(max(bottom - top, 0.5))}"/>'
        )
        title = f"topic {escape_name(bar.number)}: {signed(bar.difference)} {escape_name(bar.text)}"
        parts.append(link_part(link(bar), title.rstrip(), shape))
    return "".join(parts)


def _outline(field: BarField) -> str:
    """Return the envelope of thousands of bars: the highest and the lowest of each column."""
    differences = np.array([bar.difference for bar in field.bars])
    starts = np.linspace(0, len(differences), LINKED_BARS, endpoint=False).astype(int)
    highest = np.maximum(np.maximum.reduceat(differences, starts), 0)
    lowest = np.minimum(np.minimum.reduceat(differences, starts), 0)
    zero = coord(field.y(0))
    paths = []
    for heights, side in ((highest, "better"), (lowest, "worse")):
        steps = "".join(f"V{coord(field.y(height))}h1" for height in heights)
        paths.append(f'<path class="bar {side}" d="M0 {zero}{steps}V{zero}z"/>')
    return stretch(LINKED_BARS, HEIGHT, HEIGHT, "".join(paths))


def _falls(differences: Sequence[float]) -> bool:
    return all(left >= right for left, right in pairwise(differences))


def _sides(bars: Sequence[Bar], above: str, below: str) -> str:
    """Return the number of topics on each side; none for an empty side."""
    wins, losses, ties = _count(bars)
    equal = f", equal on {ties}" if ties else ""
    parts = []
    if wins or not losses:
        words = f"▲ {escape_name(above)} on {wins}"
        parts.append(render_text(0, -COUNT_ABOVE, words, "side better"))
    if losses or ties or not wins:
        words = f"▼ {escape_name(below)} on {losses}{equal}"
        parts.append(render_text(100, HEIGHT + COUNT_BELOW, words, "side worse", "end"))
    return "".join(parts)


def _labels(field: BarField) -> str:
    """Return labels of the largest bars in falling order, where the bars are shorter than a line.

    The bars of the other side are beyond zero, so no label crosses it; a label without room is
    omitted.
    """
    tops, zero = [field.y(bar.difference) for bar in field.bars], field.y(0)
    best = [bar for bar in field.bars[:LABELLED] if bar.difference > 0]
    worst = [bar for bar in field.bars[: -LABELLED - 1 : -1] if bar.difference < 0]
    parts = []
    lowest = zero - 5
    y = max(LINE, min(tops[0] + 9, lowest - LINE * (len(best) - 1))) - LINE
    for bar in best:
        y = max(min(field.y(bar.difference) + 9, lowest), y + LINE)
        if y <= lowest:
            first_below = bisect.bisect_left(tops, y + 4)
            parts.append(_label(bar, field.x(first_below), y, "start"))
    highest = zero + LINE
    y = min(HEIGHT - 4, max(tops[-1], highest + LINE * (len(worst) - 1))) + LINE
    for bar in worst:
        y = min(max(field.y(bar.difference), highest), y - LINE)
        if y >= highest:
            first_deeper = bisect.bisect_right(tops, y - LINE)
            parts.append(_label(bar, field.x(first_deeper), y, "end"))
    return "".join(parts)


def _label(bar: Bar, x: float, y: float, anchor: Anchor) -> str:
    shown = bar.text if len(bar.text) <= WORDS else bar.text[: WORDS - 2].rstrip() + " …"
    words = (
        f'<tspan class="{bar.side}">{escape_name(bar.number)}</tspan> {signed(bar.difference)}'
        f'<tspan class="opt" dx="8">{escape_name(shown)}</tspan>'
    )
    return render_text(x, y, words, "label", anchor, dx=6 if anchor == "start" else -6)


def _numbers(field: BarField) -> str:
    """Return the topic numbers of the largest bars, for bars in any other order."""
    order = sorted(range(len(field.bars)), key=lambda index: field.bars[index].difference)
    parts = []
    for index in [*order[:LABELLED], *order[-LABELLED:]]:
        bar = field.bars[index]
        tip = field.y(bar.difference) + (-4 if bar.difference > 0 else 13)
        if bar.difference:
            parts.append(
                render_text(
                    field.x(index + 0.5),
                    tip,
                    escape_name(bar.number),
                    f"label {bar.side}",
                    "middle",
                )
            )
    return "".join(parts)


def _count(bars: Sequence[Bar]) -> tuple[int, int, int]:
    wins = sum(bar.difference > 0 for bar in bars)
    losses = sum(bar.difference < 0 for bar in bars)
    return wins, losses, len(bars) - wins - losses


def _describe(bars: Sequence[Bar], above: str, below: str) -> str:
    wins, losses, ties = _count(bars)
    low = min(bars, key=lambda bar: bar.difference)
    high = max(bars, key=lambda bar: bar.difference)
    return (
        f"{counted(len(bars), 'topic')}: {above} on {wins}, {below} on {losses}, equal on {ties}; "
        f"from {signed(low.difference)} on topic {low.number} "
        f"to {signed(high.difference)} on topic {high.number}."
    )


def histogram(
    scores: NDArray[np.float64],
    run: str,
    title: str,
    others: NDArray[np.float64] | None = None,
    other_run: str = "",
) -> SafeString:
    """Return a histogram of the topic scores of a run, with another run as an outline."""
    own = _binned(scores)
    other = None if others is None else _binned(others)
    most = int(max(own.max(), 0 if other is None else other.max(), 1))
    upright = Axis.around(0, most, most=4 if most >= 4 else most)
    body = value_grid(upright, HISTOGRAM_HEIGHT) + _binned_bars(own, upright)
    if other is not None:
        body += _binned_outline(other, upright)
    body += render_line(0, 100, HISTOGRAM_HEIGHT, HISTOGRAM_HEIGHT, "zero")
    body += axis_foot(Axis.around(0, 1), HISTOGRAM_HEIGHT)
    at = _quietest(own if other is None else np.maximum(own, other))
    body += render_text(
        100 * at / BINS, 14, f"<tspan>{escape_name(run)}</tspan>", "label strong", dx=6
    )
    if other is not None:
        body += render_text(
            100 * at / BINS, 30, f"outline: {escape_name(other_run)}", "label", dx=6
        )
    counts_text = ", ".join(str(number) for number in own)
    description = f"Topics in {BINS} equal steps from 0 to 1: {counts_text}."
    return render_plot(title, description, HISTOGRAM_HEIGHT, body)


def _binned(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    counts, _ = np.histogram(scores[np.isfinite(scores)], bins=BINS, range=(0, 1))
    return counts


def _binned_bars(counts: NDArray[np.int64], upright: Axis) -> str:
    step = 100 / BINS
    parts = []
    for index, number in enumerate(counts.tolist()):
        y = upright.down(number, HISTOGRAM_HEIGHT)
        low, high = (tick_label(edge / BINS, 2) for edge in (index, index + 1))
        parts.append(
            f'<rect class="bar" x="{coord(index * step + 0.3)}%" y="{coord(y)}"'
            f' width="{coord(step - 0.6)}%" height="{coord(HISTOGRAM_HEIGHT - y)}">'
            f"<title>{low} to {high}: {counted(number, 'topic')}</title></rect>"
        )
    return "".join(parts)


def _binned_outline(counts: NDArray[np.int64], upright: Axis) -> str:
    steps = "".join(f"V{coord(upright.down(n, HISTOGRAM_HEIGHT))}h1" for n in counts.tolist())
    start = coord(upright.down(int(counts[0]), HISTOGRAM_HEIGHT))
    path = f'<path class="outline" d="M0 {start}{steps}"/>'
    return stretch(BINS, HISTOGRAM_HEIGHT, HISTOGRAM_HEIGHT, path)


def _quietest(counts: NDArray[np.int64]) -> int:
    """Return the first bin of the range with the lowest bars, for the label."""
    windows = np.lib.stride_tricks.sliding_window_view(counts, LABEL_BINS).max(axis=1)
    return int(windows.argmin())
