"""Lists of organisers: ten rows and a link to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.pages.views.lookups import page_number

SHOWN = 10
PAGE = 100


@dataclass(frozen=True)
class ShortList:
    """The first rows of a list, or one page of all rows if the reader asked for them."""

    name: str
    noun: str
    rows: list[Any]
    total: int
    address: str
    page: Page | None = None

    @property
    def is_cut(self) -> bool:
        return self.page is None and self.total > len(self.rows)

    def with_rows(self, rows: Sequence[Any]) -> ShortList:
        """Return the same list with rows that were prepared for the page."""
        return replace(self, rows=list(rows))

    def __bool__(self) -> bool:
        return bool(self.total)


def shorten(
    request: HttpRequest,
    name: str,
    noun: str,
    rows: QuerySet | Sequence[Any],
    path: str = "",
    carried: Sequence[str] = (),
) -> ShortList:
    """Return ten rows, or all in pages if the address asks for `all` of this list by name.

    `carried` names the parameters of the address that its link keeps.
    """
    kept = {each: request.GET[each] for each in carried if each in request.GET}
    address = f"{path or request.path}?{urlencode({**kept, 'all': name})}#{name}"
    if request.GET.get("all") == name:
        page = Paginator(rows, PAGE).get_page(page_number(request))
        return ShortList(name, noun, list(page), page.paginator.count, address, page)
    first = list(rows[: SHOWN + 1])
    total = len(first)
    if total > SHOWN:
        total = rows.count() if isinstance(rows, QuerySet) else len(rows)
    return ShortList(name, noun, first[:SHOWN], total, address)
