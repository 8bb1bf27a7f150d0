"""Judges as entrants: how far each agrees with people, and which of two agrees more.

A judge is a file of judgments, such as those of a machine with its prompt, or a value for every
system. People are the truth. Differences of judges are tested for all pairs together, by the same
flips of topics as runs on a board: a topic counts by its value of the jackknife.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from evaluation.agreement.assessors import STATISTICS, agreement_by_topic, grades_of
from evaluation.agreement.calibration import Calibration, calibrate
from evaluation.agreement.jackknife import Estimate
from evaluation.agreement.noise import find_unused_grades
from evaluation.agreement.orders import kendall_tau, tau_ap, top_tau_b
from evaluation.ragged import FloatArray, IntArray
from evaluation.reading.judging.qrels import Qrels
from evaluation.significance.pairwise import PAIR_DRAWS, PairDecisions, compare_all_pairs

# What ranks judges unless another statistic is asked for.
USUAL = "kappa_quadratic"
# Below this number of documents that people judged too, a judge has no rank.
FEWEST_DOCUMENTS = 100
# The runs at the top of the board of people whose order is compared apart.
TOP = 10
# Of those that describe a judge beside the one that ranks.
DESCRIBING = ("kappa", "kappa_linear", "kappa_quadratic", "alpha_ordinal", "agreement", "overlap")


@dataclass(frozen=True, slots=True)
class BoardOfJudge:
    """The board of systems that a judge makes, beside that of people.

    `error` is the mean distance of a system's value from that by people, and `bias` the mean
    difference, positive where the judge gives more. `top` is tau_b over the first ten of people.
    Orders have no interval: few topics make them too low. None where ties leave no order.
    """

    systems: int
    tau: float | None
    tau_ap: float | None
    top: float | None
    error: float
    bias: float


@dataclass(frozen=True, slots=True)
class PartOfJudge:
    """A judge on some of the documents, such as those of a topic or of one grade by people.

    `same` is the share of documents with the grade of people, `bias` the mean grade of the judge
    less that of people.
    """

    documents: int
    same: float
    bias: float


@dataclass(frozen=True)
class JudgeStanding:
    """One judge against people, on the documents that both graded.

    `abstained` counts documents that people graded and the judge did not. `bias` is the mean grade
    of the judge less that of people, `error` the mean distance, in grades. `unused` are grades
    that it hardly uses, of those that people use. `by_grade` has its parts by the grade of people,
    `by_topic` those by topic. `calibration` is None for a judge that does not say how sure it is.
    """

    name: str
    documents: int
    abstained: int
    statistics: Mapping[str, Estimate]
    bias: float
    error: float
    unused: tuple[int, ...]
    by_grade: Mapping[int, PartOfJudge] = field(default_factory=dict)
    by_topic: Mapping[bytes, PartOfJudge] = field(default_factory=dict)
    calibration: Calibration | None = None

    @property
    def has_rank(self) -> bool:
        return self.documents >= FEWEST_DOCUMENTS


@dataclass(frozen=True, eq=False)
class JudgesBoard:
    """Judges by one statistic with people; `pairs` compares their values by topic.

    `values` float64[judges, topics] are those of `agreement_by_topic`, `topics` names them.
    """

    statistic: str
    standings: tuple[JudgeStanding, ...]
    topics: tuple[bytes, ...]
    values: FloatArray
    pairs: PairDecisions

    @property
    def order(self) -> list[int]:
        """The judges from the best to the worst by the statistic; undefined ones last."""
        known = [standing.statistics[self.statistic].value for standing in self.standings]
        found = np.array([-np.inf if value is None else value for value in known])
        return [int(place) for place in np.argsort(-found, kind="stable")]


def compare_judges(
    people: Qrels,
    judges: Mapping[str, Qrels],
    statistic: str = USUAL,
    rel: float = 1,
    draws: int = PAIR_DRAWS,
) -> JudgesBoard:
    """Compare judges with people by one of `STATISTICS`; ValueError for another name.

    >>> from io import BytesIO
    >>> from evaluation.reading.judging.qrels import read_qrels
    >>> lines = [f"{topic} 0 d{n} {n % 3}" for topic in range(30) for n in range(20)]
    >>> slips = [line[:-1] + "0" if n % 9 == 1 else line for n, line in enumerate(lines)]
    >>> read = [read_qrels(BytesIO("\\n".join(each).encode())) for each in (lines, slips)]
    >>> board = compare_judges(read[0], {"exact": read[0], "slips": read[1]})
    >>> [round(each.statistics["kappa_quadratic"].value, 3) for each in board.standings]
    [1.0, 0.869]
    >>> bool(board.pairs.different[0, 1]), board.pairs.letters
    (True, ('a', 'b'))
    """
    if statistic not in STATISTICS:
        raise ValueError(f"{statistic} is no statistic of agreement")
    topics = tuple(sorted(people.grades))
    place = {topic: number for number, topic in enumerate(topics)}
    standings, rows = [], []
    for name, judge in judges.items():
        shared, (truth, given), numbers = grades_of([people, judge])
        places = np.array([place[topic] for topic in shared], dtype=np.int64)[numbers]
        found = {
            each: agreement_by_topic(truth, given, places, len(topics), each, rel)
            for each in dict.fromkeys((statistic, *DESCRIBING))
        }
        rows.append(found[statistic][1])
        estimates = {each: estimate for each, (estimate, _) in found.items()}
        standing = _describe(name, people, truth, given, estimates)
        by_topic = describe_parts(truth, given, places)
        standings.append(
            replace(
                standing,
                by_grade=describe_parts(truth, given, truth.astype(np.int64)),
                by_topic={topics[at]: part for at, part in by_topic.items()},
                calibration=calibrate_judge(people, judge),
            )
        )
    values = np.array(rows)
    # Statistics such as kappa reach from -1 to 1.
    pairs = compare_all_pairs(values, draws=draws, half_range=1.0)
    return JudgesBoard(statistic, tuple(standings), topics, values, pairs)


def describe_parts(truth: FloatArray, given: FloatArray, part: IntArray) -> dict[int, PartOfJudge]:
    """Return a judge in each part of the documents: grades by people and by the judge.

    >>> people, judge = np.array([2.0, 2.0, 0.0]), np.array([2.0, 1.0, 0.0])
    >>> describe_parts(people, judge, np.array([2, 2, 0]))[2]
    PartOfJudge(documents=2, same=0.5, bias=-0.5)
    """
    names, place = np.unique(part, return_inverse=True)
    documents = np.bincount(place, minlength=len(names))
    same, apart = (np.bincount(place, each) for each in (truth == given, given - truth))
    return {
        int(name): PartOfJudge(int(count), float(equal / count), float(distance / count))
        for name, count, equal, distance in zip(names, documents, same, apart, strict=True)
    }


def calibrate_judge(people: Qrels, judge: Qrels) -> Calibration | None:
    """Return how far the confidences of a judge can be believed; None where it states none.

    >>> from evaluation.problems import Problems
    >>> people = Qrels({b"1": {b"d1": 2, b"d2": 0}}, Problems())
    >>> sure = {b"1": {b"d1": 0.9, b"d2": 0.6}}
    >>> calibrate_judge(people, replace(people, confidences=sure)).excess
    -0.25
    """
    confidence, right, topic = [], [], []
    for place, (number, graded) in enumerate(people.grades.items()):
        given, sure = judge.grades.get(number, {}), judge.confidences.get(number, {})
        # A grade below 0 is none, of people as of the judge.
        kept = [docno for docno in sure if graded.get(docno, -1) >= 0 and given[docno] >= 0]
        confidence += [sure[docno] for docno in kept]
        right += [graded[docno] == given[docno] for docno in kept]
        topic += [place] * len(kept)
    return calibrate(
        np.array(confidence, dtype=np.float64),
        np.array(right, dtype=bool),
        np.array(topic, dtype=np.int64),
        len(people.grades),
    )


def compare_systems(people: FloatArray, judge: FloatArray, direction: int = 1) -> BoardOfJudge:
    """Compare the values of the same systems by people and by a judge, float64[systems] each.

    `direction` is -1 where low values are good.

    >>> compare_systems(np.array([0.8, 0.6, 0.2]), np.array([0.9, 0.5, 0.4])).tau
    1.0
    """
    orders = direction * judge, direction * people
    return BoardOfJudge(
        systems=len(people),
        tau=kendall_tau(*orders),
        tau_ap=tau_ap(*orders),
        top=top_tau_b(*orders, TOP),
        error=float(np.abs(judge - people).mean()),
        bias=float((judge - people).mean()),
    )


def count_grades(grades: FloatArray) -> dict[int, int]:
    """Return how often each grade is given.

    >>> count_grades(np.array([2.0, 0.0, 0.0]))
    {0: 2, 2: 1}
    """
    found, counts = np.unique(grades, return_counts=True)
    pairs = zip(found.tolist(), counts.tolist(), strict=True)
    return {int(grade): int(count) for grade, count in pairs}


def _describe(
    name: str,
    people: Qrels,
    truth: FloatArray,
    given: FloatArray,
    estimates: Mapping[str, Estimate],
) -> JudgeStanding:
    graded = sum(grade >= 0 for documents in people.grades.values() for grade in documents.values())
    apart = given - truth
    used = {grade for documents in people.grades.values() for grade in documents.values()}
    unused = find_unused_grades(count_grades(given), max(used, default=0))
    return JudgeStanding(
        name=name,
        documents=len(truth),
        abstained=graded - len(truth),
        statistics=estimates,
        bias=float(apart.mean()) if len(apart) else 0.0,
        error=float(np.abs(apart).mean()) if len(apart) else 0.0,
        unused=tuple(grade for grade in unused if grade in used),
    )
