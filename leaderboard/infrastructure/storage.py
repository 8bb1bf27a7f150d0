"""File storage: local disk or shared bucket.

A stored file never changes under its name, so a host may keep a copy of what it has read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from django.core.files.storage import FileSystemStorage

PIECE = 2**20


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def sha256_of(file: Readable) -> str:
    """Piece by piece: not every storage has plain files."""
    digest = hashlib.sha256()
    while piece := file.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()


class OnDisk(FileSystemStorage):
    """One folder, for one host or for several that mount it."""

    def stored_before(self, folder: str, instant: float) -> Iterator[str]:
        """The names of the files in a folder that were stored before that time."""
        root = Path(self.location)
        for path in files_before(root / folder, instant):
            yield str(path.relative_to(root))


def files_before(folder: Path, instant: float) -> Iterator[Path]:
    for path in folder.rglob("*"):
        try:
            if path.is_file() and path.stat().st_mtime < instant:
                yield path
        except FileNotFoundError:
            continue


def forget_oldest(folder: Path, most: int, down_to: float = 0.8) -> None:
    """Keep a folder of copies below so many bytes: those used longest ago go first."""
    found: list[tuple[float, int, Path]] = []
    for path in folder.rglob("*"):
        try:
            seen = path.stat()
        except FileNotFoundError:
            continue
        if path.is_file():
            found.append((seen.st_mtime, seen.st_size, path))
    size = sum(each for _, each, _ in found)
    if size <= most:
        return
    for _, each, path in sorted(found):
        path.unlink(missing_ok=True)
        size -= each
        if size <= most * down_to:
            return


def mark_used(path: Path) -> None:
    os.utime(path)
