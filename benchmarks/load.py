"""A site under load: the rush before a deadline, large uploads, large boards, more workers.

    python -m benchmarks.load [--quick] [--only rush uploads upload boards workers]
                              [--site sqlite|servers]

Everything comes from threads of this process over 127.0.0.1, so a busy client slows the figures
too; `processor` is what web itself took for each answer, which it does not. The line beside each
is the same page of a track without data, asked for in the same way.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks import tables
from benchmarks.inputs import ROOT
from benchmarks.loading import (
    Told,
    Watch,
    answers_to,
    post,
    processor_of,
    readers,
    share_of,
    small_run,
    wide_run,
)
from benchmarks.submission import processes_of, server_site, sqlite_site
from benchmarks.tables import mebibytes, seconds
from tests.services.machines import ServerSite, Site, binary, until

os.environ["API_WRITES_PER_MINUTE"] = "1000000"
MIB = 2**20
HEAD = ("what", "answers", "a second", "p50", "p95", "errors", "processor", "web, largest")


@dataclass(frozen=True)
class Size:
    """How much of everything."""

    rush_runs: int = 300
    rush_seconds: float = 600
    rush_readers: int = 20
    uploads: int = 50
    upload: int = 20 * MIB
    large: int = 500 * MIB
    readers: int = 50
    reading: float = 60
    boards: tuple[tuple[int, int, int], ...] = ((2000, 50, 10), (100, 7000, 1))
    backlog: int = 200


QUICK = Size(30, 30, 5, 8, 5 * MIB, 100 * MIB, 10, 10, ((200, 50, 10), (20, 700, 1)), 30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--site", choices=("sqlite", "servers"))
    chosen = parser.parse_args()
    size = QUICK if chosen.quick else Size()
    print(tables.machine(), flush=True)
    for name in [chosen.site] if chosen.site else ["sqlite", "servers"]:
        if name == "servers" and not (binary("initdb") and binary("redis-server")):
            tables.heading(f"PostgreSQL and Redis: {tables.NOT_MEASURED}")
            continue
        with SITES[name]() as site:
            bench = Bench(site, size)
            bench.prepare()
            for part in chosen.only:
                PARTS[part](bench)


SITES = {"sqlite": sqlite_site, "servers": server_site}


@dataclass
class Bench:
    """A site with a collection, an empty track and an organiser."""

    site: Site
    size: Size
    token: str = ""

    @property
    def name(self) -> str:
        return "PostgreSQL and Redis" if isinstance(self.site, ServerSite) else "SQLite"

    def prepare(self) -> None:
        from django.core.files.uploadedfile import SimpleUploadedFile

        self.token = self.site.manage("create_token", "ada", "--organiser")
        topics = "".join(f"{n}\ttopic {n}\n" for n in range(1, 51))
        judged = "".join(f"{n} 0 d{d} {d % 3}\n" for n in range(1, 51) for d in range(20))
        self.site.ask(
            "/collections",
            self.token,
            slug="load",
            name="Load",
            topics=SimpleUploadedFile("topics.tsv", topics.encode()),
            judgments=SimpleUploadedFile("qrels.txt", judged.encode()),
        )
        ready = "the collection is ready"
        until(lambda: self.site.ask("/collections/load", self.token)["state"] == "ready", ready)
        self.track("empty")

    def track(self, slug: str) -> str:
        choice = {"measures": ["AP", "nDCG@10"], "primary_measure": "AP", "disclosure": "open"}
        about = {"slug": slug, "name": slug, "collection": "load", "judgments": "v1"}
        self.site.ask("/tracks", self.token, body={**about, **choice})
        return slug

    def web(self) -> list[int]:
        return processes_of(self.site)[0]

    def send(self, track: str, run: bytes) -> Told:
        return post(f"{self.site.url}/api/v1/tracks/{track}/runs", self.token, run)

    def unfinished(self, track: str) -> int:
        [(left,)] = self.site.rows(
            "select count(*) from leaderboard_run run join leaderboard_track track "
            f"on track.id = run.track_id where track.slug = '{track}' "
            "and run.state in ('queued', 'checking', 'scoring')"
        )
        return int(left)

    def drained(self, track: str) -> float:
        """Seconds until every run of a track is done."""
        began = time.perf_counter()
        until(lambda: not self.unfinished(track), "every run is done", 3600)
        return time.perf_counter() - began


def line(what: str, told: Sequence[Told], took: float, processor: float, memory: int) -> tuple:
    """A row of figures; `processor` is what web took for everything meanwhile."""
    waits = [each.seconds for each in told]
    bad = sum(not each.good for each in told)
    return (
        what,
        f"{len(told):,}",
        f"{len(told) / took:.1f}",
        seconds(share_of(waits, 0.5)),
        seconds(share_of(waits, 0.95)),
        str(bad),
        seconds(processor / len(told)) if processor else "",
        mebibytes(memory),
    )


def read_for(bench: Bench, path: str, number: int, pause: float, lasts: float) -> tuple:
    """So many readers look at a page for a while, each with a pause between two looks."""
    address = bench.site.url + path
    answers_to(address)
    with Watch(bench.web()) as watch, readers(address, number, pause) as told:
        time.sleep(lasts)
    return line("", told, watch.seconds, watch.processor, watch.memory)[1:]


def rush(bench: Bench) -> None:
    """Runs arrive faster and faster until the deadline, and everybody looks at the board."""
    size = bench.size
    board = bench.track("rush")
    tables.heading(
        f"{size.rush_runs} runs in {size.rush_seconds:.0f} s, {size.rush_readers} readers, "
        f"{bench.name}"
    )
    runs = [small_run(f"rush-{n}") for n in range(size.rush_runs)]
    with (
        Watch(bench.web()) as watch,
        readers(f"{bench.site.url}/benchmarks/{board}/board/", size.rush_readers, 2) as read,
        ThreadPoolExecutor(16) as threads,
    ):
        sending = []
        for n, run in enumerate(runs):
            # Half of them come in the last quarter of the time.
            due = size.rush_seconds * (1 - (1 - n / len(runs)) ** 2)
            time.sleep(max(0.0, watch.began + due - time.perf_counter()))
            sending.append(threads.submit(bench.send, board, run))
        told = [each.result() for each in sending]
        left = bench.unfinished(board)
        rest = bench.drained(board)
    empty = read_for(bench, "/benchmarks/empty/board/", size.rush_readers, 2, min(30, size.reading))
    took = watch.seconds
    tables.table(
        HEAD,
        [
            line("a run sent", told, took, 0, watch.memory),
            line("the board read meanwhile", read, took, 0, watch.memory),
            ("an empty board, nobody sending", *empty),
        ],
    )
    print(f"\n{left} runs waited when the last had arrived, and {seconds(rest)} later none.")


def uploads(bench: Bench) -> None:
    """Many large runs at the same moment, and somebody who reads meanwhile."""
    size = bench.size
    board = bench.track("uploads")
    tables.heading(f"{size.uploads} uploads of {mebibytes(size.upload)} at once, {bench.name}")
    body = wide_run(size.upload)
    with (
        Watch(bench.web()) as watch,
        readers(f"{bench.site.url}/benchmarks/empty/board/", 5, 0.5) as read,
        ThreadPoolExecutor(size.uploads) as threads,
    ):
        tags = [f"wide-{n:03}" for n in range(size.uploads)]
        told = list(threads.map(lambda tag: bench.send(board, body.tagged(tag)), tags))
        took = watch.so_far()
    empty = read_for(bench, "/benchmarks/empty/board/", 5, 0.5, min(30, size.reading))
    tables.table(
        HEAD,
        [
            line("a run sent", told, took, 0, watch.memory),
            line("another page meanwhile", read, took, 0, watch.memory),
            ("the same page, nobody sending", *empty),
        ],
    )
    print(f"\n{seconds(bench.drained(board))} later all of them were read and scored.")


def upload(bench: Bench) -> None:
    """One upload as large as is taken; web must not grow by it."""
    size = bench.size
    board = bench.track("one")
    tables.heading(f"One upload of {mebibytes(size.large)}, {bench.name}")
    # No run at all, so that no worker works on it for long; web does not look into it.
    with Watch(bench.web()) as watch:
        told = bench.send(board, b"this is not a run\n" * (size.large // 18))
    grown = watch.memory - watch.memory_before
    head = ("answer", "took", "web before, largest", "at most", "grown by")
    row = (str(told.status), seconds(told.seconds), mebibytes(watch.memory_before))
    tables.table(head, [(*row, mebibytes(watch.memory), mebibytes(grown))])
    bench.drained(board)


def boards(bench: Bench) -> None:
    """Large boards under many readers, each of whom looks once a second."""
    size = bench.size
    tables.heading(f"Boards under {size.readers} readers, {bench.name}")
    fill(bench)
    asked = {"an empty board": "/benchmarks/empty/board/"}
    for runs, topics, measures in size.boards:
        slug = f"{runs}x{topics}"
        what = f"{runs:,} runs x {topics:,} topics x {measures}"
        asked[what] = f"/benchmarks/{slug}/board/"
        asked[f"topics of {what}"] = f"/benchmarks/{slug}/topics/"

    def rows() -> Iterator[tuple[str, ...]]:
        for what, path in asked.items():
            # One reader says what a page takes, many what happens when it takes too long.
            alone = read_for(bench, path, 1, 0, size.reading / 4)
            yield f"{what}, one reader", *alone
            yield what, *read_for(bench, path, size.readers, 1, size.reading)

    tables.table(HEAD, rows())


def fill(bench: Bench) -> None:
    """Write the boards into the tables from a process that has them as its own."""
    surroundings = {**bench.site.surroundings(), "DJANGO_SETTINGS_MODULE": "benchmarks.settings"}
    wanted = [f"{runs}x{topics}x{measures}" for runs, topics, measures in bench.size.boards]
    words = [sys.executable, "-m", "benchmarks.filling", *wanted]
    subprocess.run(words, cwd=ROOT, env=surroundings, check=True)


def workers(bench: Bench) -> None:
    """What one more worker brings, and what it costs while it waits."""
    site, size = bench.site, bench.size
    tables.heading(f"{size.backlog} runs that wait, by workers, {bench.name}")
    if not isinstance(site, ServerSite):
        print("One worker, which `serve` starts.")
        numbers: tuple[int, ...] = (1,)
    else:
        numbers = (1, 2, 3)

    def rows() -> Iterator[tuple[str, ...]]:
        for number in numbers:
            board = bench.track(f"workers-{number}")
            if isinstance(site, ServerSite):
                site.have_workers(number)
            with paused(site):
                for n in range(size.backlog):
                    bench.send(board, small_run(f"w{number}-{n}"))
            took = bench.drained(board)
            pids = processes_of(site)[1]
            before = processor_of(pids)
            time.sleep(10)
            idle = (processor_of(pids) - before) / 10
            memory = sum(map(own_memory, pids))
            yield (
                str(number),
                seconds(took),
                f"{size.backlog / took:.1f}",
                *(
                    mebibytes(memory),
                    f"{100 * idle:.1f} %",
                ),
            )

    tables.table(
        ("workers", "drained in", "runs a second", "memory of all", "one core, idle"), rows()
    )


@contextmanager
def paused(site: Site) -> Iterator[None]:
    """No worker works."""
    pids = processes_of(site)[1]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def own_memory(pid: int) -> int:
    """What would be free without this process; pages that it shares count by its share."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        [pss] = [line for line in file if line.startswith("Pss:")]
    return int(pss.split()[1]) * 1024


PARTS: dict[str, Callable[[Bench], None]] = {
    "rush": rush,
    "uploads": uploads,
    "upload": upload,
    "boards": boards,
    "workers": workers,
}

if __name__ == "__main__":
    # Told to stop, the servers stop too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
