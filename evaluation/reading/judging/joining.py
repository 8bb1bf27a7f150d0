"""Judgments that arrive in parts: grades of a further file joined with those that are there.

A judgment of -1, a document that was pooled but not judged, yields to every grade.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Grades: TypeAlias = Mapping[bytes, Mapping[bytes, int]]
# Whose grade counts where both judged a document.
Rule: TypeAlias = Literal["newer", "older", "higher"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A document that both parts judged, with two grades."""

    topic: bytes
    docno: bytes
    before: int
    after: int


def find_conflicts(before: Grades, added: Grades) -> Iterator[Conflict]:
    """Yield each document to which two parts give different grades, in the order of the second.

    >>> before, added = {b"7": {b"d1": 1, b"d2": -1}}, {b"7": {b"d1": 2, b"d2": 1, b"d3": 0}}
    >>> [(each.docno, each.before, each.after) for each in find_conflicts(before, added)]
    [(b'd1', 1, 2)]
    """
    for topic, judged in added.items():
        old = before.get(topic, {})
        for docno, grade in judged.items():
            was = old.get(docno, grade)
            if was != grade and min(was, grade) >= 0:
                yield Conflict(topic, docno, was, grade)


def join_grades(before: Grades, added: Grades, rule: Rule) -> dict[bytes, dict[bytes, int]]:
    """Return the grades of both parts, topics and documents in the order of the first.

    >>> before, added = {b"7": {b"d1": 1, b"d2": -1}}, {b"7": {b"d1": 2, b"d2": 1, b"d3": 0}}
    >>> join_grades(before, added, "older")
    {b'7': {b'd1': 1, b'd2': 1, b'd3': 0}}
    """
    joined = {topic: dict(judged) for topic, judged in before.items()}
    for topic, judged in added.items():
        grades = joined.setdefault(topic, {})
        for docno, grade in judged.items():
            was = grades.setdefault(docno, grade)
            keeps = rule == "older" or (rule == "higher" and was > grade)
            if was < 0 or (grade >= 0 and not keeps):
                grades[docno] = grade
    return joined
