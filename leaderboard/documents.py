"""The documents of a collection: one file of compressed blocks, opened by docno.

The file is the record and lies in the storage; the index beside it is derived, and any host makes
it anew in its own cache.  No document is a database row, so a million of them cost a million
lines of JSON and nothing else.

    file   RFD1 | zlib block | zlib block | ... | zlib directory | length of the directory (8 bytes)
    block  documents as JSON lines, about 64 KiB before compression
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
from django.conf import settings
from django.core.files.storage import default_storage
from numpy.typing import NDArray

from evaluation.reading.documents import Document

MAGIC = b"RFD1"
BLOCK = 64 * 1024
TAIL = 8


@dataclass(frozen=True, slots=True)
class Block:
    start: int
    length: int
    documents: int


def write_documents(documents: Iterable[Document], file: BinaryIO) -> int:
    """Write `documents` into `file`, in flat memory; their number."""
    file.write(MAGIC)
    start = len(MAGIC)
    blocks: list[Block] = []
    for lines in _blocks_of_lines(documents):
        packed = zlib.compress(b"\n".join(lines), 6)
        file.write(packed)
        blocks.append(Block(start, len(packed), len(lines)))
        start += len(packed)
    directory = zlib.compress(
        json.dumps([[block.start, block.length, block.documents] for block in blocks]).encode()
    )
    file.write(directory)
    file.write(len(directory).to_bytes(TAIL, "little"))
    return sum(block.documents for block in blocks)


def _blocks_of_lines(documents: Iterable[Document]) -> Iterator[list[bytes]]:
    lines: list[bytes] = []
    size = 0
    for document in documents:
        line = json.dumps(
            [document.docno, document.title, document.text], ensure_ascii=False
        ).encode()
        lines.append(line)
        size += len(line)
        if size >= BLOCK:
            yield lines
            lines, size = [], 0
    if lines:
        yield lines


def read_directory(file: BinaryIO) -> list[Block]:
    file.seek(-TAIL, 2)
    end = file.tell()
    length = int.from_bytes(file.read(TAIL), "little")
    file.seek(end - length)
    return [Block(*entry) for entry in json.loads(zlib.decompress(file.read(length)))]


def read_block(file: BinaryIO, block: Block) -> list[Document]:
    file.seek(block.start)
    lines = zlib.decompress(file.read(block.length)).split(b"\n")
    return [Document(*json.loads(line)) for line in lines]


@dataclass(frozen=True)
class Documents:
    """The documents of a ready collection.

    `keys` are 64-bit digests of the docnos, sorted; `blocks_of_keys` says in which block each
    lies.  A digest only pre-selects: the docno itself is compared in the block.
    """

    name: str
    blocks: list[Block]
    keys: NDArray[np.uint64]
    blocks_of_keys: NDArray[np.uint32]

    def find(self, docno: str) -> Document | None:
        return self.find_many([docno]).get(docno)

    def find_many(self, docnos: Iterable[str]) -> dict[str, Document]:
        """The documents of these docnos; each block is opened once."""
        wanted = set(docnos)
        numbers = sorted({number for docno in wanted for number in self._candidates(docno)})
        with default_storage.open(self.name) as file:
            found = (
                document for number in numbers for document in read_block(file, self.blocks[number])
            )
            return {document.docno: document for document in found if document.docno in wanted}

    def docnos(self) -> Iterator[str]:
        with default_storage.open(self.name) as file:
            for block in self.blocks:
                yield from (document.docno for document in read_block(file, block))

    def _candidates(self, docno: str) -> NDArray[np.uint32]:
        key = np.uint64(key_of(docno))
        low, high = np.searchsorted(self.keys, key), np.searchsorted(self.keys, key, "right")
        return self.blocks_of_keys[low:high]


def key_of(docno: str) -> int:
    return int.from_bytes(hashlib.blake2b(docno.encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=32)
def open_documents(name: str) -> Documents:
    """The documents in the stored file `name`, with the index from the cache or made now.

    A stored file never changes under its name, so neither does what is cached here.
    """
    folder = Path(settings.RANKFIELD_HOME) / "cache" / "documents"
    path = folder / (hashlib.sha256(name.encode()).hexdigest() + ".npz")
    with default_storage.open(name) as file:
        blocks = read_directory(file)
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _write_index(path, file, blocks)
    with np.load(path) as index:
        return Documents(name, blocks, index["keys"], index["blocks"])


def _write_index(path: Path, file: BinaryIO, blocks: list[Block]) -> None:
    total = sum(block.documents for block in blocks)
    keys = np.empty(total, dtype=np.uint64)
    numbers = np.repeat(
        np.arange(len(blocks), dtype=np.uint32), [block.documents for block in blocks]
    )
    filled = 0
    for block in blocks:
        documents = read_block(file, block)
        keys[filled : filled + block.documents] = [key_of(each.docno) for each in documents]
        filled += block.documents
    order = np.argsort(keys, kind="stable")
    # Two processes may do this at once: each writes its own file, and the last rename wins.
    part = path.with_suffix(f".{np.random.default_rng().integers(2**63)}.npz")
    np.savez(part, keys=keys[order], blocks=numbers[order])
    part.replace(path)


@lru_cache(maxsize=4)
def known_docnos(name: str) -> frozenset[bytes]:
    """Every docno of the stored file `name`, for checking a run against."""
    return frozenset(docno.encode() for docno in open_documents(name).docnos())
