"""One run of answers with its marks, as flat arrays over all topics.

Rows of a kind are adjacent by topic, in the order of the topics. An unjudged pair has the code
255 until a measure or its bounds fill it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Literal, TypeAlias

import numpy as np

from evaluation.answers.labels import CONTRADICTS, NONE, PARTIAL, SUPPORT, UNJUDGED
from evaluation.answers.lengths import UNITS
from evaluation.answers.marks import AssignmentLayer, Codes, SupportLayer
from evaluation.answers.nuggets import Nugget, NuggetBank
from evaluation.answers.runs import Answer, Sentence
from evaluation.answers.verdicts import SentenceVerdict
from evaluation.ragged import BoolArray, FloatArray, IntArray

Domain: TypeAlias = Literal["nuggets", "support", "documents", "lengths", "correctness", "verdicts"]
Grades: TypeAlias = Mapping[str, Mapping[str, int]]

CLASSES = {"supports": SUPPORT, "contradicts": CONTRADICTS}


def credit(codes: Codes, partial: float) -> FloatArray:
    """Return 1 for support, `partial` for partial support, 0 for everything else.

    >>> credit(np.array([2, 1, 0, 3, 255], np.uint8), 0.5).tolist()
    [1.0, 0.5, 0.0, 0.0, 0.0]
    """
    return np.where(codes == SUPPORT, 1.0, np.where(codes == PARTIAL, partial, 0.0))


@dataclass(frozen=True, eq=False)
class NuggetRows:
    """N nuggets of all topics, with their codes for this run.

    `group` and `parent` number groups and questions over all topics; a nugget without one is
    alone. `said` is the number of words up to the sentence that is the evidence, NaN without.
    """

    topic: IntArray
    code: Codes
    vital: BoolArray
    weight: FloatArray
    group: IntArray
    parent: IntArray
    said: FloatArray


@dataclass(frozen=True, eq=False)
class SentenceRows:
    """S sentences of all answers.

    `needs` is true for uncited sentences that need a citation and say so first. `predicted`,
    `right` and `gold` count the judged documents by class (first axis, as in `CLASSES`): those
    that the sentence cites as of the class, those of them that are, and all that are.
    """

    topic: IntArray
    num_cited: IntArray
    needs: BoolArray
    predicted: IntArray
    right: IntArray
    gold: IntArray


@dataclass(frozen=True, eq=False)
class CitationRows:
    """C citations of all sentences; `sentence` is a row of the sentences."""

    topic: IntArray
    sentence: IntArray
    first: BoolArray
    code: Codes
    attests: BoolArray


@dataclass(frozen=True, eq=False)
class DocumentRows:
    """The distinct cited documents of every answer; `grade` is NaN where they are unjudged."""

    topic: IntArray
    grade: FloatArray


@dataclass(frozen=True, eq=False)
class VerdictRows:
    """The scores of sentences by ARGUE, and how many accepted answers there are and were found."""

    topic: IntArray
    score: IntArray
    found: IntArray
    accepted: IntArray


@dataclass(frozen=True, eq=False)
class JudgedAnswers:
    """One run on T topics; `domains` says which topics count for each kind of measure.

    `lengths` has float64[T] by name: words, characters, sentences, citations, references,
    uncited, cited references.
    """

    topics: tuple[str, ...]
    answered: BoolArray
    domains: Mapping[Domain, BoolArray]
    nuggets: NuggetRows
    sentences: SentenceRows
    citations: CitationRows
    documents: DocumentRows
    lengths: Mapping[str, FloatArray]
    correct: FloatArray
    confidence: FloatArray
    verdicts: VerdictRows

    @property
    def size(self) -> int:
        return len(self.topics)

    def sum(self, topic: IntArray, values: FloatArray | BoolArray | IntArray) -> FloatArray:
        """Return the sum of the values of rows by topic, float64[T]."""
        total = np.bincount(topic, np.asarray(values, np.float64), minlength=self.size)
        return total.astype(np.float64)

    def filled(self, nuggets: int, support: int, negative: int | None = None) -> JudgedAnswers:
        """Return the same with these codes for what is unjudged.

        `negative` is the code of nuggets with a negative weight, where it differs.
        """
        code = np.where(self.nuggets.code == UNJUDGED, nuggets, self.nuggets.code)
        if negative is not None:
            is_negative = (self.nuggets.code == UNJUDGED) & (self.nuggets.weight < 0)
            code = np.where(is_negative, negative, code)
        cited = np.where(self.citations.code == UNJUDGED, support, self.citations.code)
        return replace(
            self,
            nuggets=replace(self.nuggets, code=code.astype(np.uint8)),
            citations=replace(self.citations, code=cited.astype(np.uint8)),
        )

    @cached_property
    def judged_nuggets(self) -> tuple[FloatArray, FloatArray]:
        """How many pairs of answer and nugget have a mark, and how many there are, by topic."""
        rows = self.answered[self.nuggets.topic]
        has_mark = (self.nuggets.code != UNJUDGED) & rows
        return self.sum(self.nuggets.topic, has_mark), self.sum(self.nuggets.topic, rows)

    @cached_property
    def judged_support(self) -> tuple[FloatArray, FloatArray]:
        """How many citations have a mark, and how many there are, by topic."""
        rows = self.citations
        every = np.ones(len(rows.topic), bool)
        return self.sum(rows.topic, rows.code != UNJUDGED), self.sum(rows.topic, every)


@dataclass(frozen=True)
class AnswerMarks:
    """All that answers are scored by: nuggets, one layer of each kind, judgments of documents."""

    bank: NuggetBank | None = None
    assignments: AssignmentLayer | None = None
    support: SupportLayer | None = None
    grades: Grades = field(default_factory=dict)
    verdicts: Mapping[tuple[str, str], Sequence[SentenceVerdict]] = field(default_factory=dict)


def judge_answers(
    run: str, answers: Mapping[str, Answer], marks: AnswerMarks, topics: Iterable[str]
) -> JudgedAnswers:
    """Match the answers of a run with their marks, over these topics of the track in their order.

    Topics that have judgments of documents alone follow.
    """
    track = tuple(dict.fromkeys(topics))
    names = tuple(dict.fromkeys([*track, *marks.grades]))
    by_marks = {*marks.assignments.topics_of(run)} if marks.assignments else set()
    given = [answers.get(name) for name in names]
    # Without its answers, a run is scored by its marks alone.
    answered = np.array(
        [
            bool(answer.sentences) if answer is not None else not answers and name in by_marks
            for name, answer in zip(names, given, strict=True)
        ],
        bool,
    )
    kept = [(n, answer) for n, answer in enumerate(given) if answer is not None]
    bank = marks.bank.topics if marks.bank is not None else {}
    rows = _SentenceColumns(run, kept, marks)
    correct, confidence = _correctness(run, names, given, answered, marks.assignments)
    judged = {topic for _, topic in marks.verdicts}
    return JudgedAnswers(
        names,
        answered,
        {
            "nuggets": np.array([name in bank for name in names], bool),
            "support": np.arange(len(names)) < len(track),
            "documents": np.array([name in marks.grades for name in names], bool),
            "lengths": answered,
            "correctness": ~np.isnan(correct),
            "verdicts": np.array([name in judged for name in names], bool),
        },
        _nugget_rows(run, names, given, answered, marks),
        rows.sentences(),
        rows.citations(),
        _document_rows(kept, marks.grades),
        _lengths(len(names), kept),
        correct,
        confidence,
        _verdict_rows(run, names, marks),
    )


def _nugget_rows(
    run: str,
    names: Sequence[str],
    given: Sequence[Answer | None],
    answered: BoolArray,
    marks: AnswerMarks,
) -> NuggetRows:
    bank, layer = marks.bank, marks.assignments
    nuggets = [
        (place, nugget)
        for place, name in enumerate(names)
        for nugget in (bank.topics.get(name, ()) if bank else ())
    ]
    code = np.full(len(nuggets), UNJUDGED, np.uint8)
    said = np.full(len(nuggets), np.nan)
    start = 0
    for place, name in enumerate(names):
        size = len(bank.topics.get(name, ())) if bank else 0
        if size and bank and layer and not layer.of_questions:
            code[start : start + size] = layer.codes(run, name, bank, given[place])
            said[start : start + size] = _said(run, given[place], name, layer, bank)
        elif size and bank and layer:
            code[start : start + size] = _codes_of_questions(run, name, layer, bank)
        start += size
    topic = np.array([place for place, _ in nuggets], np.int64)
    # Nothing is found where there is no answer, whatever the marks claim.
    code[~answered[topic]] = NONE
    return NuggetRows(
        topic,
        code,
        np.array([nugget.is_vital for _, nugget in nuggets], bool),
        np.array([1.0 if n.weight is None else n.weight for _, n in nuggets], np.float64),
        _numbers(nuggets, lambda nugget: nugget.group),
        _numbers(nuggets, lambda nugget: nugget.parent or None),
        said,
    )


def _numbers(
    nuggets: Sequence[tuple[int, Nugget]], name: Callable[[Nugget], str | None]
) -> IntArray:
    """Number groups over all topics; a nugget without one has a number of its own."""
    numbers: dict[tuple[int, str | None, str], int] = {}
    keys = (
        (place, name(nugget), "" if name(nugget) is not None else nugget.key)
        for place, nugget in nuggets
    )
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _said(
    run: str, answer: Answer | None, topic: str, layer: AssignmentLayer, bank: NuggetBank
) -> FloatArray:
    """Return the number of words up to the sentence that is the evidence of each nugget."""
    said = np.full(len(bank.topics[topic]), np.nan)
    words = np.cumsum([len(text.split()) for text in answer.texts]) if answer else np.array([])
    for name, mark in layer.of_answer(run, topic, answer).items():
        place = bank.place_of(topic, name)
        if place is not None and 0 < mark.sentence <= len(words):
            said[place] = words[mark.sentence - 1]
    return said


def _codes_of_questions(run: str, topic: str, layer: AssignmentLayer, bank: NuggetBank) -> Codes:
    """Return the codes of questions, which are marked by their number in the rubric."""
    parents = list(dict.fromkeys(nugget.parent for nugget in bank.topics[topic]))
    marks = layer.marks.get((run, topic), {})
    by_parent = {
        parent: marks[number].code
        for number, parent in zip(map(str, count(1)), parents, strict=False)
        if number in marks
    }
    codes = [by_parent.get(nugget.parent, UNJUDGED) for nugget in bank.topics[topic]]
    return np.array(codes, np.uint8)


@dataclass
class _SentenceColumns:
    """The sentences and citations of a run with their support marks, before they are arrays."""

    run: str
    kept: Sequence[tuple[int, Answer]]
    marks: AnswerMarks

    def __post_init__(self) -> None:
        self.sentence_rows: list[tuple[int, int, bool, list[int]]] = []
        self.citation_rows: list[tuple[int, int, bool, int, bool]] = []
        bank = self.marks.bank
        for place, answer in self.kept:
            nuggets = bank.topics.get(answer.topic, ()) if bank else ()
            attesting = frozenset(docno for nugget in nuggets for docno in nugget.attesting)
            needs = self._needs(answer.topic)
            for number, sentence in enumerate(answer.sentences, 1):
                codes = self._codes(answer, number)
                row = len(self.sentence_rows)
                counts = _class_counts(sentence, codes)
                is_needed = needs.get(number, False) and not sentence.citations
                self.sentence_rows.append((place, len(sentence.citations), is_needed, counts))
                for order, cited in enumerate(sentence.citations):
                    code = codes.get(cited.docno, UNJUDGED)
                    attests = cited.docno in attesting
                    self.citation_rows.append((place, row, order == 0, code, attests))

    def _needs(self, topic: str) -> Mapping[int, bool]:
        support = self.marks.support
        return support.needs.get((self.run, topic), {}) if support else {}

    def _codes(self, answer: Answer, number: int) -> Mapping[str, int]:
        support = self.marks.support
        return support.of_sentence(self.run, answer, number) if support else {}

    def sentences(self) -> SentenceRows:
        topic, num_cited, needs, counts = _columns(self.sentence_rows, 4)
        by_class = np.array(counts, np.int64).reshape(-1, 3, 2)
        predicted, right, gold = (by_class[:, kind].T for kind in range(3))
        return SentenceRows(
            np.array(topic, np.int64),
            np.array(num_cited, np.int64),
            np.array(needs, bool),
            *(predicted, right, gold),
        )

    def citations(self) -> CitationRows:
        topic, sentence, first, code, attests = _columns(self.citation_rows, 5)
        return CitationRows(
            np.array(topic, np.int64),
            np.array(sentence, np.int64),
            np.array(first, bool),
            np.array(code, np.uint8),
            np.array(attests, bool),
        )


def _columns(rows: Sequence[tuple[object, ...]], count: int) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(count)]


def _class_counts(sentence: Sentence, codes: Mapping[str, int]) -> list[int]:
    """Return predicted, right and gold documents, each of supports and of contradicts."""
    judged = {docno: code for docno, code in codes.items() if code != UNJUDGED}
    cited = (sentence.citations, sentence.contradicted)
    predicted = [{each.docno for each in part} & judged.keys() for part in cited]
    gold = [{d for d, code in judged.items() if code == wanted} for wanted in CLASSES.values()]
    right = [len(found & true) for found, true in zip(predicted, gold, strict=True)]
    return [*map(len, predicted), *right, *map(len, gold)]


def _document_rows(kept: Sequence[tuple[int, Answer]], grades: Grades) -> DocumentRows:
    rows = [
        (place, grades.get(answer.topic, {}).get(docno, np.nan))
        for place, answer in kept
        for docno in dict.fromkeys(answer.cited())
    ]
    topic, grade = _columns(rows, 2)
    return DocumentRows(np.array(topic, np.int64), np.array(grade, np.float64))


def _lengths(size: int, kept: Sequence[tuple[int, Answer]]) -> dict[str, FloatArray]:
    lengths = {name: np.zeros(size) for name in LENGTHS}
    for place, answer in kept:
        for name, length in LENGTHS.items():
            lengths[name][place] = length(answer)
    return lengths


LENGTHS: dict[str, Callable[[Answer], int]] = {
    "words": lambda answer: UNITS["words"](answer.texts),
    "words-nfkc": lambda answer: UNITS["words-nfkc"](answer.texts),
    "characters": lambda answer: UNITS["characters-nfkc"](answer.texts),
    "sentences": lambda answer: len(answer.sentences),
    "citations": lambda answer: sum(len(s.citations) for s in answer.sentences),
    "references": lambda answer: len(answer.references or ()),
    "uncited": lambda answer: sum(not sentence.citations for sentence in answer.sentences),
    "cited references": lambda answer: len(
        {each.docno for each in answer.references or ()} & {*answer.cited()}
    ),
}


def _correctness(
    run: str,
    names: Sequence[str],
    given: Sequence[Answer | None],
    answered: BoolArray,
    layer: AssignmentLayer | None,
) -> tuple[FloatArray, FloatArray]:
    """Return by topic whether the answer is correct and how sure it was; NaN where unknown."""
    correct, confidence = np.full(len(names), np.nan), np.full(len(names), np.nan)
    marked = layer.correct if layer else {}
    topics = {topic for _, topic in marked}
    for place, name in enumerate(names):
        answer = given[place]
        if (run, name) in marked:
            correct[place] = marked[run, name]
        elif name in topics and not answered[place]:
            correct[place] = 0
        stated = answer.confidence if answer else None
        sure = layer.confidence.get((run, name), stated) if layer else stated
        confidence[place] = np.nan if sure is None else sure
    return correct, confidence


def _verdict_rows(run: str, names: Sequence[str], marks: AnswerMarks) -> VerdictRows:
    rows: list[tuple[int, int]] = []
    found, accepted = np.zeros(len(names), np.int64), np.zeros(len(names), np.int64)
    for place, name in enumerate(names):
        nuggets = marks.bank.topics.get(name, ()) if marks.bank else ()
        known = {(n.text, answer.text) for n in nuggets for answer in n.answers}
        verdicts = marks.verdicts.get((run, name), ())
        rows += [(place, verdict.score(known)) for verdict in verdicts]
        found[place] = len({pair for verdict in verdicts for pair in verdict.pairs} & known)
        accepted[place] = sum(len(nugget.answers) for nugget in nuggets)
    topic, score = _columns(rows, 2)
    return VerdictRows(np.array(topic, np.int64), np.array(score, np.int64), found, accepted)


def topics_of(marks: AnswerMarks, answered: Collection[str]) -> list[str]:
    """Return the topics of a track: of its nuggets, of marks, and those that are answered."""
    known: list[str] = [*(marks.bank.topics if marks.bank else ())]
    if marks.assignments:
        known += [topic for _, topic in (*marks.assignments.marks, *marks.assignments.correct)]
        known += [topic for topic, _ in marks.assignments.by_key]
    if marks.support:
        known += marks.support.topics
    known += [topic for _, topic in marks.verdicts]
    return list(dict.fromkeys([*known, *answered]))
