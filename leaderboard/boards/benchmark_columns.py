"""The columns of a benchmark's board: what sums the tracks up, and a column for each track.

Tracks are shown until there are many of them; then a reader opens the groups one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.significance import Difference
from leaderboard.boards.benchmark_boards import BenchmarkBoard, BenchmarkColumn, SystemRow
from leaderboard.boards.columns import ALL_COLUMNS, format_decimals
from leaderboard.display.csv_tables import Cell
from leaderboard.display.numbers import MISSING, counted, date, difference_text, p_value, span

# Up to this many tracks have their columns shown at first.
MOST_OPEN = 24
# Stands for all groups in a reader's choice.
EVERY_GROUP = "*"

Kind = Literal["rank", "interval", "system", "words", "mean", "track", "difference", "number"]


@dataclass(frozen=True)
class BenchmarkTableColumn:
    """A column of the table: `fields` and `cells` are for programs, `printed` for papers."""

    name: str
    title: str
    kind: Kind
    fields: tuple[str, ...]
    cells: Callable[[SystemRow], Sequence[Cell]]
    printed: Callable[[SystemRow], str]
    # The measured value, and the best one, which is printed bold.
    value: Callable[[SystemRow], float | None] = lambda _: None
    best: float | None = None
    # What the head prints below the title.
    detail: str = ""
    track: BenchmarkColumn | None = None
    is_fixed: bool = False
    is_default: bool = True
    is_paper: bool = False

    @property
    def is_words(self) -> bool:
        return self.kind in ("system", "words")

    @property
    def ranks(self) -> bool:
        return self.name == "mean"

    @property
    def title_in_papers(self) -> str:
        return f"{self.title} ({self.detail})" if self.kind == "track" else self.title

    def is_best(self, row: SystemRow) -> bool:
        value = self.value(row)
        return value is not None and value == self.best


def _interval_cells(row: SystemRow) -> tuple[Cell, Cell]:
    return row.interval or (None, None)


def _of_difference(read: Callable[[Difference], Cell]) -> Callable[[SystemRow], Cell]:
    return lambda row: None if row.against is None else read(row.against)


def _difference_text(row: SystemRow) -> str:
    if row.is_baseline:
        return "baseline"
    return MISSING if row.against is None else difference_text(row.against.difference)


def _points(value: float | None) -> str:
    """Print points without the decimals that they do not have.

    >>> _points(12.0), _points(2.5), _points(None)
    ('12', '2.5', '–')
    """
    return MISSING if value is None else f"{value:g}"


def name_group(group: str) -> str:
    """Return the name of a group, in words for the tracks without one."""
    return group or "other tracks"


RANK = BenchmarkTableColumn(
    "rank",
    "Rank",
    "rank",
    ("rank",),
    lambda row: (row.rank,),
    lambda row: MISSING if row.rank is None else str(row.rank),
    is_fixed=True,
    is_paper=True,
)
INTERVAL = BenchmarkTableColumn(
    "interval",
    "Possible ranks",
    "interval",
    ("rank_low", "rank_high"),
    _interval_cells,
    lambda row: MISSING if row.interval is None else span(*row.interval),
    is_paper=True,
)
SYSTEM = BenchmarkTableColumn(
    "system",
    "System",
    "system",
    ("system", "version"),
    lambda row: (row.name, row.version.label),
    lambda row: f"{row.name} {row.version.label}".strip(),
    is_fixed=True,
    is_paper=True,
)
TEAM = BenchmarkTableColumn(
    "team",
    "Team",
    "words",
    ("team",),
    lambda row: (row.team,),
    lambda row: row.team,
    is_paper=True,
)
ANSWERED = BenchmarkTableColumn(
    "answered",
    "Tracks",
    "number",
    ("answered", "tracks"),
    lambda row: (row.answered, len(row.values)),
    lambda row: f"{row.answered} of {len(row.values)}",
    detail="answered",
    is_default=False,
)
DIFFERENCE = BenchmarkTableColumn(
    "difference",
    "Difference",
    "difference",
    ("difference", "low", "high", "changed"),
    lambda row: tuple(
        _of_difference(read)(row)
        for read in (lambda d: d.difference, lambda d: d.low, lambda d: d.high, lambda d: d.changed)
    ),
    _difference_text,
)
P = BenchmarkTableColumn(
    "p",
    "p",
    "number",
    ("p", "p_adjusted"),
    lambda row: tuple(
        _of_difference(read)(row) for read in (lambda d: d.p, lambda d: d.p_adjusted)
    ),
    lambda row: MISSING if row.against is None else p_value(row.against.p_adjusted),
    detail="max t",
    is_paper=True,
)
DATE = BenchmarkTableColumn(
    "date",
    "Date",
    "number",
    ("created_at",),
    lambda row: (row.version.created_at.isoformat(timespec="seconds"),),
    lambda row: date(row.version.created_at),
    is_default=False,
)


def mean_column(board: BenchmarkBoard) -> BenchmarkTableColumn:
    decimals = board.paper_decimals
    return BenchmarkTableColumn(
        "mean",
        "Mean",
        "mean",
        ("mean",),
        lambda row: (row.mean,),
        lambda row: format_decimals(row.mean, decimals),
        lambda row: row.mean,
        board.best_means[0],
        counted(len(board.columns), "track"),
        is_fixed=True,
        is_paper=True,
    )


def group_column(board: BenchmarkBoard, place: int) -> BenchmarkTableColumn:
    """Return the column of the means over the tracks of a group."""
    group, decimals = board.groups[place], board.paper_decimals
    size = sum(column.group == group for column in board.columns)

    def value(row: SystemRow) -> float | None:
        return row.group_means[place] if row.group_means else None

    return BenchmarkTableColumn(
        f"group:{group}",
        name_group(group),
        "mean",
        (f"mean of {name_group(group)}",),
        lambda row: (value(row),),
        lambda row: format_decimals(value(row), decimals),
        value,
        board.best_means[1 + place],
        f"mean of {size}",
        is_paper=True,
    )


def borda_column(board: BenchmarkBoard) -> BenchmarkTableColumn:
    return BenchmarkTableColumn(
        "borda",
        "Borda",
        "number",
        ("borda", "borda_rank"),
        lambda row: (row.borda, row.borda_rank),
        lambda row: _points(row.borda),
        lambda row: row.borda,
        max((row.borda for row in board.rows if row.borda is not None), default=None),
        "points",
        is_paper=True,
    )


def track_column(board: BenchmarkBoard, place: int, is_default: bool) -> BenchmarkTableColumn:
    """Return the column of a track, in the order of the board."""
    column = board.columns[place]
    return BenchmarkTableColumn(
        column.slug,
        column.name,
        "track",
        (column.slug,),
        lambda row: (row.values[place],),
        lambda row: format_decimals(row.values[place], column.paper_decimals),
        lambda row: row.values[place],
        board.best[place],
        column.measure,
        track=column,
        is_default=is_default,
        is_paper=True,
    )


@dataclass(frozen=True)
class ColumnGroup:
    """Tracks whose columns are opened and folded together."""

    name: str
    title: str
    size: int
    is_open: bool


def find_groups(board: BenchmarkBoard) -> list[ColumnGroup]:
    """Return the groups of tracks; all tracks are one where the benchmark has no groups."""
    choice, few = board.choice, len(board.columns) <= MOST_OPEN

    def is_open(name: str) -> bool:
        if few:
            return name not in choice.folded and EVERY_GROUP not in choice.folded
        return name in choice.opened or EVERY_GROUP in choice.opened

    if not board.groups:
        size = len(board.columns)
        return [ColumnGroup(EVERY_GROUP, counted(size, "track"), size, is_open(EVERY_GROUP))]
    return [
        ColumnGroup(
            group,
            name_group(group),
            sum(column.group == group for column in board.columns),
            is_open(group),
        )
        for group in board.groups
    ]


def columns_of_benchmark(board: BenchmarkBoard) -> list[BenchmarkTableColumn]:
    """Return every column that has values on this board, in order."""
    has_mean, is_sum = not board.no_mean and bool(board.columns), board.no_mean == "phases"
    shows_ranks = board.compares_all and board.contest is not None
    against = board.contest is not None and board.baseline is not None and not board.compares_all
    opened = {group.name for group in find_groups(board) if group.is_open}
    columns = [RANK, *([INTERVAL] if shows_ranks else []), SYSTEM, TEAM]
    columns += [mean_column(board)] if has_mean else []
    columns += [group_column(board, n) for n in range(len(board.groups))] if has_mean else []
    columns += [DIFFERENCE, P] if against else []
    columns += [] if is_sum else [borda_column(board)]
    columns += [ANSWERED] if board.incomplete else []
    columns += [
        track_column(board, place, bool({column.group, EVERY_GROUP} & opened))
        for place, column in enumerate(board.columns)
    ]
    return [*columns, DATE]


def shown_benchmark_columns(board: BenchmarkBoard) -> list[BenchmarkTableColumn]:
    """Return the columns that the reader chose, or the default ones."""
    columns, chosen = columns_of_benchmark(board), set(board.choice.columns)
    if ALL_COLUMNS in chosen:
        return columns
    if not chosen & {column.name for column in columns}:
        return [column for column in columns if column.is_fixed or column.is_default]
    return [column for column in columns if column.is_fixed or column.name in chosen]


def incomplete_columns(columns: Sequence[BenchmarkTableColumn]) -> list[BenchmarkTableColumn]:
    """Return the columns that have values of systems that lack a track."""
    tracks = [column for column in columns if column.kind == "track"]
    return [SYSTEM, TEAM, ANSWERED, *tracks]


def paper_benchmark_columns(board: BenchmarkBoard) -> list[BenchmarkTableColumn]:
    """Return the columns of a table in a paper: names, values, ranks and p."""
    return [column for column in columns_of_benchmark(board) if column.is_paper]
