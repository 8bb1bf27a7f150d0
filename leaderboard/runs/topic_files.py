"""A file by topic: one compressed block per topic, of which pages read one.

file     four letters | block per topic | tops | places | numbers | three lengths (24 bytes)
tops     the first twenty items of every topic, compressed together
places   for each topic three little-endian int64: start and length of its block, and its size
numbers  of the topics, with a newline before and after each; the lengths are those of tops,
         places and numbers
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO, NamedTuple

import numpy as np
import zstandard

# The first items of every topic by which runs are compared, best first.
Tops = dict[str, list[str]]

TOP = 20
# Bytes of the lengths at the end, and of a place.
TAIL = PLACE = 24
# Higher levels take longer and do not make digits smaller.
LEVEL = 1


class TopicPlace(NamedTuple):
    """Where the block of a topic is, in bytes, and how many items it has."""

    start: int
    length: int
    size: int


class TopicFileWriter:
    """Writes a file block by block; who fills it adds to `numbers` and `tops`."""

    def __init__(self, file: BinaryIO, magic: bytes) -> None:
        self.file = file
        self.places: list[TopicPlace] = []
        self.numbers: list[bytes] = []
        self.tops: list[bytes] = []
        self.end = file.write(magic)

    def write_block(self, packed: bytes, size: int) -> None:
        """Write the block of the next topic."""
        self.file.write(packed)
        self.places.append(TopicPlace(self.end, len(packed), size))
        self.end += len(packed)

    def finish(self) -> None:
        """Write the end of the file."""
        parts = [
            zstandard.compress(b"\0".join(self.tops), LEVEL),
            np.array(self.places, dtype="<i8").tobytes(),
            b"\n" + b"".join(number + b"\n" for number in self.numbers),
        ]
        self.file.write(b"".join(parts))
        self.file.write(np.array([len(part) for part in parts], dtype="<i8").tobytes())
        self.file.flush()


@dataclass(frozen=True)
class TopicFile:
    """An open file by topic; its topics are in the order of the run."""

    file: BinaryIO

    def __contains__(self, number: str) -> bool:
        return self.place(number) is not None

    def __iter__(self) -> Iterator[str]:
        return (
            number.decode("utf-8", "surrogateescape") for number in self.numbers.split(b"\n")[1:-1]
        )

    def place(self, number: str) -> TopicPlace | None:
        """Return the place of a topic, by a search that does not split thousands of numbers."""
        at = self.numbers.find(b"\n%b\n" % number.encode("utf-8", "surrogateescape"))
        if at < 0 or "\n" in number:
            return None
        self.file.seek(self._ends[1] + PLACE * self.numbers.count(b"\n", 0, at))
        return TopicPlace(*struct.unpack("<3q", self.file.read(PLACE)))

    @property
    def places(self) -> Sequence[TopicPlace]:
        """Return the places of all topics."""
        rows = np.frombuffer(self._part(1), dtype="<i8").reshape(-1, 3).tolist()
        return [TopicPlace(*row) for row in rows]

    def packed(self, place: TopicPlace) -> bytes:
        """Return a block as it is stored."""
        self.file.seek(place.start)
        return self.file.read(place.length)

    @cached_property
    def tops(self) -> Tops:
        """Return the first twenty items of every topic."""
        packed = self._part(0)
        pieces = decompressed(packed).split(b"\0") if len(self.numbers) > 1 else []
        return {
            number: piece.decode("utf-8", "surrogateescape").split("\n") if piece else []
            for number, piece in zip(self, pieces, strict=True)
        }

    @cached_property
    def numbers(self) -> bytes:
        return self._part(2)

    def _part(self, which: int) -> bytes:
        """Return one part of the end: tops, places or numbers."""
        start, end = self._ends[which : which + 2]
        self.file.seek(start)
        return self.file.read(end - start)

    @cached_property
    def _ends(self) -> list[int]:
        """Return the starts of tops, places and numbers, and the end of the last."""
        end = self.file.seek(-TAIL, 2)
        tops, places, numbers = struct.unpack("<3q", self.file.read(TAIL))
        return [end - numbers - places - tops, end - numbers - places, end - numbers, end]


def decompressed(data: bytes) -> bytes:
    """Decompress a part of a file of this version, or of one before."""
    if data.startswith(zstandard.FRAME_HEADER):
        return zstandard.decompress(data)
    return zlib.decompress(data)
