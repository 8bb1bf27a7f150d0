"""What no reader in numpy can beat: reading a file, and finding the blanks in it.

    python -m benchmarks.limit benchmarks/cache/L.run

`python -m benchmarks.scoring --only limit` weighs it beside the scorer, both as whole processes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

# What fits a core's own cache.
BLOCK = 512 * 1024


def count_blanks(path: Path) -> int:
    """How many bytes are blanks or ends of lines; their places are found, a block at a time."""
    found = 0
    buffer = np.empty(BLOCK, np.uint8)
    with open(path, "rb", buffering=0) as file:
        while length := file.readinto(buffer):
            found += len(np.flatnonzero(buffer[:length] <= 32))
    return found


if __name__ == "__main__":
    print(count_blanks(Path(sys.argv[1])))
