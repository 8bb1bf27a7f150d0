"""A board becomes a snapshot: every cell as it is printed now, and the files as they are now.

A late run, a new version of the judgments or of this code changes the live board, and its
p-values with the family of comparisons; what was frozen stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from leaderboard.actions.submission_rules import NotPossible
from leaderboard.boards.columns import RUN, TEAM, TYPE, choosable
from leaderboard.boards.exports import FORMATS, caption, in_papers, tex
from leaderboard.boards.standings import Board
from leaderboard.models import AuditEvent, Run, Snapshot, User

ERASED = "erased"
# The heads of the columns that hold no numbers.
WORDS = {column.title for column in (RUN, TEAM, TYPE)}


def freeze(board: Board, user: User, name: str, note: str = "") -> Snapshot:
    """Keep this board under a name.  Raises NotPossible."""
    if not board.standings:
        raise NotPossible("An empty board cannot be frozen.")
    if board.is_untested:
        raise NotPossible("Tests are still running. Freeze the board when they finish.")
    columns = in_papers(choosable(board))
    snapshot = Snapshot(
        track=board.sight.track,
        edition=board.edition,
        slug=slugify(name)[:60] or "snapshot",
        name=name,
        note=note,
        caption=caption(board),
        heads=[column.title for column in columns],
        rows=[
            [standing.run.pk, *(column.printed(standing) for column in columns)]
            for standing in board.standings
        ],
        files={name: each.write(board, columns) for name, each in FORMATS.items()},
        created_by=user,
    )
    try:
        with transaction.atomic():
            snapshot.save(force_insert=True)
            AuditEvent.objects.record(user, "freeze", snapshot, after={"name": name})
    except IntegrityError:
        raise NotPossible(f"Snapshot {snapshot.slug} already exists.") from None
    return snapshot


@dataclass(frozen=True)
class FrozenCell:
    text: str
    is_words: bool


@dataclass(frozen=True)
class FrozenLine:
    """A line of a snapshot, cut at the name; `since` says what became of the run afterwards."""

    run_id: str
    before: Sequence[FrozenCell]
    name: str
    after: Sequence[FrozenCell]
    since: str


def heads_of(snapshot: Snapshot) -> list[FrozenCell]:
    return _cells(snapshot, snapshot.heads)


def lines_of(snapshot: Snapshot) -> list[FrozenLine]:
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
    return [FrozenCell(text, head in WORDS) for head, text in pairs]


def bibtex(snapshot: Snapshot, address: str) -> str:
    """An entry with which a paper cites the snapshot."""
    track, at = snapshot.track, snapshot.created_at
    owner = track.owner.get_full_name() or track.owner.username
    fields = {
        "title": f"{{{tex(track.name)}: {tex(snapshot.name)}}}",
        "author": f"{{{tex(owner)}}}",
        "year": str(at.year),
        "month": at.strftime("%b").lower(),
        "howpublished": f"\\url{{{address}}}",
        "note": tex(snapshot.caption),
    }
    lines = "".join(
        f"  {name} = {value if name == 'month' else '{' + value + '}'},\n"
        for name, value in fields.items()
    )
    return f"@misc{{{track.slug}-{snapshot.slug},\n{lines}}}\n"
