"""The regular members of a zip archive, found so that all readers agree about them.

The archive must end with its end record, without comment.  For the only member of a run file, the
directory must name exactly one besides folders, what systems add, such as a Mac's `__MACOSX`, and
what people put beside it, such as a README; together its members must fill the file from its
start.  The members of an archive of several files must not overlap.
"""

from __future__ import annotations

import stat
import struct
import zipfile
from dataclasses import dataclass
from typing import BinaryIO

from evaluation.problems import Refused, refuse
from evaluation.reading.run_names import find_data_files

END_RECORD_64, LOCATOR_64, END_RECORD = 56, 20, 22  # bytes; they stand in this order
LOCAL_HEADER = struct.Struct("<4s5H3L2H")
DATA_DESCRIPTOR = 24
LONGEST_NAME = 255
LARGEST_DIRECTORY = 46 + 3 * 65_535
LARGEST_SHARED_DIRECTORY = 1_048_576
ENCRYPTED = 0x1 | 0x40 | 0x2000


@dataclass(frozen=True, slots=True)
class Member:
    """The place of a member's packed bytes, and what they must unpack to."""

    start: int
    packed: int
    unpacked: int
    checksum: int
    deflated: bool


def only_member(file: BinaryIO, size: int) -> Member:
    """Return the only member of an archive of `size` bytes.

    Raises `Refused`: E_CONTAINER, E_MEMBERS, E_PATH, E_LINK, E_ENCRYPTED.
    """
    if _directory_size(file, size) > LARGEST_DIRECTORY:
        raise _not_one_member("the directory of the archive is too long for one file")
    archive = _read_directory(file)
    files = [info for info in archive.members if not info.orig_filename.endswith("/")]
    if archive.members and not files:
        raise _not_one_member("the archive has a folder and no file")
    names = find_data_files(info.orig_filename for info in files)
    if len(names) != 1:
        raise _not_one_member(f"the archive has {len(names):,} files", ", ".join(names))
    info = next(info for info in files if info.orig_filename == names[0])
    _check_kind(info)
    _check_name(info.orig_filename)
    _check_filled(file, archive)
    return _member_at(_data_at(file, info), info)


@dataclass(frozen=True, slots=True)
class NamedMember:
    """A file of an archive under its name: its place, or why it is not read."""

    name: str
    member: Member | None = None
    refusal: Refused | None = None


def all_members(file: BinaryIO, size: int) -> list[NamedMember]:
    """Return the files of an archive of `size` bytes in its order, without folders.

    Nothing is unpacked, and the directory is as small as that of a few thousand files.  Raises
    `Refused`: E_CONTAINER, E_MEMBERS.
    """
    if _directory_size(file, size) > LARGEST_SHARED_DIRECTORY:
        raise refuse("E_MEMBERS", "the archive has too many files", hint="Zip fewer files.")
    archive = _read_directory(file)
    members = [info for info in archive.members if not info.orig_filename.endswith("/")]
    found, end = {}, 0
    # In the order of their places, so that each must begin where the one before has ended.
    for info in sorted(members, key=lambda info: info.header_offset):
        try:
            _check_kind(info)
            _check_name(info.orig_filename)
            start = _data_at(file, info)
        except Refused as refusal:
            found[info] = NamedMember(info.orig_filename, refusal=refusal)
            continue
        if info.header_offset < end or start + info.compress_size > archive.start:
            raise _broken("its files overlap")
        end = start + info.compress_size
        found[info] = NamedMember(info.orig_filename, _member_at(start, info))
    return [found[info] for info in members]


@dataclass(frozen=True, slots=True)
class _Directory:
    members: list[zipfile.ZipInfo]
    start: int


def _read_directory(file: BinaryIO) -> _Directory:
    try:
        with zipfile.ZipFile(file) as archive:
            return _Directory(archive.infolist(), archive.start_dir)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, struct.error) as error:
        raise _broken("its directory cannot be read") from error


def _member_at(start: int, info: zipfile.ZipInfo) -> Member:
    return Member(
        start=start,
        packed=info.compress_size,
        unpacked=info.file_size,
        checksum=info.CRC,
        deflated=info.compress_type == zipfile.ZIP_DEFLATED,
    )


def _directory_size(file: BinaryIO, size: int) -> int:
    """Return the stated size of the directory, which is checked before memory is allocated."""
    records = END_RECORD_64 + LOCATOR_64 + END_RECORD
    file.seek(max(0, size - records))
    tail = file.read(records)
    end = tail[-END_RECORD:]
    if not end.startswith(b"PK\x05\x06") or not end.endswith(b"\x00\x00"):
        raise _broken("it does not end with its end record")
    if tail[END_RECORD_64:].startswith(b"PK\x06\x07") and tail.startswith(b"PK\x06\x06"):
        return int.from_bytes(tail[40:48], "little")
    return int.from_bytes(end[12:16], "little")


def _check_kind(info: zipfile.ZipInfo) -> None:
    mode = info.external_attr >> 16
    if stat.S_ISDIR(mode):
        raise _not_one_member("the archive has a folder and no file")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise refuse("E_LINK", "the archive contains a link or special file", info.orig_filename)
    if info.flag_bits & ENCRYPTED:
        raise refuse(
            "E_ENCRYPTED", "the archive is encrypted", hint="Compress it without a password."
        )
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise refuse(
            "E_CONTAINER",
            "unsupported compression method",
            f"method {info.compress_type}",
            "Use stored or deflated files.",
        )


def _check_name(name: str) -> None:
    parts = name.split("/")
    if (
        not name
        or not name.isprintable()
        or len(name) > LONGEST_NAME
        or "\\" in name
        or name.startswith("/")
        or name[1:2] == ":"
        or ".." in parts
    ):
        raise refuse("E_PATH", "a file in the archive has an unsafe path", name)


def _check_filled(file: BinaryIO, archive: _Directory) -> None:
    """Check that each member begins where the one before has ended, and that nothing is hidden."""
    end, hidden = 0, 0
    for info in sorted(archive.members, key=lambda info: info.header_offset):
        if not 0 <= info.header_offset - end <= hidden:
            raise _broken("its member is not at its start")
        end, hidden = _data_at(file, info) + info.compress_size, DATA_DESCRIPTOR
    if not 0 <= archive.start - end <= hidden:
        raise _broken("its member does not fill it")


def _data_at(file: BinaryIO, info: zipfile.ZipInfo) -> int:
    """Return where the data of a member begin, after its local header."""
    file.seek(info.header_offset)
    header = file.read(LOCAL_HEADER.size)
    if len(header) < LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
        raise _broken("its member is not at its start")
    _, _, flags, method, _, _, _, _, _, name, extra = LOCAL_HEADER.unpack(header)
    if (flags ^ info.flag_bits) & ENCRYPTED or method != info.compress_type:
        raise _broken("its directory and its member disagree")
    start: int = info.header_offset + LOCAL_HEADER.size + name + extra
    return start


def _broken(how: str) -> Refused:
    return refuse(
        "E_CONTAINER",
        f"the zip archive is damaged or ambiguous: {how}",
        hint="Zip the file again, alone and without a comment.",
    )


def _not_one_member(message: str, found: str = "") -> Refused:
    return refuse("E_MEMBERS", message, found, "Include exactly one file, perhaps with a README.")
