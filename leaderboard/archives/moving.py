"""Move a site that is read-only: its files into a bucket, its database from SQLite to PostgreSQL.

Each file is read back from the bucket and compared by its SHA-256, and noted once it is there, so
that a move that was interrupted goes on after it. The database is copied in one transaction, whole
or not at all, and every table is compared by the SHA-256 of its rows.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage, storages
from django.core.management.color import no_style
from django.db import connection, connections, transaction
from django.db.models import Model
from django.db.utils import DatabaseError

from leaderboard.boards import staleness
from leaderboard.environment import database
from leaderboard.infrastructure.storage import sha256_of, stored_file_names
from leaderboard.models import User

# The names of the databases beside Django's own: a view of it at one moment, and the new one.
MOMENT, NEW = "moment", "new"
ROWS_AT_ONCE = 500


class MoveError(Exception):
    """Why a site cannot be moved, or what differs after the move."""


@dataclass(frozen=True)
class MovedFiles:
    """How many files are in the bucket now, and how many of them were there before."""

    total: int
    known: int


def open_bucket() -> Any:
    """Return the storage of NEW_S3_BUCKET.  Raises MoveError where files cannot be moved."""
    if settings.S3_BUCKET:
        raise MoveError("The files are in a bucket already: S3_BUCKET is set.")
    options = {**settings.BUCKET_OPTIONS, "bucket_name": settings.NEW_S3_BUCKET}
    return storages.create_storage({"BACKEND": settings.BUCKETS, "OPTIONS": options})


def move_files(bucket: Any, progress: Any = lambda *_: None) -> MovedFiles:
    """Copy every stored file that a row names into a bucket.  Raises MoveError."""
    ledger = Path(settings.RANKFIELD_HOME) / f"moved_to_{settings.NEW_S3_BUCKET}"
    known = read_ledger(ledger)
    names = sorted(set(stored_file_names()))
    num_known = len(known.keys() & set(names))
    with ledger.open("a") as note:
        for number, name in enumerate(names, 1):
            if name not in known:
                note.write(f"{move_file(bucket, name)}  {name}\n")
                note.flush()
            progress(number, len(names))
    stored = dict(bucket.stored_sizes())
    for name in names:
        if stored.get(name) != default_storage.size(name):
            raise MoveError(f"{name} is missing in the bucket, or has another size there.")
    return MovedFiles(len(names), num_known)


def read_ledger(path: Path) -> dict[str, str]:
    """Return the files that were moved and compared; a line that broke off does not count."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    whole = [line.rstrip("\n").split("  ", 1) for line in lines if line.endswith("\n")]
    if len(whole) < len(lines):
        path.write_text("".join(lines[: len(whole)]))
    return {name: digest for digest, name in whole}


def move_file(bucket: Any, name: str) -> str:
    """Copy one file, read it back, and return its SHA-256.  Raises MoveError."""
    try:
        with default_storage.open(name) as file:
            digest = sha256_of(file)
            file.seek(0)
            saved = bucket.save(name, File(file, name))
    except FileNotFoundError:
        raise MoveError(f"{name} is missing on the disk. `manage.py doctor` lists all.") from None
    if saved != name or bucket.hash_stored(name) != digest:
        raise MoveError(f"{name} is not the same in the bucket.")
    return digest


@contextmanager
def both_databases() -> Iterator[None]:
    """Open the database of now as of one moment, and that of NEW_DATABASE_URL beside it."""
    if connection.vendor != "sqlite":
        raise MoveError("Only a site on SQLite can be moved to PostgreSQL.")
    own = connections.settings["default"]
    # DEFERRED: what is read is of one moment, and nobody waits for it.
    deferred = {**own, "OPTIONS": {**own["OPTIONS"], "transaction_mode": "DEFERRED"}}
    new = {**own, **database(settings.NEW_DATABASE_URL, Path(settings.RANKFIELD_HOME))}
    connections.settings |= {MOMENT: deferred, NEW: new}
    try:
        if connections[NEW].vendor != "postgresql":
            raise MoveError("NEW_DATABASE_URL starts with postgresql://.")
        with transaction.atomic(MOMENT):
            yield
    finally:
        for name in (MOMENT, NEW):
            connections[name].close()
            del connections[name], connections.settings[name]


def move_database() -> int:
    """Copy the rows of every table to the new database; return their number.  Raises MoveError.

    A database that has the same rows already, of a move before, is left as it is.
    """
    create_tables()
    with both_databases():
        models = list_models()
        if not User.objects.using(NEW).exists():
            copy_rows(models)
        differing = [
            model._meta.db_table for model in models if digest(model, MOMENT) != digest(model, NEW)
        ]
        if differing:
            raise MoveError(
                f"The new database differs in {', '.join(differing)}. "
                "If it has another site, name an empty database; else empty it and move again."
            )
        return sum(model._base_manager.using(NEW).count() for model in models)


def create_tables() -> None:
    """Make the tables by a process whose only database is the new one."""
    command = [sys.executable, "-m", "django", "migrate", "--no-input", "--verbosity", "0"]
    new = {"DATABASE_URL": settings.NEW_DATABASE_URL, "NEW_DATABASE_URL": ""}
    done = subprocess.run(
        command,
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "leaderboard.settings", **new},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise MoveError(f"The new database cannot be used: {lines[-1] if lines else 'no answer'}")


def list_models() -> list[type[Model]]:
    """Return what has a table of its own, with those between two others."""
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    ]


def copy_rows(models: list[type[Model]]) -> None:
    """Copy all rows in one transaction: keys to others are checked at its end."""
    new = connections[NEW]
    try:
        with transaction.atomic(NEW), new.cursor() as cursor:
            # They would note each row as a change of its track.
            staleness.drop(new, staleness.existing_triggers(new))
            tables = ", ".join(new.ops.quote_name(model._meta.db_table) for model in models)
            cursor.execute(f"truncate {tables}")
            for model in models:
                copy_table(model, cursor)
            for statement in new.ops.sequence_reset_sql(no_style(), models):
                cursor.execute(statement)
        staleness.install(new)
    except DatabaseError as error:
        raise MoveError(f"Nothing was copied: {str(error).strip()}") from error


def copy_table(model: type[Model], cursor: Any) -> None:
    new, fields = connections[NEW], model._meta.concrete_fields
    columns = ", ".join(new.ops.quote_name(each.column) for each in fields)
    places = ", ".join(["%s"] * len(fields))
    table = new.ops.quote_name(model._meta.db_table)
    statement = f"insert into {table} ({columns}) values ({places})"
    rows = []
    for row in read_rows(model, MOMENT):
        rows.append([each.get_db_prep_save(v, new) for each, v in zip(fields, row, strict=True)])
        if len(rows) == ROWS_AT_ONCE:
            cursor.executemany(statement, rows)
            rows.clear()
    if rows:
        cursor.executemany(statement, rows)


def read_rows(model: type[Model], alias: str) -> Iterator[tuple[Any, ...]]:
    """Yield the values of every row in the order of its key."""
    names = [each.attname for each in model._meta.concrete_fields]
    rows = model._base_manager.using(alias).order_by("pk")
    return rows.values_list(*names).iterator(chunk_size=ROWS_AT_ONCE)


def digest(model: type[Model], alias: str) -> str:
    """Return the SHA-256 of all rows of a table, the same on each kind of database."""
    found = hashlib.sha256()
    for row in read_rows(model, alias):
        found.update(repr([plain(value) for value in row]).encode())
    return found.hexdigest()


def plain(value: Any) -> Any:
    """Return a value as both databases give it: bytes as bytes, the keys of JSON in order.

    >>> plain(memoryview(b"rye")), plain({"b": 1, "a": [2.0]})
    (b'rye', '{"a": [2.0], "b": 1}')
    """
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True)
    return str(value) if hasattr(value, "isoformat") else value
