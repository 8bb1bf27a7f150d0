"""Layers: all marks of one origin, people or one version of a machine; they are never added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.answers.labels import UNJUDGED
from evaluation.answers.nuggets import Nugget, NuggetBank
from evaluation.answers.runs import Answer
from evaluation.marks import Mark
from evaluation.problems import Problems

Codes: TypeAlias = npt.NDArray[np.uint8]
OfAnswer: TypeAlias = tuple[str, str]
# A topic, and a pair as agreement names it.
OfPair: TypeAlias = tuple[str, str]

PEOPLE, MACHINE = "people", "machine"


class AssignmentMark(NamedTuple):
    """The code of a label; `sentence` is the evidence, from 1, or 0 where none is named."""

    code: int
    sentence: int = 0


@dataclass(frozen=True)
class AssignmentLayer:
    """What of the nuggets is in each answer, by (run, topic) and the name of the nugget.

    `correct` says whether whole answers are correct, `confidence` how sure the run was.
    `of_questions` is true for the questions of DRAGUN: their nuggets are those of a rubric.
    `by_key` has marks whose line names the answer by its key, by topic and key. `log` has the
    opinions of assessors, from which the marks were settled. `confidences` says how sure they are.
    """

    origin: str
    marks: Mapping[OfAnswer, Mapping[str, AssignmentMark]]
    problems: Problems
    correct: Mapping[OfAnswer, bool] = field(default_factory=dict)
    confidence: Mapping[OfAnswer, float] = field(default_factory=dict)
    of_questions: bool = False
    by_key: Mapping[tuple[str, bytes], Mapping[str, AssignmentMark]] = field(default_factory=dict)
    log: Sequence[Mark] = ()
    confidences: Mapping[OfPair, float] = field(default_factory=dict)

    @property
    def runs(self) -> list[str]:
        """The runs with marks, in the order of the file."""
        return list(self._topics)

    def topics_of(self, run: str) -> list[str]:
        """Return the topics for which a run has marks."""
        return self._topics.get(run, [])

    @cached_property
    def _topics(self) -> dict[str, list[str]]:
        topics: dict[str, list[str]] = {}
        for run, topic in dict.fromkeys([*self.marks, *self.correct]):
            topics.setdefault(run, []).append(topic)
        return topics

    def of_answer(
        self, run: str, topic: str, answer: Answer | None = None
    ) -> Mapping[str, AssignmentMark]:
        """Return the marks of an answer by the names of nuggets; those of the run come first."""
        placed = self.marks.get((run, topic), {})
        if answer is None or not self.by_key:
            return placed
        return {**self.by_key.get((topic, answer.key), {}), **placed}

    def codes(self, run: str, topic: str, bank: NuggetBank, answer: Answer | None = None) -> Codes:
        """Return the codes in the order of the bank's nuggets, 255 where there is no mark."""
        codes = np.full(len(bank.topics.get(topic, ())), UNJUDGED, np.uint8)
        for name, mark in self.of_answer(run, topic, answer).items():
            place = bank.place_of(topic, name)
            if place is not None:
                codes[place] = mark.code
        return codes

    def count_ignored(self, bank: NuggetBank, run: str, answered: Sequence[str]) -> int:
        """Return how many marks of a run are of no answer or of no nugget."""
        ignored = 0
        given = {*answered}
        for topic in self.topics_of(run):
            marks = self.marks.get((run, topic), {})
            known = sum(bank.place_of(topic, each) is not None for each in marks)
            ignored += len(marks) - (known if topic in given else 0)
        return ignored


def bank_of_marks(layer: AssignmentLayer) -> NuggetBank:
    """Return the nuggets that any run of a layer is marked by, where their texts are not public.

    >>> marks = {("oak", "t1"): {"n1": AssignmentMark(2)}, ("elm", "t1"): {"n2": AssignmentMark(0)}}
    >>> bank = bank_of_marks(AssignmentLayer(PEOPLE, marks, Problems()))
    >>> [nugget.key for nugget in bank.topics["t1"]]
    ['n1', 'n2']
    """
    keys: dict[str, dict[str, None]] = {}
    for (_, topic), marks in layer.marks.items():
        keys.setdefault(topic, {}).update(dict.fromkeys(marks))
    for (topic, _), marks in layer.by_key.items():
        keys.setdefault(topic, {}).update(dict.fromkeys(marks))
    topics = {topic: tuple(Nugget(topic, key, key) for key in of) for topic, of in keys.items()}
    return NuggetBank(topics, "marks", layer.problems)


@dataclass(frozen=True)
class SupportLayer:
    """Whether documents support sentences: by place in a run, or by the text of the sentence.

    `by_place` is by (run, topic), then by sentence from 1 and docno; `by_text` by topic and key
    of the sentence, then by docno. `needs` says which uncited sentences need a citation and say
    it first. `runs` has the answers where the file of marks has them. `log` has the opinions of
    assessors, from which the marks by text were settled; `confidences` says how sure they are.
    """

    origin: str
    by_place: Mapping[OfAnswer, Mapping[tuple[int, str], int]]
    by_text: Mapping[tuple[str, bytes], Mapping[str, int]]
    problems: Problems
    needs: Mapping[OfAnswer, Mapping[int, bool]] = field(default_factory=dict)
    runs: Mapping[str, Mapping[str, Answer]] = field(default_factory=dict)
    log: Sequence[Mark] = ()
    confidences: Mapping[OfPair, float] = field(default_factory=dict)

    @property
    def topics(self) -> list[str]:
        return list(dict.fromkeys([*(t for _, t in self.by_place), *(t for t, _ in self.by_text)]))

    def of_sentence(self, run: str, answer: Answer, number: int) -> dict[str, int]:
        """Return the code of each judged document of a sentence, counted from 1."""
        sentence = answer.sentences[number - 1]
        shared = self.by_text.get((answer.topic, sentence.key), {}) if self.by_text else {}
        placed = {
            docno: code
            for (place, docno), code in self._of_answer(run, answer.topic).items()
            if place == number
        }
        return {**shared, **placed}

    def _of_answer(self, run: str, topic: str) -> Mapping[tuple[int, str], int]:
        return self.by_place.get((run, topic), {})

    def count_ignored(self, run: str, answers: Mapping[str, Answer]) -> int:
        """Return how many marks of a run are of no answer or of no sentence."""
        return sum(
            place > (len(answers[topic].sentences) if topic in answers else 0)
            for (name, topic), marks in self.by_place.items()
            for place, _ in (marks if name == run else ())
        )
