"""What packing saves on runs as submitted, and whether a dictionary of other runs saves more.

    python -m benchmarks.packing FOLDER

The folder has runs of one track, as text or with gzip.  Every second one trains the dictionary,
and the others are packed.  `leaderboard.runs.packing` does what the line of its level says.
"""

from __future__ import annotations

import gzip
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard

from benchmarks import tables
from leaderboard.infrastructure.packed_files import LEVEL

# The size that Zstandard recommends, trained on pieces of runs.
DICTIONARY, PIECE = 112_640, 16_384
# Wide enough for a whole run before each other one.
WINDOW = 24
QUICK = 3


def read_runs(folder: Path) -> list[bytes]:
    packed = [path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()]
    return [gzip.decompress(each) if each[:2] == b"\x1f\x8b" else each for each in packed]


def ways(others: list[bytes]) -> dict[str, Callable[[bytes], bytes]]:
    """Each way to pack a run, when some others of its track are known."""
    pieces = [run[at : at + PIECE] for run in others for at in range(0, len(run), PIECE)]
    trained = zstandard.train_dictionary(DICTIONARY, pieces)
    whole = zstandard.ZstdCompressionDict(others[0], dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    wide = zstandard.ZstdCompressionParameters.from_level(LEVEL, window_log=WINDOW, enable_ldm=True)
    beside = zstandard.ZstdCompressor(compression_params=wide, dict_data=whole)
    return {
        "gzip, level 6": lambda run: gzip.compress(run, 6),
        **{
            f"Zstandard, level {level}{words}": zstandard.ZstdCompressor(level, given).compress
            for level in (QUICK, LEVEL)
            for words, given in (("", None), (" with a dictionary", trained))
        },
        f"Zstandard, level {LEVEL} with another run": beside.compress,
    }


def rows(runs: list[bytes]) -> Iterator[tuple[str, str, str]]:
    others, packed = runs[::2], runs[1::2]
    size = sum(map(len, packed))
    yield "as submitted", f"{size / len(packed) / 1000:,.0f} kB", ""
    for name, pack in ways(others).items():
        began = time.process_time()
        left = sum(len(pack(run)) for run in packed)
        took = tables.seconds((time.process_time() - began) / len(packed))
        yield name, f"{left / size:.1%}", took


def main() -> None:
    print(tables.machine())
    tables.table(("", "left of a run", "processor time"), rows(read_runs(Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
