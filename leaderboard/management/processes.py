"""Web and worker as processes of this machine: commands and supervision.

Both have process groups of their own, so that Ctrl-C reaches only the process that supervises
them, and both end with it, however it ends.
"""

from __future__ import annotations

import ctypes
import fcntl
import logging
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

from django.conf import settings
from django.core.management import call_command
from django.db import connections

log = logging.getLogger(__name__)

STOP_SECONDS = 10  # from TERM to KILL, in seconds
START_SECONDS = 120  # until the first page answers
FIRST_PAUSE = 1.0  # before a process that ended is started again; doubled up to:
LONGEST_PAUSE = 30.0
STEADY_SECONDS = 10.0  # a process that ran so long may start again at once
LOOK_AGAIN = 0.05  # whether the first page answers
LOCK = "serve.lock"
# The environment variable with the number of the open file that web waits for.
START_SIGNAL = "RANKFIELD_START_SIGNAL"


class ServeError(Exception):
    """The site cannot start; the message is for the person who starts it."""


def web_command(bind: str) -> list[str]:
    """Gunicorn on an address (`0.0.0.0:8000`) or an open socket (`fd://5`)."""
    return [
        *(sys.executable, "-m", "gunicorn", "leaderboard.wsgi", "--bind", bind),
        # Threads wait for slow clients; `request_slots` says how many work.
        *("--worker-class", "leaderboard.infrastructure.connections.WebWorker"),
        *("--workers", "2", "--threads", "64", "--preload"),
        *("--worker-connections", "4000"),
        *("--graceful-timeout", str(STOP_SECONDS - 2), "--no-control-socket"),
        *("--log-level", "warning"),
        *("--logger-class", "leaderboard.infrastructure.web_log.WebLog"),
    ]


def worker_arguments(slots: int = 2) -> list[str]:
    """Return the arguments for Celery with a pool of processes."""
    command = [
        *("--quiet", "--app", "leaderboard.jobs.broker", "worker"),
        *("--hostname", f"rankfield-{os.getpid()}@%h"),
        *("--pool", "prefork", "--concurrency", str(slots)),
    ]
    # With a broker in its own memory, a worker has no other worker to contact.  On Redis all but
    # gossip stay on, because they notice a restart of Redis.
    silent = ["--without-mingle", "--without-heartbeat"] if not settings.REDIS_URL else []
    return [*command, "--without-gossip", *silent]


def migrate_and_collect(quiet: bool = True) -> None:
    """Migrate the database and collect the static files."""
    verbosity = 0 if quiet else 1
    call_command("migrate", interactive=False, verbosity=verbosity)
    call_command("collectstatic", interactive=False, verbosity=verbosity)
    # A process forked or started from here opens its own.
    connections.close_all()


@dataclass
class SupervisedProcess:
    """A command that should keep running, and its process."""

    name: str
    command: list[str]
    when_orphaned: signal.Signals
    keep_open: tuple[int, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = FIRST_PAUSE
    due: float | None = None

    def start(self) -> None:
        self.started, self.due = time.monotonic(), None
        self.process = subprocess.Popen(
            self.command,
            cwd=settings.BASE_DIR,
            env={**os.environ, **self.environment},
            start_new_session=True,
            pass_fds=self.keep_open,
            preexec_fn=_end_with_parent(self.when_orphaned),
        )

    def ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def restart_if_ended(self) -> None:
        """Start the process again if it has ended, with longer pauses if it ends repeatedly."""
        now = time.monotonic()
        if not self.ended():
            return
        if self.due is None:
            self.signal(signal.SIGKILL)
            self.pause = FIRST_PAUSE if now - self.started > STEADY_SECONDS else self.pause
            self.due = now + self.pause
            log.error(
                "%s ended with %s; again in %.0f s", self.name, self.process.returncode, self.pause
            )
            self.pause = min(2 * self.pause, LONGEST_PAUSE)
        elif now >= self.due:
            self.start()

    def stop(self, until: float) -> None:
        """Send TERM, wait, then KILL the whole group, so that no pool process remains."""
        if self.process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, until - time.monotonic()))
        self.signal(signal.SIGKILL)
        self.process.wait()

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


def _end_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Return a function that makes Linux signal a child when its parent ends."""
    if sys.platform != "linux":
        return None
    libc, parent = ctypes.CDLL(None), os.getpid()

    def tie() -> None:
        libc.prctl(1, number)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)

    return tie


@dataclass(frozen=True)
class RunningSite:
    """A running site: its address, folder and processes."""

    url: str
    home: Path
    children: list[SupervisedProcess] = field(default_factory=list)

    def watch(self) -> None:
        """Keep web and worker running until this process is stopped."""
        while True:
            for child in self.children:
                child.restart_if_ended()
            time.sleep(0.5)


@contextmanager
def run_site(port: int = 8000, host: str = "127.0.0.1") -> Iterator[RunningSite]:
    """Migrate, start web and worker, wait until a page answers; stop both at the end.

    Port 0 picks a free one.  Raises ServeError if the folder or the port is in use.
    """
    with ExitStack() as stack:
        lock = stack.enter_context(lock_home())
        listener = stack.enter_context(open_listener(host, port))
        url = url_of(listener)
        write_address(lock, url)
        stack.enter_context(exit_on_term())
        start = stack.enter_context(open_start_signal())
        web, worker = build_processes(listener, start)
        site = RunningSite(url, settings.RANKFIELD_HOME, [web, worker])
        stack.callback(stop_all, site.children)
        web.start()
        migrate_and_collect()
        start.give()
        worker.start()
        wait_until_ready(site)
        yield site


@dataclass(frozen=True)
class StartSignal:
    """A pipe that ends when web may answer: it loads its pages while the database is migrated.

    A web that is started again finds the end at once.
    """

    read_end: int
    write_end: IO[bytes]

    def give(self) -> None:
        self.write_end.close()


@contextmanager
def open_start_signal() -> Iterator[StartSignal]:
    read_end, write_end = os.pipe()
    with open(read_end), open(write_end, "wb") as writer:
        yield StartSignal(read_end, writer)


def build_processes(
    listener: socket.socket, start: StartSignal
) -> tuple[SupervisedProcess, SupervisedProcess]:
    """Return web and worker."""
    handle = listener.fileno()
    web = SupervisedProcess(
        "web",
        web_command(f"fd://{handle}"),
        signal.SIGTERM,
        keep_open=(handle, start.read_end),
        environment={START_SIGNAL: str(start.read_end)},
    )
    worker = [sys.executable, "-m", "celery", *worker_arguments()]
    return web, SupervisedProcess("worker", worker, signal.SIGKILL)


@contextmanager
def lock_home() -> Iterator[IO[str]]:
    """Lock the folder: two sites in it would share one SQLite file."""
    path = Path(settings.RANKFIELD_HOME) / LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            other = file.read().strip() or "starting"
            raise ServeError(f"Rankfield is already running in {path.parent}: {other}") from None
        yield file


def write_address(lock: IO[str], url: str) -> None:
    lock.truncate(0)
    lock.write(f"{url} (process {os.getpid()})\n")
    lock.flush()


@contextmanager
def open_listener(host: str, port: int) -> Iterator[socket.socket]:
    """Open the socket for web, so that it stays open while web restarts."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ServeError(f"{host}:{port} cannot be opened: {error.strerror}") from None
    with listener:
        yield listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    # Every address of this machine is also this one.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def exit_on_term() -> Iterator[None]:
    """Make TERM end the program like Ctrl-C, through every `finally`."""

    def leave(signum: int, frame: FrameType | None) -> None:
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def wait_until_ready(site: RunningSite) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        for child in site.children:
            if child.ended():
                raise ServeError(f"{child.name} ended at once; its output is above")
        if is_answering(site.url + "/healthz"):
            return
        time.sleep(LOOK_AGAIN)
    raise ServeError(f"{site.url} did not answer within {START_SECONDS} seconds")


def is_answering(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


def stop_all(children: list[SupervisedProcess]) -> None:
    """Stop all processes at once, with one time limit for all."""
    until = time.monotonic() + STOP_SECONDS
    for child in children:
        if child.process is not None and not child.ended():
            child.process.terminate()
    for child in children:
        child.stop(until)
