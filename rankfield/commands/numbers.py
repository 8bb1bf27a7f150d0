"""How commands print numbers."""

from __future__ import annotations


def number_text(value: float | None) -> str:
    return "" if value is None else f"{value:z.4f}"


def signed_text(value: float | None) -> str:
    return "" if value is None else f"{value:+z.4f}"


def p_text(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
