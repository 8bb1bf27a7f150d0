"""Freeze a board as a snapshot: every cell and every file as it is now.

A late run, new judgments or a new version of the code change the live board and its p-values.
A snapshot does not change.  The board of a benchmark is frozen as all who may know its tracks see
it (`shared_benchmark_sight`), so that one text serves every reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from leaderboard.actions.overviews import (
    Author,
    author_of,
    parse_authors,
    render_authors,
    suggest_authors,
)
from leaderboard.actions.refusals import ActionError
from leaderboard.boards.benchmark_boards import BenchmarkBoard
from leaderboard.boards.board_files import FORMATS
from leaderboard.boards.columns import (
    RUN,
    SYSTEM,
    TEAM,
    TYPE,
    Column,
    available_columns,
    paper_columns,
)
from leaderboard.boards.exports import build_caption, file_of
from leaderboard.boards.rows import Row
from leaderboard.boards.standings import Board
from leaderboard.display.latex import escape_tex, render_misc
from leaderboard.models import AuditEvent, BenchmarkSnapshot, Run, Snapshot, SystemVersion, User

ERASED, WITHDRAWN = "erased", "withdrawn"
# Papers print names, values, ranks and p; programs read every column.
PAPER_FORMATS = ("md", "tex")
# The heads of the columns with the names of runs and systems, and of all without numbers.
NAMES = (RUN.title, SYSTEM.title)
TEXT_COLUMNS = {*NAMES, TEAM.title, TYPE.title}


def freeze_board(
    board: Board, user: User, name: str, note: str = "", authors: str = ""
) -> Snapshot:
    """Save the board of a track under a name.  Raises ActionError."""
    if not board.standings:
        raise ActionError("An empty board cannot be frozen.")
    track = board.sight.track
    snapshot = Snapshot(
        track=track, edition=board.edition, authors=authors or suggest_authors(track)
    )
    _freeze(snapshot, board, user, name, note)
    return snapshot


def freeze_benchmark_board(
    board: BenchmarkBoard, user: User, name: str, note: str = ""
) -> BenchmarkSnapshot:
    """Save the board of a benchmark under a name.  Raises ActionError."""
    if not board.rows:
        raise ActionError("A board without a complete system cannot be frozen.")
    snapshot = BenchmarkSnapshot(benchmark=board.sight.benchmark)
    with transaction.atomic():
        _freeze(snapshot, board, user, name, note)
        snapshot.editions.set([column.edition for column in board.columns])
    return snapshot


def _freeze(
    snapshot: Snapshot | BenchmarkSnapshot,
    board: Board | BenchmarkBoard,
    user: User,
    name: str,
    note: str,
) -> None:
    """Fill a snapshot from a board and save it."""
    if board.is_untested:
        raise ActionError("Tests are still running. Freeze the board when they finish.")
    columns = [column for column in available_columns(board) if column.fields]
    papers = file_of(board, paper_columns(board))
    files = file_of(board, columns)
    snapshot.slug, snapshot.name, snapshot.note = slugify(name)[:60] or "snapshot", name, note
    snapshot.caption, snapshot.created_by = build_caption(board), user
    snapshot.heads = [_describe_head(column) for column in columns]
    snapshot.rows = [_print_row(row, columns) for row in board.rows]
    snapshot.files = {
        name: format.write(papers if name in PAPER_FORMATS else files)
        for name, format in FORMATS.items()
    }
    try:
        with transaction.atomic():
            snapshot.save(force_insert=True)
            AuditEvent.objects.record(user, "freeze", snapshot, after={"name": name})
    except IntegrityError:
        raise ActionError(f"Snapshot {snapshot.slug} already exists.") from None


def _describe_head(column: Column) -> dict[str, str | bool]:
    return {"title": column.title, "detail": column.detail, "is_words": column.is_words}


def _print_row(row: Row, columns: Sequence[Column]) -> list[str]:
    texts = [
        column.printed(row) if column.is_words else drop_zero(column.printed(row))
        for column in columns
    ]
    return [row.key, *texts]


@dataclass(frozen=True)
class FrozenHead:
    """The head of a column; its cells are words or numbers."""

    title: str
    detail: str
    is_words: bool


@dataclass(frozen=True)
class FrozenCell:
    text: str
    is_words: bool


@dataclass(frozen=True)
class FrozenLine:
    """A line of a snapshot, split at the name; `since` is what happened to its row later.

    `target` is the id of its run or system, None if that is erased.
    """

    target: str | int | None
    before: Sequence[FrozenCell]
    name: str
    after: Sequence[FrozenCell]
    since: str


@dataclass(frozen=True)
class Fate:
    """What a row of a snapshot leads to, and what happened to it since."""

    target: str | int | None
    since: str


GONE = Fate(None, ERASED)


def snapshot_heads(snapshot: Snapshot | BenchmarkSnapshot) -> list[FrozenHead]:
    """Return the heads of a snapshot's columns; those of earlier versions are titles alone."""
    return [
        FrozenHead(head, "", head in TEXT_COLUMNS) if isinstance(head, str) else FrozenHead(**head)
        for head in snapshot.heads
    ]


def snapshot_lines(snapshot: Snapshot | BenchmarkSnapshot) -> list[FrozenLine]:
    """Return the lines of a snapshot."""
    heads, fates = snapshot_heads(snapshot), _find_fates(snapshot)
    at = next(place for place, head in enumerate(heads) if head.title in NAMES)
    lines = []
    for key, *texts in snapshot.rows:
        cells = [
            FrozenCell(text if head.is_words else drop_zero(text), head.is_words)
            for head, text in zip(heads, texts, strict=True)
        ]
        fate = fates.get(str(key), GONE)
        lines.append(FrozenLine(fate.target, cells[:at], texts[at], cells[at + 1 :], fate.since))
    return lines


def _find_fates(snapshot: Snapshot | BenchmarkSnapshot) -> Mapping[str, Fate]:
    """Return what became of the runs or versions of a snapshot, by id; erased ones are missing."""
    keys = [key for key, *_ in snapshot.rows]
    if isinstance(snapshot, Snapshot):
        return {run.pk: Fate(run.pk, run.removal) for run in Run.objects.filter(pk__in=keys)}
    standing = Run.objects.on_the_board().filter(
        version__in=keys, track__editions__in=snapshot.editions.all()
    )
    left = set(standing.values_list("version", flat=True))
    return {
        str(version.pk): Fate(version.system_id, "" if version.pk in left else WITHDRAWN)
        for version in SystemVersion.objects.filter(pk__in=keys)
    }


def drop_zero(text: str) -> str:
    """Drop the zero before the point, which snapshots of earlier versions have.

    >>> drop_zero("+0.0250 to +0.1000"), drop_zero("1.0000")
    ('+.0250 to +.1000', '1.0000')
    """
    return re.sub(r"(?<![\d.])0(?=\.\d)", "", text)


def render_bibtex(snapshot: Snapshot | BenchmarkSnapshot, address: str) -> str:
    """Render the BibTeX entry of a snapshot; without authors it names the organisers."""
    subject, at = snapshot.subject, snapshot.created_at
    fields = {
        "title": f"{{{escape_tex(subject.name)}: {escape_tex(snapshot.name)}}}",
        "author": render_authors(list_snapshot_authors(snapshot)),
        "year": str(at.year),
        "month": at.strftime("%b").lower(),
        "howpublished": f"\\url{{{address}}}",
        "note": escape_tex(snapshot.caption),
    }
    return render_misc(f"{subject.slug}-{snapshot.slug}", fields)


def list_snapshot_authors(snapshot: Snapshot | BenchmarkSnapshot) -> list[Author]:
    """Return who is cited: the authors it was frozen with, or else the organisers."""
    if isinstance(snapshot, Snapshot):
        people = [snapshot.track.benchmark.owner]
        named = parse_authors(snapshot.authors)
    else:
        people, named = list(snapshot.benchmark.organisers()), []
    return named or list(map(author_of, people))
