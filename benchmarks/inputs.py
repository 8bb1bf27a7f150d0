"""What is measured: runs of four sizes with their judgments, and one run in other layouts.

The files lie in `benchmarks/cache` and are made where they are missing. Whoever measures the
memory of others must be small himself, so nothing here imports numpy; `generator` does.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
CACHE = Path(__file__).parent / "cache"
# Documents of the collection behind L, as many as MS MARCO has passages.
DOCUMENTS = 8_841_823
LAYOUTS = ("tabs", "several blanks", "17 digits", "shuffled lines")


@dataclass(frozen=True)
class Input:
    """A run of `topics` rankings, `depth` deep, with about `judged` judgments a topic."""

    name: str
    topics: int
    depth: int
    judged: float
    top_grade: int
    first_topic: int
    # How scores are written; coarser values first, where there are to be ties.
    scores: str
    # One judged topic is not answered, one answered topic is not judged, 1 % of the judgments
    # is negative, docnos are long.
    ragged: bool = False

    @property
    def run(self) -> Path:
        return self.file(f"{self.name}.run")

    @property
    def qrels(self) -> Path:
        return self.file(f"{self.name}.qrels")

    @property
    def packed(self) -> Path:
        """The run as it is uploaded."""
        return self.file(f"{self.name}.run.gz")

    @property
    def docnos(self) -> Path:
        """Every document of the collection, one a line."""
        return self.file(f"{self.name}.docnos")

    @property
    def known_docnos(self) -> Path:
        """The same documents as readers are given them."""
        return self.file(f"{self.name}.known-docnos")

    def layout(self, name: str) -> Path:
        """The same run, written otherwise."""
        return self.file(f"{self.name}.{name.replace(' ', '-')}.run")

    def file(self, name: str) -> Path:
        """The file of that name, made now where it is missing."""
        path = CACHE / name
        if not path.exists():
            words = [sys.executable, "-m", "benchmarks.generator", name]
            subprocess.run(words, cwd=ROOT, check=True)
        return path


INPUTS = {
    each.name: each
    for each in (
        Input("S", 50, 1000, 100, 3, 201, "six decimals with ties", ragged=True),
        Input("M", 250, 1000, 295, 4, 501, "32-bit floats", ragged=True),
        Input("L", 6980, 1000, 1.07, 1, 1_048_585, "six decimals"),
        Input("XL", 100_000, 100, 5.05, 2, 2_000_001, "four decimals"),
    )
}
