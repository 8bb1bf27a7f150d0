"""Tables of what new judgments change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leaderboard.collections.preview import ChangesFound
from leaderboard.display.numbers import count, counted


@dataclass(frozen=True)
class TopicOfChanges:
    number: str
    added: str
    changed: str
    removed: str


@dataclass(frozen=True)
class JudgmentChanges:
    since: str
    is_none: bool
    words: str
    columns: list[int | None]
    # For each grade before, the number of judgments by their grade now.
    transitions: list[tuple[int | None, list[str]]]
    topics: list[TopicOfChanges]
    num_topics: int

    @property
    def more_topics(self) -> int:
        return self.num_topics - len(self.topics)


def describe_judgment_changes(found: ChangesFound | None) -> JudgmentChanges | None:
    """Return the tables of the changes that a check found; None without earlier judgments."""
    if found is None:
        return None
    cells = {(before, after): number for before, after, number in found.transitions}
    columns = distinct_grades(after for _, after in cells)
    rows = [
        (before, [count_or_blank(cells.get((before, after), 0)) for after in columns])
        for before in distinct_grades(before for before, _ in cells)
    ]
    return JudgmentChanges(
        since=found.since,
        is_none=not cells,
        words=describe_changes(found),
        columns=columns,
        transitions=rows,
        topics=[
            TopicOfChanges(
                topic.number,
                *(count_or_blank(n) for n in (topic.added, topic.changed, topic.removed)),
            )
            for topic in found.topics
        ],
        num_topics=found.num_topics,
    )


def describe_changes(found: ChangesFound) -> str:
    """
    >>> describe_changes(ChangesFound("v1", 1, 2, 0, [], 2, []))
    '1 judgment added, 2 changed and 0 removed, in 2 topics.'
    """
    added = counted(found.added, "judgment")
    rest = f"{count(found.changed)} changed and {count(found.removed)} removed"
    return f"{added} added, {rest}, in {counted(found.num_topics, 'topic')}."


def distinct_grades(grades: Any) -> list[int | None]:
    """Return each grade once, the highest first, with None for unjudged at the end.

    >>> distinct_grades([None, 1, 2, 1])
    [2, 1, None]
    """
    every = set(grades)
    known = sorted((grade for grade in every if grade is not None), reverse=True)
    return [*known, *([None] if None in every else [])]


def count_or_blank(number: int | None) -> str:
    return count(number) if number else ""
