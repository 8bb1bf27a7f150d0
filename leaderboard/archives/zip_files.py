"""An archive: a zip file with a manifest, and the checksum of every member in its last one.

    manifest.json   what it is an archive of
    ...             members, each named by letters, digits and `. _ / -`
    SHA256SUMS      one line a member, as `sha256sum -c` reads it

A reader never unpacks to a path: it copies a member into a file without a name, as long as the
directory says that it is and no longer, and gives it out once its checksum is right.
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

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
SUM = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9._/-]{1,200})")
PIECE = 1 << 20
# So much is read whole, and so much may unpack to anything.
SMALL = 64 << 20
RATIO = 100
MOST_MEMBERS = 100_000


class NotAnArchive(Exception):
    """Why a file cannot be read as an archive, for whoever brought it."""


@dataclass(frozen=True)
class Member:
    """One file of a zip file; its bytes are made when it is their turn."""

    name: str
    pieces: Iterable[bytes]


class Outbox(RawIOBase):
    """A file to write to; what was written is taken out in between."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: Any) -> int:
        self.written.append(bytes(data))
        return len(self.written[-1])

    def take(self) -> Iterator[bytes]:
        """What there is; nothing rather than a piece of no bytes."""
        taken, self.written = b"".join(self.written), []
        if taken:
            yield taken


def zipped(members: Iterable[Member]) -> Iterator[bytes]:
    """The bytes of a zip file with the checksums as its last member, in flat memory.

    Every member has the date of the first zip file, so the same members are the same bytes.
    """
    out, sums = Outbox(), []
    with zipfile.ZipFile(out, "w") as archive:
        for source in members:
            digest = hashlib.sha256()
            with archive.open(dated(source.name), "w", force_zip64=True) as member:
                for piece in source.pieces:
                    digest.update(piece)
                    member.write(piece)
                    yield from out.take()
            sums.append(f"{digest.hexdigest()}  {source.name}\n")
        archive.writestr(dated(SUMS), "".join(sums))
    yield from out.take()


def dated(name: str) -> zipfile.ZipInfo:
    """A member of the first of January 1980."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


@dataclass(frozen=True)
class Archive:
    """An archive as it is read, member by member."""

    zip: zipfile.ZipFile
    sums: dict[str, str]

    def __contains__(self, name: str) -> bool:
        return name in self.sums

    @contextmanager
    def member(self, name: str) -> Iterator[IO[bytes]]:
        """A file that holds the whole member, its checksum proved. Raises NotAnArchive."""
        with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as copy:
            self._copy_proved(name, copy)
            copy.seek(0)
            yield copy

    def manifest(self) -> bytes:
        with self.member(MANIFEST) as file:
            return file.read()

    def _copy_proved(self, name: str, copy: IO[bytes]) -> None:
        if name not in self.sums:
            raise NotAnArchive(f"there is no {name} in it")
        digest = hashlib.sha256()
        # zipfile gives out no more bytes of a member than the directory says.
        with damage_told(), self.zip.open(name) as member:
            while piece := member.read(PIECE):
                digest.update(piece)
                copy.write(piece)
        if digest.hexdigest() != self.sums[name]:
            raise NotAnArchive(f"{name} is not what {SUMS} says")


@contextmanager
def opened_archive(file: BinaryIO) -> Iterator[Archive]:
    """The archive in a file from anywhere. Raises NotAnArchive."""
    with ExitStack() as stack:
        with damage_told():
            members = stack.enter_context(zipfile.ZipFile(file))
            _check_directory(members)
            archive = Archive(members, _read_sums(members))
        yield archive


@contextmanager
def damage_told() -> Iterator[None]:
    """What the library says of a damaged zip file, or of one it cannot unpack."""
    try:
        yield
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise NotAnArchive(f"the zip file is damaged or locked: {error}") from None


def _check_directory(members: zipfile.ZipFile) -> None:
    """Whether what the directory promises can be taken at all."""
    entries = members.infolist()
    for entry in entries:
        # Each other library raises errors of its own for damaged data.
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotAnArchive(f"{entry.orig_filename} is neither stored nor deflated")
    names = [entry.orig_filename for entry in entries]
    if len(names) > MOST_MEMBERS or len(set(names)) < len(names):
        raise NotAnArchive("the zip file holds too many members, or two of one name")
    if not {MANIFEST, SUMS} <= set(names):
        raise NotAnArchive(f"the zip file holds no {MANIFEST} or no {SUMS}")
    unpacked = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if unpacked > settings.COLLECTION_UNPACKED_LIMIT:
        raise NotAnArchive(f"it unpacks to {unpacked:,} bytes, which is more than is taken")
    if unpacked > max(SMALL, RATIO * packed):
        raise NotAnArchive(f"{packed:,} bytes unpack to {unpacked:,}: a bomb, not an archive")
    for name in (MANIFEST, SUMS):
        if members.getinfo(name).file_size > SMALL:
            raise NotAnArchive(f"{name} is larger than {SMALL:,} bytes")


def _read_sums(members: zipfile.ZipFile) -> dict[str, str]:
    """The checksum of each member; names that are not listed are nobody's, and refused."""
    lines = members.read(SUMS).decode("ascii", "replace").splitlines()
    matches = [SUM.fullmatch(line) for line in lines]
    sums = {match[2]: match[1] for match in matches if match is not None}
    if None in matches or set(sums) != set(members.namelist()) - {SUMS}:
        raise NotAnArchive(f"{SUMS} does not list the members of the zip file")
    return sums
