"""Two profiles that are broken: all in one folder with its worker, and servers.

Each can be hurt in the same words, and `mend` makes everything run again.
"""

from __future__ import annotations

import glob
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.services.machines import (
    Postgres,
    Redis,
    ServerSite,
    Site,
    SqliteSite,
    children,
    folder,
    own_redis,
    postgres_in,
    until,
)

LEASE = 8
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "tests.faults.sabotaged",
    "API_WRITES_PER_MINUTE": "1000000",
    "JOB_TIME_LIMIT": "12",
    "JOB_MEMORY_LIMIT": "300",
    "PYTHONFAULTHANDLER": "1",
}
HOUR = 3600
# A disk that is soon full.
SMALL = "400m"
# The log that PostgreSQL writes ahead would fill it within some faults.
TIDY = "-c fsync=off -c max_wal_size=64MB -c min_wal_size=32MB"


@dataclass
class Disk:
    """A folder with little room, where a file system of its own may be mounted; else a quota."""

    path: Path
    room: str
    mounted: bool = False

    def mount(self) -> None:
        owner = self.path.stat()
        options = f"size={self.room},mode=755,uid={owner.st_uid},gid={owner.st_gid}"
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.path]
        self.mounted = subprocess.run(words, capture_output=True).returncode == 0

    def unmount(self) -> None:
        if self.mounted:
            subprocess.run(["umount", "--lazy", self.path], check=True)

    @property
    def ballast(self) -> Path:
        return self.path / "ballast"

    def fill(self, pids: list[int]) -> None:
        """No more than some kilobytes are left; without a mount these processes may not write."""
        if not self.mounted:
            limit(pids, 0)
            return
        with open(self.ballast, "wb", buffering=0) as file:
            for piece in (2**20, 2**12):
                with suppress(OSError):
                    while file.write(bytes(piece)) == piece:
                        continue

    def free(self, pids: list[int]) -> None:
        if not self.mounted:
            limit(pids, resource.RLIM_INFINITY)
        self.ballast.unlink(missing_ok=True)


def limit(pids: list[int], size: int) -> None:
    """The largest file that these processes may write."""
    for pid in pids:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@dataclass
class Clock:
    """What a host takes for the time: so many seconds off, as a file says."""

    path: Path

    def step(self, seconds: int) -> None:
        self.path.write_text(f"{seconds:+d}")

    def for_python(self) -> dict[str, str]:
        return {"HOST_CLOCK": str(self.path)}

    def for_servers(self) -> dict[str, str]:
        """By libfaketime, where this machine has it."""
        return {
            "LD_PRELOAD": glob.glob(FAKETIME)[0],
            "FAKETIME_TIMESTAMP_FILE": str(self.path),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


FAKETIME = "/usr/lib/*/faketime/libfaketimeMT.so.1"


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    return [pid, *(each for child in children(pid) for each in family(child))]


def has_open(pid: int, name: str) -> bool:
    """Whether this process reads a file with this in its path."""
    with suppress(OSError):
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if name in os.readlink(handle):
                    return True
    return False


class Hurtable(Site):
    """What every profile can have done to it."""

    name: str
    disk: Disk
    # Whether what ends is started again without the tests.
    is_supervised = False

    def mend(self) -> None:
        """Everything runs, and there is room."""
        raise NotImplementedError

    def kill_web(self) -> None:
        raise NotImplementedError

    def web_processes(self) -> list[int]:
        raise NotImplementedError

    def kill_everything(self) -> None:
        raise NotImplementedError

    def every_process(self) -> list[int]:
        """Of the product; databases and brokers are not among them."""
        workers = [pid for worker in self.workers() for pid in family(worker)]
        return [*self.web_processes(), *workers]

    def continue_all(self) -> None:
        for pid in self.every_process():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def reader_of(self, run: str) -> int:
        """The process of a pool that has the file of this run open."""
        pool = [pid for worker in self.workers() for pid in self.pool_of(worker)]
        return next(pid for pid in pool if has_open(pid, f"runs/{run}/"))


class Embedded(SqliteSite, Hurtable):
    """`manage.py serve` with nothing configured: SQLite, and a worker with its own broker."""

    name = "embedded"
    is_supervised = True

    def __init__(self, home: Path, disk: Disk, **environment: str) -> None:
        super().__init__(home, environment={**ENVIRONMENT, **environment})
        self.disk = disk

    def web_processes(self) -> list[int]:
        workers = set(self.workers())
        return [
            pid for child in children(self.web.pid) if child not in workers for pid in family(child)
        ]

    def kill_web(self) -> None:
        """`serve` starts it again by itself."""
        for pid in self.web_processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def terminate_web(self, master: int) -> None:
        os.kill(master, signal.SIGTERM)

    def kill_everything(self) -> None:
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.web.wait()

    def mend(self) -> None:
        self.continue_all()
        self.disk.free(self.every_process())
        if self.web.poll() is not None:
            self.open()
        until(self.answers, "web answers")
        until(lambda: any(map(self.pool_of, self.workers())), "serve has a worker")


class Servers(ServerSite, Hurtable):
    """PostgreSQL, Redis, web and two workers; whatever ends is started again by the tests."""

    name = "servers"

    def __init__(self, home: Path, disks: list[Disk], postgres: Postgres, redis: Redis) -> None:
        super().__init__(home, postgres, redis)
        self.environment |= ENVIRONMENT
        self.disk, self.database_disk = disks
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def open(self, workers: int = 2) -> None:
        self.start_web()
        until(self.web_lives, "web answers")
        self.have_workers(workers)

    def start_web(self, **environment: str) -> None:
        """On a socket that stays open while web starts again, as systemd does it."""
        handle = self.listener.fileno()
        with self.surrounded_by(environment):
            self.web = self.start("web", "web", "--bind", f"fd://{handle}", pass_fds=(handle,))

    def web_lives(self) -> bool:
        if self.web.poll() is not None:
            time.sleep(1)
            self.start_web()
        return self.answers()

    def web_processes(self) -> list[int]:
        return family(self.web.pid) if self.web.poll() is None else []

    def kill_web(self) -> None:
        for pid in self.web_processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.web.wait()

    def terminate_web(self, master: int) -> None:
        os.kill(master, signal.SIGTERM)
        self.start_web()

    def kill_everything(self) -> None:
        self.kill_web()
        self.kill_worker()
        self.redis.stop()
        self.postgres.stop()

    def start_worker(self, **environment: str) -> None:
        with self.surrounded_by(environment):
            super().start_worker()

    @contextmanager
    def surrounded_by(self, environment: dict[str, str]) -> Iterator[None]:
        """What is started meanwhile has this in its environment."""
        before = self.environment
        self.environment = {**before, **environment}
        try:
            yield
        finally:
            self.environment = before

    def mend(self) -> None:
        self.continue_all()
        self.disk.free(self.every_process())
        self.database_disk.free([])
        if not self.redis.answers():
            if self.redis.process.poll() is None:
                self.redis.process.send_signal(signal.SIGCONT)
            else:
                self.redis.start()
        if not self.postgres.answers():
            self.postgres.start()
        until(self.web_lives, "web answers")
        self.have_workers(2)

    def close(self) -> None:
        super().close()
        self.listener.close()


@contextmanager
def disk_with(room: str, owner: str = "") -> Iterator[Disk]:
    with folder(owner) as path:
        disk = Disk(path, room)
        disk.mount()
        try:
            yield disk
        finally:
            disk.unmount()


@contextmanager
def embedded(room: str = SMALL, **environment: str) -> Iterator[Embedded]:
    with ExitStack() as stack:
        disk = stack.enter_context(disk_with(room))
        site = Embedded(disk.path, disk, **environment)
        stack.callback(site.close)
        site.open()
        yield site


@contextmanager
def servers(room: str = SMALL) -> Iterator[Servers]:
    with ExitStack() as stack:
        rows = stack.enter_context(disk_with(room, "postgres"))
        postgres = stack.enter_context(postgres_in(rows.path, TIDY))
        redis = stack.enter_context(own_redis())
        disk = stack.enter_context(disk_with(room))
        site = Servers(disk.path, [disk, rows], postgres, redis)
        stack.callback(site.close)
        site.open()
        yield site


PROFILES = {"embedded": embedded, "servers": servers}
