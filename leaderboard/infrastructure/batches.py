"""Rows in batches, without a cursor that would keep a connection between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)

BATCH_ROWS = 2_000


def iterate_batches(rows: QuerySet[Row], key: str, size: int = BATCH_ROWS) -> Iterator[list[Row]]:
    """Yield the rows in the order of a unique `key`, at most `size` at a time."""
    rows = rows.order_by(key)
    batch = list(rows[:size])
    while batch:
        yield batch
        batch = list(rows.filter(**{f"{key}__gt": getattr(batch[-1], key)})[:size])
