"""The ranking file: the documents of a run in scoring order, one compressed block per topic.

Pages read one topic of a large run in a millisecond, and later scoring reads this file, so the
uploaded file is parsed only once. A thread compresses the rankings while they are read.

    block    Zstandard: scores as little-endian float64, then docnos as words, padded with zeros
    size     of a block: its number of documents
    tops     the first twenty docnos of every topic

The rest is that of every file by topic. Files of the versions before begin with RFR2 and are
compressed by zlib; in their blocks docnos follow the scores one per line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
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
from leaderboard.runs.topic_files import (
    LEVEL,
    TOP,
    TopicFile,
    TopicFileWriter,
    TopicPlace,
    Tops,
    decompressed,
)

MAGIC = b"RFR3"
# Bytes of a word or score.
WORD = 8
# How many blocks of rankings may wait for the thread that compresses them.
WAITING = 4


class RankingWriter(TopicFileWriter):
    """Writes a ranking file block by block, in a thread of its own."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, MAGIC)
        self.compressor = zstandard.ZstdCompressor(LEVEL)
        self.thread = ThreadPoolExecutor(1)
        self.waiting: deque[Future[None]] = deque()

    def add(self, block: Block) -> None:
        """Add rankings in scoring order, ties by docno. The arrays may be changed afterwards."""
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
            self.write_block(self.compressor.compress(rows), end - start)

    def finish(self) -> None:
        """Write what waits, and the end of the file."""
        self.thread.shutdown()
        for written in self.waiting:
            written.result()
        super().finish()


class FiledRankings(StoredRankings):
    """Rankings that are written into a ranking file while they are read."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self.writer = RankingWriter(file)

    def add(self, block: Block) -> None:
        block = block.with_ties_by_docno()
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
class Rankings(TopicFile):
    """An open ranking file; its topics are in the order of the run."""

    def ranking(self, number: str) -> Ranking | None:
        """Return the ranking of one topic, or None if the run does not answer it."""
        place = self.place(number)
        return _unpacked(*self._read_block(place)) if place is not None else None

    def listing(self, number: str) -> Listing:
        """Return the ranking of one topic undecoded, for pages with hundreds of runs."""
        place = self.place(number)
        return Listing(*self._read_block(place)) if place is not None else Listing(b"", np.empty(0))

    def run(self, tag: str) -> Run:
        """Return the whole accepted run, to score it again."""
        numbers = self.numbers.split(b"\n")[1:-1]
        rankings = {
            number: _unpacked(*self._read_block(place))
            for number, place in zip(numbers, self.places, strict=True)
        }
        return Run(tag, rankings, lines=0, problems=Problems())

    def _read_block(self, place: TopicPlace) -> tuple[bytes, NDArray[np.float64]]:
        """Return the docnos of a block, one per line, and its scores."""
        packed, depth = self.packed(place), place.size
        data = decompressed(packed)
        docnos, scores = data[WORD * depth :], np.frombuffer(data, dtype="<f8", count=depth)
        if packed.startswith(zstandard.FRAME_HEADER):
            words = np.frombuffer(docnos, dtype="<u8").reshape(depth, -1)
            docnos = b"\n".join(docnos_of(words).tolist())
        return docnos, scores


def _unpacked(docnos: bytes, scores: NDArray[np.float64]) -> Ranking:
    return Ranking(docnos.split(b"\n"), scores)


def load_tops(run: models.Run) -> Tops:
    """Return the first documents of every topic, from the ranking file of a run."""
    with default_storage.open(run.ranking_file.name) as file:
        return Rankings(file).tops


def render_rankings(run: models.Run, tag: str = "") -> Iterator[bytes]:
    """Yield the rankings of a run as they were scored, a topic at a time, in six columns.

    `tag` is the last column, by default that of the run.
    """
    name = (tag or run.tag).encode() or b"run"
    with default_storage.open(run.ranking_file.name) as file:
        for topic, ranking in Rankings(file).run(run.tag).rankings.items():
            ranked = zip(ranking.docnos, ranking.scores.tolist(), strict=True)
            yield b"".join(
                b"%b Q0 %b %d %r %b\n" % (topic, docno, rank, score, name)
                for rank, (docno, score) in enumerate(ranked, 1)
            )
