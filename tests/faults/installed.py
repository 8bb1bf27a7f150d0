"""A third profile: what docs/how-to/install-on-debian.md installs, as servers behind its edge.

It is hurt in the same words as `Servers`.  Its units start again what ends, so `mend` waits.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.faults.profiles import ENVIRONMENT, SMALL, Disk, Servers, family
from tests.services.debian import HOST, Debian, debian_here
from tests.services.machines import Postgres, Redis, Site, children, command_of, until

HOME, DATABASE = "/var/lib/rankfield", "/var/lib/postgresql"
SETTINGS = "etc/rankfield/environment"
WORKERS = ("rankfield-worker@1", "rankfield-worker@2")
UNITS = ("rankfield-web", *WORKERS)
# The tests look into the database as its user, and its log is to fit on a small disk.
PREPARE_DATABASE = """
cd /etc/postgresql/*/main
sed -i '1i local rankfield rankfield trust' pg_hba.conf
printf '%s\\n' 'fsync = off' 'max_wal_size = 64MB' 'min_wal_size = 32MB' > conf.d/tests.conf
"""
CLUSTER = "pg_ctlcluster $(pg_lsclusters -h | cut -d' ' -f1,2)"
START_REDIS = """
install -d -o redis /run/redis
runuser -u redis -- redis-server /etc/redis/redis.conf --supervised no
"""
MOVE_TO_A_DISK = """
mkdir -p /mnt/disk
mount -t tmpfs -o size={room},mode=$(stat -c %a {path}) tmpfs /mnt/disk
chown --reference={path} /mnt/disk
cp -a {path}/. /mnt/disk
mount --bind /mnt/disk {path}
umount /mnt/disk
"""


@dataclass
class InstalledPostgres(Postgres):
    debian: Debian | None = None

    @property
    def url(self) -> str:
        return f"postgresql://rankfield@/rankfield?host={self.folder}"

    def start(self, **environment: str) -> None:
        said = "".join(f"export {name}={word}\n" for name, word in environment.items())
        self.debian.type(f"{said}{CLUSTER} start")

    def stop(self) -> None:
        self.debian.type(f"{CLUSTER} stop -m immediate")


@dataclass(frozen=True)
class Daemon:
    """A process that somebody else started."""

    pid: int

    def poll(self) -> int | None:
        return None if command_of(self.pid) else 0

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)


@dataclass
class InstalledRedis(Redis):
    debian: Debian | None = None

    @property
    def url(self) -> str:
        return "redis://127.0.0.1:6379/0"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", 6379), timeout=5)

    def start(self) -> None:
        self.debian.type(START_REDIS)
        self.find()
        until(self.answers, "Redis answers")

    def find(self) -> None:
        found = (pid for pid in children(self.debian.process) if "redis" in command_of(pid))
        self.process = Daemon(next(found))

    def stop(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        until(lambda: self.process.poll() is not None, "Redis is gone")


class Installed(Servers):
    """The units of a Debian, asked by the name of the site and through its edge."""

    is_supervised = True

    def __init__(self, debian: Debian) -> None:
        self.debian, root = debian, debian.root
        self.disk = Disk(root / HOME[1:], SMALL, mounted=True)
        self.database_disk = Disk(root / DATABASE[1:], SMALL, mounted=True)
        self.postgres = InstalledPostgres(root / "run/postgresql", debian=debian)
        self.redis = InstalledRedis(root / "run/redis", debian=debian)
        environment = {"DATABASE_URL": self.postgres.url}
        Site.__init__(self, self.disk.path, f"https://{HOST}", environment)

    def open(self, workers: int = 2) -> None:
        """Everything on small disks, and a product that can be sabotaged."""
        self.systemctl("stop", *UNITS)
        self.postgres.stop()
        self.debian.type(PREPARE_DATABASE)
        for disk in (self.disk, self.database_disk):
            path = "/" + str(disk.path.relative_to(self.debian.root))
            self.debian.type(MOVE_TO_A_DISK.format(path=path, room=disk.room))
        # Paths of the tests lead to the same files there.
        self.debian.type(f"ln -sfn / {self.debian.root}")
        self.redis.find()
        self.postgres.start()
        with open(self.debian.root / SETTINGS, "a") as settings:
            settings.write(as_lines(ENVIRONMENT))
        self.systemctl("start", *UNITS)
        until(self.answers, "web answers")
        self.have_workers(workers)

    def systemctl(self, verb: str, *units: str) -> None:
        self.debian.type(shlex.join(["systemctl", verb, *units]))

    def manage(self, *words: str) -> str:
        return self.debian.type(shlex.join(["rankfield-manage", *words])).strip()

    def said(self, name: str) -> str:
        """That of web, or of all workers."""
        paths = sorted((self.debian.root / "var/log").glob(f"rankfield-{name}*.log"))
        return "".join(path.read_text() for path in paths)

    def mains(self, unit: str) -> list[int]:
        """The process of each such unit that its keeper started and that lives."""
        own = (pid for keeper in self.keepers(unit) for pid in children(keeper))
        return [pid for pid in own if command_of(pid)]

    def keepers(self, unit: str) -> Iterator[int]:
        for pid in children(self.debian.process):
            if f" keep {unit}" in command_of(pid):
                yield pid

    def workers(self) -> list[int]:
        return self.mains("rankfield-worker@")

    def worker_named(self, name: str) -> int:
        """By its number there, which is another one than here."""
        number = name.split("@")[0].removeprefix("rankfield-")
        return next(pid for pid in self.workers() if number_there(pid) == number)

    def web_lives(self) -> bool:
        return self.answers()

    def web_processes(self) -> list[int]:
        return [each for pid in self.mains("rankfield-web") for each in family(pid)]

    def kill_web(self) -> None:
        for pid in self.web_processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def terminate_web(self, master: int) -> None:
        os.kill(master, signal.SIGTERM)

    def start_web(self, **environment: str) -> None:
        self.restart("rankfield-web", environment=environment)

    def start_worker(self, **environment: str) -> None:
        """One alone."""
        self.systemctl("stop", *WORKERS)
        self.restart(environment=environment)
        self.have_workers(1)

    def restart(self, *units: str, environment: dict[str, str]) -> None:
        """With this in the environment, until they end once more."""
        path = self.debian.root / SETTINGS
        before = path.read_text()
        for unit in units:
            self.systemctl("stop", unit)
        path.write_text(before + as_lines(environment))
        self.systemctl("start", *units or WORKERS[:1])
        until(lambda: all(map(self.mains, units or WORKERS[:1])), "they are started")
        path.write_text(before)

    def have_workers(self, number: int) -> None:
        for unit in WORKERS[:number]:
            if not any(
                f" keep {unit} " in command_of(pid) for pid in children(self.debian.process)
            ):
                self.systemctl("start", unit)
        until(lambda: len(self.workers()) >= number, f"there are {number} workers")
        until(lambda: all(map(self.has_pool, self.workers())), "each has its pool")

    def has_pool(self, worker: int) -> bool:
        return len(self.pool_of(worker)) >= 2

    def close(self) -> None:
        self.systemctl("stop", *UNITS)


def as_lines(environment: dict[str, str]) -> str:
    return "".join(f"{name}={word}\n" for name, word in environment.items())


def number_there(pid: int) -> str:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(line.split()[-1] for line in status.splitlines() if line.startswith("NSpid:"))


@contextmanager
def installed() -> Iterator[Installed]:
    site = Installed(debian_here())
    site.open()
    try:
        yield site
    finally:
        site.close()
