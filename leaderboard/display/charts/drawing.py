"""SVG elements of all charts, as strings with classes and without styles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeVar

import numpy as np
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from numpy.typing import NDArray

from leaderboard.display.numbers import count, counted

Mark = TypeVar("Mark")
Kind = Literal["other", "own", "baseline"]
Anchor = Literal["start", "middle", "end"]
FloatArray = NDArray[np.float64]

# Letters of a name for which there is room beside a plot; on a phone the least.
LETTERS = (17, 24, 32)
RADIUS = {"other": 3, "own": 4.5, "baseline": 3.5}
# More marks than this say no more, and make a page slow.
MOST_DRAWN = 2_000
ISOLATE, RELEASE = "\u2068", "\u2069"


@dataclass(frozen=True, slots=True)
class ChartMark:
    """One run on a line of values."""

    value: float
    name: str = ""
    kind: Kind = "other"
    href: str = ""


def coord(value: float) -> str:
    """Return a coordinate with two decimals, without trailing zeros.

    >>> coord(12.5), coord(100.0), coord(0.004)
    ('12.5', '100', '0')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def coords(values: FloatArray) -> list[str]:
    """Return `coord` of each value, all formatted in one step.

    >>> coords(np.array([12.5, 100.0, 0.004]))
    ['12.5', '100', '0']
    """
    printed = "\n%.2f" * values.size % tuple(values.tolist())
    return [text.rstrip("0").rstrip(".") for text in printed.split("\n")[1:]]


def escape_name(text: str) -> str:
    """Return a user-supplied name, escaped and isolated from the direction of other text."""
    return str(escape(text if text.isascii() else f"{ISOLATE}{text}{RELEASE}"))


def render_line(x1: float, x2: float, y1: float, y2: float, classes: str) -> str:
    """Return a line; x is in per cent, y in pixels."""
    return (
        f'<line class="{classes}" x1="{coord(x1)}%" x2="{coord(x2)}%"'
        f' y1="{coord(y1)}" y2="{coord(y2)}"/>'
    )


def render_dot(x: float, y: float, classes: str, radius: float) -> str:
    """Return a dot; x is in per cent, y in pixels."""
    return f'<circle class="{classes}" cx="{coord(x)}%" cy="{coord(y)}" r="{radius}"/>'


def hit_area(x: float, width: float, height: float, y: float = 0) -> str:
    """Return the invisible area of a link, as high as its plot; x is in per cent, y in pixels."""
    return (
        f'<rect class="hit" x="{coord(x)}%" y="{coord(y)}" width="{coord(width)}%"'
        f' height="{coord(height)}"/>'
    )


def join_points(values: Iterable[float]) -> str:
    """Return the points of a curve over the whole width, joined by L; heights are in pixels."""
    heights = list(values)
    across = np.linspace(0, 100, len(heights))
    return "L".join(f"{coord(x)} {coord(y)}" for x, y in zip(across, heights, strict=True))


def render_text(
    x: float,
    y: float,
    words: str,
    classes: str = "tick",
    anchor: Anchor = "start",
    dx: float = 0,
) -> str:
    """Return a text of ready markup; x is in per cent, y in pixels."""
    moved = f' dx="{coord(dx)}"' if dx else ""
    held = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{classes}" x="{coord(x)}%" y="{coord(y)}"{moved}{held}>{words}</text>'


def outer_name(
    x: float, y: float, words: str, classes: str, anchor: Anchor = "start", dx: float = 0
) -> str:
    """Return a user-supplied name beside a plot, cut to the room there."""
    desk, phone = (cut_name(words, most) for most in (LETTERS[-1], LETTERS[0]))
    screens = [(desk, "")] if desk == phone else [(desk, " opt"), (phone, " phone")]
    return "".join(
        render_text(x, y, escape_name(shown), classes + screen, anchor, dx)
        for shown, screen in screens
    )


def cut_name(words: str, most: int = LETTERS[1]) -> str:
    """Return a name that has room in a chart, with an ellipsis if it was longer."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def name_room_class(names: Iterable[str]) -> str:
    """Return the class of a plot with room for these names on a wide screen.

    >>> name_room_class(["bm25"]), name_room_class(["a-name-of-22-characters"])
    ('letters-17', 'letters-24')
    >>> name_room_class(["a" * 80])
    'letters-32'
    """
    longest = min(max(map(len, names), default=0), LETTERS[-1])
    return f"letters-{next(most for most in LETTERS if longest <= most)}"


def thin_out(marks: Sequence[Mark], most: int = MOST_DRAWN) -> Sequence[Mark]:
    """Return at most `most` marks, evenly spaced in their order, with the first and the last.

    >>> thin_out(range(101), most=5)
    [0, 25, 50, 75, 100]
    """
    if len(marks) <= most:
        return marks
    return [marks[place] for place in np.linspace(0, len(marks) - 1, most).astype(int)]


def say_drawn(drawn: int, number: int, noun: str) -> str:
    """Say how many marks there are, and how many of them are drawn if not all are.

    >>> say_drawn(3, 3, "topic"), say_drawn(2000, 100000, "topic")
    ('3 topics', '2,000 of 100,000 topics')
    """
    of = f"{count(drawn)} of " if drawn < number else ""
    return f"{of}{counted(number, noun)}"


# The address of a row of a chart.
Link = Callable[[Any], str]


def no_link(_: Any) -> str:
    return ""


def link_part(href: str, title: str, body: str) -> str:
    """Return a part with its title, as a link if there is an address.

    The table below every chart has the same links, so the keyboard skips these.
    """
    titled = f"<title>{title}</title>{body}"
    if not href:
        return f"<g>{titled}</g>"
    return f'<a href="{escape(href)}" tabindex="-1">{titled}</a>'


def render_chart(
    title: str, description: str, height: float, body: str, *, links: bool = False
) -> SafeString:
    """Return a whole chart; with links it is a group, since an image hides its content."""
    role = "group" if links else "img"
    return mark_safe(
        f'<svg class="chart" role="{role}" width="100%" height="{coord(height)}">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{body}</svg>"
    )


def render_plot(
    title: str,
    description: str,
    height: float,
    body: str,
    classes: str = "",
    *,
    links: bool = False,
) -> SafeString:
    """Return a chart with room for the labels at its edges."""
    chart = render_chart(title, description, height, body, links=links)
    return mark_safe(f'<div class="{f"plot {classes}".rstrip()}">{chart}</div>')


def stretch(width: float, height: float, pixels: float, body: str) -> str:
    """Return curves in their own coordinates, stretched over the whole chart."""
    return (
        f'<svg viewBox="0 0 {coord(width)} {coord(height)}" preserveAspectRatio="none"'
        f' width="100%" height="{coord(pixels)}">{body}</svg>'
    )


@lru_cache(maxsize=4096)
def text_width(words: str, size: float = 12) -> float:
    """Return about how many pixels a line of text needs in the widest common system font."""
    return sum(size if ord(c) > 0x2E80 else size * 0.62 for c in words)
