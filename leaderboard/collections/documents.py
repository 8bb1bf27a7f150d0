"""The documents of a collection: one file of compressed blocks, opened by docno.

The file is in the storage. Its index and its list of docnos can be built from it, and each host
builds them in its own cache and maps them into memory.  No document is a database row, so a
million documents cost a million lines of JSON and nothing else.

    file   RFD1 | zlib block | zlib block | ... | zlib directory | length of the directory (8 bytes)
    block  documents as JSON lines, about 64 KiB before compression
    index  the 64-bit digests of all docnos, sorted, then for each the number of its block
"""

from __future__ import annotations

import hashlib
import json
import secrets
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
from django.conf import settings
from django.core.files.storage import default_storage
from numpy.typing import NDArray

from evaluation.reading.docnos import Docnos, write_docnos
from evaluation.reading.documents import Document
from leaderboard.models import Collection

MAGIC = b"RFD1"
BLOCK = 64 * 1024
TAIL = 8
HASH_TYPE, BLOCK_NUMBER_TYPE = np.dtype("<u8"), np.dtype("<u4")


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    start: int
    length: int
    documents: int


def write_documents(documents: Iterable[Document], file: BinaryIO) -> int:
    """Write documents into a file with bounded memory; return their number."""
    file.write(MAGIC)
    start = len(MAGIC)
    blocks: list[DocumentBlock] = []
    for lines in _blocks_of_lines(documents):
        packed = zlib.compress(b"\n".join(lines), 6)
        file.write(packed)
        blocks.append(DocumentBlock(start, len(packed), len(lines)))
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


def read_directory(file: BinaryIO) -> list[DocumentBlock]:
    file.seek(-TAIL, 2)
    end = file.tell()
    length = int.from_bytes(file.read(TAIL), "little")
    file.seek(end - length)
    return [DocumentBlock(*entry) for entry in json.loads(zlib.decompress(file.read(length)))]


def read_lines(file: BinaryIO, block: DocumentBlock) -> list[bytes]:
    file.seek(block.start)
    return zlib.decompress(file.read(block.length)).split(b"\n")


def read_block(file: BinaryIO, block: DocumentBlock) -> list[Document]:
    return [Document(*json.loads(line)) for line in read_lines(file, block)]


def read_docno(line: bytes) -> str:
    """Return the docno at the start of a document's line, without decoding the document.

    No docno contains a blank, so the first blank follows the comma after it.
    """
    docno: str = json.loads(line[1 : line.index(b" ") - 1])
    return docno


@dataclass(frozen=True)
class DocumentStore:
    """The documents of a ready collection.

    `keys` are the sorted hashes of the docnos, `blocks_of_keys` the number of the block of each.
    Hashes can collide, so the docno itself is compared in the block.
    """

    name: str
    blocks: list[DocumentBlock]
    keys: NDArray[np.uint64]
    blocks_of_keys: NDArray[np.uint32]

    def find(self, docno: str) -> Document | None:
        return self.find_many([docno]).get(docno)

    def may_have(self, docno: str) -> bool:
        """Whether a document could have this docno, without reading the file."""
        return self._candidates(docno).size > 0

    def find_many(self, docnos: Iterable[str]) -> dict[str, Document]:
        """Return the documents by docno; each block is read once."""
        wanted = set(docnos)
        numbers = sorted({number for docno in wanted for number in self._candidates(docno)})
        with default_storage.open(self.name) as file:
            lines = (line for number in numbers for line in read_lines(file, self.blocks[number]))
            found = (Document(*json.loads(line)) for line in lines if read_docno(line) in wanted)
            return {document.docno: document for document in found}

    def __iter__(self) -> Iterator[Document]:
        with default_storage.open(self.name) as file:
            for block in self.blocks:
                yield from read_block(file, block)

    def __len__(self) -> int:
        return len(self.keys)

    def at(self, places: Iterable[int]) -> list[Document]:
        """Return the documents at these places of the collection; each block is read once."""
        wanted = [int(place) for place in places]
        numbers = (np.searchsorted(self._starts, wanted, "right") - 1).tolist()
        with default_storage.open(self.name) as file:
            read = {number: read_lines(file, self.blocks[number]) for number in set(numbers)}
        return [
            Document(*json.loads(read[number][place - int(self._starts[number])]))
            for number, place in zip(numbers, wanted, strict=True)
        ]

    def docnos(self) -> Iterator[str]:
        with default_storage.open(self.name) as file:
            for block in self.blocks:
                yield from map(read_docno, read_lines(file, block))

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """How many documents there are before each block."""
        sizes = np.array([block.documents for block in self.blocks])
        return np.cumsum(sizes) - sizes

    def _candidates(self, docno: str) -> NDArray[np.uint32]:
        key = np.uint64(hash_docno(docno))
        low, high = np.searchsorted(self.keys, key), np.searchsorted(self.keys, key, "right")
        return self.blocks_of_keys[low:high]


def hash_docno(docno: str) -> int:
    """Return the 64-bit hash of a docno."""
    return int.from_bytes(hashlib.blake2b(docno.encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=32)
def open_documents(name: str) -> DocumentStore:
    """Return the documents of a stored file, with an index from the cache or built now.

    A stored file never changes under its name, so the cache needs no expiry.
    """
    with default_storage.open(name) as file:
        blocks = read_directory(file)
        path = cached_file(name, "index", lambda index: _write_index(file, blocks, index))
    total = sum(block.documents for block in blocks)
    keys = np.memmap(path, HASH_TYPE, "r", shape=total)
    numbers = np.memmap(path, BLOCK_NUMBER_TYPE, "r", offset=keys.nbytes, shape=total)
    return DocumentStore(name, blocks, keys, numbers)


def find_documents(collection: Collection, docnos: Iterable[str]) -> dict[str, Document]:
    """Return, by docno, those documents that the collection has the texts of."""
    stored = collection.documents.name
    return open_documents(stored).find_many(docnos) if stored else {}


@lru_cache(maxsize=4)
def known_docnos(name: str) -> Docnos:
    """Return every docno of a stored file, for the check of runs."""
    path = cached_file(name, "docnos", lambda file: _write_docnos(name, file))
    try:
        return Docnos.open(path)
    except ValueError:
        # An earlier version of Rankfield wrote another format.
        path.unlink(missing_ok=True)
        return Docnos.open(cached_file(name, "docnos", lambda file: _write_docnos(name, file)))


def _write_docnos(name: str, file: BinaryIO) -> None:
    write_docnos((docno.encode() for docno in open_documents(name).docnos()), file)


def _path_of(name: str, kind: str) -> Path:
    folder = Path(settings.RANKFIELD_HOME) / "cache" / "documents"
    return folder / f"{hashlib.sha256(name.encode()).hexdigest()}.{kind}"


def has_known_document(name: str, docno: str) -> bool:
    """Whether a stored file has a document, as far as this host has an index of the file.

    Making an index reads every document, which a search of many files must not wait for.
    """
    if not _path_of(name, "index").exists():
        return False
    store = open_documents(name)
    return store.may_have(docno) and store.find(docno) is not None


def cached_file(name: str, kind: str, write: Callable[[BinaryIO], object]) -> Path:
    """Return the path of a file derived from a stored file, and write it if it is missing.

    Two processes may write it at once: each writes its own copy, and the last rename wins.
    """
    path = _path_of(name, kind)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{secrets.token_hex(8)}")
        with part.open("wb") as file:
            write(file)
        part.replace(path)
    return path


def _write_index(file: BinaryIO, blocks: list[DocumentBlock], index: BinaryIO) -> None:
    sizes = [block.documents for block in blocks]
    numbers = np.repeat(np.arange(len(blocks), dtype=BLOCK_NUMBER_TYPE), sizes)
    lines = (line for block in blocks for line in read_lines(file, block))
    keys = np.fromiter((hash_docno(read_docno(line)) for line in lines), HASH_TYPE, len(numbers))
    order = np.argsort(keys)
    index.write(keys[order].data)
    index.write(numbers[order].data)
