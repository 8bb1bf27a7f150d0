"""What organisers may want to look at in the marks of assessors; a flag has no consequence.

A short document is judged in two seconds, and a topic can have forty irrelevant documents in a
row.  So a flag names what was counted and leads to the marks, and people decide what it means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, groupby
from statistics import fmean, median
from typing import Literal

import numpy as np

from evaluation.agreement.assessors import cohen_kappa
from evaluation.significance import sign_flip
from leaderboard.assessments.distribution import find_teams
from leaderboard.assessments.pool_documents import top_documents_by_team
from leaderboard.assessments.progress import load_seconds
from leaderboard.assessments.shared_grades import find_twice_judged
from leaderboard.models import Assessment, Assessor, Mark

# An assessor is fast with a median below these seconds, over at least this many marks.
FAST_SECONDS = 5.0
FEWEST_MARKS = 30
# A row is long if this many marks, one after the other, have the same grade.
LONG_ROW = 40
# Two assessors differ with a kappa below this, over at least this many documents of both.
LOW_KAPPA = 0.1
FEWEST_SHARED = 30
# Documents that the own team has down to this rank are of interest to the assessor.
TOP_RANK = 10
ALPHA = 0.05

Kind = Literal["fast", "row", "pair", "own"]
Document = tuple[int, str]


@dataclass(frozen=True)
class Flag:
    """Something unusual about the marks of an assessor.

    `value` is seconds for "fast", the grade for "row", kappa for "pair" and the difference of mean
    grades for "own"; `count` is the number of marks or documents.  `first` and `last` are the keys
    of the marks at the ends of a row.
    """

    kind: Kind
    assessor: Assessor
    value: float
    count: int
    other: Assessor | None = None
    p: float | None = None
    first: int | None = None
    last: int | None = None


def find_flags(assessment: Assessment) -> list[Flag]:
    """Return what is unusual about the marks of an assessment, by assessor."""
    assessors = {found.pk: found for found in assessment.assessors.select_related("user")}
    grades = load_shared_grades(assessment)
    found = [
        *_find_fast(assessment, assessors),
        *_find_rows(assessment, assessors),
        *_find_low_pairs(grades, assessors),
        *_find_lifts(assessment, grades, assessors),
    ]
    return sorted(found, key=lambda flag: flag.assessor.pk)


def _find_fast(assessment: Assessment, assessors: Mapping[int, Assessor]) -> Iterator[Flag]:
    for assessor, seconds in load_seconds(assessment).items():
        if len(seconds) >= FEWEST_MARKS and median(seconds) < FAST_SECONDS:
            yield Flag("fast", assessors[assessor], median(seconds), len(seconds))


def _find_rows(assessment: Assessment, assessors: Mapping[int, Assessor]) -> Iterator[Flag]:
    """Yield the longest row of one grade of each assessor, if it is long."""
    marks = Mark.objects.of(assessment).standing().filter(kind=Mark.Kind.GRADE)
    rows = marks.order_by("assessor", "pk").values_list("assessor", "grade", "pk")
    for assessor, own in groupby(rows, key=lambda row: row[0]):
        same = (list(found) for _, found in groupby(own, key=lambda row: row[1]))
        longest = max(same, key=len)
        if len(longest) >= LONG_ROW:
            (_, grade, first), (_, _, last) = longest[0], longest[-1]
            yield Flag("row", assessors[assessor], grade, len(longest), first=first, last=last)


def load_shared_grades(assessment: Assessment) -> dict[Document, dict[int, int]]:
    """Return the grades, by assessor, of the documents that have more than one."""
    shared = find_twice_judged(assessment)
    found: dict[Document, dict[int, int]] = defaultdict(dict)
    columns = ("assignment__topic", "docno", "assignment__assessor", "mark__grade")
    for topic, docno, assessor, grade in shared.order_by().values_list(*columns):
        found[topic, docno][assessor] = grade
    return found


def _find_low_pairs(
    grades: Mapping[Document, Mapping[int, int]], assessors: Mapping[int, Assessor]
) -> Iterator[Flag]:
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for given in grades.values():
        for one, other in combinations(sorted(given), 2):
            pairs[one, other].append((given[one], given[other]))
    for (one, other), shared in sorted(pairs.items()):
        kappa = cohen_kappa(*np.array(shared, float).T) if len(shared) >= FEWEST_SHARED else None
        if kappa is not None and kappa < LOW_KAPPA:
            yield Flag("pair", assessors[one], kappa, len(shared), assessors[other])


def _find_lifts(
    assessment: Assessment,
    grades: Mapping[Document, Mapping[int, int]],
    assessors: Mapping[int, Assessor],
) -> Iterator[Flag]:
    """Yield assessors who grade the first documents of their own team higher than others do."""
    teams = find_teams(assessment, assessors.values())
    for assessor in assessors.values():
        team = teams.get(assessor.user_id)
        if team is None:
            continue
        tops = find_tops(assessment, team)
        lifts = list(_compare_with_others(grades, assessor.pk, tops))
        result = sign_flip(np.array(lifts, float)) if len(lifts) > 1 else None
        if result is not None and result.p < ALPHA and fmean(lifts) > 0:
            yield Flag("own", assessor, fmean(lifts), len(lifts), p=result.p)


def find_tops(assessment: Assessment, team: int) -> set[Document]:
    """Return topic and docno of what a run of the team has among its first documents."""
    tops = top_documents_by_team(assessment.pool, TOP_RANK).get(team, frozenset())
    topics = dict(assessment.track.collection.topics.values_list("number", "pk"))
    return {(topics[number], docno) for number, docno in tops if number in topics}


def _compare_with_others(
    grades: Mapping[Document, Mapping[int, int]], assessor: int, documents: Iterable[Document]
) -> Iterator[float]:
    """Yield the grade of an assessor less the mean grade of the others, document by document."""
    for document in sorted(documents):
        given = dict(grades.get(document, {}))
        own = given.pop(assessor, None)
        if own is not None and given:
            yield own - fmean(given.values())
