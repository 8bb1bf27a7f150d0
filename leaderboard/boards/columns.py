"""The columns of every board: each with its name in an address, its order and its part of a file.

A column is declared once.  `columns_of_table` of a board says which ones it has;
`leaderboard/pages/board_cells.py` draws those that are more than text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from leaderboard.boards.rows import OF_PARAMETERS, Choice, Row
from leaderboard.display.csv_tables import Cell, is_missing
from leaderboard.display.numbers import (
    MINUS,
    MISSING,
    p_value,
    span,
)
from leaderboard.runs.facts import Parameter

# Stands for every column in a reader's choice.
ALL_COLUMNS = "all"
# How many decimals of a mean pages and papers print where a track does not round it.
PAGE_DECIMALS, PAPER_DECIMALS = 3, 4

AnyRow = TypeVar("AnyRow", bound=Row)


@dataclass(frozen=True)
class Column:
    """A column of a board.

    `fields` and `cells` are for programs (none for a chart), and `printed` is for papers; the page
    prints it too, unless `leaderboard/pages/board_cells.py` draws cells of this `kind`.
    """

    name: str
    title: str
    fields: tuple[str, ...] = ()
    cells: Callable[[Any], Sequence[Cell]] = lambda _: ()
    printed: Callable[[Any], str] = lambda _: ""
    # What sorts the rows, None if missing; and whether the largest comes first.
    order: Callable[[Any], Any] = lambda _: None
    falls: bool = False
    # How the page draws its cells and its head.
    kind: str = "text"
    # What the head of the page prints below the title.
    detail: str = ""
    # The measured value, and the best one, which is printed bold.
    value: Callable[[Any], float | None] = lambda _: None
    best: float | None = None
    # How many decimals of the value pages print.
    decimals: int = PAGE_DECIMALS
    # The measure of the value, and the place of its track on the board of a benchmark.
    measure: str = ""
    place: int = -1
    # Whether its values rank the rows, so that it has the marks of verdicts.
    ranks: bool = False
    is_words: bool = False
    is_fixed: bool = False
    # Whether a phone shows it; the others appear after "all columns".
    on_phone: bool = False
    needs_baseline: bool = False
    # Whether it reveals scores, so readers of rounded means do not see it.
    needs_scores: bool = False
    # Whether it shows the decisions about all pairs.
    needs_all_pairs: bool = False
    # Whether it shows until the reader chooses, and whether a paper has it.
    is_default: bool = True
    is_paper: bool = False
    # Whether files have it until the reader chooses; the page says the same elsewhere.
    is_in_files: bool = False

    @property
    def title_in_papers(self) -> str:
        return f"{self.title} ({self.detail})" if self.kind == "track" else self.title

    @property
    def is_chart(self) -> bool:
        """Whether its cells are drawn on the axis in its head."""
        return not self.fields

    def is_best(self, row: Any) -> bool:
        value = self.value(row)
        return value is not None and value == self.best


class AnyBoard(Protocol):
    """A board as the choice of its columns needs it."""

    @property
    def choice(self) -> Choice: ...
    @property
    def baseline(self) -> Any: ...
    @property
    def compares_all(self) -> bool: ...
    @property
    def columns_of_table(self) -> list[Column]:
        """Every column that the board can have, in order."""
        ...


def available_columns(board: AnyBoard) -> list[Column]:
    """Return the columns that have values on this board."""
    return [
        column
        for column in board.columns_of_table
        if (board.baseline is not None or not column.needs_baseline)
        and (board.compares_all or not column.needs_all_pairs)
    ]


def shown_columns(board: AnyBoard, in_files: bool = False) -> list[Column]:
    """Return the columns that the reader chose, or the default ones."""
    columns, chosen = available_columns(board), set(board.choice.columns)
    if ALL_COLUMNS in chosen:
        return columns
    if not chosen & {column.name for column in columns}:
        return [
            column
            for column in columns
            if (column.is_default or (in_files and column.is_in_files))
            and not (board.compares_all and column.needs_baseline)
        ]
    return [column for column in columns if column.is_fixed or column.name in chosen]


def paper_columns(board: AnyBoard) -> list[Column]:
    """Return the columns of a table in a paper: names, values and p."""
    return [column for column in available_columns(board) if column.is_paper]


def sort_rows(rows: list[AnyRow], choice: Choice, columns: Sequence[Column]) -> list[AnyRow]:
    """Sort by the column asked for: missing values last, equal ones in the order of ranks."""
    column = next((each for each in columns if each.name == choice.sorted_by), RANK)
    known = [row for row in rows if column.order(row) is not None]
    known.sort(key=column.order, reverse=column.falls != choice.is_reversed)
    return [*known, *(row for row in rows if column.order(row) is None)]


def seen_columns(columns: Iterable[Column], shows_scores: bool) -> list[Column]:
    """Return the columns for a reader of all scores, or of rounded means alone."""
    return [column for column in columns if shows_scores or not column.needs_scores]


def fields_of(row: Row, columns: Sequence[Column]) -> dict[str, Cell]:
    """Return what these columns tell programs about a row."""
    cells = {
        field: cell
        for column in columns
        for field, cell in zip(column.fields, column.cells(row), strict=True)
    }
    return {field: None if is_missing(cell) else cell for field, cell in cells.items()}


def best_of(values: Iterable[float | None], direction: int) -> float | None:
    """Return the best of the known values: the largest, or the smallest if direction is -1.

    >>> best_of([0.2, None, 0.5], 1), best_of([0.2, 0.5], -1), best_of([None], 1)
    (0.5, 0.2, None)
    """
    best = max if direction > 0 else min
    return best((value for value in values if value is not None), default=None)


def format_four_decimals(value: float | None) -> str:
    return format_decimals(value, 4)


def format_decimals(value: float | None, decimals: int) -> str:
    if value is None or math.isnan(value):
        return MISSING
    return f"{value:z.{decimals}f}".replace("-", MINUS)


def _against(*names: str) -> Callable[[Row], list[Cell]]:
    """Return a function that reads these attributes of a row's difference from the baseline."""

    def cells(row: Row) -> list[Cell]:
        return [None if row.against is None else getattr(row.against, name) for name in names]

    return cells


def _against_text(pattern: str, *names: str) -> Callable[[Row], str]:
    """Return a function that prints numbers of the difference, or a dash if one is missing."""
    cells = _against(*names)

    def printed(row: Row) -> str:
        found = cells(row)
        if any(cell is None for cell in found):
            return MISSING
        return pattern.format(*found).replace("-", MINUS)

    return printed


def _against_order(name: str) -> Callable[[Row], Any]:
    return lambda row: None if row.against is None else getattr(row.against, name)


# The columns of both boards.

RANK = Column(
    "rank",
    "Rank",
    ("rank",),
    lambda row: (row.rank,),
    lambda row: MISSING if row.rank is None else str(row.rank),
    order=lambda row: row.rank,
    kind="rank",
    is_fixed=True,
    on_phone=True,
    is_paper=True,
)
INTERVAL = Column(
    "interval",
    "Possible ranks",
    ("rank_low", "rank_high"),
    lambda row: row.interval or (None, None),
    lambda row: MISSING if row.interval is None else span(*row.interval),
    order=lambda row: row.interval,
    kind="interval",
    needs_all_pairs=True,
)
TEAM = Column(
    "team",
    "Team",
    ("team",),
    lambda row: (row.team,),
    lambda row: row.team,
    order=lambda row: row.team.casefold(),
    is_words=True,
    is_paper=True,
)
DIFFERENCE = Column(
    "difference",
    "Difference",
    ("difference",),
    _against("difference"),
    _against_text("{:+z.4f}", "difference"),
    order=_against_order("difference"),
    falls=True,
    kind="difference",
    on_phone=True,
    needs_baseline=True,
)
CONFIDENCE = Column(
    "confidence",
    "95 % interval",
    ("low", "high", "changed"),
    _against("low", "high", "changed"),
    _against_text("{:+z.4f} to {:+z.4f}", "low", "high"),
    order=_against_order("low"),
    falls=True,
    kind="confidence",
    detail="95 %",
    needs_baseline=True,
    is_default=False,
)
P = Column(
    "p",
    "p, adjusted",
    ("p", "p_adjusted"),
    _against("p", "p_adjusted"),
    lambda row: MISSING if row.against is None else p_value(row.against.p_adjusted),
    order=_against_order("p_adjusted"),
    kind="p",
    needs_baseline=True,
    is_paper=True,
)
EFFECT = Column(
    "effect",
    "Effect size d",
    ("effect_size",),
    _against("effect_size"),
    _against_text("{:+z.2f}", "effect_size"),
    order=_against_order("effect_size"),
    falls=True,
    kind="effect",
    detail="d",
    needs_baseline=True,
    is_default=False,
)
WINS = Column(
    "wins",
    "W/L/T",
    ("wins", "losses", "ties"),
    _against("wins", "losses", "ties"),
    _against_text("{}/{}/{}", "wins", "losses", "ties"),
    order=_against_order("wins"),
    falls=True,
    kind="wins",
    needs_baseline=True,
)
# What boards say of the difference from the baseline.
AGAINST = (DIFFERENCE, CONFIDENCE, P, EFFECT, WINS)
DATE = Column(
    "date",
    "Date",
    ("received_at",),
    lambda row: (row.at.isoformat(timespec="seconds"),),
    lambda row: row.at.date().isoformat(),
    order=lambda row: row.at,
    falls=True,
    kind="date",
)
# The columns that end both boards.  One that is added here is on both, in all files and in the
# answers of the API whose schema names its fields.  One that is counted of runs reads `figures` of
# its row and has `needs_scores`.
LAST = (DATE,)


def measure_column(
    name: str,
    title: str,
    value: Callable[[Any], float | None],
    best: float | None,
    *,
    falls: bool,
    rounded: int | None,
    kind: str = "score",
    field: str = "",
    **more: Any,
) -> Column:
    """Return the column of a value by a measure, or of a mean of such values.

    `rounded` has the decimals to which a track rounds it, None with every digit.
    """
    paper = rounded or PAPER_DECIMALS
    return Column(
        name,
        title,
        (field or name,),
        lambda row: (value(row),),
        lambda row: format_decimals(value(row), paper),
        order=value,
        falls=falls,
        kind=kind,
        value=value,
        best=best,
        decimals=rounded or PAGE_DECIMALS,
        is_paper=True,
        **more,
    )


# The columns of a track's board.

# The box that chooses a row for what the form around the table does.
CHOSEN = Column("chosen", "Chosen", kind="chosen", is_fixed=True, on_phone=True)
RUN = Column(
    "run",
    "Run",
    ("run", "tag"),
    lambda row: (row.key, row.run.tag),
    lambda row: row.run.tag,
    order=lambda row: row.name.casefold(),
    kind="run",
    is_words=True,
    is_fixed=True,
    on_phone=True,
    is_paper=True,
)
# The run column of a board with a late run: the mark appears wherever the name does.
RUN_OR_LATE = replace(
    RUN,
    fields=(*RUN.fields, "late"),
    cells=lambda row: (row.key, row.run.tag, row.run.is_late),
    printed=lambda row: f"{row.run.tag} (late)" if row.run.is_late else row.run.tag,
)
TYPE = Column(
    "type",
    "Type",
    ("type",),
    lambda row: (str(row.run.kind),),
    lambda row: str(row.run.kind),
    order=lambda row: str(row.run.kind),
    is_words=True,
    is_default=False,
)
AXIS = Column("axis", "Axis", kind="axis", on_phone=True)
STRIP = Column("strip", "Possible ranks (chart)", kind="strip", needs_all_pairs=True)
JUDGED = Column(
    "judged",
    "Judged@10",
    ("judged_at_10",),
    lambda row: (row.judged_at_10,),
    lambda row: format_decimals(row.judged_at_10, PAPER_DECIMALS),
    order=lambda row: row.judged_at_10,
    falls=True,
    kind="judged",
    value=lambda row: row.judged_at_10,
    measure="Judged@10",
)


def _length_column(name: str, title: str, detail: str = "") -> Column:
    """Return the column of a mean over the answers of a run; it has no better and worse."""

    def length(row: Any) -> float | None:
        found: float | None = row.run.lengths.get(name)
        return found

    return Column(
        name,
        title,
        (name,),
        lambda row: (length(row),),
        lambda row: format_decimals(length(row), 1),
        order=length,
        falls=True,
        detail=detail,
    )


# What boards of answers say beside their scores, since length buys recall.
LENGTH = _length_column("length", "Length")
CITATIONS = _length_column("citations", "Citations", "an answer")
OF_ANSWERS = (LENGTH, CITATIONS)


def parameter_column(parameter: Parameter) -> Column:
    """Return the column of what runs state of a parameter; a reader has to choose it."""
    name = f"{OF_PARAMETERS}{parameter.name}"
    return Column(
        name,
        parameter.label,
        (name,),
        lambda row: (parameter.value(row.facts),),
        lambda row: parameter.words(row.facts) or MISSING,
        order=lambda row: parameter.order(row.facts),
        kind="parameter",
        # A name that a team chose may be that of a measure.
        detail="parameter",
        is_words=not parameter.is_number,
        is_default=False,
    )


# The columns of a benchmark's board.

SYSTEM = Column(
    "system",
    "System",
    ("system", "version"),
    lambda row: (row.name, row.version.label),
    lambda row: f"{row.name} {row.version.label}".strip(),
    order=lambda row: row.name.casefold(),
    kind="system",
    is_words=True,
    is_fixed=True,
    on_phone=True,
    is_paper=True,
)
ANSWERED = Column(
    "answered",
    "Tracks",
    ("answered", "tracks"),
    lambda row: (row.answered, len(row.values)),
    lambda row: f"{row.answered} of {len(row.values)}",
    order=lambda row: row.answered,
    falls=True,
    detail="answered",
    on_phone=True,
    is_default=False,
)
BORDA = Column(
    "borda",
    "Borda",
    ("borda", "borda_rank"),
    lambda row: (row.borda, row.borda_rank),
    lambda row: _points(row.borda),
    order=lambda row: row.borda,
    falls=True,
    value=lambda row: row.borda,
    detail="points",
    on_phone=True,
    is_paper=True,
)


def _points(value: float | None) -> str:
    """Print points without the decimals that they do not have.

    >>> _points(12.0), _points(2.5), _points(None)
    ('12', '2.5', '–')
    """
    return MISSING if value is None else f"{value:g}"
