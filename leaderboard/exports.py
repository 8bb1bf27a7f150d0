"""A board as a table for other programs and for papers.

CSV and TSV hold every digit; Markdown and LaTeX are to be read, with 4 decimals.  Names come from
strangers: no cell is a formula to a spreadsheet, and none is a command to TeX.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpResponse

from evaluation.significance import TESTS, Difference
from leaderboard.models import Run
from leaderboard.receipts import inert
from leaderboard.standings import LEVEL, Board, Standing
from leaderboard.templatetags.numbers import counted

Cell = str | int | float | None

BESIDE = ("difference", "low", "high", "p", "p_holm", "effect_size", "wins", "losses", "ties")
TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{c: "\\" + c for c in "&%$#_{}"},
}
# Better, and worse, than the baseline.
DAGGERS = {"better": r"$^{\dagger}$", "worse": r"$^{\ddagger}$"}


@dataclass(frozen=True)
class Format:
    media_type: str
    write: Callable[[Board], str]


def download(board: Board, format: str) -> HttpResponse:
    """The board in a format of FORMATS, to be kept as a file."""
    chosen = FORMATS[format]
    response = HttpResponse(chosen.write(board), content_type=f"{chosen.media_type}; charset=utf-8")
    filename = f"{board.sight.track.slug}-leaderboard.{format}"
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def columns_of(board: Board) -> list[str]:
    ranks = ["rank", "rank_low", "rank_high", "run", "tag", "team"]
    return [*ranks, *board.measures, "judged_at_10", *BESIDE]


def row_of(board: Board, standing: Standing) -> list[Cell]:
    """Every column of a run at full precision; None where there is nothing."""
    low, high = standing.interval or (None, None)
    return [
        standing.rank,
        low,
        high,
        standing.run.pk,
        standing.run.tag,
        standing.run.team.name,
        *(standing.scores[measure] for measure in board.measures),
        standing.judged_at_10,
        *beside(standing.against),
    ]


def beside(against: Difference | None) -> list[Cell]:
    if against is None:
        return [None] * len(BESIDE)
    return [against.p_adjusted if name == "p_holm" else getattr(against, name) for name in BESIDE]


def as_csv(board: Board) -> str:
    return separated(board, ",")


def as_tsv(board: Board) -> str:
    return separated(board, "\t")


def separated(board: Board, delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(inert(column) for column in columns_of(board))
    for standing in board.standings:
        writer.writerow(inert(exactly(cell)) for cell in row_of(board, standing))
    return out.getvalue()


def exactly(cell: Cell) -> Cell:
    """An empty cell is a missing value, never zero; a float keeps every digit."""
    missing = cell is None or (isinstance(cell, float) and math.isnan(cell))
    return "" if missing else cell


def as_markdown(board: Board) -> str:
    """A table that GitHub and its like print; the best of each measure is bold."""
    head = ["Rank", "Run", "Team", *(markdown(measure) for measure in board.measures), "p (Holm)"]
    lines = [head, ["--:", "---", "---", *("--:" for _ in board.measures), "--:"]]
    best = board.best
    for standing in board.standings:
        names = [markdown(standing.run.tag), markdown(standing.run.team.name)]
        scores = [readable(standing, measure, best, "**{}**") for measure in board.measures]
        lines.append([rank_of(standing), *names, *scores, p_of(standing)])
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{table}\n{markdown(caption(board))}\n"


def markdown(text: str) -> str:
    """Text that Markdown prints as it is: no link, no tag, no further column.

    >>> markdown("a|b <i> [x](y)")
    'a\\\\|b \\\\<i\\\\> \\\\[x\\\\](y)'
    """
    return re.sub(r"([\\`*_\[\]<>|#~!])", r"\\\1", " ".join(text.split()))


def as_latex(board: Board) -> str:
    """A booktabs table: the best of each measure bold, † better and ‡ worse than the baseline."""
    heads = ["", "Run", "Team", *(tex(measure) for measure in board.measures)]
    best = board.best
    lines = [
        "% \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{rll{'r' * len(board.measures)}}}",
        "\\toprule",
        " & ".join(heads) + r" \\",
        "\\midrule",
        *(latex_row(board, standing, best) for standing in board.standings),
        "\\bottomrule",
        "\\end{tabular}",
        f"% {' '.join(tex(caption(board)).split())}",
    ]
    if board.baseline is not None:
        lines.append(f"% {DAGGERS['better']} better, {DAGGERS['worse']} worse than the baseline.")
    return "\n".join(lines) + "\n"


def latex_row(board: Board, standing: Standing, best: dict[str, float]) -> str:
    scores = [
        readable(standing, measure, best, r"\textbf{{{}}}")
        + (DAGGERS.get(standing.verdict, "") if measure == board.measure else "")
        for measure in board.measures
    ]
    names = [tex(standing.run.tag), tex(standing.run.team.name)]
    return " & ".join([rank_of(standing), *names, *scores]) + r" \\"


def tex(text: str) -> str:
    r"""Text that TeX prints as it is.

    >>> tex("nDCG_10 & 5% \\input{x}")
    'nDCG\\_10 \\& 5\\% \\textbackslash{}input\\{x\\}'
    """
    return "".join(TEX.get(c, c) for c in text if c.isprintable())


def readable(standing: Standing, measure: str, best: dict[str, float], bold: str) -> str:
    """A score at 4 decimals, bold where no run is better."""
    value = standing.scores[measure]
    if value is None or math.isnan(value):
        return "--"
    text = f"{value:.4f}"
    return bold.format(text) if value == best[measure] else text


def rank_of(standing: Standing) -> str:
    return "--" if standing.rank is None else str(standing.rank)


def p_of(standing: Standing) -> str:
    p = standing.against.p_adjusted if standing.against is not None else None
    if p is None:
        return "--"
    return "< .001" if p < 0.001 else f"{p:.3f}"


def caption(board: Board) -> str:
    """What the table cannot do without when it has left this site."""
    edition = board.edition
    words = [
        f"{board.sight.track.name}: {counted(len(board.standings), 'run')} by {board.measure}",
        f"judgments {edition.judgment_set.version}, {counted(edition.num_evaluated, 'topic')}",
    ]
    if board.baseline is not None:
        words.append(against(board.baseline, board.sight.track.test))
    return "; ".join(words) + "."


def against(baseline: Run, test: str) -> str:
    return f"against {baseline.tag} by {TESTS[test]}, Holm's adjustment, at {LEVEL}"


FORMATS = {
    "csv": Format("text/csv", as_csv),
    "tsv": Format("text/tab-separated-values", as_tsv),
    "md": Format("text/markdown", as_markdown),
    "tex": Format("application/x-tex", as_latex),
}
