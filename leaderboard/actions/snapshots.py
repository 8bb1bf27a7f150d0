"""Freeze a board as a snapshot: every cell and every file as it is now.

A late run, new judgments or a new version of the code change the live board and its p-values.
A snapshot does not change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from leaderboard.actions.overviews import Author, parse_authors, render_authors, suggest_authors
from leaderboard.actions.submission_rules import ActionError
from leaderboard.boards.board_files import FORMATS
from leaderboard.boards.columns import RUN, TEAM, TYPE, available_columns
from leaderboard.boards.exports import build_caption, file_of
from leaderboard.boards.standings import Board
from leaderboard.display.latex import escape_tex, render_misc
from leaderboard.models import AuditEvent, Run, Snapshot, User

ERASED = "erased"
# The heads of the columns without numbers.
TEXT_COLUMNS = {column.title for column in (RUN, TEAM, TYPE)}


def freeze_board(
    board: Board, user: User, name: str, note: str = "", authors: str = ""
) -> Snapshot:
    """Save this board under a name.  Raises ActionError."""
    if not board.standings:
        raise ActionError("An empty board cannot be frozen.")
    if board.is_untested:
        raise ActionError("Tests are still running. Freeze the board when they finish.")
    columns = [column for column in available_columns(board) if column.fields]
    files = file_of(board, columns)
    snapshot = Snapshot(
        track=board.sight.track,
        edition=board.edition,
        slug=slugify(name)[:60] or "snapshot",
        name=name,
        note=note,
        authors=authors or suggest_authors(board.sight.track),
        caption=build_caption(board),
        heads=[column.title for column in columns],
        rows=[
            [standing.run.pk, *(column.printed(standing) for column in columns)]
            for standing in board.standings
        ],
        files={name: format.write(files) for name, format in FORMATS.items()},
        created_by=user,
    )
    try:
        with transaction.atomic():
            snapshot.save(force_insert=True)
            AuditEvent.objects.record(user, "freeze", snapshot, after={"name": name})
    except IntegrityError:
        raise ActionError(f"Snapshot {snapshot.slug} already exists.") from None
    return snapshot


@dataclass(frozen=True)
class FrozenCell:
    """A cell of a snapshot, and whether it has words instead of a number."""

    text: str
    is_words: bool


@dataclass(frozen=True)
class FrozenLine:
    """A line of a snapshot, split at the name; `since` is what happened to the run later."""

    run_id: str
    before: Sequence[FrozenCell]
    name: str
    after: Sequence[FrozenCell]
    since: str


def snapshot_heads(snapshot: Snapshot) -> list[FrozenCell]:
    """Return the heads of a snapshot's columns."""
    return _cells(snapshot, snapshot.heads)


def snapshot_lines(snapshot: Snapshot) -> list[FrozenLine]:
    """Return the lines of a snapshot."""
    runs = Run.objects.in_bulk([run_id for run_id, *_ in snapshot.rows])
    at = snapshot.heads.index(RUN.title)
    lines = []
    for run_id, *texts in snapshot.rows:
        run = runs.get(run_id)
        cells, since = _cells(snapshot, texts), ERASED if run is None else run.removal
        lines.append(FrozenLine(run_id, cells[:at], texts[at], cells[at + 1 :], since))
    return lines


def _cells(snapshot: Snapshot, texts: Sequence[str]) -> list[FrozenCell]:
    pairs = zip(snapshot.heads, texts, strict=True)
    return [
        FrozenCell(text, True) if head in TEXT_COLUMNS else FrozenCell(drop_zero(text), False)
        for head, text in pairs
    ]


def drop_zero(text: str) -> str:
    """Drop the zero before the point, which snapshots of earlier versions have.

    >>> drop_zero("+0.0250 to +0.1000"), drop_zero("1.0000")
    ('+.0250 to +.1000', '1.0000')
    """
    return re.sub(r"(?<![\d.])0(?=\.\d)", "", text)


def render_bibtex(snapshot: Snapshot, address: str) -> str:
    """Render the BibTeX entry of a snapshot."""
    track, at = snapshot.track, snapshot.created_at
    owner = Author(track.owner.get_full_name() or track.owner.username)
    fields = {
        "title": f"{{{escape_tex(track.name)}: {escape_tex(snapshot.name)}}}",
        "author": render_authors(parse_authors(snapshot.authors) or [owner]),
        "year": str(at.year),
        "month": at.strftime("%b").lower(),
        "howpublished": f"\\url{{{address}}}",
        "note": escape_tex(snapshot.caption),
    }
    return render_misc(f"{track.slug}-{snapshot.slug}", fields)
