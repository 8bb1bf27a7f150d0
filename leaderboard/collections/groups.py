"""The groups of topics that a collection declares, such as the conversations of its turns.

A group is named by a file of lines `topic group`, by a column of the topics, or by what stands
before a sign of each number. Where numbers only look so, an organiser is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evaluation.problems import Problems
from evaluation.reading.groups import SIGNS, find_sign, prefix_of
from evaluation.reading.topics import Topic
from leaderboard.collections.preview import NAMES_SHOWN, GroupingFound

# What the grouping of a collection may be: that of a file or a column, none, or a sign.
DECLARED = "declared"
APART = "apart"
GROUPINGS = (DECLARED, APART, *SIGNS)


def group_topics(
    topics: Sequence[Topic], grouping: str, group_of: Mapping[bytes, bytes]
) -> list[Topic]:
    """Return the topics, numbered as in their file, with the group of each.

    `group_of` is what a file of groups says, empty without one; raises `Refused`, with E_GROUP,
    where it lacks a topic.
    """
    if grouping == APART:
        return [replace(topic, group="") for topic in topics]
    if grouping in SIGNS:
        return [replace(topic, group=prefix_of(topic.number, grouping)) for topic in topics]
    if not group_of:
        return list(topics)
    problems = Problems()
    without = [topic.number for topic in topics if topic.number.encode() not in group_of]
    if without:
        message = f"{len(without):,} of {len(topics):,} topics have no group"
        problems.error("E_GROUP", None, message, without[0])
    problems.raise_if_refused()
    return [replace(topic, group=group_of[topic.number.encode()].decode()) for topic in topics]


def find_groupings(topics: Sequence[Topic], group_of: Mapping[bytes, bytes]) -> list[GroupingFound]:
    """Return how these topics may be grouped: as declared, and by a sign in their numbers."""
    sign = find_sign([topic.number for topic in topics])
    ways = [DECLARED, sign] if sign else [DECLARED]
    grouped = [(way, group_topics(topics, way, group_of)) for way in ways]
    return [_describe(way, own) for way, own in grouped if any(topic.group for topic in own)]


def number_names(names: Sequence[str]) -> NDArray[np.int64] | None:
    """Return the number of the group of each topic, from 0; None where topics have no groups.

    >>> number_names(["31", "31", "4"]), number_names(["", ""])
    (array([0, 0, 1]), None)
    """
    if not names or not all(names):
        return None
    found: NDArray[np.int64] = np.unique(np.array(names), return_inverse=True)[1]
    return found


def _describe(grouping: str, topics: Sequence[Topic]) -> GroupingFound:
    sizes = Counter(topic.group for topic in topics)
    first = list(sizes)[:NAMES_SHOWN]
    return GroupingFound(grouping, len(sizes), max(sizes.values()), first)
