"""Badges as SVG: two words beside each other, with their own colours and no style sheet."""

from __future__ import annotations

from html import escape

SIZE, ROOM = 11, 8
HEIGHT = 20
LONGEST = 40
# About how wide a letter is in the widest common system font, and one of Chinese or Japanese.
NARROW, WIDE, FIRST_WIDE = 0.62, 1.0, 0x2E80


def draw_badge(name: str, value: str) -> str:
    """Return a badge that says a value by its name.

    >>> draw_badge("nDCG@10", "0.4796").count("<text")
    2
    """
    name = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    left, right = (_width(words) for words in (name, value))
    words = "".join(
        f'<text x="{_coordinate(middle)}" y="14">{escape(label)}</text>'
        for middle, label in ((left / 2, name), (left + right / 2, value))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_coordinate(left + right)}"'
        f' height="{HEIGHT}"><title>{escape(name)}: {escape(value)}</title>'
        f'<rect width="{_coordinate(left + right)}" height="{HEIGHT}" rx="3" fill="#3d4248"/>'
        f'<rect x="{_coordinate(left)}" width="{_coordinate(right)}" height="{HEIGHT}" rx="3"'
        f' fill="#1f5fa8"/><g fill="#fff" font-family="sans-serif" font-size="{SIZE}"'
        f' text-anchor="middle">{words}</g></svg>'
    )


def _width(words: str) -> float:
    letters = sum(WIDE if ord(letter) > FIRST_WIDE else NARROW for letter in words)
    return SIZE * letters + 2 * ROOM


def _coordinate(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
