"""The run files of a request: each file, and each file in a zip archive of several.

A file in an archive is copied as it is packed, in a gzip file of its own, so a request takes only
as long as its bytes need; a worker unpacks it within the limits of every run.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import BinaryIO

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile

from evaluation.problems import Refused
from evaluation.reading.run_names import is_other_file, is_system_file
from evaluation.reading.zip_member import Member, NamedMember, all_members
from leaderboard.actions.refusals import NotAccepted
from leaderboard.infrastructure.free_space import check_free_space

# The most runs of one request.
MOST_FILES = 100
CHUNK = 128 * 1024
ZIP, GZIP = b"PK\x03\x04", b"\x1f\x8b"
# Deflated, no name, no time, unknown system: equal members become equal files.
GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# A gzip file hardly shrinks in an archive. One that shrinks more than this is refused.
MOST_GAIN = 20
IGNORED = "Not a run file, so it was ignored."


@dataclass(frozen=True)
class RunFile:
    """One file of a request, alone or in an archive, or why it is not a run.

    `is_ignored` says that it lies beside the runs, as a README does, and harms none of them.
    """

    name: str
    file: UploadedFile
    member: Member | None = None
    problem: str = ""
    is_ignored: bool = False

    def open(self) -> UploadedFile:
        """Return the file to store; a member of an archive is copied."""
        return self.file if self.member is None else copy_member(self.file, self.member, self.name)


def list_run_files(files: list[UploadedFile], opens: bool = True) -> list[RunFile]:
    """Return the run files of a request in their order; raises NotAccepted for too many.

    Unless it `opens` archives, each of them is one run.
    """
    whole = [RunFile(file.name or "", file) for file in files]
    found = whole if not opens else [run_file for file in files for run_file in open_archive(file)]
    if len(found) > MOST_FILES:
        message = f"These are {len(found):,} files; submit up to {MOST_FILES} at once."
        raise NotAccepted("E_MEMBERS", message)
    return found


def open_archive(file: UploadedFile) -> list[RunFile]:
    """Return the files in an archive, or the file itself if it is none that can be opened.

    A worker says what is wrong with a damaged archive, and unpacks an archive of one file.
    """
    whole = RunFile(file.name or "", file)
    file.seek(0)
    if file.read(len(ZIP)) != ZIP:
        file.seek(0)
        return [whole]
    try:
        members = all_members(file.file, file.size or 0)
    except Refused as refusal:
        if "E_MEMBERS" not in refusal.problems.counts:
            return [whole]
        message = f"{whole.name} has too many files; submit up to {MOST_FILES} at once."
        raise NotAccepted("E_MEMBERS", message) from None
    finally:
        file.seek(0)
    shown = [member for member in members if not is_system_file(member.name)]
    if len(members) == 1 or not shown:
        return [whole]
    return [describe_member(file, member) for member in shown]


def describe_member(file: UploadedFile, named: NamedMember) -> RunFile:
    """Return a member of an archive as a run file, or with the reason why it is none."""
    name = "".join(c for c in named.name if c.isprintable())
    if named.refusal is not None:
        return RunFile(name, file, problem=f"{named.refusal}.")
    if is_other_file(name):
        return RunFile(name, file, problem=IGNORED, is_ignored=True)
    if name.casefold().endswith(".zip"):
        problem = "E_CONTAINER: an archive in an archive is not opened. Zip the runs themselves."
        return RunFile(name, file, problem=problem)
    return RunFile(name, file, named.member)


def name_by_paths(files: list[RunFile], paths: Mapping[UploadedFile, str]) -> list[RunFile]:
    """Return the files of a request under their paths in a folder; uploads lose these."""
    return [
        replace(file, name=paths[file.file]) if file.member is None and file.file in paths else file
        for file in files
    ]


def set_others_aside(files: Iterable[RunFile]) -> list[RunFile]:
    """Return the files of a folder without those of the system; what is no run is ignored."""
    return [
        replace(file, problem=IGNORED, is_ignored=True) if is_other_file(file.name) else file
        for file in files
        if not is_system_file(file.name)
    ]


def copy_member(archive: UploadedFile, member: Member, name: str) -> UploadedFile:
    """Return a separate, still compressed copy of an archive member; raises NotAccepted."""
    check_free_space(member.packed)
    packed = read_packed(archive.file, member)
    if not member.deflated:
        return write_copy(name, packed)
    if peek(archive.file, member) == GZIP:
        check_free_space(member.unpacked)
        return write_copy(name, inflate(packed, member))
    return write_copy(f"{name}.gz", wrap_in_gzip(packed, member))


def read_packed(file: BinaryIO, member: Member) -> Iterator[bytes]:
    file.seek(member.start)
    left = member.packed
    while left and (piece := file.read(min(left, CHUNK))):
        left -= len(piece)
        yield piece


def peek(file: BinaryIO, member: Member) -> bytes:
    """Return the first two bytes of a deflated member, or none if it is damaged."""
    file.seek(member.start)
    try:
        packed = file.read(min(member.packed, CHUNK))
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, len(GZIP))
    except zlib.error:
        return b""


def wrap_in_gzip(packed: Iterator[bytes], member: Member) -> Iterator[bytes]:
    """Yield a gzip file with the packed bytes of a deflated member."""
    yield GZIP_HEADER
    yield from packed
    yield struct.pack("<2L", member.checksum, member.unpacked % 2**32)


def inflate(packed: Iterator[bytes], member: Member) -> Iterator[bytes]:
    """Yield the bytes of a gzip file that an archive packed once more."""
    most = min(settings.RUN_UPLOAD_LIMIT, MOST_GAIN * (member.packed + CHUNK))
    unpacker, total = zlib.decompressobj(-zlib.MAX_WBITS), 0
    try:
        for piece in packed:
            while piece and not unpacker.eof:
                unpacked = unpacker.decompress(piece, CHUNK)
                total += len(unpacked)
                if total > most:
                    raise NotAccepted("E_BOMB", f"The file unpacks to more than {most:,} bytes.")
                yield unpacked
                piece = unpacker.unconsumed_tail
    except zlib.error:
        raise NotAccepted("E_CONTAINER", "The file is damaged in the archive.") from None


def write_copy(name: str, pieces: Iterator[bytes]) -> UploadedFile:
    """Write pieces to a temporary file, which goes when it is closed."""
    copy = TemporaryUploadedFile(name, "application/octet-stream", 0, None)
    try:
        for piece in pieces:
            copy.write(piece)
            copy.size = (copy.size or 0) + len(piece)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return copy
