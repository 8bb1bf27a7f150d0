"""Forks: other processes that do parts of a work and send what they found.

They begin with everything that this process has read, such as judgments, without a copy of it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fork:
    """A process at work, and the pipe on which it answers."""

    process: int
    pipe: int

    def receive(self) -> bytes:
        """Wait for the answer; empty if the process died."""
        with open(self.pipe, "rb", closefd=False) as pipe:
            return pipe.read()


def count_cores() -> int:
    """Return how many processes can work at once; 1 where there are no forks."""
    if not hasattr(os, "fork"):
        return 1
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


@contextmanager
def run_forks(works: Sequence[Callable[[], bytes]]) -> Iterator[list[Fork]]:
    """Start a process for each work; all end with this context."""
    running: list[Fork] = []
    try:
        for work in works:
            running.append(_start_fork(work))
        yield running
    finally:
        for fork in running:
            os.close(fork.pipe)
            os.kill(fork.process, signal.SIGKILL)
            os.waitpid(fork.process, 0)


def _start_fork(work: Callable[[], bytes]) -> Fork:
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return Fork(process, reading)
    try:
        with open(writing, "wb") as pipe:
            pipe.write(work())
    finally:
        os._exit(0)
