"""Tables as aligned text, TSV, Markdown, LaTeX or JSON.

>>> table = Table(["run", "AP"], [["bm25", "0.3158"], ["rrf", "0.3579"]], texts=1)
>>> print(table_bytes(table, "md").decode(), end="")
| run | AP |
| :-- | --: |
| bm25 | 0.3158 |
| rrf | 0.3579 |
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

FORMATS = ("text", "tsv", "md", "tex", "json")
LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


@dataclass(frozen=True)
class Table:
    """Cells to be printed; the first `texts` columns hold text, the others numbers.

    `note` says below the table what the numbers are.
    """

    header: list[str]
    rows: list[list[str]]
    texts: int
    note: str = ""


def table_bytes(table: Table, form: str) -> bytes:
    """The table in one of `FORMATS`."""
    return RENDERED[form](table).encode("utf-8", "surrogateescape")


def table_text(table: Table) -> str:
    """The table as aligned text, without the last line break, as `print` wants it."""
    return _text(table).rstrip("\n")


def print_table(table: Table, form: str) -> None:
    write_bytes([table_bytes(table, form)])


def print_tables(tables: Sequence[Table], form: str, between: str = "") -> None:
    """Print several tables; in JSON they are one document, of several tables {"tables": [...]}."""
    if form == "json" and len(tables) > 1:
        document = {"tables": [_document(table) for table in tables]}
        write_bytes([_json_text(document).encode("utf-8", "surrogateescape")])
        return
    write_bytes([between.encode().join(table_bytes(table, form) for table in tables)])


def text_of(identifier: bytes) -> str:
    """A topic or docno as a cell; printed again it is the same bytes, whatever they are."""
    return identifier.decode("utf-8", "surrogateescape")


def write_bytes(pieces: Iterable[bytes]) -> None:
    """Print bytes as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.writelines(pieces)
    sys.stdout.buffer.flush()


def _text(table: Table) -> str:
    lines = [table.header, *table.rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(table.header))]
    text = ""
    for line in lines:
        cells = [
            cell.ljust(width) if place < table.texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        text += "  ".join(cells).rstrip() + "\n"
    return text + (f"{table.note}\n" if table.note else "")


def _tsv(table: Table) -> str:
    lines = "".join("\t".join(line) + "\n" for line in (table.header, *table.rows))
    return lines + (f"# {table.note}\n" if table.note else "")


def _markdown(table: Table) -> str:
    rule = [":--" if place < table.texts else "--:" for place in range(len(table.header))]
    lines = [
        [cell.replace("|", "\\|") for cell in line] for line in (table.header, rule, *table.rows)
    ]
    text = "".join("| " + " | ".join(line) + " |\n" for line in lines)
    return text + (f"\n{table.note}\n" if table.note else "")


def _latex(table: Table) -> str:
    columns = "l" * table.texts + "r" * (len(table.header) - table.texts)
    header, *rows = (
        " & ".join(cell.translate(LATEX) for cell in line) + r" \\"
        for line in (table.header, *table.rows)
    )
    begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    lines = [begin, r"\hline", header, r"\hline", *rows, r"\hline", end]
    return "\n".join(lines) + "\n" + (f"% {table.note}\n" if table.note else "")


def _json(table: Table) -> str:
    return _json_text(_document(table))


def _json_text(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _document(table: Table) -> dict[str, object]:
    """Its rows as objects, a number as it would be printed; an empty or undefined one is null."""
    rows = [
        {
            name: cell if place < table.texts else _number(cell)
            for place, (name, cell) in enumerate(zip(table.header, row, strict=True))
        }
        for row in table.rows
    ]
    return {"rows": rows, "note": table.note}


def _number(cell: str) -> object:
    """Return what a cell says: a number, null where there is none, else its text.

    >>> [_number(cell) for cell in ("0.25", "+3", "", "-", "nan", "3 of 50")]
    [0.25, 3, None, None, None, '3 of 50']
    """
    if cell in ("", "-", "nan"):
        return None
    try:
        value = float(cell)
    except ValueError:
        return cell
    if not math.isfinite(value):
        return cell
    return int(cell) if cell.lstrip("+-").isdecimal() else value


RENDERED: dict[str, Callable[[Table], str]] = {
    "text": _text,
    "tsv": _tsv,
    "md": _markdown,
    "tex": _latex,
    "json": _json,
}
