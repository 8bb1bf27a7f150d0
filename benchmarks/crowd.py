"""A crowd at a board: fifty readers of 2,000 runs, and what they see while runs arrive.

    python -m benchmarks.crowd [--quick] [--site sqlite|servers]

The site is the product as it is served, and the readers are threads of this process on connections
that stay open, so that they take part of the same cores.  `cold` is the first page after a change,
asked for by all readers at once.  In the last table every reader who was told that a run is
published looks whether the board has it.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import signal
import socket
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import urlsplit

from benchmarks import tables
from benchmarks.load import SITES, Bench, Size, fill, paused
from benchmarks.loading import Watch, share_of, small_run
from benchmarks.tables import mebibytes, seconds
from tests.services.machines import binary, going_on, until

os.environ["API_WRITES_PER_MINUTE"] = "1000000"
HEAD = ("what", "answers", "a second", "p50", "p95", "errors", "bytes sent", "web, largest")
TARGETS = "aimed at on two cores: warm 200 a second and p95 400 ms, 304 350 a second"
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
TAG = re.compile(rb'etag: ("[^"]+")', re.IGNORECASE)
PATIENCE = 60


@dataclass(frozen=True)
class Crowd:
    """How many readers of how large a board, and for how long."""

    readers: int = 50
    runs: int = 2000
    lasts: float = 20
    # Boards made anew, and the runs that arrive while readers look.
    changes: int = 5
    arriving: int = 20


QUICK = Crowd(20, 200, 5, 2, 5)


@dataclass(frozen=True)
class Page:
    """An answer: 0 where the connection broke."""

    status: int
    seconds: float
    size: int
    body: bytes = b""
    tag: bytes = b""


@dataclass
class Reader:
    """A browser that asks for one page again and again on a connection that stays open."""

    address: str
    tag: bytes = b""
    line: socket.socket | None = field(default=None, repr=False)

    def read(self) -> Page:
        began = time.perf_counter()
        try:
            head, body = self._ask()
        except OSError:
            self.close()
            return Page(0, time.perf_counter() - began, 0)
        found = TAG.search(head)
        if b"connection: close" in head.lower():
            self.close()
        tag = found[1] if found else b""
        return Page(int(head[9:12]), time.perf_counter() - began, len(body), body, tag)

    def _ask(self) -> tuple[bytes, bytes]:
        where = urlsplit(self.address)
        if self.line is None:
            place = (where.hostname or "", where.port or 80)
            self.line = socket.create_connection(place, timeout=PATIENCE)
        target = f"{where.path}?{where.query}" if where.query else where.path
        known = b"If-None-Match: " + self.tag + b"\r\n" if self.tag else b""
        self.line.sendall(
            f"GET {target} HTTP/1.1\r\nHost: {where.netloc}\r\nAccept-Encoding: gzip\r\n".encode()
            + known
            + b"\r\n"
        )
        got = bytearray()
        while (end := got.find(b"\r\n\r\n")) < 0:
            got += self._receive()
        head, length = bytes(got[:end]), LENGTH.search(got[:end])
        whole = end + 4 + (int(length[1]) if length and not head.startswith(b"HTTP/1.1 304") else 0)
        while len(got) < whole:
            got += self._receive()
        return head, bytes(got[end + 4 : whole])

    def _receive(self) -> bytes:
        assert self.line is not None
        data = self.line.recv(2**18)
        if not data:
            raise ConnectionError("closed")
        return data

    def close(self) -> None:
        if self.line is not None:
            self.line.close()
        self.line = None


@contextmanager
def crowd_of(readers: Sequence[Reader], seen: list[Page], told: Sequence[str]) -> Iterator[None]:
    """Let all readers read until the end; each page is checked for the runs told of before."""
    over = threading.Event()

    def read_on(reader: Reader) -> None:
        while not over.is_set():
            known = list(told)
            page = reader.read()
            if known and page.status == 200:
                text = gzip.decompress(page.body).decode()
                missing = [tag for tag in known if f">{tag}<" not in text]
                page = replace(page, status=-1) if missing else page
            seen.append(replace(page, body=b""))
        reader.close()

    with going_on(over, [partial(read_on, each) for each in readers]):
        yield


def row_of(what: str, seen: Sequence[Page], took: float, good: int, memory: int) -> tuple[str, ...]:
    waits = [page.seconds for page in seen]
    return (
        what,
        f"{len(seen):,}",
        f"{len(seen) / took:.1f}",
        *(seconds(share_of(waits, share)) for share in (0.5, 0.95)),
        str(sum(page.status != good for page in seen)),
        f"{max((page.size for page in seen), default=0):,}",
        mebibytes(memory),
    )


def read_for(bench: Bench, what: str, path: str, crowd: Crowd, good: int = 200) -> tuple[str, ...]:
    """So many readers read a page for a while, as fast as they get it."""
    address = bench.site.url + path
    tag = Reader(address).read().tag if good == 304 else b""
    seen: list[Page] = []
    readers = [Reader(address, tag) for _ in range(crowd.readers)]
    with Watch(bench.web()) as watch, crowd_of(readers, seen, ()):
        time.sleep(crowd.lasts)
    return row_of(what, seen, watch.seconds, good, watch.memory)


def read_cold(bench: Bench, path: str, slug: str, crowd: Crowd) -> tuple[str, ...]:
    """All readers ask at once for a board that has just changed, several times."""
    readers = [Reader(bench.site.url + path) for _ in range(crowd.readers)]
    seen: list[Page] = []
    with Watch(bench.web()) as watch:
        for number in range(crowd.changes):
            change(bench, slug, f"{slug} {number}")
            seen += read_once(readers)
    for reader in readers:
        reader.close()
    return row_of("cold: all at once", seen, watch.seconds, 200, watch.memory)


def change(bench: Bench, slug: str, name: str) -> None:
    """Rename a track."""
    request = bench.site.request(f"/tracks/{slug}", bench.token, {"name": name}, "PATCH")
    urllib.request.urlopen(request).close()


def read_once(readers: Sequence[Reader]) -> list[Page]:
    seen: list[Page] = []
    threads = [threading.Thread(target=lambda r=each: seen.append(r.read())) for each in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def arrive(bench: Bench, crowd: Crowd) -> tuple[str, ...]:
    """Runs arrive one after another, and no reader may see a board without one told of."""
    slug = bench.track("arriving")
    told: list[str] = []
    bench.send(slug, small_run("first-of-all"))
    bench.drained(slug)
    readers = [Reader(f"{bench.site.url}/benchmarks/{slug}/board/") for _ in range(crowd.readers)]
    seen: list[Page] = []
    with Watch(bench.web()) as watch, crowd_of(readers, seen, told):
        for number in range(crowd.arriving):
            tag = f"arriving-{number}"
            bench.send(slug, small_run(tag))
            until(lambda tag=tag: published(bench, slug, tag), f"{tag} is scored")
            told.append(tag)
    return row_of(f"{crowd.arriving} runs arrive", seen, watch.seconds, 200, watch.memory)


def published(bench: Bench, slug: str, tag: str) -> bool:
    time.sleep(0.05)
    query = (
        "select run.state from leaderboard_run run join leaderboard_track track "
        f"on track.id = run.track_id where track.slug = '{slug}' and run.tag = '{tag}'"
    )
    return bench.site.rows(query) == [("scored",)]


def measure(bench: Bench, crowd: Crowd) -> None:
    bench.size = replace(bench.size, boards=((crowd.runs, 50, 10),))
    # A worker would score the runs of a new board too.
    with paused(bench.site):
        fill(bench)
    slug = f"{crowd.runs}x50"
    path = f"/benchmarks/{slug}/board/"
    tables.heading(f"{crowd.readers} readers of {crowd.runs:,} runs, {bench.name}")

    def rows() -> Iterator[tuple[str, ...]]:
        yield read_cold(bench, path, slug, crowd)
        yield read_for(bench, "warm", path, crowd)
        yield read_for(bench, "304", path, crowd, 304)
        yield read_for(bench, "warm, every row", f"{path}?all=runs", crowd)
        yield read_for(bench, "warm, as CSV", f"{path}?format=csv", crowd)
        yield read_for(bench, "warm, a topic", f"/benchmarks/{slug}/topic/?number=1", crowd)
        yield read_for(bench, "warm, the API", f"/api/v1/tracks/{slug}/leaderboard", crowd)
        yield arrive(bench, crowd)

    tables.table(HEAD, rows())
    print(f"\nErrors of the last line are boards older than the last run told of; {TARGETS}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--site", choices=("sqlite", "servers"))
    chosen = parser.parse_args()
    print(tables.machine(), flush=True)
    for name in [chosen.site] if chosen.site else ["sqlite", "servers"]:
        if name == "servers" and not (binary("initdb") and binary("redis-server")):
            tables.heading(f"PostgreSQL and Redis: {tables.NOT_MEASURED}")
            continue
        with SITES[name]() as site:
            bench = Bench(site, Size())
            bench.prepare()
            measure(bench, QUICK if chosen.quick else Crowd())


if __name__ == "__main__":
    # Told to stop, the servers stop too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
