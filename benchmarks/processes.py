"""Running whole programs and weighing them, start to exit; two of them in turn, never together."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.inputs import ROOT

MIB = 2**20
# Where Python is told to keep no bytecode, every process would compile this project anew, while
# the programs beside it came with theirs.
ENVIRONMENT = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Failed(Exception):
    """A program ended with an error; its own words are the message."""


@dataclass(frozen=True)
class Cost:
    """What one process took: seconds on the clock, seconds of processor, bytes at its peak."""

    wall: float
    processor: float
    memory: int


@dataclass(frozen=True)
class Costs:
    """The same program several times."""

    each: tuple[Cost, ...]

    @property
    def wall(self) -> float:
        return statistics.median(cost.wall for cost in self.each)

    @property
    def processor(self) -> float:
        return statistics.median(cost.processor for cost in self.each)

    @property
    def memory(self) -> int:
        return max(cost.memory for cost in self.each)


def run(words: Sequence[str | Path], output: Path | None = None) -> Cost:
    """Run a program once; what it prints goes into `output`.

    The kernel counts what a child had in memory before it became its own program, so the process
    that calls this must itself be small.
    """
    with open(output or os.devnull, "wb") as file:
        start = time.perf_counter()
        process = subprocess.Popen(
            words, cwd=ROOT, env=ENVIRONMENT, stdout=file, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
    if process.returncode:
        raise Failed(f"{' '.join(map(str, words))}\n{said.decode(errors='replace')}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def in_turn(*programs: Sequence[str | Path], times: int = 5) -> list[Costs]:
    """A, B, A, B: whatever slows the machine for a while slows both."""
    rounds = [[run(words) for words in programs] for _ in range(times)]
    return [Costs(tuple(costs)) for costs in zip(*rounds, strict=True)]
