"""The docnos of a collection, in one file that is searched without being read.

A run names a document on every line, and a collection may have ten million. A Python set of them
takes a gigabyte in every worker. This set is in a file that all workers map. It takes no memory of
their own, and a whole block of lines is looked up at once.

    file       RDN3, 4 zero bytes | numbers | table of each width | directory | its length
    numbers    a bit for each number from 0 up, padded to 8 bytes
    table      docnos as rows of `width` 64-bit words, padded with zeros | starts, 32 bits each
    directory  64-bit numbers: for the numbers 0, words, 0; for each table width, docnos, homes;
               its length counts such entries, in 8 bytes

Every number is little-endian. The hash of a docno is its home, one of about as many as there are
docnos, and the docnos are in the order of their homes: starts[home] says where those of a home
begin, and starts[home + 1] where they end, on average one row later. The hash only says where to
search: the rows are the docnos themselves and all their bytes are compared, so no answer is ever
wrong. Many collections number their documents: such a docno is a bit. A hundred bits take the
space of one row, so they fit in the cache.

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
from typing import IO, BinaryIO

import numpy as np
import numpy.typing as npt

from evaluation.reading.words import EACH, HIGH_BITS, ZEROS, beyond_nine, spell_digits

Words = npt.NDArray[np.uint64]
BoolArray = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

MAGIC = b"RDN3\0\0\0\0"
WORD = 8
ENTRY = 3
# Numbers are stored as bits if these take no more space than rows.
SPARSE = 64
BATCH = 1 << 16
# Odd numbers without pattern: the fractions of the golden ratio and of the square root of 2.
SPREAD = 0x9E3779B97F4A7C15
SPREAD_AGAIN = 0x6A09E667F3BCC909
ALL = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Docnos(Collection[bytes]):
    """An immutable set of docnos; `tables` has one table for each width in words."""

    tables: dict[int, DocnosOfWidth]
    numbers: NumericDocnos

    @classmethod
    def of(cls, docnos: Iterable[bytes]) -> Docnos:
        """Build a set in memory. Raises ValueError for a docno that is empty or contains a NUL."""
        file = BytesIO()
        write_docnos(docnos, file)
        return cls.within(file.getbuffer())

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Docnos:
        """Map the set that `write_docnos` wrote, so that processes share its pages."""
        with open(path, "rb") as file:
            return cls.within(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))

    @classmethod
    def within(cls, data: memoryview) -> Docnos:
        """Return the set whose file is `data`. Raises ValueError if it is not such a file."""
        if data[: len(MAGIC)] != MAGIC:
            raise ValueError("not a file of docnos")
        words = np.frombuffer(data, "<u8")
        directory = words[-1 - ENTRY * int(words[-1]) : -1].reshape(-1, ENTRY)
        tables: dict[int, DocnosOfWidth] = {}
        numbers = NumericDocnos(np.zeros(0, np.uint8))
        start = len(MAGIC) // WORD
        for width, docnos, homes in directory.tolist():
            middle = start + docnos * max(width, 1)
            end = middle + (homes + 2) // 2 if width else middle
            if width:
                starts = words[middle:end].view("<u4")[: homes + 1]
                tables[width] = DocnosOfWidth(words[start:middle].reshape(docnos, width), starts)
            else:
                numbers = NumericDocnos(words[start:end].view(np.uint8))
            start = end
        return cls(tables, numbers)

    def known(self, docnos: npt.NDArray[np.bytes_]) -> BoolArray:
        """Return which docnos are in the set: bool[n]."""
        return self.holds(words_of(docnos))

    def holds(self, words: Words, hashes: Words | None = None) -> BoolArray:
        """Return which docnos in words are in the set; `hashes` are those of `hash_all_words`."""
        result, left = self.numbers.hold(words)
        if not len(left):
            return result
        hashes = hash_all_words(words[left]) if hashes is None else hashes[left]
        words = words[left]
        for width in range(words.shape[1], 0, -1):
            filled = words[:, width - 1] != 0
            if width in self.tables:
                chosen = words[filled, :width]
                result[left[filled]] = self.tables[width].holds(chosen, hashes[filled])
            left, words, hashes = left[~filled], words[~filled], hashes[~filled]
        return result

    def __contains__(self, docno: object) -> bool:
        if not isinstance(docno, bytes) or not docno or b"\0" in docno:
            return False
        if docno in self.numbers:
            return True
        table = self.tables.get(-(-len(docno) // WORD))
        return table is not None and table.holds_one(docno)

    def __iter__(self) -> Iterator[bytes]:
        """Yield every docno, in no meaningful order."""
        yield from self.numbers
        for table in self.tables.values():
            yield from table

    def __len__(self) -> int:
        return len(self.numbers) + sum(len(table.words) for table in self.tables.values())


@dataclass(frozen=True, eq=False)
class NumericDocnos(Collection[bytes]):
    """Numeric docnos of up to eight digits without leading zeros, as one bit each."""

    bits: npt.NDArray[np.uint8]

    def hold(self, words: Words) -> tuple[BoolArray, Places]:
        """Return which docnos are among these numbers, and which are not numbers."""
        if not len(self.bits):
            return np.zeros(len(words), bool), np.arange(len(words))
        numbers, none = numbers_in(words)
        place = (numbers >> 3).view(np.intp)
        bits = self.bits.take(place, mode="clip") >> (numbers & 7).astype(np.uint8)
        found = (bits & 1).view(bool)
        found &= place < len(self.bits)
        found[none] = False
        return found, none

    def __contains__(self, docno: object) -> bool:
        if not isinstance(docno, bytes) or not docno.isdigit() or len(docno) > WORD:
            return False
        number = int(docno)
        place, bit = divmod(number, 8)
        inside = b"%d" % number == docno and place < len(self.bits)
        return inside and bool(self.bits[place] >> bit & 1)

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self.bits), BATCH):
            bits = np.unpackbits(self.bits[start : start + BATCH], bitorder="little")
            for number in np.flatnonzero(bits).tolist():
                yield b"%d" % (8 * start + number)

    def __len__(self) -> int:
        return int(np.bitwise_count(self.bits).sum(dtype=np.int64))


def numbers_in(words: Words) -> tuple[Words, Places]:
    """Return the number of each docno, and which docnos are not numbers or have leading zeros."""
    word = words[:, 0]
    # A byte is not zero if its high bit is set, or if adding 0x7F to the other bits sets it.
    low = EACH * 0x7F
    filled = np.bitwise_count((((word & low) + low) | word) & HIGH_BITS)
    shift = (WORD * (WORD - filled)).astype(np.uint64)
    digits = (word ^ ZEROS) << shift
    wrong = (beyond_nine(digits) & HIGH_BITS) != 0
    wrong |= (digits >> shift & 0xFF == 0) & (filled > 1)
    wrong |= filled == 0
    for more in words.T[1:]:
        wrong |= more != 0
    return spell_digits(digits), np.flatnonzero(wrong)


@dataclass(frozen=True, eq=False)
class DocnosOfWidth:
    """The docnos of one width: `words` is uint64[n, width], `starts` uint32[homes + 1]."""

    words: Words
    starts: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, words: Words, room: int = 1) -> DocnosOfWidth:
        """Build a table in memory of distinct rows, with `room` homes per row."""
        homes = room * len(words) + 1
        home = slots_of(hash_all_words(words), homes)
        starts = np.concatenate(([0], np.cumsum(np.bincount(home, minlength=homes))))
        return cls(words[np.argsort(home)], starts.astype(np.uint32))

    def holds(self, wanted: Words, hashes: Words | None = None) -> BoolArray:
        """Return which rows of `wanted`, uint64[n, width], are in the table."""
        return self.rows_of(wanted, hashes) >= 0

    def rows_of(self, wanted: Words, hashes: Words | None = None) -> Places:
        """Return the row in the table of each row of `wanted`; -1 if it is missing.

        `hashes` are those of `hash_all_words`, if the caller has them already.
        """
        result = np.full(len(wanted), -1)
        hashes = hash_all_words(wanted) if hashes is None else hashes
        home = slots_of(hashes, len(self.starts) - 1)
        row, end = self.starts.take(home).astype(np.intp), self.starts.take(home + 1)
        asked = np.flatnonzero(row < end)
        if len(asked) < len(row):
            row, end, wanted = row[asked], end[asked], wanted[asked]
        while len(asked):
            same = _equal(self.words[row], wanted)
            result[asked[same]] = row[same]
            on = np.flatnonzero(~same & (row + 1 < end))
            asked, row, end, wanted = asked[on], row[on] + 1, end[on], wanted[on]
        return result

    def holds_one(self, docno: bytes) -> bool:
        """Return whether one docno is in the table, without arrays, which are ten times slower."""
        width = self.words.shape[1]
        wanted = docno.ljust(width * WORD, b"\0")
        home = slot_of(unpack(f"<{width}Q", wanted), len(self.starts) - 1)
        rows = self.words[self.starts[home] : self.starts[home + 1]].tobytes()
        return any(rows[at : at + len(wanted)] == wanted for at in range(0, len(rows), len(wanted)))

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self.words), BATCH):
            yield from docnos_of(self.words[start : start + BATCH]).tolist()


def slot_of(words: Iterable[int], homes: int) -> int:
    """Return the slot of a docno, a number from 0."""
    return (hash_words(words) >> 32) * homes >> 32


def slots_of(mixed: Words, homes: int) -> Places:
    """Return the slots of docnos with these hashes."""
    result = mixed >> 32
    result *= homes
    result >>= 32
    return result.view(np.intp)


def hash_words(words: Iterable[int]) -> int:
    """Return a 64-bit hash of the words of a docno.

    Each word is multiplied, which carries its bits upwards, folded, which carries them down, and
    multiplied by a number of its column. Zeros add nothing, so padding does not change a hash.
    """
    result = 0
    column = SPREAD_AGAIN
    for word in words:
        spread = word * SPREAD & ALL
        result += (spread ^ (spread >> 32)) * column
        column = column * SPREAD & ALL
    result &= ALL
    return (result ^ (result >> 32)) * SPREAD & ALL


def hash_all_words(docnos: Words) -> Words:
    """Return the hash of every row of words, uint64[n]; arrays wrap automatically."""
    result: Words | None = None
    column = SPREAD_AGAIN
    for word in docnos.T:
        spread = word * SPREAD
        spread ^= spread >> 32
        spread *= column
        result = spread if result is None else np.add(result, spread, out=result)
        column = column * SPREAD & ALL
    assert result is not None
    result ^= result >> 32
    result *= SPREAD
    return result


def words_of(docnos: npt.NDArray[np.bytes_]) -> Words:
    """Return docnos as uint64[n, width], padded with zeros."""
    width = max(1, -(-docnos.itemsize // WORD))
    return docnos.astype(f"S{width * WORD}").view("<u8").reshape(len(docnos), width)


def docnos_of(words: Words) -> npt.NDArray[np.bytes_]:
    """Return the docnos in rows of words."""
    return np.ascontiguousarray(words).view(f"S{words.shape[1] * WORD}").ravel()


def write_docnos(docnos: Iterable[bytes], file: BinaryIO) -> int:
    """Write the set of these docnos into `file` and return its size.

    They pass through temporary files; in memory a docno takes 8 bytes meanwhile.
    Raises ValueError for a docno that is empty or contains a NUL.
    """
    file.write(MAGIC)
    directory = []
    different = 0
    with ExitStack() as spools:
        by_width = _by_width(docnos, spools)
        numbers = _bits_of(by_width[1]) if 1 in by_width else np.zeros(0, np.uint8)
        if len(numbers):
            file.write(numbers.data)
            directory.append((0, len(numbers) // WORD, 0))
            different += len(NumericDocnos(numbers))
            by_width[1] = _without_numbers(by_width[1])
        for width, words in sorted(by_width.items()):
            directory.append((width, *_write_table(words, file)))
            different += directory[-1][1]
    file.write(np.array(directory, "<u8").tobytes() + len(directory).to_bytes(WORD, "little"))
    return different


def _bits_of(words: Words) -> npt.NDArray[np.uint8]:
    """Return a bit for each numeric docno of one word; none if bits would take more space."""
    highest, count = 0, 0
    for start in range(0, len(words), BATCH):
        numbers = _numbers(words[start : start + BATCH])
        highest, count = max(highest, int(numbers.max(initial=0))), count + len(numbers)
    if highest >= SPARSE * count:
        return np.zeros(0, np.uint8)
    bits = np.zeros((highest // (8 * WORD) + 1) * WORD, np.uint8)
    for start in range(0, len(words), BATCH):
        numbers = _numbers(words[start : start + BATCH])
        np.bitwise_or.at(bits, numbers >> 3, np.uint8(1) << (numbers & 7).astype(np.uint8))
    return bits


def _numbers(words: Words) -> Words:
    numbers, none = numbers_in(words)
    return np.delete(numbers, none)


def _without_numbers(words: Words) -> Words:
    """Return the docnos that are not numbers."""
    starts = range(0, len(words), BATCH)
    batches = (words[start : start + BATCH] for start in starts)
    return np.concatenate([batch[numbers_in(batch)[1]] for batch in batches])


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
    """Write the table of these docnos; return how many there are, and how many homes."""
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
    """Yield the docnos in the order of their homes, in batches that never split a home."""
    # Home and place packed into one number sort several times as fast as argsort does.
    packed = np.empty(len(words), np.uint64)
    for start in range(0, len(words), BATCH):
        batch = words[start : start + BATCH]
        place = np.arange(start, start + len(batch), dtype=np.uint64)
        packed[start : start + BATCH] = (
            slots_of(hash_all_words(batch), homes).view(np.uint64) << 32 | place
        )
    packed.sort()
    start = 0
    while start < len(packed):
        last = packed[min(start + BATCH, len(packed)) - 1] | 0xFFFFFFFF
        end = int(np.searchsorted(packed, last, "right"))
        batch = packed[start:end]
        yield (batch >> 32).astype(np.intp), words[batch & 0xFFFFFFFF]
        start = end


def _repeated(home: Places, words: Words) -> BoolArray:
    """Return which docnos are repeated; only neighbours in the order of homes can be equal."""
    result = np.zeros(len(home), bool)
    later = np.arange(1, len(home))
    distance = 1
    while len(later := later[home[later] == home[later - distance]]):
        result[later] |= _equal(words[later], words[later - distance])
        distance += 1
        later = later[later >= distance]
    return result


def _equal(some: Words, others: Words) -> BoolArray:
    """Return which rows are equal, column by column, which is faster than `all(axis=1)`."""
    result: BoolArray = some[:, 0] == others[:, 0]
    for column in range(1, some.shape[1]):
        result &= some[:, column] == others[:, column]
    return result
