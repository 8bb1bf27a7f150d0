"""The grades of documents that two judges or more have graded: assessors, or two versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Window
from numpy.typing import NDArray

from evaluation.answers.labels import CONTRADICTS, NONE, UNJUDGED
from evaluation.answers.runs import Answer
from evaluation.ragged import FloatArray, IntArray
from leaderboard.assessments.kinds import kind_of_judging
from leaderboard.models import (
    Assessment,
    AssignedDocument,
    Judgment,
    JudgmentSet,
    MarkedAnswer,
    MarkLayer,
)
from leaderboard.models.assessments import DocumentState
from leaderboard.runs.answers import load_answer


@dataclass(frozen=True, slots=True)
class Repeat:
    """A document that came back to the same assessor: the grade at first, and the later one."""

    judge: int
    before: int
    after: int


@dataclass(frozen=True, eq=False)
class SharedGrades:
    """J judges, and D documents that at least two of them graded, by topic: n opinions.

    topics: the key of the topic of each document.
    document, judge, grade: int64[n]; by document, and those of a document in the order of turns.
    seconds: float64[n], how long the judge looked at the document, NaN if unknown.
    """

    judges: list[str]
    topics: list[int]
    document: IntArray
    judge: IntArray
    grade: IntArray
    seconds: FloatArray
    repeats: list[Repeat] = field(default_factory=list)
    # Whether grades are labels of answers, among which a contradiction is the least.
    are_labels: bool = False

    @cached_property
    def ranked(self) -> FloatArray:
        """`by_judge` with numbers that are in order, from the least to the most."""
        grades = self.by_judge
        return np.where(grades == CONTRADICTS, NONE - 1, grades) if self.are_labels else grades

    @cached_property
    def by_judge(self) -> FloatArray:
        """float64[J, D], NaN where a judge gave no grade."""
        grades = np.full((len(self.judges), len(self.topics)), np.nan)
        grades[self.judge, self.document] = self.grade
        return grades

    @cached_property
    def in_order(self) -> FloatArray:
        """float64[opinions, D], the first opinion on each document first, NaN after the last."""
        first = np.searchsorted(self.document, np.arange(len(self.topics)))
        turn = np.arange(len(self.document)) - first[self.document]
        grades = np.full((int(turn.max(initial=-1)) + 1, len(self.topics)), np.nan)
        grades[turn, self.document] = self.grade
        return grades

    @cached_property
    def is_equal(self) -> NDArray[np.bool_]:
        """bool[D], whether all opinions on a document are the same grade."""
        grades = self.in_order
        equal: NDArray[np.bool_] = (np.isnan(grades) | (grades == grades[:1])).all(axis=0)
        return equal

    @cached_property
    def topic_numbers(self) -> IntArray:
        """int64[D], the place of each document's topic among `topic_keys`."""
        places = {key: place for place, key in enumerate(self.topic_keys)}
        return np.array([places[key] for key in self.topics], dtype=np.int64)

    @cached_property
    def topic_keys(self) -> list[int]:
        return list(dict.fromkeys(self.topics))


def find_twice_judged(assessment: Assessment) -> QuerySet[AssignedDocument]:
    """Find the graded documents of assessors for which there is more than one grade.

    Third opinions are left out: they exist only where the others differ.
    """
    judged = AssignedDocument.objects.of(assessment).graded().filter(assignment__settles=False)
    return judged.annotate(
        grades=Window(Count("pk"), partition_by=[F("assignment__topic"), F("docno")])
    ).filter(grades__gt=1)


def load_grades_of_assessors(assessment: Assessment) -> SharedGrades:
    """Return the marks that stand of the assessors of an assessment, under pseudonyms."""
    columns = ("assignment__topic", "docno", "assignment__assessor", "mark__grade", "mark__seconds")
    rows = list(_by_document(assessment).values_list(*columns))
    again = _load_repeats(assessment)
    active = {row[2] for row in rows} | {key for key, *_ in again}
    named = assessment.assessors.filter(pk__in=active).order_by("pk")
    names = dict(named.values_list("pk", "name"))
    places = {key: place for place, key in enumerate(names)}
    numbers: dict[tuple[int, str], int] = {}
    documents = [numbers.setdefault(row[:2], len(numbers)) for row in rows]
    return SharedGrades(
        judges=list(names.values()),
        topics=[topic for topic, _ in numbers],
        document=np.array(documents, dtype=np.int64),
        judge=np.array([places[row[2]] for row in rows], dtype=np.int64),
        grade=np.array([row[3] for row in rows], dtype=np.int64),
        seconds=np.array([row[4] for row in rows], dtype=np.float64),
        repeats=[Repeat(places[key], *grades) for key, *grades in again],
        are_labels=kind_of_judging(assessment).is_of_answers,
    )


def _by_document(assessment: Assessment) -> QuerySet[AssignedDocument]:
    """Sort the documents of `find_twice_judged` by topic and docno, first opinions first."""
    return find_twice_judged(assessment).order_by(
        "assignment__topic__position", "docno", "assignment__turn", "assignment__pk"
    )


def _load_repeats(assessment: Assessment) -> list[tuple[int, int, int]]:
    """Return assessor, grade at first and later grade of each document that came back."""
    first = AssignedDocument.objects.graded().filter(
        assignment=OuterRef("assignment"), docno=OuterRef("docno")
    )
    again = AssignedDocument.objects.of(assessment).filter(
        state=DocumentState.JUDGED, is_repeat=True
    )
    return list(
        again.annotate(before=Subquery(first.values("mark__grade")[:1]))
        .exclude(before=None)
        .order_by("pk")
        .values_list("assignment__assessor", "before", "mark__grade")
    )


def find_judged_in_both(first: JudgmentSet, second: JudgmentSet) -> QuerySet[Judgment]:
    """Find the judgments of one version with the grade of the other version as `other`.

    Negative grades stand for documents that were pooled and not judged.
    """
    same = Judgment.objects.filter(
        judgment_set=second, topic=OuterRef("topic"), docno=OuterRef("docno"), grade__gte=0
    )
    judged = Judgment.objects.filter(judgment_set=first, grade__gte=0)
    both = judged.annotate(other=Subquery(same.values("grade")[:1])).exclude(other=None)
    return both.order_by("topic__position", "docno")


def load_grades_of_versions(first: JudgmentSet, second: JudgmentSet) -> SharedGrades:
    """Return the grades of the documents that both versions judge."""
    rows = list(find_judged_in_both(first, second).values_list("topic", "grade", "other"))
    return SharedGrades(
        judges=[first.version, second.version],
        topics=[topic for topic, *_ in rows],
        document=np.repeat(np.arange(len(rows)), 2),
        judge=np.tile([0, 1], len(rows)),
        grade=np.array([grades for _, *grades in rows], dtype=np.int64).reshape(-1),
        seconds=np.full(2 * len(rows), np.nan),
    )


def load_grades_of_layers(first: MarkLayer, second: MarkLayer) -> SharedGrades:
    """Return the labels of the pairs that both layers mark; equal texts of runs are one pair.

    Pairs go by runs where both layers name them, and else by the keys of texts.
    """
    layers = (first, second)
    by_text = any(layer.marked_answers.filter(run=None).exists() for layer in layers)
    marked = [dict(_read_pairs(layer, by_text)) for layer in layers]
    both = sorted(marked[0].keys() & marked[1].keys())
    return SharedGrades(
        judges=[layer.version for layer in layers],
        topics=[topic for topic, _ in both],
        document=np.repeat(np.arange(len(both)), 2),
        judge=np.tile([0, 1], len(both)),
        grade=np.array([of[pair] for pair in both for of in marked], dtype=np.int64),
        seconds=np.full(2 * len(both), np.nan),
        are_labels=True,
    )


def _read_pairs(layer: MarkLayer, by_text: bool) -> Iterator[tuple[tuple[int, str], int]]:
    """Yield each marked pair of a layer, as its topic and its name, with the code of its label."""
    rows = layer.marked_answers.select_related("topic", "run").order_by("pk")
    for row in rows.iterator(chunk_size=500):
        answer = None
        if by_text and row.run is not None:
            answer = load_answer(row.run, row.topic.number)
            if answer is None:
                continue
        for name, code in chain(_name_nuggets(row, answer), _name_citations(row, answer)):
            if code != UNJUDGED:
                yield (row.topic_id, name), code


def _name_nuggets(row: MarkedAnswer, answer: Answer | None) -> Iterator[tuple[str, int]]:
    """Yield the answer with each of its nuggets; by its text if `answer` has that."""
    who = row.key or row.run_id if answer is None else answer.key.hex()
    for place, code in enumerate(bytes(row.codes)):
        yield f"{who}:{place}", code


def _name_citations(row: MarkedAnswer, answer: Answer | None) -> Iterator[tuple[str, int]]:
    """Yield each sentence with its documents; by its text if `answer` has that."""
    for sentence, codes in row.support.items():
        said = sentence if row.run_id is None else f"{row.run_id}:{sentence}"
        if answer is not None and int(sentence) <= len(answer.sentences):
            said = answer.sentences[int(sentence) - 1].key.hex()
        for docno, code in codes.items():
            yield f"{said}:{docno}", code


@dataclass(frozen=True)
class GradedDocument:
    """A document with the grades of two judges, or more, in the order of opinions."""

    topic: int
    docno: str
    grades: list[tuple[str, int]]


def find_documents_with_grades(
    assessment: Assessment, first: int, second: int
) -> list[GradedDocument]:
    """Return the documents that one assessor gave the first grade, and a later one the second."""
    columns = ("assignment__topic", "docno", "assignment__assessor__name", "mark__grade")
    rows = _by_document(assessment).values_list(*columns)
    found: dict[tuple[int, str], list[tuple[str, int]]] = defaultdict(list)
    for topic, docno, name, grade in rows:
        found[topic, docno].append((name, grade))
    return [
        GradedDocument(topic, docno, given)
        for (topic, docno), given in found.items()
        if _contains_in_order([grade for _, grade in given], first, second)
    ]


def _contains_in_order(grades: Sequence[int], first: int, second: int) -> bool:
    """Whether one grade comes before the other.

    >>> _contains_in_order([0, 1, 2], 0, 2), _contains_in_order([0, 1, 2], 1, 0)
    (True, False)
    """
    return first in grades and second in grades[grades.index(first) + 1 :]


def documents_of_versions(
    judgments: Iterable[Judgment], first: JudgmentSet, second: JudgmentSet
) -> list[GradedDocument]:
    """Return the documents of `find_judged_in_both` with both grades."""
    names = (first.version, second.version)
    return [
        GradedDocument(
            each.topic_id,
            each.docno,
            list(zip(names, (each.grade, each.other), strict=True)),  # type: ignore[attr-defined]
        )
        for each in judgments
    ]
