"""The ranking file: the documents of a run in scoring order, one compressed block a topic.

Pages read one topic of a large run in a millisecond, and new judgments are joined from here, so
the uploaded file is parsed once.

    file   RFR1 | zlib block a topic ... | zlib tops | zlib directory | lengths of both (16 bytes)
    block  scores as little-endian float64, then the docnos, one a line
    tops   the first twenty docnos of every topic, in one piece
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

import numpy as np

from evaluation.problems import Problems
from evaluation.reading.rankings import Ranking, blocks_of
from evaluation.reading.runs import Run

MAGIC = b"RFR1"
TOP = 20
TAIL = 16


@dataclass(frozen=True, slots=True)
class Place:
    start: int
    length: int
    depth: int


def write_rankings(run: Run, file: BinaryIO) -> None:
    file.write(MAGIC)
    start = len(MAGIC)
    places: list[list[object]] = []
    tops: list[bytes] = []
    for number, ranking in _rankings_of(run):
        packed = _pack(ranking)
        file.write(packed)
        places.append(
            [number.decode("utf-8", "surrogateescape"), start, len(packed), len(ranking.docnos)]
        )
        tops.append(b"\n".join(ranking.docnos[:TOP]))
        start += len(packed)
    packed_tops = zlib.compress(b"\0".join(tops))
    directory = zlib.compress(json.dumps(places).encode())
    file.write(packed_tops + directory)
    file.write(len(packed_tops).to_bytes(8, "little") + len(directory).to_bytes(8, "little"))


def _rankings_of(run: Run) -> Iterator[tuple[bytes, Ranking]]:
    for block in blocks_of(run.rankings):
        for place, number in enumerate(block.topics):
            yield number, block.ranking(place)


def _pack(ranking: Ranking) -> bytes:
    scores = np.ascontiguousarray(ranking.scores, dtype="<f8")
    return zlib.compress(scores.tobytes() + b"\n".join(ranking.docnos))


@dataclass(frozen=True)
class Rankings:
    """An open ranking file; topics in the order in which the run has them."""

    file: BinaryIO

    def __contains__(self, number: str) -> bool:
        return number in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def ranking(self, number: str) -> Ranking | None:
        """The ranking of one topic, or None where the run does not answer it."""
        place = self.places.get(number)
        if place is None:
            return None
        self.file.seek(place.start)
        data = zlib.decompress(self.file.read(place.length))
        scores = np.frombuffer(data, dtype="<f8", count=place.depth)
        return Ranking(data[8 * place.depth :].split(b"\n"), scores)

    def run(self, tag: str) -> Run:
        """The whole run as it was accepted, for judging it anew."""
        rankings = {
            number.encode("utf-8", "surrogateescape"): ranking
            for number in self
            if (ranking := self.ranking(number)) is not None
        }
        return Run(tag, rankings, lines=0, problems=Problems())

    @cached_property
    def tops(self) -> dict[str, list[str]]:
        """The first twenty docnos of every topic."""
        tops_length, directory_length, end = self._tail
        self.file.seek(end - directory_length - tops_length)
        pieces = zlib.decompress(self.file.read(tops_length)).split(b"\0")
        return {
            number: piece.decode("utf-8", "surrogateescape").split("\n")
            for number, piece in zip(self.places, pieces, strict=True)
        }

    @cached_property
    def places(self) -> dict[str, Place]:
        _, length, end = self._tail
        self.file.seek(end - length)
        entries = json.loads(zlib.decompress(self.file.read(length)))
        return {number: Place(*place) for number, *place in entries}

    @cached_property
    def _tail(self) -> tuple[int, int, int]:
        self.file.seek(-TAIL, 2)
        end = self.file.tell()
        tail = self.file.read(TAIL)
        return int.from_bytes(tail[:8], "little"), int.from_bytes(tail[8:], "little"), end
