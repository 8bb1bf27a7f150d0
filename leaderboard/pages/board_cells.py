"""How the cells and heads of a board look, by the kind of their column.

A board of 500 systems on 100 tracks has 50,000 cells, so they are short strings instead of
templates, built column by column; names come from users, so every cell escapes them.  A kind that
is not here is printed as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import Any, Protocol
from urllib.parse import quote

from evaluation.significance import Difference
from leaderboard.boards.benchmark_boards import SystemRow
from leaderboard.boards.columns import Column
from leaderboard.boards.reported_boards import SHORT_REVISION, ReportedRow
from leaderboard.boards.rows import Row
from leaderboard.boards.standings import Standing
from leaderboard.display import charts
from leaderboard.display.numbers import (
    MISSING,
    date,
    day,
    difference_text,
    differs_on,
    exact,
    instant,
    interval,
    p_value,
    scores,
    signed,
    span,
)
from leaderboard.display.signs import badge, marked
from leaderboard.models import Run
from leaderboard.pages.template_tags import state

# The longest value of a parameter in a cell, and the longest name in a head.
LONGEST_VALUE = 40
JUDGE_BADGES = {"machine": "machine", "both": "people + machine"}


class Table(Protocol):
    """What the cells of any board share: the board, and the links of its rows."""

    @property
    def board(self) -> Any: ...
    @property
    def baseline_link(self) -> str:
        """The address with another baseline, whose key follows."""
        ...

    def link_name(self, row: Any) -> str:
        """Return the address of a run or a system."""
        ...

    def explain_comparison(self, row: Any) -> str:
        """Return the link that explains the comparison with the baseline; "" without one."""
        ...


class TableOfRuns(Table, Protocol):
    """What the cells of a track's board share besides: axes, and links that explain numbers."""

    @property
    def axis(self) -> charts.AxisColumn: ...
    @property
    def strip_axis(self) -> charts.AxisColumn: ...
    @property
    def pooled(self) -> set[str]: ...
    def explain_number(self, row: Standing) -> str:
        """Return the start of the link that explains a number of a run."""
        ...

    def explain_measure(self, column: Column) -> str:
        """Return the end of the link that explains a number of a column."""
        ...


class TableOfSystems(Table, Protocol):
    """What the cells of a benchmark's board share besides: links to tracks and their runs."""

    @property
    def has_titles(self) -> bool:
        """Whether each value of a track has its exact one as a title."""
        ...

    def link_run(self, column: Column) -> str:
        """Return the pattern of the address of a run on the track of a column."""
        ...

    def link_track(self, column: Column) -> str:
        """Return the address of the board of a column's track."""
        ...


Cells = Callable[[Any, Column, Sequence[Any]], Iterable[str]]
Head = Callable[[Any, Column], str]


def render_cells(table: Table, column: Column, rows: Sequence[Any]) -> Iterable[str]:
    """Return the cells of a column, from top to bottom."""
    return CELLS.get(column.kind, _text_cells)(table, column, rows)


def render_head(table: Table, column: Column) -> str:
    """Return what the head of a column says above its detail."""
    return HEADS.get(column.kind, _title)(table, column)


def render_detail(table: Table, column: Column) -> str:
    """Return the small print in a head: of a track its measure, which leads to its board."""
    return DETAILS.get(column.kind, _detail)(table, column)


def _detail(table: Table, column: Column) -> str:
    return f"<small>{escape(column.detail)}</small>" if column.detail else ""


def _track_detail(table: TableOfSystems, column: Column) -> str:
    made_by = JUDGE_BADGES.get(table.board.columns[column.place].made_by, "")
    judges = f'<b class="badge by-machine">{made_by}</b>' if made_by else ""
    href = escape(table.link_track(column))
    return f'<small><a href="{href}">{escape(column.measure)}</a>{judges}</small>'


def classes_of(column: Column, *more: str) -> str:
    """Return the class attribute of a head, or of a cell; a phone shows few columns."""
    names = ["" if column.is_words else "num", "" if column.on_phone else "opt", *more]
    return f' class="{text}"' if (text := " ".join(filter(None, names))) else ""


def row_class(row: Row) -> str:
    """Return the class attribute of a row."""
    marks = {"own": row.is_own, "baseline": row.is_baseline, "break": row.breaks_after}
    names = " ".join(name for name, holds in marks.items() if holds)
    return f' class="{names}"' if names else ""


def badges_of(row: Standing, pooled: set[str]) -> list[str]:
    """Return the badges of a run, except baseline and yours."""
    run = row.run
    kind = [str(run.kind)] if run.kind != Run.Kind.AUTOMATIC else []
    unpooled = ["unpooled"] if pooled and run.pk not in pooled else []
    return [*kind, *unpooled, *(["late"] if run.is_late else [])]


def _title(table: Table, column: Column) -> str:
    """Return the title of a column; it may break before the cutoff of a measure."""
    return escape(column.title).replace("@", "<wbr>@")


def _name_head(table: Table, column: Column) -> str:
    return f"<bdi>{escape(column.title)}</bdi>"


def _parameter_head(table: Table, column: Column) -> str:
    return f"<bdi>{escape(_cut(column.title))}</bdi>"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _difference_head(table: Table, column: Column) -> str:
    baseline = table.board.baseline
    name = escape(str(getattr(baseline, "name", baseline)))
    return f'<span class="opt">vs <bdi>{name}</bdi></span><span class="phone">vs baseline</span>'


def _axis_head(table: TableOfRuns, column: Column) -> str:
    measure = escape(table.board.measure)
    return f"<small>{measure} (chart)</small>{charts.column_head(table.axis)}"


def _strip_head(table: TableOfRuns, column: Column) -> str:
    return f"<small>{column.title}</small>{charts.column_head(table.strip_axis)}"


DETAILS: dict[str, Head] = {"track": _track_detail}
HEADS: dict[str, Head] = {
    "track": _name_head,
    "mean": _name_head,
    "parameter": _parameter_head,
    "interval": lambda *_: "Possible<br>ranks",
    "judged": lambda *_: "Judged<br>@10",
    "confidence": lambda *_: "Interval",
    "p": lambda *_: "p",
    "effect": lambda *_: "Effect",
    "difference": _difference_head,
    "axis": _axis_head,
    "strip": _strip_head,
}


def _text_cells(table: Table, column: Column, rows: Sequence[Row]) -> Iterator[str]:
    """Return cells of plain text, the best one bold."""
    plain, best = classes_of(column), classes_of(column, "best")
    before, after = ("<bdi>", "</bdi>") if column.is_words else ("", "")
    for row in rows:
        begin = best if column.is_best(row) else plain
        yield f"<td{begin}>{before}{escape(column.printed(row))}{after}</td>"


def _parameter_cells(table: Table, column: Column, rows: Sequence[Row]) -> Iterator[str]:
    """Return what runs state; a long text is cut, and whole as a title."""
    plain = classes_of(column)
    for row in rows:
        text = column.printed(row)
        cut = _cut(text)
        title = f' title="{escape(text)}"' if cut != text else ""
        yield f"<td{plain}{title}><bdi>{escape(cut)}</bdi></td>"


def _rank_cells(table: Table, column: Column, rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        possible = f'<small class="phone">{span(*row.interval)}</small>' if row.interval else ""
        yield f'<td class="num rank">{column.printed(row)}{possible}</td>'


def _interval_cells(table: Table, column: Column, rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield f'<td class="interval opt">{span(*row.interval) if row.interval else ""}</td>'


def _run_cells(table: TableOfRuns, column: Column, rows: Sequence[Standing]) -> Iterator[str]:
    pooled = table.pooled
    for row in rows:
        words = badges_of(row, pooled)
        signs = _signs(row, *words) + (_links_of(row.run) if row.facts else "")
        told = "".join([f", {word}" for word in words])
        yield _name_cell(table, row, signs, told)


def _system_cells(table: Table, column: Column, rows: Sequence[SystemRow]) -> Iterator[str]:
    for row in rows:
        label = f' <span class="version"><bdi>{escape(row.version.label)}</bdi></span>'
        yield _name_cell(table, row, label + _signs(row))


def _reported_cells(table: Table, column: Column, rows: Sequence[ReportedRow]) -> Iterator[str]:
    """Return names of systems that have no page here, with the beginning of their revision."""
    for row in rows:
        short = escape(row.revision[:SHORT_REVISION])
        title = f' title="{escape(row.revision)}"' if short != row.revision else ""
        yield (
            f'<th scope="row"><bdi>{escape(row.name)}</bdi>'
            f' <span class="version"{title}><bdi>{short}</bdi></span></th>'
        )


def _name_cell(table: Table, row: Row, signs: str, told: str = "") -> str:
    return (
        f'<th scope="row"><a href="{table.link_name(row)}"><bdi>{escape(row.name)}</bdi></a>{signs}'
        f'<small class="phone"><bdi>{escape(row.team)}</bdi>{told}</small></th>'
    )


def _signs(row: Row, *words: str) -> str:
    marks = {"yours": row.is_own, "baseline": row.is_baseline}
    known = [*(name for name, holds in marks.items() if holds), *words]
    signs = "".join([f" {badge(word)}" for word in known])
    return f'<span class="opt">{signs}</span>' if signs else ""


def _links_of(run: Run) -> str:
    """Return links to the code and the paper of a run, where its team states them."""
    links = [
        f' <a href="{escape(str(run.facts[name]))}" rel="nofollow noopener">{name}</a>'
        for name in ("code", "paper")
        if run.facts.get(name)
    ]
    return f'<small class="opt sources">{"".join(links)}</small>' if links else ""


def _axis_cells(table: TableOfRuns, column: Column, rows: Sequence[Standing]) -> list[str]:
    means = [row.scores[table.board.measure] for row in rows]
    drawn = charts.mean_cells(table.axis, means, [row.kind for row in rows])
    return [f'<td class="axis">{each}</td>' for each in drawn]


def _strip_cells(table: TableOfRuns, column: Column, rows: Sequence[Standing]) -> Iterator[str]:
    """Draw the ranks that each run can have, with a dot at its own."""
    for row in rows:
        drawn = ""
        if row.interval is not None and row.rank is not None:
            drawn = charts.rank_strip(table.strip_axis, row.rank, *row.interval, row.kind)
        yield f'<td class="axis opt">{drawn}</td>'


def _score_cells(table: TableOfRuns, column: Column, rows: Sequence[Standing]) -> list[str]:
    """Return cells of scores; each leads to its explanation."""
    plain, best = (f"<td{classes_of(column, more)}>" for more in ("", "best"))
    of_measure, values = table.explain_measure(column), [column.value(row) for row in rows]
    begins = [best if column.ranks or column.is_best(row) else plain for row in rows]
    links, texts = [table.explain_number(row) for row in rows], scores(values, column.decimals)
    return [
        f'{begin}{link}{of_measure}" title="{exact(value)}">{text}</a></td>'
        for begin, link, value, text in zip(begins, links, values, texts, strict=True)
    ]


def _mean_cells(table: Table, column: Column, rows: Sequence[Row]) -> Iterator[str]:
    plain, best = classes_of(column), classes_of(column, "best")
    values = [column.value(row) for row in rows]
    for row, value, text in zip(rows, values, scores(values, column.decimals), strict=True):
        begin = best if column.is_best(row) else plain
        yield f'<td{begin} title="{exact(value)}">{text}</td>'


def _track_cells(table: TableOfSystems, column: Column, rows: Sequence[SystemRow]) -> Iterator[str]:
    """Return the values of a track; each leads to the run that has it."""
    before, after = table.link_run(column).split("{}")
    track, values = table.board.columns[column.place].track_id, [column.value(row) for row in rows]
    for row, value, text in zip(rows, values, scores(values, column.decimals), strict=True):
        if value is None:
            yield f'<td class="t">{MISSING}</td>'
            continue
        best = " best" if value == column.best else ""
        title = f' title="{exact(value)}"' if table.has_titles else ""
        href = f"{before}{row.runs[track]}{after}"
        yield f'<td class="t{best}"{title}><a href="{href}">{text}</a></td>'


def _difference_cells(table: Table, column: Column, rows: Sequence[Row]) -> Iterator[str]:
    with_baseline = table.baseline_link
    for row in rows:
        against, link = row.against, table.explain_comparison(row)
        if row.is_baseline or against is None:
            yield f'<td class="num">{"baseline" if row.is_baseline else MISSING}</td>'
            continue
        p, text = against.p_adjusted, difference_text(against.difference, against.unit)
        shown = text if against.difference is None else marked(text, row.verdict)
        small = "" if p is None else f'<small class="phone">p {escape(p_value(p))}</small>'
        yield (
            f'<td class="num">{_linked(link, shown)}'
            f'{small}<a class="make" href="{with_baseline}{row.key}">use as baseline</a></td>'
        )


def _comparison_cells(number: Callable[[Difference], str]) -> Cells:
    """Return cells of a statistic against the baseline; empty if there is none."""

    def cells(table: Table, column: Column, rows: Sequence[Row]) -> Iterator[str]:
        for row in rows:
            text = number(row.against) if row.against is not None else ""
            shown = _linked(table.explain_comparison(row), text) if text else ""
            yield f'<td class="num opt">{shown}</td>'

    return cells


def _linked(link: str, text: str) -> str:
    return f"{link}{text}</a>" if link else text


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


def _date_cells(table: Table, column: Column, rows: Sequence[Row]) -> Iterator[str]:
    """Return days; the moment is told where no pseudonym hides it."""
    for row in rows:
        told = date(row.at) if row.has_pseudonym else instant(row.at)
        yield f'<td class="num opt" title="{told}">{day(row.at)}</td>'


def _chosen_cells(table: Table, column: Column, rows: Sequence[Row]) -> Iterator[str]:
    """Return boxes that choose rows for what the form around the table does."""
    for row in rows:
        label = escape(f"Choose {row.name}")
        yield f'<td><input type="checkbox" name="run" value="{row.key}" aria-label="{label}"></td>'


def _state_cells(table: Table, column: Column, rows: Sequence[Any]) -> Iterator[str]:
    for row in rows:
        yield f"<td>{state(row.state)}</td>"


def _contact_cells(table: Table, column: Column, rows: Sequence[Any]) -> Iterator[str]:
    """Return who submitted a run; with a confirmed address the name leads to an email."""
    for row in rows:
        name = f"<bdi>{escape(row.contact)}</bdi>"
        link = f'<a href="mailto:{escape(quote(row.email, safe="@"))}">{name}</a>'
        yield f'<td class="opt">{link if row.email else name}</td>'


CELLS: dict[str, Cells] = {
    "chosen": _chosen_cells,
    "state": _state_cells,
    "contact": _contact_cells,
    "rank": _rank_cells,
    "interval": _interval_cells,
    "run": _run_cells,
    "system": _system_cells,
    "reported": _reported_cells,
    "axis": _axis_cells,
    "strip": _strip_cells,
    "score": _score_cells,
    "judged": _score_cells,
    "mean": _mean_cells,
    "parameter": _parameter_cells,
    "track": _track_cells,
    "difference": _difference_cells,
    "confidence": _comparison_cells(_confidence_text),
    "p": _comparison_cells(_p_text),
    "effect": _comparison_cells(_effect_text),
    "wins": _comparison_cells(_wins_text),
    "date": _date_cells,
}
