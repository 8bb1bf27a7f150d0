"""Stored files that are packed once they are old, and opened as they were before.

The name of a packed file ends in `.packed`; it is one frame of Zstandard.
"""

from __future__ import annotations

from tempfile import TemporaryFile

import zstandard
from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage

from leaderboard.infrastructure.storage import sha256_of

END = ".packed"
# The slowest level that needs no more memory than 100 MB; a file is packed once.
LEVEL = 19
# A file that packing would leave larger than this share of its size stays unpacked.
WORTH = 0.9


class PackedFileError(Exception):
    """A packed copy would not give back the bytes that were submitted."""


def is_packed(name: str) -> bool:
    return name.endswith(END)


def open_unpacked(name: str) -> File:
    """Open a stored file as it was uploaded, packed or not, at its start.

    Raises FileNotFoundError.
    """
    stored: File = default_storage.open(name)
    if not is_packed(name):
        return stored
    whole = _temporary_file()
    with stored:
        zstandard.ZstdDecompressor().copy_stream(stored, whole)
    whole.seek(0)
    return whole


def pack_stored_file(name: str, sha256: str) -> str:
    """Store a packed copy of a file and return its name; "" if that saves too little.

    Raises PackedFileError, and keeps no copy, unless it gives back the bytes of this SHA-256.
    Raises FileNotFoundError.
    """
    with default_storage.open(name) as file, _temporary_file() as packed:
        size = file.size
        zstandard.ZstdCompressor(LEVEL, write_checksum=True).copy_stream(file, packed)
        if packed.tell() > WORTH * size:
            return ""
        packed.seek(0)
        copy: str = default_storage.save(f"{name}{END}", packed)
    with open_unpacked(copy) as again:
        if sha256_of(again) == sha256:
            return copy
    default_storage.delete(copy)
    raise PackedFileError(f"{name} does not come back as it was submitted")


def _temporary_file() -> File:
    """Return an empty file without a name, on the disk of the uploads."""
    return File(TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR))
