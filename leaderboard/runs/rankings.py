"""The ranking file: the documents of a run in scoring order, one compressed block per topic.

Pages read one topic of a large run in a millisecond, and later scoring reads this file, so the
uploaded file is parsed only once.

    file     RFR2 | zlib block per topic | zlib tops | places | numbers | three lengths (24 bytes)
    block    scores as little-endian float64, then the docnos, one per line
    tops     the first twenty docnos of every topic, compressed together
    places   for each topic three little-endian int64: start, length and depth of its block
    numbers  of the topics, with a newline before and after each; the lengths are those of tops,
             places and numbers
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from evaluation.problems import Problems
from evaluation.reading.rankings import Ranking, blocks_of
from evaluation.reading.runs import Run

MAGIC = b"RFR2"
TOP = 20
# Bytes of the lengths at the end, and of a place.
TAIL = PLACE = 24


def write_ranking_file(run: Run, file: BinaryIO) -> None:
    file.write(MAGIC)
    start = len(MAGIC)
    places: list[tuple[int, int, int]] = []
    numbers: list[bytes] = []
    tops: list[bytes] = []
    for number, ranking in _rankings_of(run):
        packed = _pack(ranking)
        file.write(packed)
        places.append((start, len(packed), len(ranking.docnos)))
        numbers.append(number)
        tops.append(b"\n".join(ranking.docnos[:TOP]))
        start += len(packed)
    parts = [
        zlib.compress(b"\0".join(tops)),
        np.array(places, dtype="<i8").tobytes(),
        b"\n" + b"".join(number + b"\n" for number in numbers),
    ]
    file.write(b"".join(parts))
    file.write(np.array([len(part) for part in parts], dtype="<i8").tobytes())


def _rankings_of(run: Run) -> Iterator[tuple[bytes, Ranking]]:
    for block in blocks_of(run.rankings):
        for place, number in enumerate(block.topics):
            yield number, block.ranking(place)


def _pack(ranking: Ranking) -> bytes:
    scores = np.ascontiguousarray(ranking.scores, dtype="<f8")
    # A higher level does not make digits smaller.
    return zlib.compress(scores.tobytes() + b"\n".join(ranking.docnos), zlib.Z_BEST_SPEED)


@dataclass(frozen=True, eq=False)
class Listing:
    """One ranking: its docnos as text, one per line, and their scores."""

    text: bytes
    scores: NDArray[np.float64]

    def docnos(self, most: int = -1) -> list[str]:
        """Return all docnos, or the first ones."""
        lines = self.text.split(b"\n", most)[:most] if most >= 0 else [self.text]
        return b"\n".join(lines).decode().split("\n") if self.text else []


@dataclass(frozen=True)
class Rankings:
    """An open ranking file; its topics are in the order of the run."""

    file: BinaryIO

    def __contains__(self, number: str) -> bool:
        return self._place(number) is not None

    def __iter__(self) -> Iterator[str]:
        return (
            number.decode("utf-8", "surrogateescape") for number in self.numbers.split(b"\n")[1:-1]
        )

    def ranking(self, number: str) -> Ranking | None:
        """Return the ranking of one topic, or None if the run does not answer it."""
        place = self._place(number)
        return _unpacked(*self._read_block(*place)) if place is not None else None

    def listing(self, number: str) -> Listing:
        """Return the ranking of one topic undecoded, for pages with hundreds of runs."""
        place = self._place(number)
        return (
            Listing(*self._read_block(*place)) if place is not None else Listing(b"", np.empty(0))
        )

    def run(self, tag: str) -> Run:
        """Return the whole accepted run, to score it again."""
        places = np.frombuffer(self._part(1), dtype="<i8").reshape(-1, 3).tolist()
        numbers = self.numbers.split(b"\n")[1:-1]
        rankings = {
            number: _unpacked(*self._read_block(*place))
            for number, place in zip(numbers, places, strict=True)
        }
        return Run(tag, rankings, lines=0, problems=Problems())

    def _place(self, number: str) -> tuple[int, int, int] | None:
        """Return the place of a topic, by a search that does not split thousands of numbers."""
        at = self.numbers.find(b"\n%b\n" % number.encode("utf-8", "surrogateescape"))
        if at < 0 or "\n" in number:
            return None
        self.file.seek(self._ends[1] + PLACE * self.numbers.count(b"\n", 0, at))
        start, length, depth = struct.unpack("<3q", self.file.read(PLACE))
        return start, length, depth

    def _read_block(self, start: int, length: int, depth: int) -> tuple[bytes, NDArray[np.float64]]:
        """Return the docnos of a block, one per line, and its scores."""
        self.file.seek(start)
        data = zlib.decompress(self.file.read(length))
        return data[8 * depth :], np.frombuffer(data, dtype="<f8", count=depth)

    @cached_property
    def tops(self) -> dict[str, list[str]]:
        """Return the first twenty docnos of every topic."""
        pieces = zlib.decompress(self._part(0)).split(b"\0")
        return {
            number: piece.decode("utf-8", "surrogateescape").split("\n")
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


def _unpacked(docnos: bytes, scores: NDArray[np.float64]) -> Ranking:
    return Ranking(docnos.split(b"\n"), scores)
