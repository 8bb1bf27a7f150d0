"""Badges beside the name of a run, and differences with what a test says of them."""

from __future__ import annotations

from html import escape

from django.utils.safestring import SafeString, mark_safe

DIFFERENCE_CLASSES = {
    "better": "better",
    "worse": "worse",
    "not significant": "same",
    "none": "",
    None: "",
}


# The class and the sign of a mark of a nugget, by its code; the sign says the same without colour.
NUGGET_MARKS = {
    0: ("g0", "○"),
    1: ("g1", "◐"),
    2: ("g3", "●"),
    3: ("against", "!"),
    255: ("unjudged", "?"),
}


def nugget_mark(code: int, words: str) -> SafeString:
    """Render what an answer has of a nugget.

    >>> nugget_mark(2, "in full")
    '<span class="grade g3" title="in full">●</span>'
    """
    name, sign = NUGGET_MARKS[code]
    return mark_safe(f'<span class="grade {name}" title="{escape(words)}">{sign}</span>')


def badge(kind: str) -> SafeString:
    """Render a badge: baseline, yours, late, manual, unpooled, internal or blind."""
    word = escape(kind)
    return mark_safe(f'<span class="badge {word.replace(" ", "-")}">{word}</span>')


def marked(printed: str, verdict: str | None) -> str:
    """Wrap a printed difference in the class of its verdict."""
    return f'<span class="{DIFFERENCE_CLASSES[verdict or None]}">{printed}</span>'
