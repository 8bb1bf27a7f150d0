"""Restore of a backup into an empty installation."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import connection, connections
from django.utils import timezone

from leaderboard.jobs.backups import (
    DUMP,
    KIND,
    MANIFEST,
    SQLITE,
    Backup,
    BackupError,
    copy_file,
    hash_file,
    run_program,
)
from leaderboard.models import Job, User


def restore_backup(folder: Path) -> Backup:
    """Restore a backup into an empty installation."""
    kept = read_backup(folder)
    refuse_used_site()
    database = SQLITE if SQLITE in kept.sums else DUMP
    if (database == SQLITE) != (connection.vendor == "sqlite"):
        raise BackupError(
            f"{database} is from a different kind of database than the one in DATABASE_URL."
        )
    _restore_database(folder / database)
    for name in find_stored_names(kept):
        if not default_storage.exists(name):
            with (folder / "files" / name).open("rb") as file:
                saved = default_storage.save(name, File(file))
            if saved != name:
                raise BackupError(f"{name} was stored as {saved}.")
    key = Path(settings.RANKFIELD_HOME) / "secret_key"
    if "secret_key" in kept.sums:
        key.unlink(missing_ok=True)
        with (folder / "secret_key").open("rb") as file:
            copy_file(file, key)
    call_command("migrate", interactive=False, verbosity=0)
    # The job that wrote this backup is not done again here.
    Job.objects.open().filter(kind=KIND).update(
        state=Job.State.CANCELLED, finished_at=timezone.now()
    )
    return kept


def read_backup(folder: Path) -> Backup:
    """Return the manifest of a backup after checking every file."""
    try:
        kept = Backup(**json.loads((folder / MANIFEST).read_text()))
    except (OSError, ValueError, TypeError):
        raise BackupError(f"{folder} is not a backup: it has no readable {MANIFEST}.") from None
    for name, digest in kept.sums.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise BackupError(f"{name} leads out of {folder}.")
        if not path.is_file() or hash_file(path) != digest:
            raise BackupError(f"{name} is missing or has changed since the backup.")
    return kept


def find_stored_names(kept: Backup) -> Iterator[str]:
    return (name.removeprefix("files/") for name in kept.sums if name.startswith("files/"))


def refuse_used_site() -> None:
    if User._meta.db_table in connection.introspection.table_names() and User.objects.exists():
        raise BackupError("This site already has accounts. Restore into an empty database.")


def _restore_database(path: Path) -> None:
    if connection.vendor != "sqlite":
        run_program(
            "pg_restore",
            "--no-owner",
            "--clean",
            "--if-exists",
            "--exit-on-error",
            *_restore_arguments(path),
        )
        connections.close_all()
        return
    connection.ensure_connection()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as copy:
        copy.backup(connection.connection)
    connections.close_all()


def _restore_arguments(path: Path) -> list[str]:
    return [f"--dbname={connection.settings_dict['NAME']}", str(path)]
