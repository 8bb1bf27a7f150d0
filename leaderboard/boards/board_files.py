"""A board of runs or of systems as a file, with the columns, rows and order that a reader chose.

CSV, TSV and JSON have every digit; Markdown and LaTeX have 4 decimals.  Strangers choose the names,
so no cell may be a formula in a spreadsheet or a command in TeX.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse

from leaderboard.boards.columns import Column
from leaderboard.display.csv_tables import CsvTable, render_table
from leaderboard.display.latex import escape_tex, render_booktabs
from leaderboard.infrastructure.downloads import text_file

# The marks of rows better and worse than the baseline.
DAGGERS = {"better": r"$^{\dagger}$", "worse": r"$^{\ddagger}$"}
DAGGERS_EXPLAINED = f"{DAGGERS['better']} better, {DAGGERS['worse']} worse than the baseline."


@dataclass(frozen=True)
class BoardFile:
    """What the files of a board are written from.

    `unranked` rows follow in tables for programs alone. `told` is one cell more, by its field,
    that is the same in every row. `describe` returns what JSON says, `caption` the caption.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Any]
    describe: Callable[[], dict[str, Any]]
    caption: Callable[[], str]
    has_verdicts: bool
    unranked: Sequence[Any] = ()
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_papers(self) -> list[Column]:
        """The columns that have text, without the charts."""
        return [column for column in self.columns if column.fields]

    def tabulate(self) -> CsvTable:
        fields = [name for column in self.columns for name in column.fields]
        rows = [
            [cell for column in self.columns for cell in column.cells(row)]
            for row in (*self.rows, *self.unranked)
        ]
        return CsvTable([*fields, *self.told], [[*row, *self.told.values()] for row in rows])


@dataclass(frozen=True)
class Format:
    name: str
    media_type: str
    write: Callable[[BoardFile], str]


def download(board: BoardFile, format: str) -> HttpResponse:
    """Return the board as a file in one of FORMATS."""
    chosen = FORMATS[format]
    return text_file(f"{board.name}.{format}", chosen.write(board), chosen.media_type)


def render_csv(board: BoardFile) -> str:
    return render_table(board.tabulate())


def render_tsv(board: BoardFile) -> str:
    return render_table(board.tabulate(), "\t")


def render_json(board: BoardFile) -> str:
    """Render the board as JSON; missing values are null."""
    return json.dumps(board.describe(), indent=1, ensure_ascii=False) + "\n"


def render_markdown(board: BoardFile) -> str:
    """Render the board as a Markdown table; the best values are bold."""
    columns = board.in_papers
    lines = [
        [escape_markdown(column.title_in_papers) for column in columns],
        ["---" if column.is_words else "--:" for column in columns],
        *(
            [_print_cell(row, column, escape_markdown, "**{}**") for column in columns]
            for row in board.rows
        ),
    ]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{table}\n{escape_markdown(board.caption())}\n"


def escape_markdown(text: str) -> str:
    """Escape text so that Markdown prints it unchanged, without a link, tag or column.

    >>> escape_markdown("a|b <i> [x](y)")
    'a\\\\|b \\\\<i\\\\> \\\\[x\\\\](y)'
    """
    return re.sub(r"([\\`*_\[\]<>|#~!])", r"\\\1", " ".join(text.split()))


def render_latex(board: BoardFile) -> str:
    """Render the board as a booktabs table: best values bold, † better and ‡ worse."""
    columns = board.in_papers
    return render_booktabs(
        [escape_tex(column.title_in_papers) for column in columns],
        [column.is_words for column in columns],
        [[_print_tex_cell(row, column) for column in columns] for row in board.rows],
        board.caption(),
        [DAGGERS_EXPLAINED] if board.has_verdicts else [],
    )


def _print_tex_cell(row: Any, column: Column) -> str:
    dagger = DAGGERS.get(row.verdict, "") if column.ranks else ""
    return _print_cell(row, column, escape_tex, r"\textbf{{{}}}") + dagger


def _print_cell(row: Any, column: Column, plain: Callable[[str], str], bold: str) -> str:
    """Print a cell for readers, escaped by `plain`, and bold if no row is better."""
    text = plain(column.printed(row))
    return bold.format(text) if column.is_best(row) else text


FORMATS = {
    "csv": Format("CSV", "text/csv", render_csv),
    "tsv": Format("TSV", "text/tab-separated-values", render_tsv),
    "json": Format("JSON", "application/json", render_json),
    "md": Format("Markdown", "text/markdown", render_markdown),
    "tex": Format("LaTeX", "application/x-tex", render_latex),
}
