"""Text, tables and citations for LaTeX.  Strangers choose the names, so none may be a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leaderboard.display.csv_tables import Cell, CsvTable, is_missing
from leaderboard.display.numbers import MINUS, MISSING, score

TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    MINUS: "$-$",
    MISSING: "--",
    **{c: "\\" + c for c in "&%$#_{}"},
}


def escape_tex(text: str) -> str:
    r"""Escape text so that TeX prints it unchanged.

    >>> escape_tex("nDCG_10 & 5% \\input{x}")
    'nDCG\\_10 \\& 5\\% \\textbackslash{}input\\{x\\}'
    """
    return "".join(TEX.get(c, c) for c in text if c.isprintable())


def render_booktabs(
    heads: Sequence[str],
    is_words: Sequence[bool],
    rows: Sequence[Sequence[str]],
    caption: str,
    notes: Sequence[str] = (),
) -> str:
    """Render a booktabs table with its caption; heads, rows and notes are escaped already."""
    lines = [
        "% \\usepackage{booktabs}",
        "\\begin{table}",
        f"\\caption{{{escape_tex(' '.join(caption.split()))}}}",
        f"\\begin{{tabular}}{{{''.join('l' if words else 'r' for words in is_words)}}}",
        "\\toprule",
        " & ".join(heads) + r" \\",
        "\\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
        *(f"% {note}" for note in notes),
    ]
    return "\n".join(lines) + "\n"


def render_latex_table(table: CsvTable, caption: str) -> str:
    """Render any table, with 4 decimals."""
    rows = [list(row) for row in table.rows]
    return render_booktabs(
        [escape_tex(str(head).replace("_", " ")) for head in table.head],
        [any(isinstance(row[place], str) for row in rows) for place in range(len(table.head))],
        [[escape_tex(_print_cell(cell)) for cell in row] for row in rows],
        caption,
    )


def _print_cell(cell: Cell) -> str:
    if isinstance(cell, float) or is_missing(cell):
        return score(cell)  # type: ignore[arg-type]
    return str(cell)


def render_misc(key: str, fields: Mapping[str, str]) -> str:
    """Render a BibTeX entry of type misc; a month has no braces."""
    lines = "".join(
        f"  {name} = {value if name == 'month' else '{' + value + '}'},\n"
        for name, value in fields.items()
    )
    return f"@misc{{{key},\n{lines}}}\n"
