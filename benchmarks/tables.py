"""Printing: the machine, tables in Markdown, and numbers with the digits that they deserve."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

NOT_MEASURED = "not measured"


def machine() -> str:
    """One line about where the numbers come from; a number without it says nothing."""
    name = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text().splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        name = names[0] if names else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = os.getloadavg()[0]
    python = platform.python_version()
    return f"{name}, {cores} cores, {platform.system()}, Python {python}, load {load:.1f} before"


def heading(text: str) -> None:
    print(f"\n## {text}\n", flush=True)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table, each row as soon as it is known."""
    print(f"| {' | '.join(head)} |\n|{' :-- |' * len(head)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def seconds(value: float) -> str:
    """
    >>> seconds(1234.5), seconds(12.34), seconds(0.01234), seconds(0.0000123)
    ('1,234 s', '12.3 s', '12.3 ms', '12.3 µs')
    """
    unit, factor = ("s", 1.0) if value >= 1 else ("ms", 1e3) if value >= 1e-3 else ("µs", 1e6)
    shown = value * factor
    digits = 0 if shown >= 100 else 1 if shown >= 10 else 2
    return f"{shown:,.{digits}f} {unit}"


def times(value: float) -> str:
    """
    >>> times(8.04), times(314.2)
    ('8.0x', '314x')
    """
    return f"{value:.1f}x" if value < 100 else f"{value:.0f}x"


def mebibytes(value: float) -> str:
    return f"{value / 2**20:,.0f} MiB"
