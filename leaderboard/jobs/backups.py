"""Backup of a whole site as one folder, by hand or on a schedule.

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
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from leaderboard.infrastructure.logs import log_failure
from leaderboard.infrastructure.storage import CHUNK_BYTES, sha256_of, stored_file_names
from leaderboard.models import Job, Run, Track, User
from leaderboard.models.jobs import Progress, Publish

MANIFEST = "manifest.json"
SQLITE, DUMP = "database.sqlite3", "database.dump"
KIND, SITE = "back_up", "site"
BEGINNING = "rankfield-"
# A backup that failed is tried again after this time.
RETRY = timedelta(hours=1)
# Workers look every ten minutes; so the time of the day does not move from one day to the next.
SLACK = timedelta(minutes=11)


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
    sums, gone = {database.name: hash_file(database)}, []
    # Rows written after the copy name files too; a few more files do no harm.
    for name in sorted(set(stored_file_names())):
        try:
            with default_storage.open(name) as file:
                sums[f"files/{name}"] = copy_file(file, folder / "files" / name)
        except FileNotFoundError:
            gone.append(name)
    key = Path(settings.RANKFIELD_HOME) / "secret_key"
    if key.exists():
        with key.open("rb") as file:
            sums["secret_key"] = copy_file(file, folder / "secret_key")
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
        run_program("pg_dump", "--format=custom", "--no-owner", f"--file={path}")
    path.chmod(0o600)
    return path


def run_program(program: str, *words: str) -> None:
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


def copy_file(file: BinaryIO | File, path: Path) -> str:
    """Copy a file and return its SHA-256."""
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        while piece := file.read(CHUNK_BYTES):
            digest.update(piece)
            copy.write(piece)
    return digest.hexdigest()


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return sha256_of(file)


@dataclass(frozen=True)
class LastBackups:
    """The jobs of the last scheduled backup that succeeded, and of the last that failed."""

    done: Job | None
    failed: Job | None

    @property
    def is_failing(self) -> bool:
        """Whether the last one of all failed."""
        return self.failed is not None and (
            self.done is None or self.failed.finished_at > self.done.finished_at
        )


def find_last_backups() -> LastBackups:
    jobs = Job.objects.filter(kind=KIND).order_by("finished_at")
    return LastBackups(
        jobs.filter(state=Job.State.DONE).last(), jobs.filter(state=Job.State.FAILED).last()
    )


def enqueue_due_backup() -> None:
    """Queue a backup if the last one that succeeded is older than BACKUP_HOURS."""
    if not settings.BACKUP_FOLDER:
        return
    now, jobs = timezone.now(), Job.objects.filter(kind=KIND)
    recent = now - timedelta(hours=settings.BACKUP_HOURS) + SLACK
    if jobs.filter(state=Job.State.DONE, created_at__gt=recent).exists():
        return
    if jobs.filter(state=Job.State.FAILED, created_at__gt=now - RETRY).exists():
        return
    with suppress(IntegrityError), transaction.atomic():
        Job.objects.create(kind=KIND, target_id=SITE, priority=8)


def back_up(_: str, progress: Progress) -> Publish:
    """Write a backup into BACKUP_FOLDER; once it is whole, delete all but the last BACKUP_KEEP."""
    folder = Path(settings.BACKUP_FOLDER)
    with log_failure(f"removing broken backups from {folder}"):
        remove_broken_backups(folder)
    try:
        create_backup(folder / f"{BEGINNING}{timezone.now():%Y%m%dT%H%M%SZ}")
    except OSError as error:
        # Waiting does not make room on the disk of the backups.
        raise BackupError(f"{folder}: {error.strerror or error}") from None
    with log_failure(f"removing old backups from {folder}"):
        remove_old_backups(folder)
    return lambda: None


def list_backups(folder: Path) -> list[Path]:
    """Return the scheduled backups in a folder that are whole, the oldest first."""
    return sorted(path.parent for path in folder.glob(f"{BEGINNING}*Z/{MANIFEST}"))


def remove_old_backups(folder: Path) -> None:
    """Delete the oldest scheduled backups; one that is partly deleted never looks whole."""
    for path in list_backups(folder)[: -max(1, settings.BACKUP_KEEP)]:
        shutil.rmtree(path.rename(path.with_name(f"{path.name}.part")))


def remove_broken_backups(folder: Path) -> None:
    """Delete what a killed backup, or a killed deletion, left behind."""
    for path in folder.glob(f"{BEGINNING}*.part"):
        shutil.rmtree(path)
