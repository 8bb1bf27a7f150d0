"""The strokes all charts are made of: strings of SVG with classes and without styles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from numpy.typing import NDArray

Kind = Literal["other", "own", "baseline"]
Anchor = Literal["start", "middle", "end"]
FloatArray = NDArray[np.float64]

# Letters of a name for which there is room beside a plot; on a phone the least.
LETTERS = (17, 24, 32)
RADIUS = {"other": 3, "own": 4.5, "baseline": 3.5}
ISOLATE, RELEASE = "\u2068", "\u2069"


@dataclass(frozen=True, slots=True)
class Mark:
    """One run on a line of values."""

    value: float
    name: str = ""
    kind: Kind = "other"
    href: str = ""


def short(value: float) -> str:
    """A coordinate to two decimals, without the zeros nobody needs.

    >>> short(12.5), short(100.0), short(0.004)
    ('12.5', '100', '0')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def shorts(values: FloatArray) -> list[str]:
    """`short` of each, printed at once.

    >>> shorts(np.array([12.5, 100.0, 0.004]))
    ['12.5', '100', '0']
    """
    printed = "\n%.2f" * values.size % tuple(values.tolist())
    return [text.rstrip("0").rstrip(".") for text in printed.split("\n")[1:]]


def name(text: str) -> str:
    """A foreign name, escaped, its direction kept from the text around it."""
    return str(escape(text if text.isascii() else f"{ISOLATE}{text}{RELEASE}"))


def line(x1: float, x2: float, y1: float, y2: float, classes: str) -> str:
    """A line between per cent across and pixels down."""
    return (
        f'<line class="{classes}" x1="{short(x1)}%" x2="{short(x2)}%"'
        f' y1="{short(y1)}" y2="{short(y2)}"/>'
    )


def text(
    x: float,
    y: float,
    words: str,
    classes: str = "tick",
    anchor: Anchor = "start",
    dx: float = 0,
) -> str:
    """Words that are markup already, standing at per cent across and pixels down."""
    moved = f' dx="{short(dx)}"' if dx else ""
    held = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{classes}" x="{short(x)}%" y="{short(y)}"{moved}{held}>{words}</text>'


def edge_name(
    x: float, y: float, words: str, classes: str, anchor: Anchor = "start", dx: float = 0
) -> str:
    """A foreign name beyond the edge of a plot, cut where it is longer than the room there."""
    desk, phone = (_cut(words, most) for most in (LETTERS[-1], LETTERS[0]))
    screens = [(desk, "")] if desk == phone else [(desk, " opt"), (phone, " phone")]
    return "".join(
        text(x, y, name(shown), classes + screen, anchor, dx) for shown, screen in screens
    )


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"


def room_for(names: Iterable[str]) -> str:
    """The class of a plot that has room for these names on a desk.

    >>> room_for(["bm25"]), room_for(["a-name-of-22-characters"]), room_for(["a" * 80])
    ('letters-17', 'letters-24', 'letters-32')
    """
    longest = min(max(map(len, names), default=0), LETTERS[-1])
    return f"letters-{next(most for most in LETTERS if longest <= most)}"


def linked(href: str, title: str, body: str) -> str:
    """A part with its title; a link where there is an address.

    The table beneath every chart has the same links, so the keyboard is not led through here.
    """
    told = f"<title>{title}</title>{body}"
    if not href:
        return f"<g>{told}</g>"
    return f'<a href="{escape(href)}" tabindex="-1">{told}</a>'


def drawing(
    title: str, description: str, height: float, body: str, *, links: bool = False
) -> SafeString:
    """A whole chart; a drawing with links is a group, since an image hides what is in it."""
    role = "group" if links else "img"
    return mark_safe(
        f'<svg class="chart" role="{role}" width="100%" height="{short(height)}">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{body}</svg>"
    )


def plot(chart: SafeString, classes: str = "") -> SafeString:
    """Room for the labels at the edges of a chart."""
    return mark_safe(f'<div class="{f"plot {classes}".rstrip()}">{chart}</div>')


def stretched(width: float, height: float, pixels: float, body: str) -> str:
    """Curves in coordinates of their own, stretched over the whole chart."""
    return (
        f'<svg viewBox="0 0 {short(width)} {short(height)}" preserveAspectRatio="none"'
        f' width="100%" height="{short(pixels)}">{body}</svg>'
    )


@lru_cache(maxsize=4096)
def text_width(words: str, size: float = 12) -> float:
    """About how many pixels a line of text needs in the widest common system face."""
    return sum(size if ord(c) > 0x2E80 else size * 0.62 for c in words)
