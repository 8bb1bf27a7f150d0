"""Workers on several hosts: scored runs a minute by worker processes on one host and on two.

    python -m benchmarks.hosts [--runs N] [--cells 1x2 2x2 ...]

A cell is so many hosts with so many worker processes in all.  Hosts are network namespaces of this
machine with a folder of their own, and share PostgreSQL, Redis and a store of objects over the
network; web is a host by itself.  All take part of the same cores, so the clock tells little beyond
them.  What does not depend on that is the processor that each part takes for a run: a part can do
no more runs a minute than a minute of its cores allows.  The upload of a run is part of it.

Needs root, iproute2, PostgreSQL, Redis and moto.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.load import Bench, Size, paused
from benchmarks.loading import processor_of, small_run
from benchmarks.networks import OURS, can_have_hosts, own_hosts
from benchmarks.tables import seconds
from tests.services.machines import Postgres, Redis, ServerSite, binary, children, folder, until

os.environ["API_WRITES_PER_MINUTE"] = "1000000"
CELLS = ("1x2", "2x2", "1x4", "2x4", "1x8", "2x8")
RUNS = 120
PATIENCE = 900.0
KEYS = {"S3_ACCESS_KEY": "key", "S3_SECRET_KEY": "word", "S3_REGION": "us-east-1"}
SECRET = {"SECRET_KEY": "5f0c1e7a9b3d48e2a6c4f1b0d7e9832c5f0c1e7a9b3d48e2a6c4f1b0d7e9832d"}
PARTS = ("worker", "PostgreSQL", "store", "Redis", "web")
HEAD = ("hosts", "worker processes", "runs a minute", *(f"{part}, a run" for part in PARTS))


class OwnRedis(Redis):
    """One that listens on the network."""

    PORT = 6399

    @property
    def url(self) -> str:
        return f"redis://{OURS}:{self.PORT}"

    def start(self) -> None:
        words = ["--bind", OURS, "--port", str(self.PORT), "--protected-mode", "no"]
        words += ["--unixsocket", str(self.socket), "--save", "", "--appendonly", "no"]
        program = str(binary("redis-server"))
        self.process = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL)
        until(self.answers, "Redis answers")


@dataclass
class Store:
    """Moto's server, which speaks S3 over HTTP."""

    process: subprocess.Popen[bytes]
    url: str = f"http://{OURS}:9399"

    def make_bucket(self) -> None:
        import boto3

        names = {"aws_access_key_id": "key", "aws_secret_access_key": "word"}
        store = boto3.client("s3", endpoint_url=self.url, region_name="us-east-1", **names)
        until(lambda: _made(store), "the store has a bucket")


def _made(store: Any) -> bool:
    from botocore.exceptions import EndpointConnectionError

    try:
        store.create_bucket(Bucket="rankfield")
    except EndpointConnectionError:
        return False
    return True


class SiteOfHosts(ServerSite):
    """Web here, and workers on hosts that share no folder with it."""

    # For each process: its host and its folder.
    places: list[tuple[str, Path]] = []
    slots = 2

    def start(self, name: str, *words: str, **options: Any) -> subprocess.Popen[str]:
        if name != "work":
            return super().start(name, *words, **options)
        host, home = self.places[len(self.workers()) % len(self.places)]
        environment = {**self.surroundings(), "RANKFIELD_HOME": str(home)}
        command = ["ip", "netns", "exec", host, sys.executable, "manage.py", "work"]
        with open(self.home / "work.log", "a") as log:
            return subprocess.Popen(
                [*command, "--slots", str(self.slots)],
                cwd=self.checkout_of(name),
                env=environment,
                start_new_session=True,
                stdout=log,
                stderr=log,
                text=True,
            )

    def answers(self) -> bool:
        """Wait for web as long as a busy machine takes to start it."""
        return bool(until(super().answers, "web answers", PATIENCE))

    def work_on(self, hosts: Sequence[tuple[str, Path]], slots: int) -> None:
        """Have one worker on each host, with so many processes."""
        for worker in self.workers():
            os.killpg(worker, signal.SIGTERM)
        until(lambda: not self.workers(), "the workers before have ended", PATIENCE)
        self.places, self.slots = [*hosts], slots
        self.have_workers(len(hosts))

    def wait_for_pool(self, worker: int) -> None:
        until(lambda: len(children(worker)) >= self.slots, "the worker has its pool", PATIENCE)


@dataclass(frozen=True)
class Farm:
    """Everything that the hosts share, and the hosts."""

    site: SiteOfHosts
    postgres: Postgres
    redis: Redis
    store: Store
    hosts: list[tuple[str, Path]] = field(default_factory=list)

    def processor(self) -> dict[str, float]:
        """The seconds of processor of each part so far."""
        site = self.site
        workers = [pid for worker in site.workers() for pid in (worker, *children(worker))]
        assert site.web is not None and self.redis.process is not None
        database = int((self.postgres.folder / "data" / "postmaster.pid").read_text().split()[0])
        pids = {
            "worker": workers,
            "PostgreSQL": [database, *children(database)],
            "store": [self.store.process.pid],
            "Redis": [self.redis.process.pid],
            "web": [site.web.pid, *children(site.web.pid)],
        }
        return {part: processor_of(pids[part]) for part in PARTS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each cell")
    parser.add_argument("--cells", nargs="*", default=CELLS, metavar="HOSTSxPROCESSES")
    options = parser.parse_args()
    print(tables.machine(), flush=True)
    tables.heading(f"{options.runs} runs that wait, by hosts and worker processes")
    if not (can_have_hosts() and binary("initdb") and binary("redis-server")):
        print(tables.NOT_MEASURED)
        return
    with own_farm() as farm:
        bench = Bench(farm.site, Size())
        bench.prepare()
        tables.table(HEAD, (measure(bench, farm, cell, options.runs) for cell in options.cells))


def measure(bench: Bench, farm: Farm, cell: str, runs: int) -> tuple[str, ...]:
    """Let runs wait, then work: how long until all are scored, and what each took in all."""
    hosts, processes = map(int, cell.split("x"))
    farm.site.work_on(farm.hosts[:hosts], processes // hosts)
    track = bench.track(f"hosts-{cell}")
    before = farm.processor()
    with paused(farm.site):
        for number in range(runs):
            assert bench.send(track, small_run(f"{cell}-{number}")).good
    took = bench.drained(track)
    after = farm.processor()
    costs = (seconds((after[part] - before[part]) / runs) for part in PARTS)
    return str(hosts), str(processes), f"{60 * runs / took:,.0f}", *costs


@contextmanager
def own_farm() -> Iterator[Farm]:
    with ExitStack() as stack:
        names = stack.enter_context(own_hosts(2))
        postgres = stack.enter_context(_shared_postgres())
        redis = OwnRedis(stack.enter_context(folder("redis")))
        redis.start()
        stack.callback(redis.stop)
        store = stack.enter_context(_shared_store())
        store.make_bucket()
        site = SiteOfHosts(stack.enter_context(folder()), postgres, redis)
        site.environment |= KEYS | SECRET | {"S3_BUCKET": "rankfield", "S3_ENDPOINT": store.url}
        site.environment["DATABASE_URL"] = f"postgresql://rankfield@{OURS}/rankfield"
        stack.callback(site.close)
        hosts = [(name, stack.enter_context(folder())) for name in names]
        site.places = hosts[:1]
        site.open(workers=1)
        yield Farm(site, postgres, redis, store, hosts)


@contextmanager
def _shared_postgres() -> Iterator[Postgres]:
    with folder("postgres") as path:
        server = Postgres(path, f"-c fsync=off -c listen_addresses={OURS}")
        server.make()
        try:
            rules = path / "data" / "pg_hba.conf"
            rules.write_text(f"{rules.read_text()}host all all {OURS}/24 trust\n")
            server.run("pg_ctl", "-D", str(path / "data"), "reload")
            yield server
        finally:
            server.stop()


@contextmanager
def _shared_store() -> Iterator[Store]:
    program = str(Path(sys.executable).parent / "moto_server")
    words = [program, "-H", OURS, "-p", "9399"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield Store(process)
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    # Told to stop, the servers stop too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
