"""Ranks as nearly every run has them: each topic counts its lines, from the same number on.

To compare a rank with what it then must be takes a fraction of the time that reading it does.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evaluation.reading.words import FIRST, WORD, Places, Words

IntArray = npt.NDArray[np.int64]

# Ranks below this one are counted, where so many lines of a topic follow each other.
COUNTED = 2048
FEW = 8
DIGITS = np.array([len(str(rank)) for rank in range(COUNTED)])


def count_ranks(first: bytes, sizes: Places) -> IntArray | None:
    """The rank of every line, if topics of these sizes all count on from the first rank.

    None where ranks would be too many to be counted, or most lines are alone with their topic.
    """
    low = int(first) if first.isdigit() and len(first) < len(str(COUNTED)) else COUNTED
    lines = int(sizes.sum())
    if low + sizes.max() > COUNTED or len(sizes) * FEW > lines:
        return None
    starts = np.cumsum(sizes) - sizes
    ranks: IntArray = np.arange(low, low + lines)
    ranks -= np.repeat(starts, sizes)
    return ranks


def are_spelled(ranks: IntArray, words: Words, before: int, behind: int) -> bool:
    """Whether each word, from the byte before a rank on, spells that rank between two bytes."""
    spelled, masks = _spelled(before, behind)
    differ = spelled.take(ranks)
    differ ^= words
    differ &= masks.take(ranks)
    return not differ.any()


@lru_cache(maxsize=4)
def _spelled(before: int, behind: int) -> tuple[Words, Words]:
    """A word for each rank from 0, as it stands between these bytes, and which of it counts."""
    texts = [b"%c%d%c" % (before, rank, behind) for rank in range(COUNTED)]
    return np.array(texts, f"S{WORD}").view(np.uint64), FIRST[list(map(len, texts))]
