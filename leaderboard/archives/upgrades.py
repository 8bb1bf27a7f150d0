"""What is compared before and after an upgrade: rows, scores and boards.

The code of the new version reads the tables of the old one, so it asks for columns by name that
every version has, and for no class of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from evaluation.conventions import SCORING_VERSION
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_untested_board
from leaderboard.display.numbers import counted
from leaderboard.models import Track

OWN = "leaderboard_"
# Rows that workers delete when they are due, or that only say what happens now.
PASSING = {
    f"{OWN}{name}"
    for name in (
        *("job", "worker", "sentform", "partialupload", "delivery", "mail", "notice"),
        *("pagescopy", "trackchange", "calculation"),
    )
}
# The scores of this many tracks are compared, those that changed last.
MOST_TRACKS = 50
SCORES = f"""
    select t.slug, s.run_id, m.measure, m.mean
    from {OWN}track t
    join {OWN}scoreset s on s.edition_id = t.edition_id
    join {OWN}score m on m.score_set_id = s.id
    where t.id in (select id from {OWN}track order by id desc limit {MOST_TRACKS})
"""
Scores = dict[tuple[str, str, str], float | None]


class UpgradeError(Exception):
    """Why this code cannot upgrade the database."""


@dataclass(frozen=True)
class Stock:
    """The rows of each table of the product, and the means of its latest tracks."""

    counts: Mapping[str, int]
    scores: Scores = field(default_factory=dict)

    @property
    def num_rows(self) -> int:
        return sum(self.counts.values())

    @property
    def tracks(self) -> set[str]:
        return {slug for slug, _, _ in self.scores}


def take_stock() -> Stock:
    """Count what is stored, whichever version the tables are of."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        counts = {}
        for table in sorted(name for name in tables if name.startswith(OWN)):
            cursor.execute(f"select count(*) from {connection.ops.quote_name(table)}")
            counts[table] = cursor.fetchone()[0]
        if not {f"{OWN}track", f"{OWN}scoreset", f"{OWN}score"} <= counts.keys():
            return Stock(counts)
        cursor.execute(SCORES)
        return Stock(counts, {(slug, run, name): mean for slug, run, name, mean in cursor})


def find_pending() -> list[str]:
    """Return the migrations to apply.  Raises UpgradeError for a database of a later version."""
    executor = MigrationExecutor(connection)
    known = executor.loader.disk_migrations
    later = [
        f"{app}.{name}"
        for app, name in MigrationRecorder(connection).applied_migrations()
        if app == "leaderboard" and (app, name) not in known
    ]
    if later:
        raise UpgradeError(
            f"The database is from a later version: this code does not know {sorted(later)[-1]}. "
            "There is no way down. Use the later code, or restore a backup of this version."
        )
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{each.app_label}.{each.name}" for each, _ in plan]


def describe_changes(before: Stock, after: Stock) -> Iterator[str]:
    """Yield what is new or has other numbers of rows."""
    for table, number in after.counts.items():
        name, was = table.removeprefix(OWN), before.counts.get(table)
        if was is None:
            yield f"new table {name}, {counted(number, 'row')}"
        elif number != was:
            yield f"{name}: {was:,} rows before, {number:,} after"


def find_losses(before: Stock, after: Stock) -> Iterator[str]:
    """Yield what was there before and is not the same now."""
    for table, number in before.counts.items():
        now = after.counts.get(table, 0)
        if table not in PASSING and now < number:
            name = table.removeprefix(OWN)
            yield f"{name}: {counted(number - now, 'row')} of {number:,} missing"
    changed: dict[str, int] = {}
    for key, mean in before.scores.items():
        if key not in after.scores or after.scores[key] != mean:
            changed[key[0]] = changed.get(key[0], 0) + 1
    for slug, num_changed in sorted(changed.items()):
        yield f"track {slug}: {counted(num_changed, 'mean')} changed or missing"


def find_broken_boards(slugs: set[str]) -> Iterator[str]:
    """Yield the tracks whose board cannot be made, or shows fewer runs than are scored."""
    for track in Track.objects.filter(slug__in=slugs).order_by("slug"):
        try:
            board = find_untested_board(sight_of(track, track.benchmark.owner))
        except Exception as error:
            yield f"track {track.slug}: its board cannot be made: {error!r}"
            continue
        if board is None:
            yield f"track {track.slug}: it has scores and no board"


def find_old_scoring() -> list[str]:
    """Return the tracks whose boards are by another version of the scoring."""
    old: Any = Track.objects.exclude(edition=None).exclude(edition__scoring_version=SCORING_VERSION)
    return list(old.order_by("slug").values_list("slug", flat=True))
