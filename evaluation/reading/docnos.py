"""Docnos: which documents a collection has, as one file that is asked without being read.

A run names a document on every line, a collection may have ten million. A Python set of them
takes a gigabyte in every worker; this one lies in a file that all workers map, takes no memory of
their own, and is asked for a whole block of lines at once.

    file       RDN2, 4 zero bytes | table of each width | directory | number of tables (8 bytes)
    table      docnos as rows of `width` 64-bit words, zeros behind | starts, 32 bits each
    directory  for each table, as 64-bit numbers: width, docnos, homes

Every number is little-endian. The hash of a docno is its home, one of about as many as there are
docnos, and the docnos stand in the order of their homes: starts[home] says where those of a home
begin, and starts[home + 1] where they end, which is one row further on the average. The hash only
says where to look: the rows are the docnos themselves, all their bytes are compared, and no
answer is ever wrong.

    >>> docnos = Docnos.of([b"FT911-1", b"FT911-2", b"clueweb09-en0040-83-38415"])
    >>> b"FT911-1" in docnos, b"FT911-10" in docnos, len(docnos)
    (True, False, 3)
    >>> docnos.known(np.array([b"FT911-2", b"FT911-3"])).tolist()
    [True, False]
"""

from __future__ import annotations

import mmap
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from struct import unpack
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
BoolArray = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

MAGIC = b"RDN2\0\0\0\0"
WORD = 8
ENTRY = 3
BATCH = 1 << 16
# Odd numbers without pattern: the fractions of the golden ratio and of the square root of 2.
SPREAD = 0x9E3779B97F4A7C15
SPREAD_AGAIN = 0x6A09E667F3BCC909
ALL = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Docnos(Collection[bytes]):
    """An immutable set of docnos; `tables` by the number of words that a docno fills."""

    tables: dict[int, Table]

    @classmethod
    def of(cls, docnos: Iterable[bytes]) -> Docnos:
        """A set in memory. Raises ValueError for a docno that is empty or holds a NUL."""
        file = BytesIO()
        write_docnos(docnos, file)
        return cls.within(file.getbuffer())

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Docnos:
        """The set that `write_docnos` wrote: mapped, so its pages are shared and can be dropped."""
        with open(path, "rb") as file:
            return cls.within(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))

    @classmethod
    def within(cls, data: memoryview) -> Docnos:
        """The set whose file is `data`. Raises ValueError where it is no such file."""
        if data[: len(MAGIC)] != MAGIC:
            raise ValueError("not a file of docnos")
        words = np.frombuffer(data, "<u8")
        directory = words[-1 - ENTRY * int(words[-1]) : -1].reshape(-1, ENTRY)
        tables: dict[int, Table] = {}
        start = len(MAGIC) // WORD
        for width, docnos, homes in directory.tolist():
            middle = start + docnos * width
            end = middle + (homes + 2) // 2
            starts = words[middle:end].view("<u4")[: homes + 1]
            tables[width] = Table(words[start:middle].reshape(docnos, width), starts)
            start = end
        return cls(tables)

    def known(self, docnos: npt.NDArray[np.bytes_]) -> BoolArray:
        """Which of many docnos are in the set: bool[n]."""
        words = words_of(docnos)
        filled = np.count_nonzero(words, axis=1)
        result = np.zeros(len(words), bool)
        for width in np.flatnonzero(np.bincount(filled)).tolist():
            if width in self.tables:
                chosen = filled == width
                result[chosen] = self.tables[width].holds(words[chosen, :width])
        return result

    def __contains__(self, docno: object) -> bool:
        if not isinstance(docno, bytes) or not docno or b"\0" in docno:
            return False
        table = self.tables.get(-(-len(docno) // WORD))
        return table is not None and table.holds_one(docno)

    def __iter__(self) -> Iterator[bytes]:
        """Every docno, in no order that means anything."""
        for table in self.tables.values():
            yield from table

    def __len__(self) -> int:
        return sum(len(table.words) for table in self.tables.values())


@dataclass(frozen=True, eq=False)
class Table:
    """The docnos of one width: `words` is uint64[n, width], `starts` uint32[homes + 1]."""

    words: Words
    starts: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, words: Words, room: int = 1) -> Table:
        """A table in memory, of rows that differ; with `room` homes for each."""
        homes = room * len(words) + 1
        home = home_of(words.T, homes)
        starts = np.concatenate(
            ([0], np.cumsum(np.bincount(home.astype(np.intp), minlength=homes)))
        )
        return cls(words[np.argsort(home)], starts.astype(np.uint32))

    def holds(self, wanted: Words) -> BoolArray:
        """Which rows of `wanted`, uint64[n, width], are in the table."""
        return self.rows_of(wanted) >= 0

    def rows_of(self, wanted: Words) -> Places:
        """In which row of the table each row of `wanted` stands; -1 where it is not there."""
        result = np.full(len(wanted), -1)
        home = home_of(wanted.T, len(self.starts) - 1).astype(np.intp)
        row, end = self.starts[home].astype(np.intp), self.starts[home + 1]
        asked = np.flatnonzero(row < end)
        row, end = row[asked], end[asked]
        while len(asked):
            same = _equal(self.words[row], wanted[asked])
            result[asked[same]] = row[same]
            on = ~same & (row + 1 < end)
            asked, row, end = asked[on], row[on] + 1, end[on]
        return result

    def holds_one(self, docno: bytes) -> bool:
        """The same for a single docno, without arrays, which would take ten times as long."""
        width = self.words.shape[1]
        wanted = docno.ljust(width * WORD, b"\0")
        home = home_of(unpack(f"<{width}Q", wanted), len(self.starts) - 1)
        rows = self.words[self.starts[home] : self.starts[home + 1]].tobytes()
        return any(rows[at : at + len(wanted)] == wanted for at in range(0, len(rows), len(wanted)))

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self.words), BATCH):
            yield from docnos_of(self.words[start : start + BATCH]).tolist()


def home_of(words: Iterable[Any], homes: int) -> Any:
    """One of so many numbers from 0, the same for the same docno."""
    return (mixed(words) >> 32) * homes >> 32


def mixed(words: Iterable[Any]) -> Any:
    """A hash in 64 bits of the words of one docno, or of columns of words: then uint64[n].

    Each word is multiplied, which carries its bits upwards, folded, which carries them down, and
    multiplied by a number of its column. A zero adds nothing, however many stand behind a docno.
    The masks change nothing for columns, which wrap by themselves; Python's integers do not.
    """
    result: Any = 0
    column = SPREAD_AGAIN
    for word in words:
        spread = word * SPREAD & ALL
        result = result + (spread ^ (spread >> 32)) * column & ALL
        column = column * SPREAD & ALL
    return (result ^ (result >> 32)) * SPREAD & ALL


def words_of(docnos: npt.NDArray[np.bytes_]) -> Words:
    """An array of docnos as uint64[n, width], zeros behind each docno."""
    width = max(1, -(-docnos.itemsize // WORD))
    return docnos.astype(f"S{width * WORD}").view("<u8").reshape(len(docnos), width)


def docnos_of(words: Words) -> npt.NDArray[np.bytes_]:
    """The docnos that stand in rows of words."""
    return np.ascontiguousarray(words).view(f"S{words.shape[1] * WORD}").ravel()


def write_docnos(docnos: Iterable[bytes], file: BinaryIO) -> int:
    """Write the set of these docnos into `file`; how many different ones there are.

    They pass through temporary files; in memory a docno takes 8 bytes while this works.
    Raises ValueError for a docno that is empty or holds a NUL.
    """
    file.write(MAGIC)
    directory = []
    with ExitStack() as spools:
        for width, words in sorted(_by_width(docnos, spools).items()):
            directory.append((width, *_write_table(words, file)))
    file.write(np.array(directory, "<u8").tobytes() + len(directory).to_bytes(WORD, "little"))
    return sum(docnos for _, docnos, _ in directory)


def _by_width(docnos: Iterable[bytes], spools: ExitStack) -> dict[int, Words]:
    files: dict[int, IO[bytes]] = {}
    for docno in docnos:
        if not docno or b"\0" in docno:
            raise ValueError(f"no docno: {docno!r}")
        width = -(-len(docno) // WORD)
        if width not in files:
            files[width] = spools.enter_context(TemporaryFile())  # noqa: SIM115
        files[width].write(docno.ljust(width * WORD, b"\0"))
    for spool in files.values():
        spool.flush()
    return {width: np.memmap(f, "<u8", "r").reshape(-1, width) for width, f in files.items()}


def _write_table(words: Words, file: BinaryIO) -> tuple[int, int]:
    """Write the table of these docnos; how many different ones there are, and how many homes."""
    homes = len(words) + 1
    starts = np.zeros(homes // 2 * 2 + 2, "<u4")
    for home, batch in _by_home(words, homes):
        new = ~_repeated(home, batch)
        file.write(batch[new].data)
        starts[home[0] + 1 : home[-1] + 2] += np.bincount(home[new] - home[0]).astype(np.uint32)
    np.cumsum(starts, out=starts)
    file.write(starts.data)
    return int(starts[homes]), homes


def _by_home(words: Words, homes: int) -> Iterator[tuple[Places, Words]]:
    """The docnos in the order of their homes, in batches; a home is never cut in two."""
    # Home and place packed into one number sort several times as fast as argsort does.
    packed = np.empty(len(words), np.uint64)
    for start in range(0, len(words), BATCH):
        batch = words[start : start + BATCH]
        place = np.arange(start, start + len(batch), dtype=np.uint64)
        packed[start : start + BATCH] = home_of(batch.T, homes) << 32 | place
    packed.sort()
    start = 0
    while start < len(packed):
        last = packed[min(start + BATCH, len(packed)) - 1] | 0xFFFFFFFF
        end = int(np.searchsorted(packed, last, "right"))
        batch = packed[start:end]
        yield (batch >> 32).astype(np.intp), words[batch & 0xFFFFFFFF]
        start = end


def _repeated(home: Places, words: Words) -> BoolArray:
    """Which docnos, in the order of their homes, came before: only neighbours of one home can."""
    result = np.zeros(len(home), bool)
    later = np.arange(1, len(home))
    distance = 1
    while len(later := later[home[later] == home[later - distance]]):
        result[later] |= _equal(words[later], words[later - distance])
        distance += 1
        later = later[later >= distance]
    return result


def _equal(some: Words, others: Words) -> BoolArray:
    """Which rows are equal, word by word: `all(axis=1)` would look at every row by itself."""
    result: BoolArray = some[:, 0] == others[:, 0]
    for column in range(1, some.shape[1]):
        result &= some[:, column] == others[:, column]
    return result
