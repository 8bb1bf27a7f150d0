"""Private servers and whole sites, started from what this machine has and gone after the tests.

No port is shared: PostgreSQL and Redis listen on unix sockets in a folder of their own, web on a
port that the system chooses.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakSet

import psycopg
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 120.0
# So many lines of a log are shown where a test fails.
LAST = 200


def until(true: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """What `true` answers once it answers something; fails where it never does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := true():
            return answer
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds:.0f} seconds: {what}")


@contextmanager
def going_on(over: threading.Event, works: Iterable[Callable[[], None]]) -> Iterator[None]:
    """Each of these in a thread of its own meanwhile; at the end `over` tells them to stop."""
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def free_port() -> int:
    """A port of this machine on which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def binary(name: str) -> str | None:
    """A server's program: on the path, or where Debian keeps those of PostgreSQL."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    return shutil.which(name) or (found[-1] if found else None)


@contextmanager
def folder(owner: str = "") -> Iterator[Path]:
    """A short path, since a socket's may have no more than a hundred characters."""
    path = Path(tempfile.mkdtemp(prefix="rf-"))
    if owner and os.getuid() == 0:
        shutil.chown(path, owner, owner)
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def as_user(name: str) -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    return {"user": name, "group": name, "extra_groups": []} if os.getuid() == 0 else {}


@dataclass
class Postgres:
    folder: Path
    options: str = "-c fsync=off"

    @property
    def url(self) -> str:
        return f"postgresql://rankfield@/rankfield?host={self.folder}"

    def with_database(self, name: str) -> str:
        """Make an empty database; its URL."""
        self.run("createdb", "-h", str(self.folder), "-U", "rankfield", name)
        return self.url.replace("/rankfield?", f"/{name}?")

    def run(self, program: str, *words: str, **environment: str) -> None:
        subprocess.run(
            [str(binary(program)), *words],
            check=True,
            cwd=self.folder,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            **as_user("postgres"),
        )

    def make(self) -> None:
        data = str(self.folder / "data")
        self.run("initdb", "-D", data, "-A", "trust", "-U", "rankfield", "-E", "UTF8", "--no-sync")
        self.start()
        self.run("createdb", "-h", str(self.folder), "-U", "rankfield", "rankfield")

    def start(self, **environment: str) -> None:
        options = f"-k {self.folder} -c listen_addresses= {self.options}"
        words = ["-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-o", options]
        self.run("pg_ctl", *words, "-w", "start", **environment)

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=30).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """As if the power failed."""
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")


@dataclass
class Redis:
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        return self.folder / "redis"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def start(self) -> None:
        words = ["--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "777"]
        self.process = subprocess.Popen(
            [str(binary("redis-server")), *words, "--save", "", "--appendonly", "no"],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            **as_user("redis"),
        )
        until(self.answers, "Redis answers")

    def stop(self) -> None:
        """Killed, with everything it had in memory."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def answers(self) -> bool:
        try:
            return self.say("PING") == "+PONG"
        except OSError:
            return False

    def connect(self) -> socket.socket:
        line = socket.socket(socket.AF_UNIX)
        try:
            line.settimeout(5)
            line.connect(str(self.socket))
        except OSError:
            line.close()
            raise
        return line

    def say(self, command: str) -> str:
        with self.connect() as line:
            line.sendall(command.encode() + b"\r\n")
            return line.recv(1024).decode().strip()


@contextmanager
def postgres_in(path: Path, options: str = Postgres.options) -> Iterator[Postgres]:
    """A PostgreSQL of one's own, in a folder that is its user's."""
    server = Postgres(path, options)
    server.make()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def own_postgres() -> Iterator[Postgres]:
    with folder("postgres") as path, postgres_in(path) as server:
        yield server


@contextmanager
def own_redis() -> Iterator[Redis]:
    with folder("redis") as path:
        server = Redis(path)
        server.start()
        try:
            yield server
        finally:
            server.stop()


# Every site that was opened and that something still knows.
OPENED: WeakSet[Site] = WeakSet()


@dataclass(eq=False)
class Site:
    """Web and workers that run, as a test sees them: by HTTP, by commands, by its tables."""

    home: Path
    url: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    web: subprocess.Popen[str] | None = None

    def __post_init__(self) -> None:
        OPENED.add(self)

    def surroundings(self) -> dict[str, str]:
        """The tests' own environment names other settings and perhaps another database."""
        own = ("DJANGO_SETTINGS_MODULE", "RANKFIELD_HOME", "DATABASE_URL", "REDIS_URL")
        rest = {name: word for name, word in os.environ.items() if name not in own}
        return {**rest, "RANKFIELD_HOME": str(self.home), **self.environment}

    def checkout_of(self, name: str) -> Path:
        """The checkout that a process or a command runs."""
        return ROOT

    def start(self, name: str, *words: str, **options: Any) -> subprocess.Popen[str]:
        """`manage.py` with these words, in a process group of its own; it says into a file."""
        with open(self.home / f"{name}.log", "a") as log:
            return subprocess.Popen(
                [sys.executable, "manage.py", *words],
                cwd=self.checkout_of(name),
                env=self.surroundings(),
                start_new_session=True,
                stdout=log,
                stderr=log,
                text=True,
                **options,
            )

    def said(self, name: str) -> str:
        return (self.home / f"{name}.log").read_text()

    def said_last(self) -> Iterator[tuple[str, str]]:
        """Of each process the end of its log, under its name."""
        for path in sorted(self.home.glob("*.log")):
            lines = path.read_text(errors="replace").splitlines()[-LAST:]
            yield f"{path.name} of {self.home}", "\n".join(lines)

    def manage(self, *words: str) -> str:
        """What a command prints; fails with what it complains about."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=self.checkout_of("manage"),
            env=self.surroundings(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def ask(self, path: str, token: str = "", body: Any = None, **form: Any) -> Any:
        """The API's answer: to POST where there is a body or a form with files, else to GET."""
        request = self.request(path, token, body, **form)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{error.code} {path}: {error.read()[:500]!r}") from None

    def request(
        self, path: str, token: str, body: Any = None, method: str | None = None, **form: Any
    ) -> urllib.request.Request:
        request = urllib.request.Request(f"{self.url}/api/v1{path}", method=method)
        request.add_header("Authorization", f"Bearer {token}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        if form:
            request.data = encode_multipart(BOUNDARY, form)
            request.add_header("Content-Type", MULTIPART_CONTENT)
        return request

    def answers(self) -> bool:
        try:
            return urllib.request.urlopen(self.url + "/healthz", timeout=5).status == 200
        except OSError:
            return False

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What the database holds, asked for beside the product."""
        if "DATABASE_URL" in self.environment:
            with psycopg.connect(self.environment["DATABASE_URL"]) as connection:
                return connection.execute(sql).fetchall()
        path = self.home / "rankfield.sqlite3"
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def workers(self) -> list[int]:
        """The main processes of the workers that run."""
        raise NotImplementedError

    def worker_named(self, name: str) -> int:
        """Which of them wrote this name into a job."""
        raise NotImplementedError

    def pool_of(self, worker: int) -> list[int]:
        """The processes of a worker that do its jobs."""
        return children(worker)

    def kill_worker(self) -> None:
        """Every worker and its pool, in the middle of whatever they do."""
        killed = self.workers()
        for worker in killed:
            os.killpg(worker, signal.SIGKILL)
        until(lambda: not set(killed) & set(self.workers()), "the killed are gone")

    def start_worker(self) -> None:
        raise NotImplementedError

    def pause_workers(self) -> None:
        """None is killed, nor stopped while it keeps SQLite to itself."""
        self.tell_workers(signal.SIGSTOP)
        if not can_be_written(self.home / "rankfield.sqlite3"):
            self.continue_workers()
            self.pause_workers()

    def continue_workers(self) -> None:
        self.tell_workers(signal.SIGCONT)

    def tell_workers(self, number: signal.Signals) -> None:
        for worker in self.workers():
            for pid in [worker, *self.pool_of(worker)]:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)


def can_be_written(database: Path) -> bool:
    if not database.exists():
        return True
    with closing(sqlite3.connect(database, timeout=0.5, isolation_level=None)) as connection:
        try:
            connection.execute("begin immediate")
        except sqlite3.OperationalError:
            return False
    return True


def children(parent: int) -> list[int]:
    said = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True
    )
    return [int(word) for word in said.stdout.split()]


def command_of(pid: int) -> str:
    return readable(Path(f"/proc/{pid}/cmdline")).replace(b"\0", b" ").decode()


def readable(path: Path) -> bytes:
    """What a file in /proc says; nothing once its process is gone."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


class SqliteSite(Site):
    """What `manage.py serve` starts where nothing is configured."""

    def open(self) -> None:
        (self.home / "serve.log").unlink(missing_ok=True)
        self.web = self.start("serve", "serve", "--port", "0")
        self.url = until(
            lambda: self.printed() or self.web.poll() is not None, "serve prints its address"
        )
        assert self.web.poll() is None, self.said("serve")
        self.start_worker()

    def printed(self) -> str:
        found = re.search(r"^Rankfield is at (http://[0-9.:]+)/", self.said("serve"), re.M)
        return found[1] if found else ""

    def workers(self) -> list[int]:
        return [pid for pid in children(self.web.pid) if "celery" in command_of(pid)]

    def worker_named(self, name: str) -> int:
        return self.workers()[0]

    def start_worker(self) -> None:
        """`serve` starts it again by itself."""
        until(lambda: any(map(self.pool_of, self.workers())), "serve has a worker")

    def processes(self) -> list[int]:
        """Every process that lives in this site's folder."""
        mark = f"RANKFIELD_HOME={self.home}".encode()
        return [
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/environ")
            if mark in readable(path).split(b"\0")
        ]

    def close(self) -> None:
        if self.web is not None and self.web.poll() is None:
            self.web.terminate()
            self.web.wait(30)


class ServerSite(Site):
    """PostgreSQL, Redis, web, and workers that share nothing but them and the files."""

    def __init__(self, home: Path, postgres: Postgres, redis: Redis) -> None:
        environment = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
        super().__init__(home, environment=environment)
        self.postgres, self.redis = postgres, redis
        self.started: list[subprocess.Popen[str]] = []

    def open(self, workers: int = 2) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        handle = listener.fileno()
        self.web = self.start("web", "web", "--bind", f"fd://{handle}", pass_fds=(handle,))
        listener.close()
        until(self.answers, "web answers")
        self.have_workers(workers)

    def have_workers(self, number: int) -> None:
        while len(self.workers()) < number:
            self.started.append(self.start("work", "work"))
        for worker in self.workers():
            self.wait_for_pool(worker)

    def workers(self) -> list[int]:
        return [worker.pid for worker in self.started if worker.poll() is None]

    def worker_named(self, name: str) -> int:
        return int(name.split("@")[0].removeprefix("rankfield-"))

    def start_worker(self) -> None:
        self.have_workers(len(self.workers()) + 1)

    def wait_for_pool(self, worker: int) -> None:
        until(lambda: len(children(worker)) >= 2, "the worker has its pool")

    def close(self) -> None:
        for process in [*self.started, self.web]:
            if process is not None and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
