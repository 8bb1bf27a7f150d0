"""The columns of a board, each declared once: its name in an address, and what it is in a file.

Rank, run and the measure that ranks always show; a reader chooses among the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from leaderboard.boards.standings import Board, Standing
from leaderboard.display.numbers import MINUS, MISSING, p_value, span

Cell = str | int | float | None

# So many measures beside the one that ranks have a column until the reader chooses.
MEASURES_SHOWN = 4
# In the place of columns: every one of them.
ALL = "all"


@dataclass(frozen=True)
class Column:
    """`fields` and `cells` are for other programs, none for a drawing; `printed` is for papers."""

    name: str
    title: str
    fields: tuple[str, ...] = ()
    cells: Callable[[Standing], Sequence[Cell]] = lambda _: ()
    printed: Callable[[Standing], str] = lambda _: ""
    # The measure whose value it shows, where it shows one.
    measure: str = ""
    is_words: bool = False
    is_fixed: bool = False
    # Whether it says nothing without a baseline.
    compares: bool = False
    # Whether it shows until the reader chooses.
    from_start: bool = True


def _interval(standing: Standing) -> tuple[Cell, Cell]:
    return standing.interval or (None, None)


def _of_difference(*names: str) -> Callable[[Standing], list[Cell]]:
    def cells(standing: Standing) -> list[Cell]:
        against = standing.against
        return [None if against is None else getattr(against, name) for name in names]

    return cells


def _printed(pattern: str, *names: str) -> Callable[[Standing], str]:
    """Numbers of the difference as a paper prints them; a dash where one is missing."""
    cells = _of_difference(*names)

    def printed(standing: Standing) -> str:
        found = cells(standing)
        if any(cell is None for cell in found):
            return MISSING
        return pattern.format(*found).replace("-", MINUS)

    return printed


def four_decimals(value: float | None) -> str:
    return with_decimals(value, 4)


def with_decimals(value: float | None, decimals: int) -> str:
    if value is None or math.isnan(value):
        return MISSING
    return f"{value:.{decimals}f}".replace("-", MINUS)


RANK = Column(
    "rank",
    "Rank",
    ("rank",),
    lambda each: (each.rank,),
    lambda each: MISSING if each.rank is None else str(each.rank),
    is_fixed=True,
)
INTERVAL = Column(
    "interval",
    "Rank interval",
    ("rank_low", "rank_high"),
    _interval,
    lambda each: MISSING if each.interval is None else span(*each.interval),
)
RUN = Column(
    "run",
    "Run",
    ("run", "tag"),
    lambda each: (each.run.pk, each.run.tag),
    lambda each: each.run.tag,
    is_words=True,
    is_fixed=True,
)
# The same on a board that holds a late run: the mark goes wherever the name does.
RUN_OR_LATE = replace(
    RUN,
    fields=(*RUN.fields, "late"),
    cells=lambda each: (each.run.pk, each.run.tag, each.run.is_late),
    printed=lambda each: f"{each.run.tag} (late)" if each.run.is_late else each.run.tag,
)
TEAM = Column(
    "team",
    "Team",
    ("team",),
    lambda each: (each.run.team.name,),
    lambda each: each.run.team.name,
    is_words=True,
)
TYPE = Column(
    "type",
    "Type",
    ("type",),
    lambda each: (str(each.run.kind),),
    lambda each: str(each.run.kind),
    is_words=True,
    from_start=False,
)
AXIS = Column("axis", "Axis with bars")
JUDGED = Column(
    "judged",
    "Judged@10",
    ("judged_at_10",),
    lambda each: (each.judged_at_10,),
    lambda each: four_decimals(each.judged_at_10),
)
COMPARING = (
    Column(
        "difference",
        "Difference",
        ("difference",),
        _of_difference("difference"),
        _printed("{:+.4f}", "difference"),
        compares=True,
    ),
    Column(
        "confidence",
        "95 % interval",
        ("low", "high"),
        _of_difference("low", "high"),
        _printed("{:+.4f} to {:+.4f}", "low", "high"),
        compares=True,
        from_start=False,
    ),
    Column(
        "p",
        "p (Holm)",
        ("p", "p_holm"),
        _of_difference("p", "p_adjusted"),
        lambda each: p_value(each.against.p_adjusted) if each.against is not None else MISSING,
        compares=True,
    ),
    Column(
        "effect",
        "Effect size d",
        ("effect_size",),
        _of_difference("effect_size"),
        _printed("{:+.2f}", "effect_size"),
        compares=True,
        from_start=False,
    ),
    Column(
        "wins",
        "W/L/T",
        ("wins", "losses", "ties"),
        _of_difference("wins", "losses", "ties"),
        _printed("{}/{}/{}", "wins", "losses", "ties"),
        compares=True,
    ),
)
DATE = Column(
    "date",
    "Date",
    ("received_at",),
    lambda each: (each.run.received_at.isoformat(timespec="seconds"),),
    lambda each: each.run.received_at.date().isoformat(),
)


def measure_column(
    measure: str, *, decimals: int = 4, ranks: bool = False, from_start: bool = True
) -> Column:
    return Column(
        measure,
        measure,
        (measure,),
        lambda each: (each.scores[measure],),
        lambda each: with_decimals(each.scores[measure], decimals),
        measure=measure,
        is_fixed=ranks,
        from_start=from_start,
    )


def columns_of(board: Board) -> list[Column]:
    """Every column that a board can have, in their order."""
    decimals, run = board.sight.decimals or 4, RUN_OR_LATE if board.has_late else RUN
    others = [
        measure_column(measure, decimals=decimals, from_start=place < MEASURES_SHOWN)
        for place, measure in enumerate(board.others)
    ]
    ranking = measure_column(board.measure, decimals=decimals, ranks=True)
    if not board.sight.everything:
        return [RANK, run, TEAM, TYPE, ranking, AXIS, *others, DATE]
    first = [RANK, INTERVAL, run, TEAM, TYPE, ranking, AXIS]
    return [*first, *others, JUDGED, *COMPARING, DATE]


def choosable(board: Board) -> list[Column]:
    """Those that have something to say on this board."""
    return [each for each in columns_of(board) if board.baseline is not None or not each.compares]


def shown_columns(board: Board) -> list[Column]:
    """What the reader chose, or what shows until then."""
    columns, chosen = choosable(board), set(board.choice.columns)
    if ALL in chosen:
        return columns
    if not chosen & {each.name for each in columns}:
        return [each for each in columns if each.from_start]
    return [each for each in columns if each.is_fixed or each.name in chosen]


def for_papers(board: Board) -> list[Column]:
    """What a table in a paper has where nobody chose: names, measures, and what p says."""
    names = {"rank", "run", "team", "p"}
    return [each for each in choosable(board) if each.measure or each.name in names]
