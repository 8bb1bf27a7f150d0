"""Who loads a site: senders and readers in threads, and a look at what it costs web."""

from __future__ import annotations

import http.client
import os
import random
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from tests.services.machines import going_on

TOPICS, DEPTH = 50, 100
TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 120


@dataclass(frozen=True)
class Told:
    """An answer: 0 where the connection broke."""

    status: int
    seconds: float

    @property
    def good(self) -> bool:
        return self.status in (200, 201)


@dataclass(frozen=True)
class Template:
    """A run whose tag is put in as it is sent, so that fifty take the room of one."""

    before: bytes
    MARK = b"TAG-0000"

    def tagged(self, tag: str) -> bytes:
        assert len(tag) == len(self.MARK)
        return self.before.replace(self.MARK, tag.encode())


def small_run(tag: str) -> bytes:
    """Fifty topics, a hundred documents each: 150 KB, and no two alike."""
    chance = random.Random(tag)
    return "".join(
        f"{topic} Q0 d{docno} {rank} {DEPTH - rank}.5 {tag}\n"
        for topic in range(1, TOPICS + 1)
        for rank, docno in enumerate(chance.sample(range(5 * DEPTH), DEPTH))
    ).encode()


def wide_run(size: int) -> Template:
    """As many long names of documents as make this size, within a depth of a thousand."""
    depth = 1000
    room = size // (TOPICS * depth) - 28
    names = [f"{number:0{max(1, room)}d}" for number in range(depth)]
    return Template(
        "".join(
            f"{topic} Q0 d{name} {rank} {depth - rank}.5 TAG-0000\n"
            for topic in range(1, TOPICS + 1)
            for rank, name in enumerate(names)
        ).encode()
    )


def post(address: str, token: str, run: bytes) -> Told:
    """Send a run by API, piece by piece."""
    where = urlsplit(address)
    edge = "an-edge-that-no-run-has"
    head = (
        f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="run.txt"\r\n'
        "Content-Type: text/plain\r\n\r\n"
    ).encode()
    tail = f"\r\n--{edge}--\r\n".encode()
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": f"multipart/form-data; boundary={edge}",
        "Content-Length": str(len(head) + len(run) + len(tail)),
    }
    pieces = (run[start : start + 2**18] for start in range(0, len(run), 2**18))
    return ask("POST", where, headers, chain([head], pieces, [tail]))


def answers_to(address: str) -> Told:
    """Ask for a page as a browser does, packed."""
    return ask("GET", urlsplit(address), {"Accept-Encoding": "gzip"})


def ask(
    method: str, where: SplitResult, headers: dict[str, str], body: Iterable[bytes] | None = None
) -> Told:
    """One request on a connection of its own, its answer read to the end."""
    line = http.client.HTTPConnection(where.netloc, timeout=PATIENCE)
    began = time.perf_counter()
    try:
        line.request(method, where.path, body=body, headers=headers)
        answer = line.getresponse()
        answer.read()
        return Told(answer.status, time.perf_counter() - began)
    except (OSError, http.client.HTTPException):
        return Told(0, time.perf_counter() - began)
    finally:
        line.close()


@contextmanager
def readers(address: str, number: int, pause: float) -> Iterator[list[Told]]:
    """So many readers of a page, who look at it again after a pause."""
    told: list[Told] = []
    over = threading.Event()

    def read(first: float) -> None:
        over.wait(first)
        while not over.is_set():
            told.append(answers_to(address))
            over.wait(pause)

    # They do not all begin at once.
    starts = [pause * n / number for n in range(number)]
    with going_on(over, [partial(read, first) for first in starts]):
        yield told


class Watch(threading.Thread):
    """How long something took, and what these processes took for it: processor and memory."""

    def __init__(self, pids: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self.pids = pids
        self.memory = self.memory_before = largest(pids)
        self.over = threading.Event()

    def __enter__(self) -> Watch:
        self.before = processor_of(self.pids)
        self.began = time.perf_counter()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = self.so_far()
        self.processor = processor_of(self.pids) - self.before
        self.over.set()
        self.join()

    def so_far(self) -> float:
        return time.perf_counter() - self.began

    def run(self) -> None:
        while not self.over.wait(0.05):
            self.memory = max(self.memory, largest(self.pids))


def largest(pids: Sequence[int]) -> int:
    """The memory of the largest of these processes now, in bytes."""
    return max((resident(pid) for pid in pids), default=0)


def resident(pid: int) -> int:
    with suppress(OSError):
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def processor_of(pids: Sequence[int]) -> float:
    """The seconds of processor that these have used, and their children that ended."""
    return sum(map(_processor_of, pids))


def _processor_of(pid: int) -> float:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, words[11:15])) / TICKS
    return 0.0


def share_of(values: Sequence[float], share: float) -> float:
    """The value below which this share of them lies.

    >>> share_of([4.0, 1.0, 2.0, 3.0], 0.5), share_of([], 0.95)
    (3.0, 0.0)
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
