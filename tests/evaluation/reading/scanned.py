"""Scans every file of some folders, whole, cut and damaged; for a library that checks its accesses.

    python -m tests.evaluation.reading.scanned LIBRARY FOLDER

prints how many texts were scanned, and how many were proved to be runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import numpy as np

from evaluation.reading.fast.scanner import Scanner, open_library
from evaluation.reading.words import Text, Unclear
from tests.evaluation.reading.test_mutations import RUN, mutated

FOLDERS = ("badinputs", "conformance", "data/cranfield/runs")
MOST = 1 << 20
TIMES = 10


def main(library: str, data: str) -> None:
    random, checked = Random(1), open_library(library)
    assert checked
    paths = [path for name in FOLDERS for path in sorted(Path(data, name).rglob("*"))]
    whole = [path.read_bytes()[:MOST] for path in paths if path.is_file()]
    scanned = proved = 0
    for text in [*whole, *[RUN] * 1_000]:
        cut = text[: random.randrange(len(text) + 1)]
        for each in (text, cut, *(mutated(text, random) for _ in range(TIMES))):
            # Nothing follows the last byte, so that one read too far is found.
            padded = np.frombuffer(bytes(Text.ROOM) + each, np.uint8).copy()
            scanned += 1
            try:
                Scanner(checked).scanned_lines_in(Text.within(padded, len(padded)), 6)
                proved += 1
            except Unclear:
                pass
    print(scanned, proved)


if __name__ == "__main__":
    main(*sys.argv[1:])
