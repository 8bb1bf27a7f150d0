"""A badge for other sites: an image with a name and a value."""

from __future__ import annotations

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from leaderboard.display.charts.drawing import coord, text_width

SIZE = 11
ROOM = 8
LONGEST = 40


def badge(name: str, value: str) -> SafeString:
    """Return a badge with its own colours, since no style sheet reaches another site."""
    name = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    left, right = (text_width(words, SIZE) + 2 * ROOM for words in (name, value))
    words = "".join(
        f'<text x="{coord(middle)}" y="14">{escape(label)}</text>'
        for middle, label in ((left / 2, name), (left + right / 2, value))
    )
    return mark_safe(
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{coord(left + right)}"'
        f' height="20"><title>{escape(name)}: {escape(value)}</title>'
        f'<rect width="{coord(left + right)}" height="20" rx="3" fill="#3d4248"/>'
        f'<rect x="{coord(left)}" width="{coord(right)}" height="20" rx="3" fill="#1f5fa8"/>'
        f'<g fill="#fff" font-family="sans-serif" font-size="{SIZE}" text-anchor="middle">'
        f"{words}</g></svg>"
    )
