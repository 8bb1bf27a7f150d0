"""What holds for the time of one job: its lease, its limits of time and of memory."""

from __future__ import annotations

import logging
import math
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from leaderboard.models import Job

log = logging.getLogger(__name__)

# How much longer than its limit a job may take that does not end when it is told to, or that
# waits to write its result.
GRACE = 30


class LeaseLost(Exception):
    """Another worker may have this job by now; whatever this one found is worth nothing."""


class TooLong(Exception):
    """The job has used its time."""


class Lease(threading.Thread):
    """Renews the lease of a job while its work goes on, from a connection of its own.

    What the work says of its progress is written with the renewal.  `too_long` fails the job;
    where that has an effect, the process ends, since nothing else stops what does not listen.
    """

    def __init__(self, job: Job, beat: Callable[[], None], too_long: Callable[[], bool]) -> None:
        super().__init__(name=f"lease of job {job.pk}", daemon=True)
        self.job = job
        self.ends = math.inf
        self.beat = beat
        self.too_long = too_long
        self.at = (0, 0)
        self.lost = False
        self.over = threading.Event()

    def __enter__(self) -> Lease:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.join()

    def allow(self, seconds: float) -> None:
        """So much time from now on; waiting for a database that is away took none of it."""
        self.ends = time.monotonic() + seconds + GRACE

    def progress(self, done: int, of: int) -> None:
        """For the work to call as often as it likes."""
        if self.lost:
            raise LeaseLost
        self.at = (done, of)

    def run(self) -> None:
        try:
            while not self.lost and not self.over.wait(settings.RENEW_SECONDS):
                self.renew()
        finally:
            connection.close()

    def renew(self) -> None:
        try:
            self.beat()
            self.lost = not self.job.renew(*self.at)
            if time.monotonic() > self.ends and self.too_long():
                die()
        except (OperationalError, InterfaceError) as error:
            log.warning("job %s: its lease waits: %s", self.job.pk, str(error).strip())
            connection.close()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TooLong inside after so many seconds, and again until it is heard.

    Signals reach the main thread alone, which is where a pool process does its work.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds, 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _too_long(signum: int, frame: FrameType | None) -> None:
    raise TooLong


@contextmanager
def memory_limit(more: int) -> Iterator[None]:
    """Let this process take so many bytes more than it has; then it meets MemoryError.

    Linux alone counts what a process has mapped for data; elsewhere there is no limit.
    """
    if sys.platform != "linux":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (data_in_use() + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def data_in_use() -> int:
    """The bytes this process has mapped for data, as RLIMIT_DATA counts them."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0
