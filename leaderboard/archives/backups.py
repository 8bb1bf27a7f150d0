"""Backup and restore of a whole site as one folder.

    database.sqlite3 or database.dump    as the database stood at one moment
    files/...                            every stored file that a row names
    secret_key                           where the site made its own
    manifest.json                        version, time, and the sha256 of each file above

The database is copied first, while the site runs on.  A file is stored before its row is written
and never changes, so every file that the copy names still exists.  The cleanup may delete rejected
or orphaned files in between; the manifest lists them as gone.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import connection, connections
from django.utils import timezone

from leaderboard.infrastructure.storage import CHUNK_BYTES, sha256_of
from leaderboard.jobs.cleanup import stored_file_names
from leaderboard.models import Run, Track, User

MANIFEST = "manifest.json"
SQLITE, DUMP = "database.sqlite3", "database.dump"


class BackupError(Exception):
    """Why a backup cannot be made or restored."""


@dataclass(frozen=True)
class Backup:
    """The manifest of a backup: version, time, checksums, missing files and row counts."""

    version: str
    made_at: str
    sums: dict[str, str]
    gone: list[str]
    counts: dict[str, int]


def create_backup(folder: Path) -> Backup:
    """Write a backup into a new folder, which gets its name only once it is complete."""
    if folder.exists():
        raise BackupError(f"{folder} already exists.")
    part = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}.part")
    part.mkdir(parents=True, mode=0o700)
    try:
        kept = _write_backup(part)
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return kept


def _write_backup(folder: Path) -> Backup:
    counts = {model._meta.model_name: model.objects.count() for model in (User, Track, Run)}
    database = _copy_database(folder)
    sums, gone = {database.name: _hash_file(database)}, []
    # Rows written after the copy name files too; a few more files do no harm.
    for name in sorted(set(stored_file_names())):
        try:
            with default_storage.open(name) as file:
                sums[f"files/{name}"] = _copy_file(file, folder / "files" / name)
        except FileNotFoundError:
            gone.append(name)
    key = Path(settings.RANKFIELD_HOME) / "secret_key"
    if key.exists():
        with key.open("rb") as file:
            sums["secret_key"] = _copy_file(file, folder / "secret_key")
    kept = Backup(settings.VERSION, timezone.now().isoformat(), sums, gone, counts)
    (folder / MANIFEST).write_text(json.dumps(vars(kept), indent=1))
    return kept


def _copy_database(folder: Path) -> Path:
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        path = folder / SQLITE
        with closing(sqlite3.connect(path)) as copy:
            connection.connection.backup(copy)
    else:
        path = folder / DUMP
        _run_program("pg_dump", "--format=custom", "--no-owner", f"--file={path}")
    path.chmod(0o600)
    return path


def _run_program(program: str, *words: str) -> None:
    """Run a PostgreSQL program on this site's database, with the password in the environment."""
    database = connection.settings_dict
    names = {"HOST": "PGHOST", "PORT": "PGPORT", "USER": "PGUSER", "PASSWORD": "PGPASSWORD"}
    variables = {there: str(database[here]) for here, there in names.items() if database.get(here)}
    ssl = {name: word for name, word in database["OPTIONS"].items() if name.startswith("ssl")}
    variables |= {f"PG{name.upper()}": str(word) for name, word in ssl.items()}
    try:
        subprocess.run(
            [program, *words],
            env={**os.environ, **variables, "PGDATABASE": str(database["NAME"])},
            check=True,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise BackupError(
            f"There is no {program} on this machine. Install PostgreSQL's client."
        ) from None
    except subprocess.CalledProcessError as error:
        raise BackupError(f"{program} failed: {error.stderr.strip()}") from None


def _copy_file(file: BinaryIO | File, path: Path) -> str:
    """Copy a file and return its SHA-256."""
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        while piece := file.read(CHUNK_BYTES):
            digest.update(piece)
            copy.write(piece)
    return digest.hexdigest()


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return sha256_of(file)


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
            _copy_file(file, key)
    call_command("migrate", interactive=False, verbosity=0)
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
        if not path.is_file() or _hash_file(path) != digest:
            raise BackupError(f"{name} is missing or has changed since the backup.")
    return kept


def find_stored_names(kept: Backup) -> Iterator[str]:
    return (name.removeprefix("files/") for name in kept.sums if name.startswith("files/"))


def refuse_used_site() -> None:
    if User._meta.db_table in connection.introspection.table_names() and User.objects.exists():
        raise BackupError("This site already has accounts. Restore into an empty database.")


def _restore_database(path: Path) -> None:
    if connection.vendor != "sqlite":
        _run_program(
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
