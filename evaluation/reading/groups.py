"""Groups of topics: lines `topic group`, such as the conversation that a turn belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import BinaryIO

import numpy as np

from evaluation.problems import Problems
from evaluation.ragged import IntArray
from evaluation.reading.columns import check_identifier, columns_of
from evaluation.reading.containers import RUN_LIMITS
from evaluation.reading.lines import data_lines, in_line_order, numbered_lines

# What may stand between a group and a topic, as in 31_1.
SIGNS = ("_", "-", ".", ":", "/")


def read_groups(file: BinaryIO) -> dict[bytes, bytes]:
    """Return the group of each topic.

    Raises `Refused` with each problem at its line: E_COLUMNS, E_TOPIC, E_DUP_TOPIC or E_EMPTY.

    >>> from io import BytesIO
    >>> read_groups(BytesIO(b"31_1 31\\n31_2 31\\n"))
    {b'31_1': b'31', b'31_2': b'31'}
    """
    problems = Problems()
    groups: dict[bytes, bytes] = {}
    lines = numbered_lines(file, problems, RUN_LIMITS.line, RUN_LIMITS.lines)
    for number, line in data_lines(lines, problems):
        columns = columns_of(number, line, problems)
        if columns and len(columns) != 2:
            message = f"expected 2 columns (topic group) but found {len(columns)}"
            problems.error("E_COLUMNS", number, message, line)
        elif columns and check_identifier("topic number", "E_TOPIC", number, columns[0], problems):
            topic, group = columns
            if topic in groups:
                problems.error("E_DUP_TOPIC", number, "the topic already has a group", topic)
            groups.setdefault(topic, group)
    if not groups and not problems.errors:
        problems.error("E_EMPTY", None, "the file has no groups")
    in_line_order(problems).raise_if_refused()
    return groups


def prefix_of(topic: str, sign: str) -> str:
    """Return what stands before the last `sign`; the whole number where there is none.

    >>> prefix_of("31_1", "_"), prefix_of("7", "_")
    ('31', '7')
    """
    return topic.rpartition(sign)[0] or topic


def find_sign(topics: Sequence[str]) -> str:
    """Return the sign that may stand between a group and a topic; empty where none seems to.

    Every number has it, there are several prefixes, and half of the topics share theirs.

    >>> find_sign(["31_1", "31_2", "4_1"]), find_sign(["7", "8"]), find_sign(["q-1", "q-2"])
    ('_', '', '')
    """
    for sign in SIGNS:
        if all(topic.rpartition(sign)[0] for topic in topics):
            sizes = Counter(prefix_of(topic, sign) for topic in topics)
            sharing = sum(size for size in sizes.values() if size > 1)
            if len(sizes) > 1 and 2 * sharing >= len(topics):
                return sign
    return ""


def number_groups(topics: Sequence[bytes], groups: Mapping[bytes, bytes]) -> IntArray:
    """Return the group of each topic, int64[T], from 0 in the order of their names.

    ValueError where a topic has no group.

    >>> number_groups([b"31_1", b"31_2", b"4_1"], {b"31_1": b"31", b"31_2": b"31", b"4_1": b"4"})
    array([0, 0, 1])
    """
    for topic in topics:
        if topic not in groups:
            raise ValueError(f"no group for the topic {topic.decode(errors='replace')}")
    names = [groups[topic] for topic in topics]
    place = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([place[name] for name in names], dtype=np.int64)
