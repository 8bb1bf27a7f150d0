"""Whole submissions over HTTP, from the first byte sent until scores stand on the board.

    python -m benchmarks.submission [--only large many] [--site sqlite|servers]

`large` is the run of L: checked against 8.8 million docnos, ranked, judged and measured 40 times.
What that takes is told as a multiple of what `python -m evaluation score` takes alone. `many` are
143 runs of 25,000 lines, sent one after another, until the board has its tests by ten measures.
Each with nothing configured, and on PostgreSQL and Redis where this machine has them.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import signal
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import cast

from django.core.files.uploadedfile import SimpleUploadedFile

from benchmarks import peers, tables
from benchmarks.inputs import INPUTS, Input
from benchmarks.loading import post, processor_of
from benchmarks.processes import in_turn
from benchmarks.tables import mebibytes, seconds, times
from tests.services.machines import (
    ServerSite,
    Site,
    SqliteSite,
    binary,
    children,
    folder,
    own_postgres,
    own_redis,
    until,
)

# Only what writes the form asks for settings; the sites have their own.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
MEASURES = [
    *("AP", "Rprec", "Bpref", "RR", "nDCG", "infAP", "NumRelRet", "RBP(p=0.8)", "GMAP", "binG"),
    *(f"{name}@{k}" for name in ("P", "R", "nDCG", "AP", "RR") for k in (5, 10, 20, 100, 1000)),
    *("Success@1", "Success@5", "Success@10", "Judged@10", "ERR@10"),
]
PATIENCE = 900.0
TIMES = 3
# Of the many runs.
RUNS, TOPICS, DEPTH, DOCUMENTS, FEW = 143, 50, 500, 20_000, 10
OPEN_JOBS = "select count(*) from leaderboard_job where state in ('queued', 'running')"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=("large", "many"), default=["large", "many"])
    parser.add_argument("--site", choices=("sqlite", "servers"))
    chosen = parser.parse_args()
    assert len(MEASURES) == 40
    os.environ["API_WRITES_PER_MINUTE"] = "1000000"
    print(tables.machine())
    sites = [chosen.site] if chosen.site else list(SITES)
    if "large" in chosen.only:
        print_large(sites)
    if "many" in chosen.only:
        print_many(sites)


def print_large(sites: list[str]) -> None:
    asked = INPUTS["L"]
    (alone,) = in_turn(peers.ours().command(asked), times=3)
    tables.heading(f"Submitting L ({mebibytes(asked.packed.stat().st_size)} packed)")
    row = ("`score` alone", "", seconds(alone.wall), "", seconds(alone.processor), "", "")
    head = ("site", "answered", "scored", "multiple of `score`", "processor", "web", "worker")
    tables.table(head, [row, *(_large(name, asked, alone.wall) for name in sites)])


def print_many(sites: list[str]) -> None:
    tables.heading(f"{RUNS} runs of {TOPICS * DEPTH:,} lines, {FEW} measures")
    head = ("site", "all sent", "all scored", "tested", "processor of web", "of the worker")
    tables.table(head, [_many(name) for name in sites])


def _large(name: str, asked: Input, alone: float) -> tuple[str, ...]:
    if not is_here(name):
        return SITES[name][0], tables.NOT_MEASURED, "", "", "", "", ""
    with SITES[name][1]() as site:
        return SITES[name][0], *submission(site, asked, alone)


def _many(name: str) -> tuple[str, ...]:
    if not is_here(name):
        return SITES[name][0], tables.NOT_MEASURED, "", "", "", ""
    with SITES[name][1]() as site:
        return SITES[name][0], *map(seconds, submissions(site))


def is_here(name: str) -> bool:
    """Whether this machine has what the site is made of."""
    return name == "sqlite" or bool(binary("initdb") and binary("redis-server"))


def submission(site: Site, asked: Input, alone: float) -> tuple[str, ...]:
    """The first run of a worker also opens the docnos; of the next the median is told."""
    token = make_large_track(site, asked)
    packed = asked.packed.read_bytes()
    submit(site, token, packed)
    before = sum(map(processor_of, processes_of(site)))
    told, peaks = [], []
    for number in range(1, TIMES + 1):
        told.append(submit(site, token, packed + number * NOTHING))
        peaks.append([peak_memory(pids) for pids in processes_of(site)])
    took = (sum(map(processor_of, processes_of(site))) - before) / TIMES
    answered, scored = (statistics.median(column) for column in zip(*told, strict=True))
    memory = (mebibytes(max(column)) for column in zip(*peaks, strict=True))
    return seconds(answered), seconds(scored), times(scored / alone), seconds(took), *memory


def submissions(site: Site) -> Iterator[float]:
    """Seconds until all of the many runs are sent, scored and tested, and what they cost."""
    token = make_track(
        site,
        "many",
        "".join(f"{topic}\ttopic {topic}\n" for topic in range(TOPICS)).encode(),
        "".join(f"d{number}\n" for number in range(DOCUMENTS)).encode(),
        "".join(
            f"{topic} 0 d{(topic * 37 + n * 11) % DOCUMENTS} {n % 4}\n"
            for topic in range(TOPICS)
            for n in range(400)
        ).encode(),
        MEASURES[:FEW],
    )
    runs = [packed_run(number) for number in range(RUNS)]
    before = list(map(processor_of, processes_of(site)))
    start = time.perf_counter()
    for run in runs:
        assert post(f"{site.url}/api/v1/tracks/many/runs", token, run).good
    yield time.perf_counter() - start
    until(lambda: not site.rows(f"{OPEN_JOBS} and kind = 'check_run'")[0][0], "scored", PATIENCE)
    yield time.perf_counter() - start
    until(lambda: not site.rows(OPEN_JOBS)[0][0], "the board is tested", PATIENCE)
    yield time.perf_counter() - start
    [(scored,)] = site.rows("select count(*) from leaderboard_run where state = 'scored'")
    assert scored == RUNS
    after = list(map(processor_of, processes_of(site)))
    yield from (late - early for late, early in zip(after, before, strict=True))


def packed_run(number: int) -> bytes:
    """The same run for the same number."""
    chance = random.Random(number)
    lines = (
        f"{topic} Q0 d{docno} {rank + 1} {30 - rank / 20 - chance.random() / 50:.6f} run-{number}\n"
        for topic in range(TOPICS)
        for rank, docno in enumerate(chance.sample(range(DOCUMENTS), DEPTH))
    )
    return gzip.compress("".join(lines).encode(), 6)


# An empty member behind the run: other bytes, the same run.
NOTHING = bytes.fromhex("1f8b08000000000002ff03000000000000000000")


def submit(site: Site, token: str, packed: bytes) -> tuple[float, float]:
    """Seconds until the upload is answered, and until the run is scored."""
    start = time.perf_counter()
    file = SimpleUploadedFile("L.run.gz", packed)
    run = site.ask("/tracks/large/runs", token, file=file)["id"]
    answered = time.perf_counter() - start

    def done() -> bool:
        return bool(site.ask(f"/runs/{run}", token)["done"])

    until(done, "the run is done", PATIENCE)
    scored = time.perf_counter() - start
    said = site.ask(f"/runs/{run}", token)
    assert said["state"] == "scored", said["problems"]
    return answered, scored


def make_large_track(site: Site, asked: Input) -> str:
    topics = "".join(f"{asked.first_topic + n}\ttopic {n}\n" for n in range(asked.topics))
    docnos, judgments = asked.docnos.read_bytes(), asked.qrels.read_bytes()
    return make_track(site, "large", topics.encode(), docnos, judgments)


def make_track(
    site: Site,
    slug: str,
    topics: bytes,
    docnos: bytes,
    judgments: bytes,
    measures: Sequence[str] = MEASURES,
) -> str:
    """A collection and its track of the same name; the token of who organises them."""
    token = cast(str, site.manage("create_token", "ada", "--organiser"))
    site.ask(
        "/collections",
        token,
        slug=slug,
        name=slug,
        topics=SimpleUploadedFile("topics.tsv", topics),
        docnos=SimpleUploadedFile("docnos.txt", docnos),
        judgments=SimpleUploadedFile("qrels.txt", judgments),
    )

    def ready() -> bool:
        state = site.ask(f"/collections/{slug}", token)["state"]
        assert state not in ("refused", "failed", "preview"), state
        return bool(state == "ready")

    until(ready, "the collection is ready", PATIENCE)
    track = {"slug": slug, "name": slug, "collection": slug, "judgments": "v1"}
    primary = "RR@10" if "RR@10" in measures else measures[0]
    choice = {"measures": measures, "primary_measure": primary, "disclosure": "open"}
    site.ask("/tracks", token, body={**track, **choice})
    return token


def processes_of(site: Site) -> tuple[list[int], list[int]]:
    """Those of the web, and those of the workers."""
    workers = site.workers()
    pool = [pid for worker in workers for pid in site.pool_of(worker)]
    assert site.web is not None
    family = [site.web.pid, *children(site.web.pid)]
    web = [pid for parent in family for pid in (parent, *children(parent))]
    return sorted(set(web) - {*workers, *pool}), [*workers, *pool]


def peak_memory(pids: list[int]) -> int:
    """Of the largest of these processes, in bytes; one that has ended just now counts for none."""
    return max(_peak(Path(f"/proc/{pid}/status")) for pid in pids)


def _peak(status: Path) -> int:
    with suppress(OSError, KeyError):
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    return 0


@contextmanager
def sqlite_site() -> Iterator[Site]:
    with ExitStack() as stack:
        site = SqliteSite(stack.enter_context(folder()))
        stack.callback(site.close)
        site.open()
        yield site


@contextmanager
def server_site() -> Iterator[Site]:
    with ExitStack() as stack:
        postgres, redis = stack.enter_context(own_postgres()), stack.enter_context(own_redis())
        site = ServerSite(stack.enter_context(folder()), postgres, redis)
        stack.callback(site.close)
        site.open(workers=1)
        yield site


SITES = {
    "sqlite": ("SQLite, nothing configured", sqlite_site),
    "servers": ("PostgreSQL and Redis", server_site),
}

if __name__ == "__main__":
    # Told to stop, the servers stop too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
