"""Marks: the answers of assessors about documents, kept as a log that only grows.

A correction is a new mark that names the one it replaces, and so is an undo. Nothing is changed
in place, so the log can be replayed at any time.

    >>> first = Mark("301", "D1", "ada", grade=2, key="k1")
    >>> better = Mark("301", "D1", "ada", grade=1, key="k2", replaces="k1")
    >>> [mark.grade for mark in replay([first, better])]
    [1]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["grade", "cannot", "later", "undo"]
KINDS: tuple[Kind, ...] = get_args(Kind)
REASONS = ("unreadable", "language", "topic", "missing")
HIGHEST_GRADE = 127


@dataclass(frozen=True, slots=True)
class Mark:
    """One answer of an assessor about a document of a topic.

    `kind` "grade" has a grade from 0 to 127, the others have none: "cannot" is judged by nobody
    for a reason of `REASONS`, "later" is put off, "undo" takes the mark back that it `replaces`.
    `turn` is 1 for the first opinion of a topic, 2 for the second. `at` has a time zone, `seconds`
    is how long the assessor looked, `guideline` the number of its version. `spans` are ranges of
    characters, [start, end), that gave evidence. `key` identifies the mark, `replaces` is the key
    of an earlier one. `order` is the place in the order of judging. A repeat came back to the same
    assessor to measure self-agreement, and never counts in settlement. `by` is "key" or "click".
    """

    topic: str
    docno: str
    assessor: str
    grade: int | None = None
    kind: Kind = "grade"
    reason: str = ""
    turn: int = 1
    at: datetime | None = None
    seconds: float | None = None
    guideline: int | None = None
    rationale: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    key: str = ""
    replaces: str = ""
    order: int | None = None
    is_repeat: bool = False
    by: str = ""


def replay(marks: Iterable[Mark]) -> list[Mark]:
    """Return the marks that are valid in the end, in the order of arrival.

    A mark that a later one replaces is out. An undo takes back the mark it replaces and is no
    answer itself; what that mark had replaced does not return. A key that appears again is the
    same mark, submitted twice.

    >>> log = [Mark("301", "D1", "ada", 2, key="k1"), Mark("301", "D2", "ada", 0, key="k2")]
    >>> undo = Mark("301", "D1", "ada", kind="undo", key="k3", replaces="k1")
    >>> [mark.docno for mark in replay([*log, undo])]
    ['D2']
    """
    valid: dict[int, Mark] = {}
    places: dict[str, int] = {}
    for place, mark in enumerate(marks):
        if mark.key and places.setdefault(mark.key, place) != place:
            continue
        if mark.replaces in places:
            valid.pop(places[mark.replaces], None)
        if mark.kind != "undo":
            valid[place] = mark
    return list(valid.values())
