"""The lease of a job, and its limits of time and memory."""

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

# The extra seconds for a job that does not end at its limit, or that waits to write its result.
GRACE = 30


class LeaseLostError(Exception):
    """Another worker may have this job now, so this worker's result is not written."""


class JobTimeoutError(Exception):
    """The job has used all its time."""


class Lease(threading.Thread):
    """A thread that renews the lease of a running job over its own database connection.

    It writes the job's progress with each renewal.  After the time limit it calls `fail_timed_out`;
    if the job was still ours, it then kills the process, since nothing else stops stuck code.
    """

    def __init__(
        self, job: Job, beat: Callable[[], None], fail_timed_out: Callable[[], bool]
    ) -> None:
        super().__init__(name=f"lease of job {job.pk}", daemon=True)
        self.job = job
        self.ends = math.inf
        self.beat = beat
        self.fail_timed_out = fail_timed_out
        self.at = (0, 0)
        self.is_lost = False
        self.stopped = threading.Event()

    def __enter__(self) -> Lease:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.join()

    def set_time_limit(self, seconds: float) -> None:
        """Start a new time limit now; waiting for a lost database does not count."""
        self.ends = time.monotonic() + seconds + GRACE

    def progress(self, done: int, of: int) -> None:
        """Note the progress of the work, which may call this at any time."""
        if self.is_lost:
            raise LeaseLostError
        self.at = (done, of)

    def run(self) -> None:
        try:
            while not self.is_lost and not self.stopped.wait(settings.RENEW_SECONDS):
                self.renew()
        finally:
            connection.close()

    def renew(self) -> None:
        """Renew the lease, and end the process when its job has timed out."""
        try:
            self.beat()
            self.is_lost = not self.job.renew(*self.at)
            if time.monotonic() > self.ends and self.fail_timed_out():
                kill_process()
        except (OperationalError, InterfaceError) as error:
            log.warning("job %s: cannot renew its lease: %s", self.job.pk, str(error).strip())
            connection.close()


def kill_process() -> None:
    """Kill this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise JobTimeoutError inside after this many seconds, and again until the work ends.

    Signals reach only the main thread, which is where a pool process does its work.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, seconds, 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _raise_timeout(signum: int, frame: FrameType | None) -> None:
    raise JobTimeoutError


@contextmanager
def memory_limit(more: int) -> Iterator[None]:
    """Let this process use this many more bytes; beyond that it raises MemoryError.

    Only Linux counts the data that a process has mapped; elsewhere there is no limit.
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
    """Return the bytes this process has mapped for data, as RLIMIT_DATA counts them."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0
