"""Compact letter display: letters for groups of runs that do not differ.

Groups under one margin are stretches of the sorted runs; else they cover the graph of the pairs
that do not differ by cliques (Gramm et al., Computational Statistics and Data Analysis 2007).

>>> different = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
>>> letters_of(different, order=np.arange(3))
('a', 'ab', 'b')
"""

from __future__ import annotations

from string import ascii_letters

import numpy as np

from evaluation.ragged import BoolArray, IntArray


def letters_of(different: BoolArray, order: IntArray) -> tuple[str, ...]:
    """Return a word for every run; two runs share a letter if and only if they do not differ.

    `different` is bool[R, R] and symmetric, `order` lists the runs from the best. Letters are
    a to z, A to Z, a' to z' and so on; the first is for the group of the best run.
    """
    place = np.argsort(order)
    words = [""] * len(order)
    for number, group in enumerate(_groups(different[np.ix_(order, order)])):
        name = ascii_letters[number % 52] + "'" * (number // 52)
        for position in _members(group):
            words[position] += name
    return tuple(words[position] for position in place.tolist())


def _groups(different: BoolArray) -> list[int]:
    """Return groups without a differing pair, as bit sets, ordered by their members."""
    if not len(different):
        return []
    later = np.triu(different)
    ends = np.where(later.any(axis=1), later.argmax(axis=1), len(later))
    all_beyond = np.count_nonzero(later, axis=1) == len(later) - ends
    if all_beyond.all() and (np.diff(ends) >= 0).all():
        return _stretches(ends.tolist())
    return sorted(_cover(different), key=_members)


def _stretches(ends: list[int]) -> list[int]:
    """Return the groups under one margin: from each run to the last that does not differ.

    `ends` ascends; a stretch with the same end as the one before is part of it.
    """
    befores = [0, *ends]
    return [
        (1 << end) - (1 << start)
        for start, (before, end) in enumerate(zip(befores, ends, strict=False))
        if end > before
    ]


def _cover(different: BoolArray) -> list[int]:
    """Return groups under any relation that hold every pair that does not differ, few at a time.

    All largest groups could be exponentially many. Each group starts with a pair that no group
    holds yet, takes its other new pairs first, and then all runs that differ from none in it.
    """
    same = [_bits(row) for row in ~different]
    missing = [row & ~(1 << run) for run, row in enumerate(same)]
    groups: list[int] = []
    for run, row in enumerate(same):
        if row == 1 << run:
            groups.append(row)
        while missing[run]:
            group, allowed = 1 << run, row & ~(1 << run)
            while allowed:
                wanted = allowed & missing[run] or allowed
                lowest = wanted & -wanted
                group |= lowest
                allowed &= same[lowest.bit_length() - 1] & ~lowest
            for member in _members(group):
                missing[member] &= ~group
            groups.append(group)
    return groups


def _bits(row: BoolArray) -> int:
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


def _members(group: int) -> list[int]:
    return [position for position in range(group.bit_length()) if group >> position & 1]
