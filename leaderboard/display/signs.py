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


def badge(kind: str) -> SafeString:
    """Render a badge: baseline, yours, late, manual, unpooled, internal or blind."""
    word = escape(kind)
    return mark_safe(f'<span class="badge {word.replace(" ", "-")}">{word}</span>')


def marked(printed: str, verdict: str | None) -> str:
    """Wrap a printed difference in the class of its verdict."""
    return f'<span class="{DIFFERENCE_CLASSES[verdict or None]}">{printed}</span>'
