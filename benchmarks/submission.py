"""A whole submission over HTTP: the run of L, from its upload until its scores stand on the board.

    python -m benchmarks.submission

The run is checked against 8.8 million docnos, ranked, judged and measured 40 times; what that
takes is told as a multiple of what `python -m evaluation score` takes alone. Once with nothing
configured, and once on PostgreSQL and Redis where this machine has them.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import cast

from django.core.files.uploadedfile import SimpleUploadedFile

from benchmarks import peers, tables
from benchmarks.inputs import INPUTS, Input
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


def main() -> None:
    assert len(MEASURES) == 40
    print(tables.machine())
    asked = INPUTS["L"]
    (alone,) = in_turn(peers.ours().command(asked), times=3)
    tables.heading(f"Submitting L ({mebibytes(asked.packed.stat().st_size)} packed)")
    head = ("site", "upload answered", "scored", "multiple of `score`", "web", "worker")
    tables.table(head, _rows(asked, alone.wall))


def _rows(asked: Input, alone: float) -> Iterator[tuple[str, ...]]:
    yield "`score` alone", "", seconds(alone), "", "", ""
    with sqlite_site() as site:
        yield "SQLite, nothing configured", *submission(site, asked, alone)
    if binary("initdb") is None or binary("redis-server") is None:
        yield "PostgreSQL and Redis", tables.NOT_MEASURED, "", "", "", ""
        return
    with server_site() as site:
        yield "PostgreSQL and Redis", *submission(site, asked, alone)


def submission(site: Site, asked: Input, alone: float) -> tuple[str, ...]:
    """The first run of a worker also opens the docnos; the second, a byte longer, is measured."""
    token = make_track(site, asked)
    packed = asked.packed.read_bytes()
    submit(site, token, packed)
    answered, scored = submit(site, token, packed + NOTHING)
    web, worker = (peak_memory(pids) for pids in processes_of(site))
    multiple = times(scored / alone)
    return seconds(answered), seconds(scored), multiple, mebibytes(web), mebibytes(worker)


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


def make_track(site: Site, asked: Input) -> str:
    token = cast(str, site.manage("create_token", "ada", "--organiser"))
    topics = "".join(f"{asked.first_topic + n}\ttopic {n}\n" for n in range(asked.topics))
    site.ask(
        "/collections",
        token,
        slug="large",
        name="Large",
        topics=SimpleUploadedFile("topics.tsv", topics.encode()),
        docnos=SimpleUploadedFile("docnos.txt", asked.docnos.read_bytes()),
        judgments=SimpleUploadedFile("qrels.txt", asked.qrels.read_bytes()),
    )

    def ready() -> bool:
        state = site.ask("/collections/large", token)["state"]
        assert state not in ("refused", "failed", "preview"), state
        return bool(state == "ready")

    until(ready, "the collection is ready", PATIENCE)
    track = {"slug": "large", "name": "Large", "collection": "large", "judgments": "v1"}
    choice = {"measures": MEASURES, "primary_measure": "RR@10", "disclosure": "open"}
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
    """Of the largest of these processes, in bytes."""
    return max(_peak(Path(f"/proc/{pid}/status")) for pid in pids)


def _peak(status: Path) -> int:
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) * 1024


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


if __name__ == "__main__":
    # Told to stop, the servers stop too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
