"""A board as a file, with the columns, runs and order that the reader chose.

CSV, TSV and JSON have every digit; Markdown and LaTeX have 4 decimals.  Strangers choose the names,
so no cell may be a formula in a spreadsheet or a command in TeX.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from evaluation.significance import TESTS
from leaderboard.boards.columns import Column
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.csv_tables import Cell, CsvTable, is_missing, render_table
from leaderboard.display.numbers import MINUS, MISSING, counted, score
from leaderboard.models import Run
from leaderboard.scoring.verdicts import LEVEL

Answer = TypeVar("Answer", bound=HttpResponseBase)


def text_file(name: str, text: str, media_type: str = "text/plain") -> HttpResponse:
    return _as_attachment(name, HttpResponse(text, content_type=_with_charset(media_type)))


def streamed_text(
    name: str, pieces: Iterable[str] | Iterable[bytes], media_type: str = "text/plain"
) -> StreamingHttpResponse:
    """Stream a text file as it is made, which takes no memory and no disk space."""
    return _as_attachment(
        name, StreamingHttpResponse(pieces, content_type=_with_charset(media_type))
    )


def streamed_bytes(name: str, pieces: Iterable[bytes], media_type: str) -> StreamingHttpResponse:
    return _as_attachment(name, StreamingHttpResponse(pieces, content_type=media_type))


def uploaded_file(run: Run) -> FileResponse:
    """Return the file of a run as it was uploaded, always as a download."""
    if not run.file:
        raise Http404("a rejected file that is no longer kept")
    return FileResponse(
        default_storage.open(run.file.name),
        as_attachment=True,
        filename=run.filename or f"{run.pk}.run",
        content_type="application/octet-stream",
    )


def _with_charset(media_type: str) -> str:
    return f"{media_type}; charset=utf-8"


def _as_attachment(name: str, answer: Answer) -> Answer:
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
# The test of all pairs, in words.
ALL_PAIRS_TEST = "the studentised maximum (sign flips)"
# The marks of runs better and worse than the baseline.
DAGGERS = {"better": r"$^{\dagger}$", "worse": r"$^{\ddagger}$"}


@dataclass(frozen=True)
class Format:
    name: str
    media_type: str
    write: Callable[[Board, Columns], str]


def download(board: Board, format: str, columns: Columns) -> HttpResponse:
    """Return the board as a file in one of FORMATS."""
    chosen = FORMATS[format]
    filename = f"{board.sight.track.slug}-leaderboard.{format}"
    return text_file(filename, chosen.write(board, columns), chosen.media_type)


def render_csv(board: Board, columns: Columns) -> str:
    return render_table(tabulate_board(board, columns))


def render_tsv(board: Board, columns: Columns) -> str:
    return render_table(tabulate_board(board, columns), "\t")


def tabulate_board(board: Board, columns: Columns) -> CsvTable:
    # Means by different judges never share a column without a word about it.
    said = board.who_judged.full_text
    return CsvTable(
        [
            *(field for column in columns for field in column.fields),
            *(["judged_by"] if said else []),
        ],
        [
            [
                *(cell for column in columns for cell in column.cells(line)),
                *([said] if said else []),
            ]
            for line in board.shown
        ],
    )


def render_json(board: Board, columns: Columns) -> str:
    """Render the board as JSON; missing values are null."""
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
        "judged_by": board.who_judged.full_text or None,
        "edition": str(board.edition.pk),
        "baseline": board.baseline.pk if board.baseline is not None else None,
        "family": board.family,
        "test": board.test,
        "standings": standings,
    }
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def render_markdown(board: Board, columns: Columns) -> str:
    """Render the board as a Markdown table; the best value of each measure is bold."""
    columns = printed_columns(columns)
    lines = [
        [escape_markdown(column.title) for column in columns],
        ["---" if column.is_words else "--:" for column in columns],
    ]
    best = board.best
    for standing in board.shown:
        lines.append(
            [render_cell(standing, column, best, escape_markdown, "**{}**") for column in columns]
        )
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{table}\n{escape_markdown(build_caption(board))}\n"


def printed_columns(columns: Columns) -> list[Column]:
    """Return the columns that have text, without the charts."""
    return [column for column in columns if column.fields]


def escape_markdown(text: str) -> str:
    """Escape text so that Markdown prints it unchanged, without a link, tag or column.

    >>> escape_markdown("a|b <i> [x](y)")
    'a\\\\|b \\\\<i\\\\> \\\\[x\\\\](y)'
    """
    return re.sub(r"([\\`*_\[\]<>|#~!])", r"\\\1", " ".join(text.split()))


def render_latex(board: Board, columns: Columns) -> str:
    """Render the board as a booktabs table: best values bold, † better and ‡ worse."""
    columns = printed_columns(columns)
    best = board.best
    lines = [
        "% \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{{''.join('l' if column.is_words else 'r' for column in columns)}}}",
        "\\toprule",
        " & ".join(escape_tex(column.title) for column in columns) + r" \\",
        "\\midrule",
        *(render_latex_row(board, standing, columns, best) for standing in board.shown),
        "\\bottomrule",
        "\\end{tabular}",
        f"% {' '.join(escape_tex(build_caption(board)).split())}",
    ]
    if board.baseline is not None:
        lines.append(f"% {DAGGERS['better']} better, {DAGGERS['worse']} worse than the baseline.")
    return "\n".join(lines) + "\n"


def render_latex_table(table: CsvTable, caption: str) -> str:
    """Render any table as a booktabs table, with 4 decimals."""
    rows = [list(row) for row in table.rows]
    is_words = [
        any(isinstance(row[place], str) for row in rows) for place in range(len(table.head))
    ]
    lines = [
        "% \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{{''.join('l' if words else 'r' for words in is_words)}}}",
        "\\toprule",
        " & ".join(escape_tex(str(head).replace("_", " ")) for head in table.head) + r" \\",
        "\\midrule",
        *(" & ".join(escape_tex(_print_cell(cell)) for cell in row) + r" \\" for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
        f"% {escape_tex(caption)}",
    ]
    return "\n".join(lines) + "\n"


def _print_cell(cell: Cell) -> str:
    if isinstance(cell, float) or is_missing(cell):
        return score(cell)  # type: ignore[arg-type]
    return str(cell)


def render_latex_row(
    board: Board, standing: Standing, columns: Columns, best: dict[str, float]
) -> str:
    cells = [
        render_cell(standing, column, best, escape_tex, r"\textbf{{{}}}")
        + (DAGGERS.get(standing.verdict, "") if column.measure == board.measure else "")
        for column in columns
    ]
    return " & ".join(cells) + r" \\"


def render_misc(key: str, fields: Mapping[str, str]) -> str:
    """Render a BibTeX entry of type misc; a month has no braces."""
    lines = "".join(
        f"  {name} = {value if name == 'month' else '{' + value + '}'},\n"
        for name, value in fields.items()
    )
    return f"@misc{{{key},\n{lines}}}\n"


def escape_tex(text: str) -> str:
    r"""Escape text so that TeX prints it unchanged.

    >>> escape_tex("nDCG_10 & 5% \\input{x}")
    'nDCG\\_10 \\& 5\\% \\textbackslash{}input\\{x\\}'
    """
    return "".join(TEX.get(c, c) for c in text if c.isprintable())


def render_cell(
    standing: Standing,
    column: Column,
    best: dict[str, float],
    plain: Callable[[str], str],
    bold: str,
) -> str:
    """Render a cell for readers, escaped by `plain`, and bold if no run is better."""
    text = plain(column.printed(standing))
    is_best = column.measure and standing.scores[column.measure] == best[column.measure]
    return bold.format(text) if is_best else text


def build_caption(board: Board) -> str:
    """Describe the board: track, measure, judgments and test."""
    edition = board.edition
    words = [
        f"{board.sight.track.name}: {counted(len(board.shown), 'run')} by {board.measure}",
        f"judgments {edition.judgment_set.version}, {counted(edition.num_evaluated, 'topic')}",
        *filter(None, [board.who_judged.full_text]),
    ]
    if board.baseline is not None:
        words.append(describe_test(board, board.baseline))
    elif board.pairs is not None:
        words.append(f"all pairs of runs by {ALL_PAIRS_TEST}, at {LEVEL}")
    return "; ".join(words) + "."


def describe_test(board: Board, baseline: Run) -> str:
    if board.compares_all:
        return f"against {baseline.tag} within all pairs of runs by {ALL_PAIRS_TEST}, at {LEVEL}"
    adjusted = ", Holm's adjustment" if board.correction == "Holm" else ""
    return f"against {baseline.tag} by {TESTS[board.sight.track.test]}{adjusted}, at {LEVEL}"


FORMATS = {
    "csv": Format("CSV", "text/csv", render_csv),
    "tsv": Format("TSV", "text/tab-separated-values", render_tsv),
    "json": Format("JSON", "application/json", render_json),
    "md": Format("Markdown", "text/markdown", render_markdown),
    "tex": Format("LaTeX", "application/x-tex", render_latex),
}
