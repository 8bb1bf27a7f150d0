"""What people left unjudged, filled with the grades of a machine: a third version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.conventions import POOLED
from leaderboard.models import JudgmentSet
from leaderboard.models.collections import load_grades

Pairs = dict[tuple[bytes, bytes], int]


@dataclass(frozen=True)
class Filling:
    """The grades of people, and those of a machine for documents that people did not judge.

    `both` counts documents that both judged; the grade of people counts there.
    """

    people: Pairs
    machine: Pairs
    # What people pooled, did not judge, and the machine did not judge either.
    unjudged: Pairs
    both: int

    @property
    def total(self) -> int:
        return len(self.people) + len(self.machine)

    @property
    def topics(self) -> int:
        """How many topics have a grade of the machine."""
        return len({topic for topic, _ in self.machine})

    @property
    def new_topics(self) -> int:
        """How many topics only the machine judged."""
        return len({topic for topic, _ in self.machine} - {topic for topic, _ in self.people})

    def qrels(self) -> Iterator[bytes]:
        """Yield the lines of the third version."""
        for part in (self.people, self.machine, self.unjudged):
            for (topic, docno), grade in part.items():
                yield b"%b 0 %b %d\n" % (topic, docno, grade)


def find_filling(people: JudgmentSet, machine: JudgmentSet) -> Filling:
    """Return what a machine's grades would add to those of people."""
    by_people, by_machine = _pairs_of(people), _pairs_of(machine)
    judged = {pair: grade for pair, grade in by_people.items() if grade != POOLED}
    graded = {pair: grade for pair, grade in by_machine.items() if grade != POOLED}
    filled = {pair: grade for pair, grade in graded.items() if pair not in judged}
    return Filling(
        people=judged,
        machine=filled,
        unjudged={pair: POOLED for pair in by_people if pair not in judged and pair not in filled},
        both=len(graded) - len(filled),
    )


def _pairs_of(judgment_set: JudgmentSet) -> Pairs:
    grades = load_grades(judgment_set.pk)
    return {(topic, docno): g for topic, judged in grades.items() for docno, g in judged.items()}
