"""Answers that need not be made again: in the memory of the process, and in Redis for all.

A key names everything that an answer depends on, so no kept answer is ever outdated; it is only
forgotten.  Both places are bounded: the memory by bytes, Redis by a fixed number of places, where
a new answer replaces another one.
"""

from __future__ import annotations

import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from threading import Lock
from typing import Any

from django.conf import settings
from django.core.cache import cache
from isal import isal_zlib

from leaderboard.infrastructure.outages import redis_error

log = logging.getLogger(__name__)

MIB = 2**20
# In each process, and in Redis: 256 places of at most 1 MiB.
MEMORY_BYTES = 32 * MIB
PLACES = 256
LARGEST = MIB
# What the objects of an answer and of each of its gaps take besides.
OF_ANSWER, OF_GAP = 2048, 256
# The fastest that shrinks pages to a tenth.
LEVEL = 1
KEPT_SECONDS = 3600
# One process makes an answer, and the others wait at most so long.
MAKING_SECONDS = 10.0
LOOK_AGAIN = 0.02
# After a failure we leave Redis alone for so long.
AWAY_SECONDS = 10.0
# Threads of this process that make different answers do not wait for each other.
TURNS = 64


@dataclass(frozen=True)
class KeptPage:
    """An answer: its texts, compressed together, with gaps between them for each reader.

    `lengths` are those of the texts in bytes, one more than there are gaps.

    >>> page = KeptPage.pack({}, "digest", [b"<p>", b"</p>"], [("distance", "2027")])
    >>> KeptPage.from_bytes(page.to_bytes()) == page, page.texts
    (True, [b'<p>', b'</p>'])
    """

    headers: dict[str, str]
    digest: str
    lengths: list[int]
    gaps: list[list[str]]
    packed: bytes

    @classmethod
    def pack(
        cls,
        headers: dict[str, str],
        digest: str,
        texts: Sequence[bytes],
        gaps: Sequence[tuple[str, str]] = (),
    ) -> KeptPage:
        packed = isal_zlib.compress(b"".join(texts), LEVEL)
        return cls(headers, digest, list(map(len, texts)), list(map(list, gaps)), packed)

    @property
    def size(self) -> int:
        """The bytes that it takes in memory, with those of its objects."""
        return OF_ANSWER + OF_GAP * len(self.lengths) + len(self.packed)

    @property
    def texts(self) -> list[bytes]:
        text, ends = isal_zlib.decompress(self.packed), accumulate(self.lengths)
        return [text[end - length : end] for length, end in zip(self.lengths, ends, strict=True)]

    def to_bytes(self) -> bytes:
        """Return the answer as one line of JSON and the compressed texts."""
        about = [self.headers, self.digest, self.lengths, self.gaps]
        return json.dumps(about).encode() + b"\n" + self.packed

    @classmethod
    def from_bytes(cls, data: bytes) -> KeptPage:
        line, _, packed = data.partition(b"\n")
        return cls(*json.loads(line), packed)


class AnswerMemory:
    """The answers used last, up to a number of bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._size = 0
        self._answers: OrderedDict[str, KeptPage] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> KeptPage | None:
        with self._lock:
            found = self._answers.get(key)
            if found is not None:
                self._answers.move_to_end(key)
            return found

    def keep(self, key: str, answer: KeptPage) -> None:
        with self._lock:
            old = self._answers.pop(key, None)
            self._size += answer.size - (0 if old is None else old.size)
            self._answers[key] = answer
            while self._size > self.most:
                _, forgotten = self._answers.popitem(last=False)
                self._size -= forgotten.size

    def clear(self) -> None:
        with self._lock:
            self._answers.clear()
            self._size = 0


@dataclass
class Redis:
    """The cache that processes share, where there is one; without it, nothing is found."""

    away_until: float = 0.0

    def do(self, act: Callable[[], Any]) -> Any:
        """Return what the cache answers, or None if there is none or it does not answer."""
        if not settings.REDIS_URL or time.monotonic() < self.away_until:
            return None
        try:
            return act()
        except (redis_error(), ValueError) as error:
            self.away_until = time.monotonic() + AWAY_SECONDS
            log.warning("answers are not kept in Redis: %s", error)
            return None


memory = AnswerMemory(MEMORY_BYTES)
redis = Redis()
turns = [Lock() for _ in range(TURNS)]


def find(key: str) -> KeptPage | None:
    """Return the answer of a key (64 hexadecimal digits), if it is kept."""
    found = memory.get(key)
    if found is not None:
        return found
    data = redis.do(lambda: cache.get(_place_of(key)))
    if not isinstance(data, bytes) or not data.startswith(key.encode()):
        return None
    found = KeptPage.from_bytes(data[len(key) :])
    memory.keep(key, found)
    return found


def keep(key: str, answer: KeptPage) -> None:
    """Keep an answer unless it is too large."""
    if answer.size > LARGEST:
        return
    memory.keep(key, answer)
    redis.do(lambda: cache.set(_place_of(key), key.encode() + answer.to_bytes(), KEPT_SECONDS))


def _place_of(key: str) -> str:
    return f"answer-{int(key[:8], 16) % PLACES}"


@dataclass
class Turn:
    """The right to make the answer of a key; `waited` says that another one had it before."""

    waited: bool = False
    end: float = field(default_factory=lambda: time.monotonic() + MAKING_SECONDS)

    @property
    def left(self) -> float:
        return max(0.0, self.end - time.monotonic())


@contextmanager
def turn_to_make(key: str) -> Iterator[Turn]:
    """Wait until nobody else makes this answer, or for ten seconds at most."""
    turn, lock = Turn(), turns[int(key[:8], 16) % TURNS]
    is_free = lock.acquire(blocking=False)
    turn.waited = not is_free
    is_free = is_free or lock.acquire(timeout=MAKING_SECONDS)
    own = False
    try:
        own = _claim(key, turn)
        yield turn
    finally:
        if own:
            redis.do(lambda: cache.delete(f"making-{key}"))
        if is_free:
            lock.release()


def _claim(key: str, turn: Turn) -> bool:
    """Claim the key among all processes; return whether the claim has to be given back."""
    while True:
        claimed = redis.do(lambda: cache.add(f"making-{key}", 1, int(MAKING_SECONDS)))
        if claimed or claimed is None:
            return bool(claimed)
        turn.waited = True
        if not turn.left:
            return False
        time.sleep(LOOK_AGAIN)


def forget_all() -> None:
    """Forget what this process keeps."""
    memory.clear()
    redis.away_until = 0.0
