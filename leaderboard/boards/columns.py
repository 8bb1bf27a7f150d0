"""The columns of a board: their names in a URL, and their cells in a file.

Rank, run and the ranking measure always show; a reader chooses among the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from leaderboard.boards.standings import Board, Standing
from leaderboard.display.csv_tables import Cell
from leaderboard.display.numbers import MINUS, MISSING, p_value, span

# How many measures besides the ranking one have a column by default.
MEASURES_SHOWN = 4
# Stands for every column in a reader's choice.
ALL_COLUMNS = "all"


@dataclass(frozen=True)
class Column:
    """A column: `fields` and `cells` for programs (none for a chart), `printed` for papers."""

    name: str
    title: str
    fields: tuple[str, ...] = ()
    cells: Callable[[Standing], Sequence[Cell]] = lambda _: ()
    printed: Callable[[Standing], str] = lambda _: ""
    # The measure whose value it shows, if any.
    measure: str = ""
    is_words: bool = False
    is_fixed: bool = False
    needs_baseline: bool = False
    # Whether it shows the decisions about all pairs.
    needs_all_pairs: bool = False
    # Whether it shows until the reader chooses.
    is_default: bool = True


def _interval(standing: Standing) -> tuple[Cell, Cell]:
    return standing.interval or (None, None)


def _difference_cells(*names: str) -> Callable[[Standing], list[Cell]]:
    def cells(standing: Standing) -> list[Cell]:
        against = standing.against
        return [None if against is None else getattr(against, name) for name in names]

    return cells


def _difference_text(pattern: str, *names: str) -> Callable[[Standing], str]:
    """Return a function that prints numbers of the difference, or a dash if one is missing."""
    cells = _difference_cells(*names)

    def printed(standing: Standing) -> str:
        found = cells(standing)
        if any(cell is None for cell in found):
            return MISSING
        return pattern.format(*found).replace("-", MINUS)

    return printed


def format_four_decimals(value: float | None) -> str:
    return format_decimals(value, 4)


def format_decimals(value: float | None, decimals: int) -> str:
    if value is None or math.isnan(value):
        return MISSING
    return f"{value:.{decimals}f}".replace("-", MINUS)


RANK = Column(
    "rank",
    "Rank",
    ("rank",),
    lambda line: (line.rank,),
    lambda line: MISSING if line.rank is None else str(line.rank),
    is_fixed=True,
)
INTERVAL = Column(
    "interval",
    "Rank can be",
    ("rank_low", "rank_high"),
    _interval,
    lambda line: MISSING if line.interval is None else span(*line.interval),
    needs_all_pairs=True,
)
STRIP = Column("strip", "Rank, highest to lowest", needs_all_pairs=True)
RUN = Column(
    "run",
    "Run",
    ("run", "tag"),
    lambda line: (line.run.pk, line.run.tag),
    lambda line: line.run.tag,
    is_words=True,
    is_fixed=True,
)
# The run column of a board with a late run: the mark appears wherever the name does.
RUN_OR_LATE = replace(
    RUN,
    fields=(*RUN.fields, "late"),
    cells=lambda line: (line.run.pk, line.run.tag, line.run.is_late),
    printed=lambda line: f"{line.run.tag} (late)" if line.run.is_late else line.run.tag,
)
TEAM = Column(
    "team",
    "Team",
    ("team",),
    lambda line: (line.run.team.name,),
    lambda line: line.run.team.name,
    is_words=True,
)
TYPE = Column(
    "type",
    "Type",
    ("type",),
    lambda line: (str(line.run.kind),),
    lambda line: str(line.run.kind),
    is_words=True,
    is_default=False,
)
AXIS = Column("axis", "Axis")
JUDGED = Column(
    "judged",
    "Judged@10",
    ("judged_at_10",),
    lambda line: (line.judged_at_10,),
    lambda line: format_four_decimals(line.judged_at_10),
)
BASELINE_COLUMNS = (
    Column(
        "difference",
        "Difference",
        ("difference",),
        _difference_cells("difference"),
        _difference_text("{:+.4f}", "difference"),
        needs_baseline=True,
    ),
    Column(
        "confidence",
        "95 % interval",
        ("low", "high"),
        _difference_cells("low", "high"),
        _difference_text("{:+.4f} to {:+.4f}", "low", "high"),
        needs_baseline=True,
        is_default=False,
    ),
    Column(
        "p",
        "p, adjusted",
        ("p", "p_adjusted"),
        _difference_cells("p", "p_adjusted"),
        lambda line: p_value(line.against.p_adjusted) if line.against is not None else MISSING,
        needs_baseline=True,
    ),
    Column(
        "effect",
        "Effect size d",
        ("effect_size",),
        _difference_cells("effect_size"),
        _difference_text("{:+.2f}", "effect_size"),
        needs_baseline=True,
        is_default=False,
    ),
    Column(
        "wins",
        "W/L/T",
        ("wins", "losses", "ties"),
        _difference_cells("wins", "losses", "ties"),
        _difference_text("{}/{}/{}", "wins", "losses", "ties"),
        needs_baseline=True,
    ),
)
DATE = Column(
    "date",
    "Date",
    ("received_at",),
    lambda line: (line.run.received_at.isoformat(timespec="seconds"),),
    lambda line: line.run.received_at.date().isoformat(),
)


def measure_column(
    measure: str, *, decimals: int = 4, ranks: bool = False, is_default: bool = True
) -> Column:
    return Column(
        measure,
        measure,
        (measure,),
        lambda line: (line.scores[measure],),
        lambda line: format_decimals(line.scores[measure], decimals),
        measure=measure,
        is_fixed=ranks,
        is_default=is_default,
    )


def columns_of(board: Board) -> list[Column]:
    """Return every column that a board can have, in order."""
    decimals, run = board.sight.decimals or 4, RUN_OR_LATE if board.has_late else RUN
    others = [
        measure_column(measure, decimals=decimals, is_default=place < MEASURES_SHOWN)
        for place, measure in enumerate(board.others)
    ]
    ranking = measure_column(board.measure, decimals=decimals, ranks=True)
    if not board.sight.can_see_scores:
        return [RANK, run, TEAM, TYPE, ranking, AXIS, *others, DATE]
    first = [RANK, run, TEAM, TYPE, ranking, AXIS, STRIP, INTERVAL]
    return [*first, *others, JUDGED, *BASELINE_COLUMNS, DATE]


def available_columns(board: Board) -> list[Column]:
    """Return the columns that have values on this board."""
    return [
        column
        for column in columns_of(board)
        if (board.baseline is not None or not column.needs_baseline)
        and (board.compares_all or not column.needs_all_pairs)
    ]


def shown_columns(board: Board) -> list[Column]:
    """Return the columns that the reader chose, or the default ones."""
    columns, chosen = available_columns(board), set(board.choice.columns)
    if ALL_COLUMNS in chosen:
        return columns
    if not chosen & {column.name for column in columns}:
        return [
            column
            for column in columns
            if column.is_default and not (board.compares_all and column.needs_baseline)
        ]
    return [column for column in columns if column.is_fixed or column.name in chosen]


def paper_columns(board: Board) -> list[Column]:
    """Return the default columns of a table in a paper: names, measures and p."""
    names = {"rank", "run", "team", "p"}
    return [column for column in available_columns(board) if column.measure or column.name in names]
