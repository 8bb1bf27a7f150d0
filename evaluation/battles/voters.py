"""Voters whose votes say more of the side of the screen than of what stood there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evaluation.battles.votes import Kind, Vote

# With this many votes for a winner, the chance that all name one side is 2^-9, below .002.
FEWEST_DECISIVE = 10


@dataclass(frozen=True, slots=True)
class SideVoter:
    """A voter who always chose one side, in `votes` pairs with a winner."""

    voter: str
    kind: Kind
    side: Literal["left", "right"]
    votes: int


def find_side_voters(votes: Iterable[Vote]) -> list[SideVoter]:
    """Return the voters who chose one side in each of ten or more votes for a winner, by name.

    >>> votes = [Vote(str(topic), "oak", "elm", "left", "ada") for topic in range(10)]
    >>> find_side_voters(votes)
    [SideVoter(voter='ada', kind='person', side='left', votes=10)]
    >>> find_side_voters([*votes, Vote("10", "oak", "elm", "right", "ada")])
    []
    """
    counts: dict[tuple[str, Kind], Counter[str]] = {}
    for vote in votes:
        if vote.choice in ("left", "right"):
            counts.setdefault((vote.voter, vote.kind), Counter())[vote.choice] += 1
    found = []
    for (voter, kind), sides in sorted(counts.items()):
        side: Literal["left", "right"] = "left" if sides["left"] else "right"
        if len(sides) == 1 and sides[side] >= FEWEST_DECISIVE:
            found.append(SideVoter(voter, kind, side, sides[side]))
    return found
