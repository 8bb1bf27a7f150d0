"""An archive: a zip file with a manifest, and with the checksums of its members in the last one.

    manifest.json   the contents of the archive
    ...             members, each named by letters, digits and `. _ / -`
    SHA256SUMS      one line per member, as `sha256sum -c` reads it

A reader never unpacks to a path: it copies a member into an unnamed file, no longer than the
directory says, and returns it only if its checksum is right.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import RawIOBase
from typing import IO, Any, BinaryIO

from django.conf import settings
from django.db.models.fields.files import FieldFile

from leaderboard.infrastructure.packed_files import open_unpacked

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
SUM_LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9._/-]{1,200})")
CHUNK_SIZE = 1 << 20
# Up to this size a member is read whole, and any compression ratio is allowed.
SMALL_SIZE = 64 << 20
MAX_RATIO = 100
MOST_MEMBERS = 100_000


class ArchiveError(Exception):
    """Why a file cannot be read as an archive; the person who imports it sees the text."""


@dataclass(frozen=True)
class ZipEntry:
    """One file of a zip file; its bytes are made only when they are written."""

    name: str
    pieces: Iterable[bytes]


def read_chunks(stored: FieldFile) -> Iterator[bytes]:
    """Yield the bytes of a stored file as it was uploaded."""
    with open_unpacked(stored.name) as file:
        yield from file.chunks(CHUNK_SIZE)


class WriteBuffer(RawIOBase):
    """A file object whose written bytes can be taken out at any time."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: Any) -> int:
        self.written.append(bytes(data))
        return len(self.written[-1])

    def take(self) -> Iterator[bytes]:
        """Yield the bytes written so far, or nothing if there are none."""
        taken, self.written = b"".join(self.written), []
        if taken:
            yield taken


def stream_zip(members: Iterable[ZipEntry]) -> Iterator[bytes]:
    """Yield the bytes of a zip file with the checksums as its last member, in little memory.

    Every member has the same date, so the same members give the same bytes.
    """
    out, sums = WriteBuffer(), []
    with zipfile.ZipFile(out, "w") as archive:
        for source in members:
            digest = hashlib.sha256()
            with archive.open(fixed_date_entry(source.name), "w", force_zip64=True) as member:
                for piece in source.pieces:
                    digest.update(piece)
                    member.write(piece)
                    yield from out.take()
            sums.append(f"{digest.hexdigest()}  {source.name}\n")
        archive.writestr(fixed_date_entry(SUMS), "".join(sums))
    yield from out.take()


def fixed_date_entry(name: str) -> zipfile.ZipInfo:
    """Return an entry dated 1 January 1980."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


@dataclass(frozen=True)
class Archive:
    """An archive opened for reading, with the checksums of its members."""

    zip: zipfile.ZipFile
    sums: dict[str, str]

    def __contains__(self, name: str) -> bool:
        return name in self.sums

    @contextmanager
    def member(self, name: str) -> Iterator[IO[bytes]]:
        """Open a checked copy of a member; raises ArchiveError."""
        with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as copy:
            self._copy_checked(name, copy)
            copy.seek(0)
            yield copy

    def manifest(self) -> bytes:
        with self.member(MANIFEST) as file:
            return file.read()

    def _copy_checked(self, name: str, copy: IO[bytes]) -> None:
        if name not in self.sums:
            raise ArchiveError(f"there is no {name} in it")
        digest = hashlib.sha256()
        # zipfile reads no more bytes of a member than the directory says.
        with report_damage(), self.zip.open(name) as member:
            while piece := member.read(CHUNK_SIZE):
                digest.update(piece)
                copy.write(piece)
        if digest.hexdigest() != self.sums[name]:
            raise ArchiveError(f"{name} is not what {SUMS} says")


@contextmanager
def open_archive(file: BinaryIO) -> Iterator[Archive]:
    """Open an archive from an untrusted file; raises ArchiveError."""
    with ExitStack() as stack:
        with report_damage():
            members = stack.enter_context(zipfile.ZipFile(file))
            _check_directory(members)
            archive = Archive(members, _read_sums(members))
        yield archive


@contextmanager
def report_damage() -> Iterator[None]:
    """Turn the library's errors for a damaged or locked zip file into ArchiveError."""
    try:
        yield
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise ArchiveError(f"the zip file is damaged or locked: {error}") from None


def _check_directory(members: zipfile.ZipFile) -> None:
    """Raise ArchiveError if the directory breaks a limit or lacks a required member."""
    entries = members.infolist()
    for entry in entries:
        # The libraries of other compression methods raise errors of their own for damaged data.
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(f"{entry.orig_filename} is neither stored nor deflated")
    names = [entry.orig_filename for entry in entries]
    if len(names) > MOST_MEMBERS or len(set(names)) < len(names):
        raise ArchiveError("the zip file has too many members, or two of the same name")
    if not {MANIFEST, SUMS} <= set(names):
        raise ArchiveError(f"the zip file has no {MANIFEST} or no {SUMS}")
    unpacked = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if unpacked > settings.COLLECTION_UNPACKED_LIMIT:
        raise ArchiveError(f"it unpacks to {unpacked:,} bytes, which is more than the limit")
    if unpacked > max(SMALL_SIZE, MAX_RATIO * packed):
        raise ArchiveError(f"{packed:,} bytes unpack to {unpacked:,}: a bomb, not an archive")
    for name in (MANIFEST, SUMS):
        if members.getinfo(name).file_size > SMALL_SIZE:
            raise ArchiveError(f"{name} is larger than {SMALL_SIZE:,} bytes")


def _read_sums(members: zipfile.ZipFile) -> dict[str, str]:
    """Return the checksum of each member; raise ArchiveError if a member is not listed."""
    lines = members.read(SUMS).decode("ascii", "replace").splitlines()
    matches = [SUM_LINE.fullmatch(line) for line in lines]
    sums = {match[2]: match[1] for match in matches if match is not None}
    if None in matches or set(sums) != set(members.namelist()) - {SUMS}:
        raise ArchiveError(f"{SUMS} does not list the members of the zip file")
    return sums
