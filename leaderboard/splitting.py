"""Secret split of topics into public (leaderboard) and all (release board)."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from copy import copy

from leaderboard.models import Collection, Track


def drawn(numbers: Sequence[str], share: int, seed: str) -> list[str]:
    """So many per cent of the topics, at least one and never all, in their own order.

    >>> drawn(["1", "2", "3", "4"], 50, "a seed") == drawn(["1", "2", "3", "4"], 50, "a seed")
    True
    """
    many = min(max(1, round(len(numbers) * share / 100)), len(numbers) - 1)
    chosen = set(random.Random(seed).sample(list(numbers), max(0, many)))
    return [number for number in numbers if number in chosen]


def drawn_of(collection: Collection, left_out: Sequence[str], share: int) -> list[str]:
    """A new draw among the topics that count; nobody can tell the seed."""
    numbers = collection.topics.exclude(number__in=left_out).values_list("number", flat=True)
    return drawn(list(numbers), share, secrets.token_hex())


def public_part(track: Track) -> Track:
    """The track as it would be with its public topics alone; not for saving."""
    public = set(track.public_topics)
    numbers = track.collection.topics.values_list("number", flat=True)
    private = {number for number in numbers if number not in public}
    other = copy(track)
    other.excluded_topics = sorted(private.union(track.excluded_topics))
    return other
