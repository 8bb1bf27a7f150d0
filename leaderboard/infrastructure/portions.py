"""Many rows a few at a time, without a cursor that would hold a connection in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)

PORTION = 2_000


def in_portions(rows: QuerySet[Row], key: str, size: int = PORTION) -> Iterator[list[Row]]:
    """The rows in the order of a unique `key`, at most `size` at a time."""
    rows = rows.order_by(key)
    portion = list(rows[:size])
    while portion:
        yield portion
        portion = list(rows.filter(**{f"{key}__gt": getattr(portion[-1], key)})[:size])
