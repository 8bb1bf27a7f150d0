"""Names with a number, such as `pool-3`."""

from __future__ import annotations

import re
from collections.abc import Iterable


def next_name(stem: str, names: Iterable[str]) -> str:
    """Return the stem with the number after the highest one that a name has.

    >>> next_name("pool-", ["pool-2", "pool-10", "final", "pool-x"])
    'pool-11'
    >>> next_name("v", [])
    'v1'
    """
    found = (re.fullmatch(rf"{re.escape(stem)}([0-9]+)", name) for name in names)
    return f"{stem}{max((int(match[1]) for match in found if match), default=0) + 1}"
