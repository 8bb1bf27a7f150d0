"""A bar on the terminal, or in a notebook, while a site works."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TextIO

WIDTH = 24


@dataclass
class ProgressBar:
    """Shows how many of `total` are done; prints nothing unless `is_shown`.

    >>> bar = ProgressBar(4, is_shown=True, output=sys.stdout)
    >>> bar.show(1, "bm25 is queued")  # doctest: +SKIP
    [######..................] 1 of 4, bm25 is queued
    """

    total: int
    is_shown: bool
    output: TextIO = field(default_factory=lambda: sys.stderr)
    unit: str = ""
    shown: str = ""

    def show(self, done: int, words: str = "") -> None:
        filled = WIDTH * done // max(self.total, 1)
        bar = "#" * filled + "." * (WIDTH - filled)
        line = f"[{bar}] {done} of {self.total} {self.unit}".rstrip()
        line += f", {words}" if words else ""
        if self.is_shown and line != self.shown:
            # Blanks cover what is left of a longer line.
            print(f"\r{line.ljust(len(self.shown))}", end="", file=self.output, flush=True)
            self.shown = line

    def end(self) -> None:
        if self.shown:
            print(file=self.output, flush=True)


def is_watched() -> bool:
    """Return whether a person is likely to see a bar; the terminals of CI only keep its lines."""
    is_terminal = sys.stderr.isatty() and not os.environ.get("CI")
    return is_terminal or "ipykernel" in sys.modules
