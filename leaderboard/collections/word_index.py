"""The words of a collection's documents in one stored file, and their ranking by BM25.

The file is mapped into memory, so a search reads only the parts of its words.

    file   header | lengths | places | counts | hashes | ends
    header RWI1, then the number of documents, words, postings and running words (8 bytes each)
    part   of a word: places of documents, ascending, and how often it is in each
    hashes the 64-bit digests of all words, sorted, then for each the end of its part
"""

from __future__ import annotations

import mmap
import re
import secrets
import shutil
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import IO

import numpy as np
from django.conf import settings
from django.core.files.storage import default_storage
from numpy.typing import NDArray

from evaluation.reading.documents import Document
from leaderboard.collections.documents import hash_docno, open_documents
from leaderboard.models import Collection, Job
from leaderboard.models.jobs import Progress, Publish

K1, B = 0.9, 0.4
# Chinese and Japanese are written without blanks, so two neighbouring characters are a word.
UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"([{UNSPACED}]+)|([^\W_{UNSPACED}]+)")
ASCII_WORD = re.compile(r"[a-z0-9]+")

MAGIC = b"RWI1"
NUMBERS = np.dtype("<u8")
PLACES, COUNTS = np.dtype("<u4"), np.dtype("<u2")
MOST_COUNTED = np.iinfo(COUNTS).max
POSTING = np.dtype([("word", NUMBERS), ("place", PLACES), ("count", COUNTS)])
HEADER = 8 + 4 * NUMBERS.itemsize
# Postings that are sorted in memory at a time, and the ranges of hashes that are merged at a time.
MOST_SORTED = 2**21
RANGES = np.arange(1, 256, dtype=NUMBERS) << np.uint64(56)
# Progress is reported once per this many documents.
CHUNK = 2_000


def split_words(text: str) -> Iterable[str]:
    """Return the words of a text in lower case, without stemming.

    >>> list(split_words("Ship-to-shore (1872), 東京湾"))
    ['ship', 'to', 'shore', '1872', '東京', '京湾']
    """
    text = text.lower()
    return ASCII_WORD.findall(text) if text.isascii() else _split_any(text)


def _split_any(text: str) -> Iterator[str]:
    for unspaced, word in WORD.findall(text):
        if len(unspaced) > 2:
            yield from map("".join, pairwise(unspaced))
        else:
            yield unspaced or word


hash_word = lru_cache(maxsize=2**18)(hash_docno)


@dataclass(frozen=True)
class IndexLayout:
    """Where the parts of a file begin that has this many documents and postings."""

    documents: int
    postings: int

    @property
    def places(self) -> int:
        return HEADER + self.documents * PLACES.itemsize

    @property
    def counts(self) -> int:
        return self.places + self.postings * PLACES.itemsize

    @property
    def hashes(self) -> int:
        """Whole 8-byte words from the start: numpy copies what is not aligned."""
        return -(-(self.counts + self.postings * COUNTS.itemsize) // 8) * 8


@dataclass(frozen=True)
class WordIndex:
    """The words of all documents, as mapped from a stored file."""

    running_words: int
    lengths: NDArray[np.uint32]
    places: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    hashes: NDArray[np.uint64]
    ends: NDArray[np.uint64]

    def score(self, words: Mapping[str, int]) -> NDArray[np.float64]:
        """Return the score of every document by BM25 with k1 = .9 and b = .4; 0 without a match.

        Robertson et al., Okapi at TREC-3, 1994, with Lucene's inverse document frequency
        ln(1 + (D - n + .5) / (n + .5)), which is never negative.
        """
        scores = np.zeros(len(self.lengths))
        mean = max(self.running_words / max(len(scores), 1), 1)
        for word, times in words.items():
            part = self._part(word)
            places, counts = self.places[part], self.counts[part].astype(np.float64)
            rarity = np.log1p((len(scores) - len(places) + 0.5) / (len(places) + 0.5))
            norms = K1 * (1 - B + B * self.lengths[places].astype(np.float64) / mean)
            scores[places] += times * (rarity * counts / (counts + norms))
        return scores

    def _part(self, word: str) -> slice:
        key = np.uint64(hash_word(word))
        at = int(np.searchsorted(self.hashes, key))
        if at == len(self.hashes) or self.hashes[at] != key:
            return slice(0, 0)
        return slice(int(self.ends[at - 1]) if at else 0, int(self.ends[at]))


def index_words(collection_id: str, progress: Progress) -> Publish:
    """Make and store the index of a collection's words; searches use it once it is published."""
    collection = Collection.objects.get(pk=collection_id)
    documents = collection.documents.name

    def counted() -> Iterator[Document]:
        for done, document in enumerate(open_documents(documents)):
            if done % CHUNK == 0:
                progress(done, collection.num_documents)
            yield document

    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        write_word_index(counted(), file)
        file.seek(0)
        name = f"collections/{collection.slug}/words-{secrets.token_hex(4)}"
        stored = default_storage.save(name, file)
    return lambda: publish_index(collection, stored)


def publish_index(collection: Collection, name: str) -> None:
    """Use this index, unless the collection has other documents by now."""
    same = Collection.objects.filter(pk=collection.pk, documents=collection.documents.name)
    same.update(words=name)


def enqueue_missing_indexes() -> None:
    """Queue the index of collections that never had one, such as those of earlier versions."""
    for collection in Collection.objects.ready().filter(words="").searchable():
        if not Job.objects.of("index_words", collection).exists():
            Job.objects.enqueue("index_words", collection)


def word_index_of(collection: Collection) -> WordIndex:
    """Return the stored index of a collection, or one made now for this process alone."""
    if collection.words:
        return open_word_index(collection.words.name)
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        write_word_index(open_documents(collection.documents.name), file)
        return map_word_index(file)


@lru_cache(maxsize=8)
def open_word_index(name: str) -> WordIndex:
    """Map a stored file.  It never changes under its name, so the cache needs no expiry."""
    with default_storage.open(name) as file:
        return map_word_index(file)


def map_word_index(file: IO[bytes]) -> WordIndex:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    documents, words, postings, running_words = np.frombuffer(mapped, NUMBERS, 4, 8).tolist()
    layout = IndexLayout(documents, postings)
    return WordIndex(
        running_words=running_words,
        lengths=np.frombuffer(mapped, PLACES, documents, HEADER),
        places=np.frombuffer(mapped, PLACES, postings, layout.places),
        counts=np.frombuffer(mapped, COUNTS, postings, layout.counts),
        hashes=np.frombuffer(mapped, NUMBERS, words, layout.hashes),
        ends=np.frombuffer(mapped, NUMBERS, words, layout.hashes + words * NUMBERS.itemsize),
    )


def write_word_index(documents: Iterable[Document], file: IO[bytes]) -> None:
    """Write the index into an empty file, with bounded memory.

    Postings are sorted in memory some millions at a time and kept in a temporary file.  Then the
    sorted pieces are merged, one range of hashes after the other.
    """
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as postings:
        pieces = SortedPieces(postings)
        for document in documents:
            pieces.add(document)
        pieces.flush()
        _write_merged(pieces, file)
    # The worker no longer needs the hashes of all these words.
    hash_word.cache_clear()


@dataclass
class SortedPieces:
    """Postings in a temporary file: pieces, each sorted by word and then by place."""

    file: IO[bytes]
    # Where each range of hashes of each piece ends, in postings.
    ends: list[NDArray[np.int64]] = field(default_factory=list)
    postings: int = 0
    lengths: array[int] = field(default_factory=lambda: array("I"))
    words: array[int] = field(default_factory=lambda: array("Q"))
    counts: array[int] = field(default_factory=lambda: array("I"))
    # How many different words each document of the present piece has.
    sizes: array[int] = field(default_factory=lambda: array("I"))

    def add(self, document: Document) -> None:
        counted = Counter(split_words(f"{document.title} {document.text}"))
        self.lengths.append(counted.total())
        self.sizes.append(len(counted))
        self.words.extend(map(hash_word, counted))
        self.counts.extend(counted.values())
        if len(self.words) >= MOST_SORTED:
            self.flush()

    def flush(self) -> None:
        """Write the present piece and begin the next."""
        first = len(self.lengths) - len(self.sizes)
        found = np.empty(len(self.words), POSTING)
        found["word"] = np.asarray(self.words, NUMBERS)
        found["place"] = np.repeat(np.arange(first, len(self.lengths)), self.sizes)
        found["count"] = np.minimum(np.asarray(self.counts, PLACES), MOST_COUNTED)
        found = _by_word(found)
        bounds = np.searchsorted(np.ascontiguousarray(found["word"]), RANGES)
        self.file.write(found.data)
        self.ends.append(np.concatenate([[0], bounds, [len(found)]]) + self.postings)
        self.postings += len(found)
        self.words, self.counts, self.sizes = array("Q"), array("I"), array("I")

    def merged(self) -> Iterator[NDArray]:
        """Yield all postings by word and then by place, one range of hashes at a time."""
        self.file.flush()
        if self.postings:
            stored = np.memmap(self.file, POSTING, "r", shape=self.postings)
            for begins in pairwise(np.transpose(self.ends)):
                yield _by_word(np.concatenate([stored[a:b] for a, b in zip(*begins, strict=True)]))


def _by_word(postings: NDArray) -> NDArray:
    """Return postings sorted by word; those of a word keep their order."""
    return postings[np.argsort(postings["word"], kind="stable")]


def _write_merged(pieces: SortedPieces, file: IO[bytes]) -> None:
    lengths = np.asarray(pieces.lengths, PLACES)
    layout = IndexLayout(len(lengths), pieces.postings)
    _write_at(file, HEADER, lengths)
    done = words = 0
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as ends:
        for found in pieces.merged():
            _write_at(file, layout.places + done * PLACES.itemsize, found["place"])
            _write_at(file, layout.counts + done * COUNTS.itemsize, found["count"])
            is_last = np.append(found["word"][1:] != found["word"][:-1], len(found) > 0)
            last = np.flatnonzero(is_last[: len(found)])
            _write_at(file, layout.hashes + words * NUMBERS.itemsize, found["word"][last])
            ends.write((last + done + 1).astype(NUMBERS).data)
            done, words = done + len(found), words + len(last)
        ends.seek(0)
        file.seek(layout.hashes + words * NUMBERS.itemsize)
        shutil.copyfileobj(ends, file)
    file.seek(0)
    numbers = [len(lengths), words, done, int(lengths.sum(dtype=np.uint64))]
    file.write(MAGIC.ljust(8) + np.asarray(numbers, NUMBERS).tobytes())
    file.truncate(layout.hashes + 2 * words * NUMBERS.itemsize)
    file.flush()


def _write_at(file: IO[bytes], at: int, values: NDArray) -> None:
    file.seek(at)
    file.write(np.ascontiguousarray(values).data)
