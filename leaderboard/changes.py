"""What new judgments change in those before them: added, changed and removed, topic by topic."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

Grades = Mapping[bytes, Mapping[bytes, int]]

MOST_TOPICS = 10


@dataclass(frozen=True, slots=True)
class Change:
    """One judgment that is not as it was; None where there was none, or is none any more."""

    topic: str
    docno: str
    before: int | None
    after: int | None

    @property
    def kind(self) -> str:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"


def changes_between(before: Grades, after: Grades) -> Iterator[Change]:
    """Every judgment that differs, topic by topic in the order of `after`.

    >>> before, after = {b"7": {b"d1": 1, b"d2": 0}}, {b"7": {b"d1": 2, b"d3": 0}}
    >>> [(each.docno, each.kind) for each in changes_between(before, after)]
    [('d1', 'changed'), ('d2', 'removed'), ('d3', 'added')]
    """
    for topic in dict.fromkeys((*after, *before)):
        old, new = before.get(topic, {}), after.get(topic, {})
        for docno in dict.fromkeys((*old, *new)):
            if old.get(docno) != new.get(docno):
                yield Change(topic.decode(), docno.decode(), old.get(docno), new.get(docno))


def write_changes(before: Grades, after: Grades, out: IO[str]) -> dict[str, Any]:
    """Write every change as a line of CSV; their summary, as a preview keeps it."""
    writer = csv.writer(out)
    writer.writerow(["topic", "docno", "change", "before", "after"])
    kinds: Counter[str] = Counter()
    transitions: Counter[tuple[int | None, int | None]] = Counter()
    by_topic: dict[str, Counter[str]] = {}
    for change in changes_between(before, after):
        writer.writerow([change.topic, change.docno, change.kind, change.before, change.after])
        kinds[change.kind] += 1
        transitions[change.before, change.after] += 1
        by_topic.setdefault(change.topic, Counter())[change.kind] += 1
    most = sorted(by_topic, key=lambda topic: -by_topic[topic].total())[:MOST_TOPICS]
    return {
        **{kind: kinds[kind] for kind in ("added", "changed", "removed")},
        "transitions": [[*pair, number] for pair, number in transitions.items()],
        "num_topics": len(by_topic),
        "topics": [{"number": topic, **by_topic[topic]} for topic in most],
    }
