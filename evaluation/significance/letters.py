"""Compact letter display: letters for groups of runs that do not differ.

The method is insert and absorb (Piepho 2004).

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
    """Return the largest groups without a differing pair, as bit sets, ordered by their members."""
    if not len(different):
        return []
    later = np.triu(different)
    ends = np.where(later.any(axis=1), later.argmax(axis=1), len(later))
    all_beyond = np.count_nonzero(later, axis=1) == len(later) - ends
    if all_beyond.all() and (np.diff(ends) >= 0).all():
        return _stretches(ends.tolist())
    return sorted(_inserted_and_absorbed(later), key=_members)


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


def _inserted_and_absorbed(later: BoolArray) -> list[int]:
    """Return the groups under any relation: each differing pair splits the groups with both."""
    groups = [(1 << len(later)) - 1]
    for first, second in zip(*np.nonzero(later), strict=True):
        one, other = 1 << int(first), 1 << int(second)
        split = [group for group in groups if group & one and group & other]
        if split:
            kept = [group for group in groups if not (group & one and group & other)]
            halves = [half for group in split for half in (group & ~one, group & ~other)]
            groups = kept + _absorbed(halves, kept)
    return groups


def _absorbed(halves: list[int], kept: list[int]) -> list[int]:
    """Return the new groups that are not part of another group."""
    left: list[int] = []
    for half in sorted(set(halves), key=int.bit_count, reverse=True):
        if not any(half & group == half for group in (*kept, *left)):
            left.append(half)
    return left


def _members(group: int) -> list[int]:
    return [position for position in range(group.bit_length()) if group >> position & 1]
