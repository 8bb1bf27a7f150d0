"""File storage on disk, and its bounded copies.

A stored file never changes under its name, so a host may keep a copy of what it has read.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from django.apps import apps
from django.core.files.storage import FileSystemStorage
from django.db import connection
from django.db.models import FileField

CHUNK_BYTES = 2**20


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def sha256_of(file: Readable) -> str:
    """Return the digest of a file, read in pieces because not every storage has plain files."""
    digest = hashlib.sha256()
    while piece := file.read(CHUNK_BYTES):
        digest.update(piece)
    return digest.hexdigest()


class DiskStorage(FileSystemStorage):
    """Storage in one folder, for one host or for several that mount it."""

    def stored_before(self, folder: str, instant: float) -> Iterator[str]:
        """Yield the names of the files in a folder that were stored before that time."""
        root = Path(self.location)
        for path in list_files_before(root / folder, instant):
            yield str(path.relative_to(root))

    def stored_sizes(self) -> Iterator[tuple[str, int]]:
        """Yield the name and the size of every stored file."""
        root = Path(self.location)
        for path in list_files_before(root, math.inf):
            with suppress(FileNotFoundError):
                yield str(path.relative_to(root)), path.stat().st_size


def list_files_before(folder: Path, instant: float) -> Iterator[Path]:
    """Yield the files under a folder that were last changed before that time."""
    for path in folder.rglob("*"):
        try:
            if path.is_file() and path.stat().st_mtime < instant:
                yield path
        except FileNotFoundError:
            continue


def evict_oldest(folder: Path, most: int, down_to: float = 0.8) -> None:
    """Delete the copies used longest ago until a folder is small enough."""
    found: list[tuple[float, int, Path]] = []
    for path in folder.rglob("*"):
        try:
            seen = path.stat()
        except FileNotFoundError:
            continue
        if path.is_file():
            found.append((seen.st_mtime, seen.st_size, path))
    total = sum(size for _, size, _ in found)
    if total <= most:
        return
    for _, size, path in sorted(found):
        path.unlink(missing_ok=True)
        total -= size
        if total <= most * down_to:
            return


def mark_used(path: Path) -> None:
    """Set the time of last use of a copy to now."""
    os.utime(path)


def stored_file_names() -> Iterator[str]:
    """Return every stored file that a row of any model names.

    A backup before an upgrade reads tables of the version before, which lack what is new.
    """
    for model in apps.get_app_config("leaderboard").get_models():
        fields = [each for each in model._meta.get_fields() if isinstance(each, FileField)]
        known = find_columns(model._meta.db_table) if fields else set()
        for field in fields:
            if field.column in known:
                names = model._base_manager.exclude(**{field.name: ""})
                yield from names.values_list(field.name, flat=True).iterator()


def find_columns(table: str) -> set[str]:
    """Return the columns of a table; none if there is no such table."""
    with connection.cursor() as cursor:
        if table not in connection.introspection.table_names(cursor):
            return set()
        described = connection.introspection.get_table_description(cursor, table)
        return {column.name for column in described}
