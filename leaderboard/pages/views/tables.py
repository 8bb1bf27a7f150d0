"""Tables of a page as files for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.http import HttpRequest, HttpResponse

from leaderboard.display.csv_tables import Cell, CsvTable, render_table
from leaderboard.infrastructure.downloads import text_file


def wants_csv(request: HttpRequest) -> bool:
    return request.GET.get("format") == "csv"


def csv_file(name: str, head: Sequence[Cell], lines: Iterable[Sequence[Cell]]) -> HttpResponse:
    return text_file(f"{name}.csv", render_table(CsvTable(head, lines)), "text/csv")
