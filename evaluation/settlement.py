"""Settlement: how the marks of several assessors become one grade per document.

There is no mean. Grades are names in an order, not numbers: nobody knows that the step from 0 to 1
is as large as the step from 2 to 3, and the mean of "not relevant" and "highly relevant" is a grade
that no assessor gave. Every rule here returns a grade that one of them gave.

    >>> marks = [Mark("301", "D1", name, grade) for name, grade in (("ada", 2), ("ben", 0))]
    >>> [settle(marks, rule)[0].grade for rule in RULES]
    [2, 2, 0, None, None]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from evaluation.marks import Mark, replay

Rule: TypeAlias = Literal["first", "majority", "median", "single", "agreed"]
RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True, slots=True)
class Settled:
    """A document and the grade that a rule or an organiser gave it; None where there is none.

    `grades` are those of the assessors, in order of turn and then of arrival. `is_disputed` says
    that they differ, also where an organiser has decided.
    """

    topic: str
    docno: str
    grade: int | None
    grades: tuple[int, ...]
    is_disputed: bool


def settle(
    marks: Iterable[Mark], rule: Rule, decisions: Mapping[tuple[str, str], int] = {}
) -> list[Settled]:
    """Replay a log of marks and settle each document in it, in the order of arrival.

    "first" is the first opinion, by turn and then by arrival, as TREC does. "majority" is the most
    frequent grade, on a tie the one that was given first. "median" is the middle grade, of an even
    number the lower middle, and never a mean. "single" is the grade that all opinions share; a
    disputed document has none until an organiser decides. "agreed" is the grade of more than half
    of the opinions, and none where no grade has so many: two who differ need a third, and three
    who differ an organiser. A decision, `decisions[topic, docno]`, beats every rule. Repeats do not
    count, and neither do marks without a grade: a document that has nothing else has no grade.
    Decisions about documents without marks are ignored.

    >>> marks = [Mark("301", "D1", "ada", 2), Mark("301", "D1", "ben", 1)]
    >>> settle(marks, "single", {("301", "D1"): 1})
    [Settled(topic='301', docno='D1', grade=1, grades=(2, 1), is_disputed=True)]
    """
    opinions: dict[tuple[str, str], list[Mark]] = {}
    for mark in replay(marks):
        if not mark.is_repeat:
            opinions.setdefault((mark.topic, mark.docno), []).append(mark)
    return [_settled(*of, given, rule, decisions.get(of)) for of, given in opinions.items()]


def _settled(
    topic: str, docno: str, opinions: Iterable[Mark], rule: Rule, decision: int | None
) -> Settled:
    in_order = sorted(opinions, key=lambda mark: mark.turn)
    grades = tuple(mark.grade for mark in in_order if mark.grade is not None)
    grade = decision
    if grade is None and grades:
        grade = _CHOICES[rule](grades)
    return Settled(topic, docno, grade, grades, len(set(grades)) > 1)


def _first(grades: tuple[int, ...]) -> int:
    return grades[0]


def _majority(grades: tuple[int, ...]) -> int:
    # Of grades that are equally frequent, a Counter names the one it met first.
    return Counter(grades).most_common(1)[0][0]


def _median(grades: tuple[int, ...]) -> int:
    return sorted(grades)[(len(grades) - 1) // 2]


def _single(grades: tuple[int, ...]) -> int | None:
    return grades[0] if len(set(grades)) == 1 else None


def _agreed(grades: tuple[int, ...]) -> int | None:
    grade, times = Counter(grades).most_common(1)[0]
    return grade if 2 * times > len(grades) else None


_CHOICES: dict[Rule, Callable[[tuple[int, ...]], int | None]] = {
    "first": _first,
    "majority": _majority,
    "median": _median,
    "single": _single,
    "agreed": _agreed,
}
