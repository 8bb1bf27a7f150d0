"""The ranking file: the documents of a run in scoring order, one compressed block per topic.

Pages read one topic of a large run in a millisecond, and later scoring reads this file, so the
uploaded file is parsed only once. A thread compresses the rankings while they are read.

    file     RFR3 | block per topic | tops | places | numbers | three lengths (24 bytes)
    block    Zstandard: scores as little-endian float64, then docnos as words, padded with zeros
    tops     the first twenty docnos of every topic, compressed together
    places   for each topic three little-endian int64: start, length and depth of its block
    numbers  of the topics, with a newline before and after each; the lengths are those of tops,
             places and numbers

Files of the versions before begin with RFR2 and are compressed by zlib; in their blocks docnos
follow the scores one per line.
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import BinaryIO

import numpy as np
import zstandard
from django.core.files.storage import default_storage
from numpy.typing import NDArray

from evaluation.problems import Problems
from evaluation.reading.docnos import docnos_of
from evaluation.reading.runs.rankings import Block, Ranking, StoredRankings, blocks_of
from evaluation.reading.runs.reader import Run
from leaderboard import models

# The first documents of every topic, best first.
Tops = dict[str, list[str]]

MAGIC = b"RFR3"
TOP = 20
# Bytes of the lengths at the end, of a place, and of a word or score.
TAIL = PLACE = 24
WORD = 8
# Higher levels take longer and do not make digits smaller.
LEVEL = 1
# How many blocks of rankings may wait for the thread that compresses them.
WAITING = 4


class RankingWriter:
    """Writes a ranking file block by block, in a thread of its own."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.compressor = zstandard.ZstdCompressor(LEVEL)
        self.thread = ThreadPoolExecutor(1)
        self.waiting: deque[Future[None]] = deque()
        self.places: list[tuple[int, int, int]] = []
        self.numbers: list[bytes] = []
        self.tops: list[bytes] = []
        self.end = len(MAGIC)
        file.write(MAGIC)

    def add(self, block: Block) -> None:
        """Add rankings in scoring order. The arrays may be changed afterwards."""
        if len(self.waiting) == WAITING:
            self.waiting.popleft().result()
        scores, docnos = block.scores.astype("<f8").tobytes(), block.docnos.astype("<u8").tobytes()
        width = block.docnos.shape[1]
        self.waiting.append(
            self.thread.submit(self._write, scores, docnos, WORD * width, block.starts.tolist())
        )
        self.numbers += block.topics
        firsts = np.minimum(np.diff(block.starts), TOP)
        rows = np.repeat(block.starts[:-1] - np.cumsum(firsts) + firsts, firsts)
        names = docnos_of(block.docnos[rows + np.arange(len(rows))]).tolist()
        ends = np.cumsum([0, *firsts]).tolist()
        self.tops += [b"\n".join(names[start:end]) for start, end in pairwise(ends)]

    def _write(self, scores: bytes, docnos: bytes, size: int, starts: list[int]) -> None:
        for start, end in pairwise(starts):
            rows = scores[WORD * start : WORD * end] + docnos[size * start : size * end]
            packed = self.compressor.compress(rows)
            self.file.write(packed)
            self.places.append((self.end, len(packed), end - start))
            self.end += len(packed)

    def finish(self) -> None:
        """Write what waits, and the end of the file."""
        self.thread.shutdown()
        for written in self.waiting:
            written.result()
        parts = [
            zstandard.compress(b"\0".join(self.tops), LEVEL),
            np.array(self.places, dtype="<i8").tobytes(),
            b"\n" + b"".join(number + b"\n" for number in self.numbers),
        ]
        self.file.write(b"".join(parts))
        self.file.write(np.array([len(part) for part in parts], dtype="<i8").tobytes())
        self.file.flush()


class FiledRankings(StoredRankings):
    """Rankings that are written into a ranking file while they are read."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self.writer = RankingWriter(file)

    def add(self, block: Block) -> None:
        self.writer.add(block)
        super().add(block)


def write_ranking_file(run: Run, file: BinaryIO) -> None:
    """Write the rankings of a run that was read without one."""
    writer = RankingWriter(file)
    for block in blocks_of(run.rankings):
        writer.add(block)
    writer.finish()


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
        packed = self.file.read(length)
        data = _decompressed(packed)
        docnos, scores = data[WORD * depth :], np.frombuffer(data, dtype="<f8", count=depth)
        if packed.startswith(zstandard.FRAME_HEADER):
            words = np.frombuffer(docnos, dtype="<u8").reshape(depth, -1)
            docnos = b"\n".join(docnos_of(words).tolist())
        return docnos, scores

    @cached_property
    def tops(self) -> Tops:
        """Return the first twenty docnos of every topic."""
        pieces = _decompressed(self._part(0)).split(b"\0")
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


def _decompressed(data: bytes) -> bytes:
    """Decompress a part of a file of this version, or of one before."""
    if data.startswith(zstandard.FRAME_HEADER):
        return zstandard.decompress(data)
    return zlib.decompress(data)


def _unpacked(docnos: bytes, scores: NDArray[np.float64]) -> Ranking:
    return Ranking(docnos.split(b"\n"), scores)


def load_tops(run: models.Run) -> Tops:
    """Return the first documents of every topic, from the ranking file of a run."""
    with default_storage.open(run.ranking_file.name) as file:
        return Rankings(file).tops
