"""The gate before every time: two programs printed the same values.

    python -m benchmarks.equality OURS THEIRS

Each printed value of theirs must be ours, digit by digit; what they leave out must be a topic
that the run does not answer, on which every measure is 0, or a measure that they do not have.
"""

from __future__ import annotations

import sys
from pathlib import Path


class Differ(Exception):
    """Two programs do not print the same; the message says where."""


def compare(ours: Path, theirs: Path) -> int:
    """How many values are the same. Raises `Differ`."""
    left, right = values_of(ours), values_of(theirs)
    measures = {name for name, _ in right}
    for key in left.keys() | right.keys():
        expected = left.get(key)
        found = right.get(key, "0" if key[0] in measures else expected)
        if expected is None or found is None or expected != found:
            raise Differ(f"{' '.join(key)}: ours {expected}, theirs {found}")
    if not right:
        raise Differ("they printed nothing")
    return len(right)


def values_of(printed: Path) -> dict[tuple[str, str], str]:
    """The text of every value by measure and topic; counts without their decimals."""
    values: dict[tuple[str, str], str] = {}
    with open(printed) as lines:
        for line in lines:
            name, topic, value = line.split()
            if topic != "all":
                values[sys.intern(name), sys.intern(topic)] = sys.intern(_plain(value))
    return values


def _plain(value: str) -> str:
    return value.removesuffix(".0000")


if __name__ == "__main__":
    try:
        print(compare(Path(sys.argv[1]), Path(sys.argv[2])))
    except Differ as difference:
        sys.exit(str(difference))
