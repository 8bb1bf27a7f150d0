"""Freeze the board of a benchmark as a snapshot: every cell and every file in its present form.

Only what all who may know its tracks see goes in, so that one text serves every reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from leaderboard.actions.overviews import Author, render_authors
from leaderboard.actions.snapshots import ERASED, drop_zero
from leaderboard.actions.submission_rules import ActionError
from leaderboard.boards.benchmark_boards import BenchmarkBoard, SystemRow
from leaderboard.boards.board_files import FORMATS
from leaderboard.boards.columns import SYSTEM, Column, paper_columns
from leaderboard.boards.exports import build_caption, file_of
from leaderboard.display.latex import escape_tex, render_misc
from leaderboard.models import AuditEvent, BenchmarkSnapshot, Run, SystemVersion, User

WITHDRAWN = "withdrawn"
# Papers print names, values, ranks and p; programs read every column.
PAPER_FORMATS = ("md", "tex")


def freeze_benchmark_board(
    board: BenchmarkBoard, user: User, name: str, note: str = ""
) -> BenchmarkSnapshot:
    """Save this board under a name.  Raises ActionError.

    The board is that of `shared_benchmark_sight`.
    """
    if not board.rows:
        raise ActionError("A board without a complete system cannot be frozen.")
    if board.awaits_tests:
        raise ActionError("Tests are still running. Freeze the board when they finish.")
    columns, papers = board.columns_of_table, paper_columns(board)
    snapshot = BenchmarkSnapshot(
        benchmark=board.sight.benchmark,
        slug=slugify(name)[:60] or "snapshot",
        name=name,
        note=note,
        caption=build_caption(board),
        heads=[_describe_head(column) for column in papers],
        rows=[_print_row(row, papers) for row in board.rows],
        files={
            name: format.write(file_of(board, papers if name in PAPER_FORMATS else columns))
            for name, format in FORMATS.items()
        },
        created_by=user,
    )
    try:
        with transaction.atomic():
            snapshot.save(force_insert=True)
            snapshot.editions.set([column.edition for column in board.columns])
            AuditEvent.objects.record(user, "freeze", snapshot, after={"name": name})
    except IntegrityError:
        raise ActionError(f"Snapshot {snapshot.slug} already exists.") from None
    return snapshot


def _describe_head(column: Column) -> dict[str, str | bool]:
    detail = column.detail if column.kind in ("track", "mean") else ""
    return {"title": column.title, "detail": detail, "is_words": column.is_words}


def _print_row(row: SystemRow, columns: Sequence[Column]) -> list[int | str]:
    texts = [
        column.printed(row) if column.is_words else drop_zero(column.printed(row))
        for column in columns
    ]
    return [row.version.pk, *texts]


@dataclass(frozen=True)
class FrozenSystemCell:
    """A cell of a benchmark's snapshot, and whether it has words instead of a number."""

    text: str
    is_words: bool


@dataclass(frozen=True)
class FrozenSystem:
    """A line of a benchmark's snapshot, split at the name; `since` is what happened to it later.

    `system_id` leads to its page, unless the version is erased.
    """

    system_id: int | None
    before: Sequence[FrozenSystemCell]
    name: str
    after: Sequence[FrozenSystemCell]
    since: str


def frozen_systems(snapshot: BenchmarkSnapshot) -> list[FrozenSystem]:
    """Return the lines of a benchmark's snapshot."""
    ids = [version_id for version_id, *_ in snapshot.rows]
    versions = SystemVersion.objects.in_bulk(ids)
    standing = Run.objects.on_the_board().filter(
        version__in=ids, track__editions__in=snapshot.editions.all()
    )
    left = set(standing.values_list("version", flat=True))
    at = [head["title"] for head in snapshot.heads].index(SYSTEM.title)
    lines = []
    for version_id, *texts in snapshot.rows:
        version = versions.get(version_id)
        cells = [
            FrozenSystemCell(text, head["is_words"])
            for head, text in zip(snapshot.heads, texts, strict=True)
        ]
        since = ERASED if version is None else "" if version_id in left else WITHDRAWN
        system_id = version.system_id if version is not None else None
        lines.append(FrozenSystem(system_id, cells[:at], texts[at], cells[at + 1 :], since))
    return lines


def cite_benchmark_snapshot(snapshot: BenchmarkSnapshot, address: str) -> str:
    """Render the BibTeX entry of a benchmark's snapshot; its authors are the organisers."""
    benchmark, at = snapshot.benchmark, snapshot.created_at
    authors = [Author(user.get_full_name() or user.username) for user in benchmark.organisers()]
    fields = {
        "title": f"{{{escape_tex(benchmark.name)}: {escape_tex(snapshot.name)}}}",
        "author": render_authors(authors),
        "year": str(at.year),
        "month": at.strftime("%b").lower(),
        "howpublished": f"\\url{{{address}}}",
        "note": escape_tex(snapshot.caption),
    }
    return render_misc(f"{benchmark.slug}-{snapshot.slug}", fields)
