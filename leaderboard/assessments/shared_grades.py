"""The grades of documents that two judges or more have graded: assessors, or two versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

import numpy as np
from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Window
from numpy.typing import NDArray

from leaderboard.models import Assessment, AssignedDocument, Judgment, JudgmentSet
from leaderboard.models.assessments import DocumentState


@dataclass(frozen=True, slots=True)
class Opinion:
    """The grade that a judge gave to a document; `judge` and `document` are row numbers."""

    document: int
    judge: int
    grade: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Repeat:
    """A document that came back to the same assessor: the grade at first, and the later one."""

    judge: int
    before: int
    after: int


@dataclass(frozen=True, eq=False)
class SharedGrades:
    """J judges and D documents that at least two of them graded, by topic.

    `topics` has the key of the topic of each document. Opinions are by document, and those of a
    document in the order of turns.
    """

    judges: list[str]
    topics: list[int]
    opinions: list[Opinion]
    repeats: list[Repeat] = field(default_factory=list)

    @cached_property
    def by_judge(self) -> NDArray[np.float64]:
        """float64[J, D], NaN where a judge gave no grade."""
        grades = np.full((len(self.judges), len(self.topics)), np.nan)
        for each in self.opinions:
            grades[each.judge, each.document] = each.grade
        return grades

    @cached_property
    def in_order(self) -> NDArray[np.float64]:
        """float64[opinions, D], the first opinion on each document first."""
        given = [[each.grade for each in of] for of in self.by_document]
        grades = np.full((max(map(len, given), default=0), len(self.topics)), np.nan)
        for document, row in enumerate(given):
            grades[: len(row), document] = row
        return grades

    @cached_property
    def by_document(self) -> list[list[Opinion]]:
        grouped = groupby(self.opinions, key=lambda each: each.document)
        return [list(given) for _, given in grouped]

    @cached_property
    def topic_numbers(self) -> NDArray[np.int64]:
        """int64[D], the place of each document's topic among `topic_keys`."""
        places = {key: place for place, key in enumerate(self.topic_keys)}
        return np.array([places[key] for key in self.topics], dtype=np.int64)

    @cached_property
    def topic_keys(self) -> list[int]:
        return list(dict.fromkeys(self.topics))


def find_twice_judged(assessment: Assessment) -> QuerySet[AssignedDocument]:
    """Find the graded documents of assessors for which there is more than one grade."""
    judged = AssignedDocument.objects.filter(
        assignment__assessor__assessment=assessment, state=DocumentState.JUDGED, is_repeat=False
    )
    return judged.annotate(
        grades=Window(Count("pk"), partition_by=[F("assignment__topic"), F("docno")])
    ).filter(grades__gt=1)


def load_grades_of_assessors(assessment: Assessment) -> SharedGrades:
    """Return the marks that stand of the assessors of an assessment, under pseudonyms."""
    names = dict(assessment.assessors.order_by("pk").values_list("pk", "name"))
    columns = ("assignment__topic", "docno", "assignment__assessor", "mark__grade", "mark__seconds")
    rows = (
        find_twice_judged(assessment)
        .order_by("assignment__topic__position", "docno", "assignment__turn", "assignment__pk")
        .values_list(*columns)
    )
    active = {row[2] for row in rows} | {key for key, _, _ in _load_repeats(assessment)}
    places = {key: place for place, key in enumerate(key for key in names if key in active)}
    topics, opinions = [], []
    for document, (key, given) in enumerate(groupby(rows, key=lambda row: row[:2])):
        topics.append(key[0])
        opinions += [Opinion(document, places[row[2]], *row[3:]) for row in given]
    repeats = [Repeat(places[key], *grades) for key, *grades in _load_repeats(assessment)]
    return SharedGrades([names[key] for key in places], topics, opinions, repeats)


def _load_repeats(assessment: Assessment) -> list[tuple[int, int, int]]:
    """Return assessor, grade at first and later grade of each document that came back."""
    first = AssignedDocument.objects.filter(
        assignment=OuterRef("assignment"),
        docno=OuterRef("docno"),
        is_repeat=False,
        state=DocumentState.JUDGED,
    )
    again = AssignedDocument.objects.filter(
        assignment__assessor__assessment=assessment, state=DocumentState.JUDGED, is_repeat=True
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
    opinions = [
        Opinion(document, judge, grade)
        for document, (_, *grades) in enumerate(rows)
        for judge, grade in enumerate(grades)
    ]
    return SharedGrades([first.version, second.version], [topic for topic, *_ in rows], opinions)


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
    rows = (
        find_twice_judged(assessment)
        .order_by("assignment__topic__position", "docno", "assignment__turn", "assignment__pk")
        .values_list(*columns)
    )
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
