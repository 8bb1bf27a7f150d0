"""The columns of a board: each with its name in a URL, its head and cells, and its part of a file.

Rank, run and the ranking measure always show; a reader chooses among the others.  A board of
hundreds of runs has thousands of cells, so they are strings instead of templates; names come from
users, so every cell escapes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Protocol

from evaluation.significance import Difference
from leaderboard.boards.standings import Board, Standing
from leaderboard.display import charts
from leaderboard.display.csv_tables import Cell
from leaderboard.display.numbers import (
    MINUS,
    MISSING,
    counted,
    date,
    day,
    difference_text,
    differs_on,
    exact,
    instant,
    interval,
    p_value,
    score,
    scores,
    signed,
    span,
)
from leaderboard.display.signs import badge, marked
from leaderboard.models import Run

# How many measures besides the ranking one have a column by default.
MEASURES_SHOWN = 4
# Stands for every column in a reader's choice.
ALL_COLUMNS = "all"
JUDGED_AT_10 = "Judged@10"
EMPTY_CELL = '<td class="num opt"></td>'


class BoardRows(Protocol):
    """What the cells of several columns share: axes, and the links of each row."""

    board: Board
    standings: list[Standing]
    axis: charts.Column
    strip_axis: charts.Column
    pooled: set[str]
    # The pattern of the link to a run, the start of the link that explains a number, and of the
    # one that explains the comparison with the baseline, for each row.
    run_link: str
    number_links: list[str]
    comparison_links: list[str]
    # The end of the link that explains a number, by measure; and the start of another baseline.
    explanation_links: dict[str, str]
    baseline_link: str


Head = Callable[[BoardRows, "Column"], str]
Cells = Callable[[BoardRows, "Column"], Iterable[str]]


def _title(rows: BoardRows, column: Column) -> str:
    """Return the title of a column; it may break before the cutoff of a measure."""
    return escape(column.title).replace("@", "<wbr>@")


@dataclass(frozen=True)
class Column:
    """A column of a board.

    `fields` and `cells` are for programs (none for a chart), `printed` for papers, `head` and
    `rendered` for the page.
    """

    name: str
    title: str
    rendered: Cells
    fields: tuple[str, ...] = ()
    cells: Callable[[Standing], Sequence[Cell]] = lambda _: ()
    printed: Callable[[Standing], str] = lambda _: ""
    head: Head = _title
    # Whether its cells are drawn on the axis in its head.
    is_chart: bool = False
    # In pixels, at the least.
    width: float = 60.0
    # The measure whose value it shows, if any, and the best one on the board.
    measure: str = ""
    best: float = math.nan
    is_words: bool = False
    is_fixed: bool = False
    # Whether a phone shows it; the others appear after "all columns".
    on_phone: bool = False
    needs_baseline: bool = False
    # Whether it shows the decisions about all pairs.
    needs_all_pairs: bool = False
    # Whether it shows until the reader chooses.
    is_default: bool = True

    @property
    def title_in_papers(self) -> str:
        return self.title

    @property
    def ranks(self) -> bool:
        """Whether it shows the measure that ranks the runs."""
        return self.is_fixed and bool(self.measure)

    def is_best(self, standing: Standing) -> bool:
        return bool(self.measure) and standing.scores[self.measure] == self.best

    def classes(self, more: str = "") -> str:
        """Return the class attribute of its head, or of its cells."""
        stays = self.on_phone or self.ranks
        pinned = "pinned" if self.name == "run" else ""
        names = ["" if self.is_words else "num", more, "" if stays else "opt", pinned]
        return f' class="{text}"' if (text := " ".join(filter(None, names))) else ""


def _interval(standing: Standing) -> tuple[Cell, Cell]:
    return standing.interval or (None, None)


def _difference_values(*names: str) -> Callable[[Standing], list[Cell]]:
    def cells(standing: Standing) -> list[Cell]:
        against = standing.against
        return [None if against is None else getattr(against, name) for name in names]

    return cells


def _difference_text(pattern: str, *names: str) -> Callable[[Standing], str]:
    """Return a function that prints numbers of the difference, or a dash if one is missing."""
    cells = _difference_values(*names)

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
    return f"{value:z.{decimals}f}".replace("-", MINUS)


def _difference_head(rows: BoardRows, column: Column) -> str:
    name = escape(str(rows.board.baseline))
    long = f'<span class="opt">vs <bdi>{name}</bdi></span>'
    return f'{long}<span class="phone">vs baseline</span>'


def _wins_head(rows: BoardRows, column: Column) -> str:
    topics = counted(rows.board.edition.num_evaluated, "topic")
    return f"W/L/T<small>{topics}</small>"


def _axis_head(rows: BoardRows, column: Column) -> str:
    measure = escape(rows.board.measure)
    return f"<small>{measure} (chart)</small>{charts.column_head(rows.axis)}"


def _strip_head(rows: BoardRows, column: Column) -> str:
    return f"<small>{column.title}</small>{charts.column_head(rows.strip_axis)}"


def _by_standing(cell: Callable[[Standing], str]) -> Cells:
    """Return the cells of a column that needs only the standing of each row."""
    return lambda rows, _: map(cell, rows.standings)


def _rank_cell(each: Standing) -> str:
    span_ = f'<small class="phone">{span(*each.interval)}</small>' if each.interval else ""
    rank = MISSING if each.rank is None else each.rank
    return f'<td class="num rank">{rank}{span_}</td>'


def _interval_cell(each: Standing) -> str:
    return f'<td class="interval opt">{span(*each.interval) if each.interval else ""}</td>'


def _run_cells(rows: BoardRows, column: Column) -> Iterator[str]:
    href, pooled = rows.run_link, rows.pooled
    for each in rows.standings:
        words = badges_of(each, pooled)
        own = ["yours"] if each.is_own else []
        known = [*own, *(["baseline"] if each.is_baseline else []), *words]
        signs = "".join([f" {badge(word)}" for word in known])
        shown = f'<span class="opt">{signs}</span>' if signs else ""
        shown += _links_of(each.run) if each.run.facts else ""
        told = "".join([f", {word}" for word in words])
        yield (
            f'<th scope="row"><a href="{href.format(each.run.pk)}">'
            f"<bdi>{escape(str(each.run))}</bdi></a>"
            f"{shown}"
            f'<small class="phone"><bdi>{escape(str(each.run.team))}</bdi>{told}</small></th>'
        )


def _links_of(run: Run) -> str:
    """Return links to the code and the paper of a run, where its team states them."""
    links = [
        f' <a href="{escape(str(run.facts[name]))}" rel="nofollow noopener">{name}</a>'
        for name in ("code", "paper")
        if run.facts.get(name)
    ]
    return f'<small class="opt sources">{"".join(links)}</small>' if links else ""


def badges_of(standing: Standing, pooled: set[str]) -> list[str]:
    """Return the badges of a run, except baseline and yours."""
    run = standing.run
    kind = [str(run.kind)] if run.kind != Run.Kind.AUTOMATIC else []
    unpooled = ["unpooled"] if pooled and run.pk not in pooled else []
    return [*kind, *unpooled, *(["late"] if run.is_late else [])]


def _team_cell(each: Standing) -> str:
    return f'<td class="opt"><bdi>{escape(str(each.run.team))}</bdi></td>'


def _type_cell(each: Standing) -> str:
    return f'<td class="opt">{each.run.kind}</td>'


def _axis_cells(rows: BoardRows, column: Column) -> list[str]:
    shown, measure = rows.standings, rows.board.measure
    kinds = [each.kind for each in shown]
    means = [each.scores[measure] for each in shown]
    drawn = charts.mean_cells(rows.axis, means, kinds)
    return [f'<td class="axis">{each}</td>' for each in drawn]


def _strip_cells(rows: BoardRows, column: Column) -> Iterator[str]:
    """Draw the ranks that each run can have, with a dot at its own."""
    for each in rows.standings:
        drawn = ""
        if each.interval is not None and each.rank is not None:
            drawn = charts.rank_strip(rows.strip_axis, each.rank, *each.interval, each.kind)
        yield f'<td class="axis opt">{drawn}</td>'


def _measure_cells(rows: BoardRows, column: Column) -> list[str]:
    measure, best = column.measure, column.best
    plain, marked = (f"<td{column.classes(more)}>" for more in ("", "best"))
    values = [each.scores[measure] for each in rows.standings]
    begins = [marked if column.is_fixed or value == best else plain for value in values]
    return _number_cells(rows, measure, begins, values)


def _judged_cells(rows: BoardRows, column: Column) -> list[str]:
    values = [each.judged_at_10 for each in rows.standings]
    return _number_cells(rows, JUDGED_AT_10, ['<td class="num opt">'] * len(values), values)


def _number_cells(
    rows: BoardRows, measure: str, begins: list[str], values: list[float | None]
) -> list[str]:
    """Return cells of scores; each links to its explanation."""
    of_measure, decimals = rows.explanation_links[measure], rows.board.decimals
    return [
        f'{begin}{link}{of_measure}" title="{exact(value)}">{text}</a></td>'
        for begin, link, value, text in zip(
            begins, rows.number_links, values, scores(values, decimals), strict=True
        )
    ]


def _difference_cells(rows: BoardRows, column: Column) -> Iterator[str]:
    against, with_baseline = [each.against for each in rows.standings], rows.baseline_link
    printed = [
        difference_text(each.difference, each.unit) if each is not None else MISSING
        for each in against
    ]
    for each, link, text in zip(rows.standings, rows.comparison_links, printed, strict=True):
        if each.is_baseline or each.against is None:
            yield f'<td class="num">{"baseline" if each.is_baseline else MISSING}</td>'
            continue
        p = each.against.p_adjusted
        shown = text if each.against.difference is None else marked(text, each.verdict)
        small = "" if p is None else f'<small class="phone">p {escape(p_value(p))}</small>'
        yield (
            f'<td class="num">{link}{shown}</a>'
            f'{small}<a class="make" href="{with_baseline}{each.run.pk}">use as baseline</a></td>'
        )


def _comparison_cells(number: Callable[[Difference], str]) -> Cells:
    """Return cells of a statistic against the baseline; empty if there is none."""

    def cells(rows: BoardRows, column: Column) -> Iterator[str]:
        for each, link in zip(rows.standings, rows.comparison_links, strict=True):
            text = number(each.against) if each.against is not None else ""
            yield f'<td class="num opt">{link}{text}</a></td>' if text else EMPTY_CELL

    return cells


def _confidence_text(against: Difference) -> str:
    if against.low is None or against.high is None:
        return ""
    ends = interval(against.low, against.high, unit=against.unit)
    return f'<span title="{differs_on(against)}">{ends}</span>'


def _p_text(against: Difference) -> str:
    p = against.p_adjusted
    return "" if p is None else f'<span title="{exact(p)}">{escape(p_value(p))}</span>'


def _effect_text(against: Difference) -> str:
    return "" if against.effect_size is None else signed(against.effect_size, 2)


def _wins_text(against: Difference) -> str:
    counts = (against.wins, against.losses, against.ties)
    return ' <span class="split">/</span> '.join(map(str, counts))


def _date_cell(each: Standing) -> str:
    received = each.run.received_at
    told = date(received) if each.run.has_pseudonym else instant(received)
    return f'<td class="num opt" title="{told}">{day(received)}</td>'


RANK = Column(
    "rank",
    "Rank",
    _by_standing(_rank_cell),
    ("rank",),
    lambda line: (line.rank,),
    lambda line: MISSING if line.rank is None else str(line.rank),
    is_fixed=True,
    on_phone=True,
)
INTERVAL = Column(
    "interval",
    "Possible ranks",
    _by_standing(_interval_cell),
    ("rank_low", "rank_high"),
    _interval,
    lambda line: MISSING if line.interval is None else span(*line.interval),
    needs_all_pairs=True,
    head=lambda *_: "Possible<br>ranks",
)
STRIP = Column(
    "strip",
    "Possible ranks (chart)",
    _strip_cells,
    needs_all_pairs=True,
    head=_strip_head,
    is_chart=True,
    width=170.0,
)
RUN = Column(
    "run",
    "Run",
    _run_cells,
    ("run", "tag"),
    lambda line: (line.run.pk, line.run.tag),
    lambda line: line.run.tag,
    is_words=True,
    is_fixed=True,
    on_phone=True,
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
    _by_standing(_team_cell),
    ("team",),
    lambda line: (line.run.team.name,),
    lambda line: line.run.team.name,
    is_words=True,
)
TYPE = Column(
    "type",
    "Type",
    _by_standing(_type_cell),
    ("type",),
    lambda line: (str(line.run.kind),),
    lambda line: str(line.run.kind),
    is_words=True,
    is_default=False,
)
AXIS = Column(
    "axis",
    "Axis",
    _axis_cells,
    head=_axis_head,
    is_chart=True,
    width=170.0,
    on_phone=True,
)
JUDGED = Column(
    "judged",
    "Judged@10",
    _judged_cells,
    ("judged_at_10",),
    lambda line: (line.judged_at_10,),
    lambda line: format_four_decimals(line.judged_at_10),
    head=lambda *_: "Judged<br>@10",
)
BASELINE_COLUMNS = (
    Column(
        "difference",
        "Difference",
        _difference_cells,
        ("difference",),
        _difference_values("difference"),
        _difference_text("{:+z.4f}", "difference"),
        needs_baseline=True,
        head=_difference_head,
        on_phone=True,
    ),
    Column(
        "confidence",
        "95 % interval",
        _comparison_cells(_confidence_text),
        ("low", "high", "changed"),
        _difference_values("low", "high", "changed"),
        _difference_text("{:+z.4f} to {:+z.4f}", "low", "high"),
        needs_baseline=True,
        is_default=False,
        head=lambda *_: "Interval<small>95 %</small>",
        width=120.0,
    ),
    Column(
        "p",
        "p, adjusted",
        _comparison_cells(_p_text),
        ("p", "p_adjusted"),
        _difference_values("p", "p_adjusted"),
        lambda line: p_value(line.against.p_adjusted) if line.against is not None else MISSING,
        needs_baseline=True,
        head=lambda rows, _: f"p<small>{rows.board.correction}</small>",
    ),
    Column(
        "effect",
        "Effect size d",
        _comparison_cells(_effect_text),
        ("effect_size",),
        _difference_values("effect_size"),
        _difference_text("{:+z.2f}", "effect_size"),
        needs_baseline=True,
        is_default=False,
        head=lambda *_: "Effect<small>d</small>",
    ),
    Column(
        "wins",
        "W/L/T",
        _comparison_cells(_wins_text),
        ("wins", "losses", "ties"),
        _difference_values("wins", "losses", "ties"),
        _difference_text("{}/{}/{}", "wins", "losses", "ties"),
        needs_baseline=True,
        head=_wins_head,
        width=100.0,
    ),
)
DATE = Column(
    "date",
    "Date",
    _by_standing(_date_cell),
    ("received_at",),
    lambda line: (line.run.received_at.isoformat(timespec="seconds"),),
    lambda line: line.run.received_at.date().isoformat(),
)


def measure_column(
    board: Board, measure: str, *, ranks: bool = False, is_default: bool = True
) -> Column:
    decimals = board.sight.decimals or 4
    return Column(
        measure,
        measure,
        _measure_cells,
        (measure,),
        lambda line: (line.scores[measure],),
        lambda line: format_decimals(line.scores[measure], decimals),
        measure=measure,
        best=board.best[measure],
        is_fixed=ranks,
        is_default=is_default,
    )


# What the page of a board prints of a difference from the baseline.
COMPARISON_TEXTS: dict[str, Callable[[Difference], str]] = {
    "difference": lambda against: difference_text(against.difference, against.unit),
    "confidence": _confidence_text,
    "effect": _effect_text,
}


def page_text(board: Board, standing: Standing, column: Column) -> str:
    """Return a cell as the page of a board prints it, without links and signs."""
    against = standing.against
    if column.measure:
        return score(standing.scores[column.measure], board.decimals)
    if column.name == JUDGED.name:
        return score(standing.judged_at_10, board.decimals)
    if column.name == DATE.name:
        return date(standing.run.received_at)
    if against is None or column.name not in COMPARISON_TEXTS:
        return column.printed(standing)
    return COMPARISON_TEXTS[column.name](against) or MISSING


def columns_of(board: Board) -> list[Column]:
    """Return every column that a board can have, in order."""
    run = RUN_OR_LATE if board.has_late else RUN
    others = [
        measure_column(board, measure, is_default=place < MEASURES_SHOWN)
        for place, measure in enumerate(board.others)
    ]
    ranking = measure_column(board, board.measure, ranks=True)
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
