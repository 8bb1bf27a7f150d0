"""A board as a table for other programs and for papers: the columns, runs and order asked for.

CSV, TSV and JSON hold every digit; Markdown and LaTeX are to be read, with 4 decimals.  Names come
from strangers: no cell is a formula to a spreadsheet, and none is a command to TeX.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from evaluation.significance import TESTS
from leaderboard.boards.columns import Cell, Column
from leaderboard.boards.receipts import inert
from leaderboard.boards.standings import LEVEL, Board, Standing
from leaderboard.display.numbers import MINUS, MISSING, counted
from leaderboard.models import Run

Answer = TypeVar("Answer", bound=HttpResponseBase)


def text_file(name: str, text: str, media_type: str = "text/plain") -> HttpResponse:
    return _kept(name, HttpResponse(text, content_type=_utf8(media_type)))


def streamed_text(
    name: str, pieces: Iterable[str] | Iterable[bytes], media_type: str = "text/plain"
) -> StreamingHttpResponse:
    """Sent while it is made, so it takes no memory and no room on the disk."""
    return _kept(name, StreamingHttpResponse(pieces, content_type=_utf8(media_type)))


def streamed_bytes(name: str, pieces: Iterable[bytes], media_type: str) -> StreamingHttpResponse:
    return _kept(name, StreamingHttpResponse(pieces, content_type=media_type))


def _utf8(media_type: str) -> str:
    return f"{media_type}; charset=utf-8"


def _kept(name: str, answer: Answer) -> Answer:
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


Columns = Sequence[Column]

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
# Better, and worse, than the baseline.
DAGGERS = {"better": r"$^{\dagger}$", "worse": r"$^{\ddagger}$"}


@dataclass(frozen=True)
class Format:
    name: str
    media_type: str
    write: Callable[[Board, Columns], str]


def download(board: Board, format: str, columns: Columns) -> HttpResponse:
    """The board in a format of FORMATS, to be kept as a file."""
    chosen = FORMATS[format]
    filename = f"{board.sight.track.slug}-leaderboard.{format}"
    return text_file(filename, chosen.write(board, columns), chosen.media_type)


def as_csv(board: Board, columns: Columns) -> str:
    return separated(board, columns, ",")


def as_tsv(board: Board, columns: Columns) -> str:
    return separated(board, columns, "\t")


def separated(board: Board, columns: Columns, delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(inert(field) for column in columns for field in column.fields)
    for standing in board.shown:
        cells = (cell for column in columns for cell in column.cells(standing))
        writer.writerow(inert(exactly(cell)) for cell in cells)
    return out.getvalue()


def exactly(cell: Cell) -> Cell:
    """An empty cell is a missing value, never zero; a float keeps every digit."""
    return "" if is_missing(cell) else cell


def is_missing(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def as_json(board: Board, columns: Columns) -> str:
    """What is missing is null."""
    standings = [
        {
            field: None if is_missing(cell) else cell
            for column in columns
            for field, cell in zip(column.fields, column.cells(standing), strict=True)
        }
        for standing in board.shown
    ]
    table = {
        "track": board.sight.track.slug,
        "measure": board.measure,
        "judgments": board.edition.judgment_set.version,
        "edition": str(board.edition.pk),
        "baseline": board.baseline.pk if board.baseline is not None else None,
        "test": board.sight.track.test,
        "standings": standings,
    }
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def as_markdown(board: Board, columns: Columns) -> str:
    """A table that GitHub and its like print; the best of each measure is bold."""
    columns = in_papers(columns)
    lines = [
        [markdown(column.title) for column in columns],
        ["---" if column.is_words else "--:" for column in columns],
    ]
    best = board.best
    for standing in board.shown:
        lines.append([readable(standing, each, best, markdown, "**{}**") for each in columns])
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{table}\n{markdown(caption(board))}\n"


def in_papers(columns: Columns) -> list[Column]:
    """Without the drawings."""
    return [column for column in columns if column.fields]


def markdown(text: str) -> str:
    """Text that Markdown prints as it is: no link, no tag, no further column.

    >>> markdown("a|b <i> [x](y)")
    'a\\\\|b \\\\<i\\\\> \\\\[x\\\\](y)'
    """
    return re.sub(r"([\\`*_\[\]<>|#~!])", r"\\\1", " ".join(text.split()))


def as_latex(board: Board, columns: Columns) -> str:
    """A booktabs table: the best of each measure bold, † better and ‡ worse than the baseline."""
    columns = in_papers(columns)
    best = board.best
    lines = [
        "% \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{{''.join('l' if each.is_words else 'r' for each in columns)}}}",
        "\\toprule",
        " & ".join(tex(each.title) for each in columns) + r" \\",
        "\\midrule",
        *(latex_row(board, standing, columns, best) for standing in board.shown),
        "\\bottomrule",
        "\\end{tabular}",
        f"% {' '.join(tex(caption(board)).split())}",
    ]
    if board.baseline is not None:
        lines.append(f"% {DAGGERS['better']} better, {DAGGERS['worse']} worse than the baseline.")
    return "\n".join(lines) + "\n"


def latex_row(board: Board, standing: Standing, columns: Columns, best: dict[str, float]) -> str:
    cells = [
        readable(standing, column, best, tex, r"\textbf{{{}}}")
        + (DAGGERS.get(standing.verdict, "") if column.measure == board.measure else "")
        for column in columns
    ]
    return " & ".join(cells) + r" \\"


def tex(text: str) -> str:
    r"""Text that TeX prints as it is.

    >>> tex("nDCG_10 & 5% \\input{x}")
    'nDCG\\_10 \\& 5\\% \\textbackslash{}input\\{x\\}'
    """
    return "".join(TEX.get(c, c) for c in text if c.isprintable())


def readable(
    standing: Standing,
    column: Column,
    best: dict[str, float],
    plain: Callable[[str], str],
    bold: str,
) -> str:
    """A cell as it is read, `plain` making text of it; bold where no run is better."""
    text = plain(column.printed(standing))
    is_best = column.measure and standing.scores[column.measure] == best[column.measure]
    return bold.format(text) if is_best else text


def caption(board: Board) -> str:
    """What the table cannot do without when it has left this site."""
    edition = board.edition
    words = [
        f"{board.sight.track.name}: {counted(len(board.shown), 'run')} by {board.measure}",
        f"judgments {edition.judgment_set.version}, {counted(edition.num_evaluated, 'topic')}",
    ]
    if board.baseline is not None:
        words.append(against(board.baseline, board.sight.track.test))
    return "; ".join(words) + "."


def against(baseline: Run, test: str) -> str:
    return f"against {baseline.tag} by {TESTS[test]}, Holm's adjustment, at {LEVEL}"


FORMATS = {
    "csv": Format("CSV", "text/csv", as_csv),
    "tsv": Format("TSV", "text/tab-separated-values", as_tsv),
    "json": Format("JSON", "application/json", as_json),
    "md": Format("Markdown", "text/markdown", as_markdown),
    "tex": Format("LaTeX", "application/x-tex", as_latex),
}
