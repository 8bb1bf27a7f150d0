"""Tables for other programs: every digit, and no cell that a spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

Cell = str | int | float | None
# A column: its head, and the attribute of a row (with dots) or the function that has its cell.
Columns = Sequence[tuple[str, str | Callable[[Any], Cell]]]

# Heads and cells of a run and of a topic, which most tables begin with.
RUN_COLUMNS: Columns = [("run", "run.pk"), ("tag", "run.tag")]
TEAM_COLUMNS: Columns = [*RUN_COLUMNS, ("team", "run.team.name")]
TOPIC_COLUMNS: Columns = [("topic", "topic.number"), ("title", "topic.label")]


class CsvTable(NamedTuple):
    head: Sequence[Cell]
    rows: Iterable[Sequence[Cell]]


def tabulate(rows: Iterable[Any], columns: Columns) -> CsvTable:
    """Return a table with a line for each row; what a missing part would have is empty.

    >>> tabulate([3 + 4j], [("whole", "real"), ("twice", lambda row: 2 * row.imag)])
    CsvTable(head=['whole', 'twice'], rows=[[3.0, 8.0]])
    """
    cells = [_reader(value) if isinstance(value, str) else value for _, value in columns]
    return CsvTable([head for head, _ in columns], [[cell(row) for cell in cells] for row in rows])


def _reader(path: str) -> Callable[[Any], Cell]:
    names = path.split(".")

    def read(row: Any) -> Cell:
        for name in names:
            row = None if row is None else getattr(row, name)
        return row

    return read


# What a cell of a formula begins with; some spreadsheets also take the wide forms.
FORMULA_SIGNS = tuple("=+-@\t\r\n＝＋－＠")


def render_table(table: CsvTable, delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    for line in [table.head, *table.rows]:
        writer.writerow(escape_formula(export_cell(cell)) for cell in line)
    return out.getvalue()


def export_cell(cell: Cell) -> Cell:
    """Return a cell with every digit, empty if its value is missing."""
    return "" if is_missing(cell) else cell


def is_missing(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def escape_formula(cell: Any) -> Any:
    """Escape a cell that a spreadsheet would read as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_SIGNS) else cell
