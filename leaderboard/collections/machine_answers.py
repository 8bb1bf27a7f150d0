"""Answers of a machine: read for a collection, put into its card, and filled in for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from django.conf import settings

from evaluation.conventions import POOLED
from evaluation.reading.containers import Limits, unpacked
from evaluation.reading.judging.machine_grades import HIGHEST_GRADE, MachineAnswers, read_answers
from leaderboard.models import Collection, JudgmentSet
from leaderboard.models.collections import load_grades

MOST_REPEATS = 32_767


def read_machine_answers(
    collection: Collection, file: BinaryIO, format: str = "", highest: int | None = None
) -> MachineAnswers:
    """Read an uploaded file of answers about topics of a collection; raises `Refused`."""
    limits = Limits(
        upload=settings.COLLECTION_UPLOAD_LIMIT, unpacked=settings.COLLECTION_UNPACKED_LIMIT
    )
    return read_answers(
        unpacked(file, limits),
        format or None,
        topics=set(collection.topics.values_list("number", flat=True)),
        highest=HIGHEST_GRADE if highest is None else highest,
    )


def count_answers(answers: MachineAnswers) -> dict[str, Any]:
    """Return the fields of a machine card that come from the file."""
    return {
        "num_asked": answers.num_asked,
        "num_failed": answers.num_failed,
        "repeats": min(answers.repeats, MOST_REPEATS),
        "num_repeated": answers.num_repeated,
        "self_agreement": answers.self_agreement,
        "self_kappa": answers.self_kappa,
    }


def highest_known_grade(collection: Collection) -> int | None:
    """Return the highest grade of the earlier versions; None without any."""
    ready = collection.judgment_sets.ready()
    return max((each for each in ready.values_list("top_grade", flat=True) if each), default=None)


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
