"""Lists are paged: `{items, next}`. Pass `next` as `after` to get the next page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, Q, QuerySet

from leaderboard.api.errors import field_error
from leaderboard.api.schemas import Paging
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Run
from leaderboard.models.runs import RunQuerySet

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    items: list[Row]
    next: str | None


def page_by_slug(rows: QuerySet[Row], paging: Paging) -> Page[Row]:
    return _cut_page(rows.filter(slug__gt=paging.after).order_by("slug"), paging, "slug")


def page_by_number(rows: QuerySet[Row], paging: Paging) -> Page[Row]:
    """Return a page of rows in the order in which they were made."""
    after = read_whole_number(paging.after or "0")
    if after is None:
        raise field_error("after", "is not the `next` of a page", paging.after)
    return _cut_page(rows.filter(pk__gt=after).order_by("pk"), paging, "pk")


def page_newest_first(runs: RunQuerySet, paging: Paging) -> Page[Run]:
    """Return a page of runs with `arrival`; those that arrive meanwhile do not move the others."""
    if paging.after:
        last = runs.filter(pk=paging.after).first()
        if last is None:
            raise field_error("after", "is not a run of this list", paging.after)
        together = Q(arrival=last.arrival, pk__gt=last.pk)
        runs = runs.filter(Q(arrival__lt=last.arrival) | together)
    return _cut_page(runs.order_by("-arrival", "pk"), paging, "pk")


def _cut_page(rows: QuerySet[Row], paging: Paging, key: str) -> Page[Row]:
    found = list(rows[: paging.limit + 1])
    shown = found[: paging.limit]
    more = len(found) > paging.limit
    return Page(shown, str(getattr(shown[-1], key)) if more else None)
