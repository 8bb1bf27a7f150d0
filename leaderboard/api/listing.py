"""Lists are paged: `{items, next}`. Pass `next` as `after` to get the next page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, Q, QuerySet

from leaderboard.api.errors import field_error
from leaderboard.api.schemas import Paging
from leaderboard.models import Run
from leaderboard.models.runs import RunQuerySet

Row = TypeVar("Row", bound=Model)

# Keys of rows have no more digits.
LONGEST_NUMBER = 18


@dataclass(frozen=True)
class Page(Generic[Row]):
    rows: list[Row]
    next: str | None


def page_by_slug(rows: QuerySet[Row], paging: Paging) -> Page[Row]:
    return _cut_page(rows.filter(slug__gt=paging.after).order_by("slug"), paging, "slug")


def page_by_number(rows: QuerySet[Row], paging: Paging) -> Page[Row]:
    """Return a page of rows in the order in which they were made."""
    after = paging.after or "0"
    if not after.isdecimal() or len(after) > LONGEST_NUMBER:
        raise field_error("after", "is not the `next` of a page", after)
    return _cut_page(rows.filter(pk__gt=int(after)).order_by("pk"), paging, "pk")


def page_newest_first(runs: RunQuerySet, paging: Paging) -> Page[Run]:
    """Return a page of runs; runs that arrive meanwhile do not move the others."""
    if paging.after:
        last = runs.filter(pk=paging.after).first()
        if last is None:
            raise field_error("after", "is not a run of this list", paging.after)
        same_instant = Q(received_at=last.received_at, pk__gt=last.pk)
        runs = runs.filter(Q(received_at__lt=last.received_at) | same_instant)
    return _cut_page(runs.order_by("-received_at", "pk"), paging, "pk")


def _cut_page(rows: QuerySet[Row], paging: Paging, key: str) -> Page[Row]:
    found = list(rows[: paging.limit + 1])
    shown = found[: paging.limit]
    more = len(found) > paging.limit
    return Page(shown, str(getattr(shown[-1], key)) if more else None)
