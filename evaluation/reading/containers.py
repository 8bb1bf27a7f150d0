"""Containers: uploaded files, unpacked while they are read.

The first bytes of a file decide its kind, never its name. Plain text, gzip (members may follow each
other, nothing else may) and zip with one regular member are read, LZ4 of ranx and Parquet where
their libraries are installed; other kinds are refused by name.
Nothing is written to disk. Unpacked bytes are counted as they are read, so that a file is refused
as soon as it exceeds a limit.
"""

from __future__ import annotations

import io
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, cast

from evaluation.problems import Refused, refuse
from evaluation.reading.library_files import LZ4, PARQUET, content_of_lz4, rows_of_parquet

inflating: ModuleType
try:
    # Of the server: it unpacks two to three times as fast, and accepts the same streams.
    from isal import isal_zlib as inflating
except ImportError:
    inflating = zlib

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

KIB, MIB, GIB = 1024, 1024**2, 1024**3
CHUNK = 256 * KIB
HEAD = 512
# Up to this size a packed file is unpacked once before its lines are read: this detects a bomb
# within a second, while reading its lines would take minutes.
UNPACKED_TWICE = 4 * MIB
# How many pieces of a larger file are unpacked before they are asked for.
AHEAD = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits in bytes: packed, unpacked, unpacked per packed byte, per line.

    The ratio is checked after more than `ratio_above` unpacked bytes. `lines` is
    how many lines the file may have, blank lines and comments included.
    """

    upload: int = 512 * MIB
    unpacked: int = 4 * GIB
    ratio: int = 100
    ratio_above: int = 64 * MIB
    line: int = 4 * KIB
    lines: int = 200_000_000


RUN_LIMITS = Limits()
DOCUMENT_LIMITS = Limits(upload=4 * GIB, unpacked=64 * GIB, line=16 * MIB)

GZIP = b"\x1f\x8b"
# The fourth byte of a gzip file has flags; higher bits mean nothing that anyone can read.
HIGHEST_FLAGS = b"\x1f"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
PACKED = (GZIP, *ZIP, LZ4, PARQUET)
OTHER_CONTAINERS = {
    b"\xfd7zXZ\x00": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x1f\x9d": "a file of the old compress (.Z)",
    b"PK\x07\x08": "a split zip archive",
}
OTHER_FORMATS = {
    b"%PDF-": "a PDF document",
    b"\x7fELF": "a program",
    b"\x89PNG\r\n": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"SQLite format 3\x00": "an SQLite database",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF\r\n": "an HDF5 file",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"{\\rtf": "an RTF document",
} | {bytes([0x80, protocol]): "a Python pickle" for protocol in range(2, 6)}


def unpacked(file: BinaryIO, limits: Limits = RUN_LIMITS) -> BinaryIO:
    """Return the bytes inside a seekable file, from its start.

    Raises `Refused` at once or while the result is read: E_CONTAINER (damaged, or of a kind
    that is not unpacked), E_FORMAT (not text), E_BOMB, E_SIZE, and for zip archives
    E_MEMBERS, E_PATH, E_LINK, E_ENCRYPTED.

    >>> import gzip
    >>> unpacked(io.BytesIO(gzip.compress(b"7 Q0 d1 1 9.5 bm25\\n"))).read()
    b'7 Q0 d1 1 9.5 bm25\\n'
    """
    size = file.seek(0, io.SEEK_END)
    if size > limits.upload:
        raise refuse("E_SIZE", f"the file has {size:,} bytes; the limit is {limits.upload:,}")
    file.seek(0)
    head = file.read(HEAD)
    file.seek(0)
    if not head.startswith(PACKED):
        _refuse_other_kinds(head)
        return file

    def pieces() -> Generator[bytes, None, None]:
        file.seek(0)
        if head.startswith(ZIP):
            inside = _unzipped(file, size, limits)
        elif head.startswith(PARQUET):
            inside = rows_of_parquet(file)
        else:
            inside = _gunzipped(file) if head.startswith(GZIP) else content_of_lz4(file)
        return _of_text(_within(inside, size, limits))

    if size > UNPACKED_TWICE:
        return stream(lambda: read_ahead(pieces()))
    _refuse_bomb(pieces)
    return stream(pieces)


def read_ahead(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """Yield the same pieces, which a thread makes while the caller works on those before.

    The first one is made without a thread: whoever only looks at a file needs no more.
    """
    yield next(pieces, b"")
    # Not above: it takes longer to import than a small run to read.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        waiting = deque(thread.submit(next, pieces, None) for _ in range(AHEAD))
        while (piece := waiting.popleft().result()) is not None:
            waiting.append(thread.submit(next, pieces, None))
            yield piece


def _refuse_bomb(pieces: Callable[[], Generator[bytes, None, None]]) -> None:
    """Refuse a bomb only; other problems are reported with their lines when the file is read."""
    try:
        for _ in pieces():
            pass
    except Refused as refusal:
        if "E_BOMB" in refusal.problems.counts:
            raise


def stream(pieces: Callable[[], Generator[bytes, None, None]]) -> BinaryIO:
    """Return a buffered binary file over pieces of bytes that are created as they are read.

    It can only be read again from its start, which creates the pieces again. Once it is closed,
    no thread reads on.
    """
    return cast(BinaryIO, io.BufferedReader(_Pieces(pieces), CHUNK))


class _Pieces(io.RawIOBase):
    def __init__(self, make: Callable[[], Generator[bytes, None, None]]) -> None:
        self.make = make
        self.pieces = make()
        self._begin()

    def _begin(self) -> None:
        # Pieces that are read ahead use the same file.
        self.pieces.close()
        self.pieces = self.make()
        self.rest = memoryview(b"")
        self.place = 0

    def close(self) -> None:
        self.pieces.close()
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if (offset, whence) == (0, io.SEEK_SET):
            self._begin()
        elif (offset, whence) != (0, io.SEEK_CUR):
            raise io.UnsupportedOperation("only its start can be sought")
        return self.place

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self.rest:
            piece = next(self.pieces, None)
            if piece is None:
                return 0
            self.rest = memoryview(piece)
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self.rest))
        target[:count] = self.rest[:count]
        self.rest = self.rest[count:]
        self.place += count
        return count


def _within(pieces: Iterator[bytes], packed: int, limits: Limits) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limits.unpacked:
            raise refuse("E_BOMB", f"the unpacked file exceeds {limits.unpacked:,} bytes")
        if total > limits.ratio_above and total > limits.ratio * packed:
            raise refuse(
                "E_BOMB",
                f"the file unpacks to more than {limits.ratio} times its size",
                hint="Are lines repeated? A run lists each document once per topic.",
            )
        yield piece


def _of_text(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """Yield the same pieces; refuse them if they begin with another container or are not text."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= HEAD:
            break
    if head.startswith(PACKED):
        message = "nested compressed files are not supported"
        raise refuse("E_CONTAINER", message, head[:20], "Compress the text itself, once.")
    _refuse_other_kinds(head)
    yield head
    yield from pieces


def _refuse_other_kinds(head: bytes) -> None:
    supported = "Use plain text, .gz, or a .zip with one file."
    for magic, kind in OTHER_CONTAINERS.items():
        if head.startswith(magic):
            raise refuse("E_CONTAINER", f"the file is {kind}", hint=supported)
    if head.startswith(b"BZh") and head[4:10] == b"1AY&SY":
        raise refuse("E_CONTAINER", "the file is a bzip2 file", hint=supported)
    if head[257:262] == b"ustar":
        raise refuse("E_CONTAINER", "the file is a tar archive", hint=supported)
    for magic, kind in OTHER_FORMATS.items():
        if head.startswith(magic):
            raise refuse("E_FORMAT", f"the file is {kind}, not a text file", hint=supported)


def _gunzipped(file: BinaryIO) -> Iterator[bytes]:
    def more() -> bytes:
        return file.read(CHUNK)

    data = more()
    while data:
        if len(data) < 4:
            data += more()
        if not data.startswith(GZIP):
            message = "the gzip file has extra bytes after its end"
            raise refuse("E_CONTAINER", message, data[:20], "Compress the file again.")
        if data[3:4] > HIGHEST_FLAGS:
            raise _damaged("unknown flags in its header")
        data = (yield from _inflated(data, more, 16 + zlib.MAX_WBITS)) or more()


def _inflated(
    data: bytes, more: Callable[[], bytes], window_bits: int
) -> Generator[bytes, None, bytes]:
    """Unpack one deflate stream in pieces of at most CHUNK; returns the bytes that follow it."""
    inflate = inflating.decompressobj(window_bits)
    while not inflate.eof:
        try:
            piece = inflate.decompress(data, CHUNK)
        except inflating.error as error:
            raise _damaged("its bytes or their checksum are wrong") from error
        yield piece
        data = inflate.unconsumed_tail
        if not data and len(piece) < CHUNK and not inflate.eof:
            data = more()
            if not data:
                raise _damaged("it ends early")
    rest: bytes = inflate.unused_data
    return rest


def _unzipped(file: BinaryIO, size: int, limits: Limits) -> Iterator[bytes]:
    # Not above: `zipfile` takes longer to import than a small run to read.
    from evaluation.reading import zip_member

    member = zip_member.only_member(file, size)
    if member.unpacked > limits.unpacked:
        raise refuse("E_BOMB", f"the archive declares {member.unpacked:,} bytes unpacked")
    packed = _window(file, member.start, member.packed)
    pieces = _inflated_whole(packed) if member.deflated else packed
    checksum = total = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
        total += len(piece)
        if total > member.unpacked:
            raise _damaged("its file is longer than declared")
        yield piece
    if total != member.unpacked or checksum != member.checksum:
        raise _damaged("its length or checksum is not as declared")


def _window(file: BinaryIO, start: int, length: int) -> Iterator[bytes]:
    file.seek(start)
    while length and (piece := file.read(min(length, CHUNK))):
        length -= len(piece)
        yield piece


def _inflated_whole(packed: Iterator[bytes]) -> Iterator[bytes]:
    rest = yield from _inflated(b"", lambda: next(packed, b""), -zlib.MAX_WBITS)
    if rest or next(packed, b""):
        raise _damaged("its file continues past its end")


def _damaged(how: str) -> Refused:
    return refuse(
        "E_CONTAINER",
        f"the compressed file is damaged: {how}",
        hint="Upload cut off? Compress the file again.",
    )
