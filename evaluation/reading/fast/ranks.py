"""Ranks that count the lines of each topic from the same number on, as in nearly every run.

Comparing a rank with the expected one is much faster than reading it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evaluation.reading.words import FIRST, WORD, Places, Words

IntArray = npt.NDArray[np.int64]

# Ranks below this one are compared with the expected ranks.
COUNTED = 2048
FEW = 8
DIGITS = np.array([len(str(rank)) for rank in range(COUNTED)])


def count_ranks(first: bytes, sizes: Places) -> IntArray | None:
    """Return the rank of every line if all topics of these sizes count from the first rank.

    None if there would be too many ranks, or if most topics have a single line.
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
    """Return whether each word, from the byte before a rank, spells that rank between two bytes."""
    spelled, masks = _spelled(before, behind)
    differ = spelled.take(ranks)
    differ ^= words
    differ &= masks.take(ranks)
    return not differ.any()


@lru_cache(maxsize=4)
def _spelled(before: int, behind: int) -> tuple[Words, Words]:
    """Return a word for each rank from 0 between these bytes, and a mask of its bytes."""
    texts = [b"%c%d%c" % (before, rank, behind) for rank in range(COUNTED)]
    return np.array(texts, f"S{WORD}").view(np.uint64), FIRST[list(map(len, texts))]
