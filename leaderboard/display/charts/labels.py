"""Placing of names beside dots, so that none covers another name or a dot.

A drawing is as wide as its screen, so names are placed twice: for a desk and for a phone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaderboard.display.charts.drawing import (
    Anchor,
    coord,
    escape_name,
    render_text,
    text_width,
)

# The width of a drawing on a desktop and on a phone, and the height of a line of text, in pixels.
WIDE, PHONE, LINE = 1150, 312, 14
# Half the width of a dot, and of a stroke.
DOT, STROKE = 5, 1
# Pixels between two names on one line.
APART = 6
# How many lines a name may be off its dot: usually, and where there are few names.
NEAR, FAR, FEW = 1, 12, 16
# The cost of a stroke through a name, in lines off the dot.
CROSSED = 3


@dataclass(frozen=True, slots=True)
class NamedDot:
    """A dot and its name; x is in per cent, y in pixels, and `turn` is the order of placing."""

    x: float
    y: float
    name: str
    classes: str = "label"


@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight line that names should avoid; x is in per cent, y in pixels."""

    x1: float
    x2: float
    y1: float
    y2: float


@dataclass(frozen=True, slots=True)
class Box:
    """An area of a drawing, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        beside = self.right <= other.left or other.right <= self.left
        return not beside and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True, slots=True)
class NamePlace:
    """A position of a name beside its dot; a distant one needs a leading line."""

    anchor: Anchor
    dx: int
    dy: int

    @property
    def rows(self) -> int:
        return abs(self.dy - 4) // LINE

    def box(self, x: float, y: float, words: str) -> Box:
        width = text_width(words) + APART
        left = x + self.dx - (width if self.anchor == "end" else 0)
        return Box(left, y + self.dy - LINE + 3, left + width, y + self.dy + 3)

    def lead(self, x: float, y: float) -> Box:
        """Return the area of the leading line from the dot to the name."""
        left, right = sorted((x, x + self.dx))
        top, bottom = sorted((y, y + self.dy - 4))
        return Box(left, top, right, bottom)


def list_places(rows: int) -> list[NamePlace]:
    """Return positions above and below on both sides, the near ones first.

    >>> [(place.anchor, place.dy) for place in list_places(1)]
    [('start', -7), ('end', -7), ('start', 16), ('end', 16)]
    """
    offsets = [dy for row in range(rows) for dy in (-7 - LINE * row, 16 + LINE * row)]
    sides: tuple[tuple[Anchor, int], ...] = (("start", 8), ("end", -8))
    return [NamePlace(anchor, dx, dy) for dy in offsets for anchor, dx in sides]


def place_labels(spots: Sequence[NamedDot], strokes: Sequence[Stroke], height: float) -> str:
    """Return the names of all dots with room, at another position on a phone if needed."""
    desk, phone = (_placed(spots, strokes, wide, height) for wide in (WIDE, PHONE))
    parts = []
    for spot, on_desk, on_phone in zip(spots, desk, phone, strict=True):
        if on_desk == on_phone:
            parts.append(_label(spot, on_desk))
        else:
            parts += [_label(spot, on_desk, " opt"), _label(spot, on_phone, " phone")]
    return "".join(parts)


def _placed(
    spots: Sequence[NamedDot], strokes: Sequence[Stroke], wide: int, height: float
) -> list[NamePlace | None]:
    screen = Screen(wide, height, [_dot_box(item, wide) for item in spots], [])
    lines = [_stroke_boxes(stroke, wide) for stroke in strokes]
    around = list_places(FAR if len(spots) <= FEW else NEAR)
    return [screen.place(spot, around, lines) for spot in spots]


def _dot_box(spot: NamedDot, wide: int) -> Box:
    x = spot.x * wide / 100
    return Box(x - DOT, spot.y - DOT, x + DOT, spot.y + DOT)


def _stroke_boxes(stroke: Stroke, wide: int) -> Box:
    left, right = sorted((stroke.x1 * wide / 100, stroke.x2 * wide / 100))
    top, bottom = sorted((stroke.y1, stroke.y2))
    return Box(left - STROKE, top - STROKE, right + STROKE, bottom + STROKE)


@dataclass(frozen=True, slots=True)
class Screen:
    """A drawing of one width, and the areas of its dots and of the names placed so far."""

    wide: int
    height: float
    dots: list[Box]
    words: list[Box]

    def place(
        self, spot: NamedDot, places: Sequence[NamePlace], lines: Sequence[Box]
    ) -> NamePlace | None:
        """Choose the best free position of a name, if any, and reserve its area."""
        x = spot.x * self.wide / 100
        free = [item for item in places if self._is_free(item, x, spot)]
        best = min(free, key=lambda item: self._weight(item, x, spot, lines), default=None)
        if best is not None:
            self.words.append(best.box(x, spot.y, spot.name))
        return best

    def _is_free(self, place: NamePlace, x: float, spot: NamedDot) -> bool:
        box = place.box(x, spot.y, spot.name)
        inside = box.left >= 0 and box.right <= self.wide
        inside = inside and box.top >= 0 and box.bottom <= self.height
        return inside and not any(map(box.meets, [*self.words, *self.dots]))

    def _weight(self, place: NamePlace, x: float, spot: NamedDot, lines: Iterable[Box]) -> int:
        """Return the cost of a position: its distance, and what it and its leading line cross."""
        weight = place.rows + CROSSED * sum(map(place.box(x, spot.y, spot.name).meets, lines))
        if not place.rows:
            return weight
        lead = place.lead(x, spot.y)
        return weight + sum(map(lead.meets, self.dots)) + CROSSED * sum(map(lead.meets, self.words))


def _label(spot: NamedDot, place: NamePlace | None, screen: str = "") -> str:
    if place is None:
        return ""
    y = spot.y + place.dy
    words = render_text(
        spot.x, y, escape_name(spot.name), spot.classes + screen, place.anchor, place.dx
    )
    if not place.rows:
        return words
    # A nested drawing counts in pixels from a point in per cent.
    end = f"{place.dx - (2 if place.dx > 0 else -2)} {place.dy - 4}"
    return (
        f'<svg class="leads{screen}" x="{coord(spot.x)}%" y="{coord(spot.y)}">'
        f'<path class="lead" d="M0 0L{end}"/></svg>{words}'
    )
