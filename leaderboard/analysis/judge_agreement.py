"""The agreement of judges on grades: the assessors of an assessment, or two versions.

What their grades do to the order of runs is in `judge_boards`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from django.db.models import Max
from numpy.typing import NDArray

from evaluation.agreement import (
    LEVELS,
    Estimate,
    GradeAgreement,
    cohen_kappa,
    count_opinions,
    fleiss_kappa,
    krippendorff_alpha,
)
from leaderboard.analysis.topic_choice import ChosenTopics
from leaderboard.assessments.flags import FEWEST_SHARED, LOW_KAPPA
from leaderboard.assessments.shared_grades import (
    Repeat,
    SharedGrades,
    load_grades_of_assessors,
    load_grades_of_layers,
    load_grades_of_versions,
)
from leaderboard.collections.groups import number_names
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.models import Assessment, JudgmentSet, Mark, MarkLayer, Topic


@dataclass(frozen=True)
class PairAgreement:
    """Two judges: their documents, the share of equal grades, and kappa.

    A judge with itself stands for the documents that came back to it. Without documents the share
    is None.
    """

    one: str
    other: str
    documents: int
    share: float | None
    kappa: float | None

    @property
    def is_own(self) -> bool:
        return self.one == self.other

    @property
    def is_low(self) -> bool:
        return (
            not self.is_own
            and self.documents >= FEWEST_SHARED
            and self.kappa is not None
            and self.kappa < LOW_KAPPA
        )

    @property
    def shade(self) -> int:
        """How dark its cell is, from 0 to 5."""
        return round(5 * min(max(self.kappa or 0.0, 0.0), 1.0))

    @property
    def tone(self) -> str:
        """How its cell looks: how dark it is, and whether it is low."""
        shade = f"shade-{self.shade}" if self.documents and not self.is_own else ""
        return f"{shade} low-pair" if self.is_low else shade


@dataclass(frozen=True)
class ConfusionCell:
    """How many pairs of opinions have these two grades; `shade` is from 0 to 5."""

    first: int
    second: int
    count: int
    shade: int


@dataclass(frozen=True)
class TopicAgreement:
    """The pairs of opinions on the documents of one topic."""

    topic: Topic
    pairs: int
    share: float
    kappa: float | None


@dataclass(frozen=True)
class JudgePace:
    """Marks on documents with equal grades, and marks on documents with different ones.

    Medians are in seconds, None without such marks.
    """

    agreeing: int
    differing: int
    agreeing_seconds: float | None
    differing_seconds: float | None


@dataclass(frozen=True)
class JudgeAgreement:
    """The agreement of judges on the documents that at least two of them graded.

    `num_pairs` counts every two opinions on a document, so it is `num_documents` where each has
    two. `fleiss_documents` have a grade of every judge.
    """

    judges: list[str]
    grades: list[int]
    num_topics: int
    num_documents: int
    num_pairs: int
    share: float | None
    kappa: Estimate
    alphas: dict[str, float | None]
    fleiss: float | None
    fleiss_documents: int
    matrix: list[list[PairAgreement]]
    confusion: list[list[ConfusionCell]]
    by_grade: list[GradeAgreement]
    by_topic: list[TopicAgreement]
    pace: JudgePace

    def on(self, chosen: ChosenTopics) -> JudgeAgreement:
        """Return the same with the chosen topics alone in the table by topic."""
        return replace(self, by_topic=[each for each in self.by_topic if chosen.has(each.topic)])

    @property
    def pairs(self) -> list[PairAgreement]:
        """Every two judges that share documents."""
        return [
            cell
            for place, row in enumerate(self.matrix)
            for cell in row[place + 1 :]
            if cell.documents
        ]

    @property
    def own(self) -> list[PairAgreement]:
        """The judges to whom documents came back."""
        return [row[place] for place, row in enumerate(self.matrix) if row[place].documents]

    @property
    def low_pairs(self) -> list[PairAgreement]:
        return [pair for pair in self.pairs if pair.is_low]

    @property
    def is_once_each(self) -> bool:
        """Whether every document has two opinions, so that pairs are documents."""
        return self.num_pairs == self.num_documents

    @property
    def pair_table(self) -> CsvTable:
        columns = [(name, name) for name in ("one", "other", "documents", "share", "kappa")]
        return tabulate([*self.pairs, *self.own], columns)

    @property
    def confusion_table(self) -> CsvTable:
        columns = [("first", "first"), ("second", "second"), ("pairs", "count")]
        return tabulate([cell for row in self.confusion for cell in row], columns)

    @property
    def grade_table(self) -> CsvTable:
        names = ("grade", "first", "second", "both", "positive", "negative")
        return tabulate(self.by_grade, [(name, name) for name in names])

    @property
    def topic_table(self) -> CsvTable:
        columns = [
            ("topic", "topic.number"),
            *((name, name) for name in ("pairs", "share", "kappa")),
        ]
        return tabulate(self.by_topic, columns)

    @property
    def tables(self) -> dict[str, CsvTable]:
        """The tables by the names that addresses use."""
        return {
            "statistics": self.table,
            "pairs": self.pair_table,
            "grades": self.grade_table,
            "confusion": self.confusion_table,
            "topics": self.topic_table,
        }

    @property
    def table(self) -> CsvTable:
        """The statistics of all grades, with the interval of kappa."""
        kappa = self.kappa
        rows: list[list[str | int | float | None]] = [
            ["agreement", self.num_pairs, self.share, None, None],
            ["kappa", self.num_pairs, kappa.value, kappa.low, kappa.high],
            *([f"alpha_{level}", self.num_documents, self.alphas[level]] for level in LEVELS),
            ["fleiss_kappa", self.fleiss_documents, self.fleiss],
        ]
        head = ["statistic", "documents", "value", "low", "high"]
        return CsvTable(head, [[*row, *[None] * (5 - len(row))] for row in rows])


def compute_assessor_agreement(assessment: Assessment) -> JudgeAgreement:
    """Compute the agreement of the assessors of an assessment on the marks that stand."""
    last = Mark.objects.of(assessment).aggregate(last=Max("pk"))["last"]
    return agreement_of_assessors(assessment.pk, last)


# Marks are only ever added, so the last one tells all of them apart.
@lru_cache(maxsize=16)
def agreement_of_assessors(assessment_id: int, last_mark: int | None) -> JudgeAgreement:
    """Compute the agreement of assessors up to the last mark."""
    return measure_agreement(load_grades_of_assessors(Assessment.objects.get(pk=assessment_id)))


# A version never changes.
@lru_cache(maxsize=16)
def compute_version_agreement(first_id: int, second_id: int) -> JudgeAgreement:
    """Compute the agreement of two versions of judgments."""
    found = JudgmentSet.objects.in_bulk([first_id, second_id])
    return measure_agreement(load_grades_of_versions(found[first_id], found[second_id]))


@lru_cache(maxsize=16)
def compute_layer_agreement(first_id: int, second_id: int) -> JudgeAgreement | None:
    """Compute the agreement of two layers of marks, which never change; None without a pair."""
    found = MarkLayer.objects.select_related("track").in_bulk([first_id, second_id])
    shared = load_grades_of_layers(found[first_id], found[second_id])
    return measure_agreement(shared) if shared.topics else None


def measure_agreement(shared: SharedGrades) -> JudgeAgreement:
    """Measure the agreement of judges on the documents that at least two of them graded."""
    pairs = count_opinions(shared.in_order, shared.topic_numbers)
    found = Topic.objects.in_bulk(shared.topic_keys)
    topics = [found[key] for key in shared.topic_keys]
    grades = [int(grade) for grade in pairs.grades]
    complete = shared.by_judge[:, ~np.isnan(shared.by_judge).any(axis=0)]
    return JudgeAgreement(
        judges=shared.judges,
        grades=grades,
        num_topics=len(topics),
        num_documents=len(shared.topics),
        num_pairs=pairs.num_pairs,
        share=pairs.share,
        kappa=pairs.kappa(groups=number_names([topic.group for topic in topics])),
        alphas={level: krippendorff_alpha(shared.ranked, level) for level in LEVELS},
        fleiss=_fleiss(complete, grades),
        fleiss_documents=complete.shape[1] if len(shared.judges) > 1 else 0,
        matrix=_compare_judges(shared),
        confusion=_draw_confusion(pairs.counts, grades),
        by_grade=pairs.by_grade()[::-1],
        by_topic=_describe_topics(topics, pairs.by_topic, pairs.kappas_by_topic()),
        pace=_measure_pace(shared),
    )


def _fleiss(complete: NDArray[np.float64], grades: Sequence[int]) -> float | None:
    """Return Fleiss's kappa of the documents that every judge graded; None without any."""
    if len(complete) < 2 or not complete.shape[1]:
        return None
    counts = (complete[:, :, np.newaxis] == np.array(grades)).sum(axis=0)
    return fleiss_kappa(counts)


def _compare_judges(shared: SharedGrades) -> list[list[PairAgreement]]:
    """Return every two judges; on the diagonal, each judge with the documents that came back."""
    rows = [
        [
            _compare_pair(one, other, *shared.by_judge[[i, j]])
            for j, other in enumerate(shared.judges)
        ]
        for i, one in enumerate(shared.judges)
    ]
    for place, name in enumerate(shared.judges):
        again = [each for each in shared.repeats if each.judge == place]
        rows[place][place] = _compare_pair(name, name, *_both_times(again))
    return rows


def _both_times(repeats: Sequence[Repeat]) -> NDArray[np.float64]:
    times = [[each.before for each in repeats], [each.after for each in repeats]]
    return np.array(times, dtype=np.float64)


def _compare_pair(
    one: str, other: str, first: NDArray[np.float64], second: NDArray[np.float64]
) -> PairAgreement:
    both = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[both], second[both]
    if not len(first):
        return PairAgreement(one, other, 0, None, None)
    share = float(np.mean(first == second))
    return PairAgreement(one, other, len(first), share, cohen_kappa(first, second))


def _draw_confusion(
    counts: NDArray[np.float64], grades: Sequence[int]
) -> list[list[ConfusionCell]]:
    most = counts.max(initial=1)
    # A square root, so that rare confusions differ from none at a glance.
    shades = np.ceil(5 * np.sqrt(counts / most)).astype(int)
    return [
        [
            ConfusionCell(first, second, int(counts[i, j]), int(shades[i, j]))
            for j, second in enumerate(grades)
        ]
        for i, first in enumerate(grades)
    ]


def _describe_topics(
    topics: Sequence[Topic], counts: NDArray[np.float64], kappas: NDArray[np.float64]
) -> list[TopicAgreement]:
    return [
        TopicAgreement(
            topic=topic,
            pairs=int(counts[place].sum()),
            share=float(np.trace(counts[place]) / counts[place].sum()),
            kappa=None if np.isnan(kappas[place]) else float(kappas[place]),
        )
        for place, topic in enumerate(topics)
    ]


def _measure_pace(shared: SharedGrades) -> JudgePace:
    is_timed = ~np.isnan(shared.seconds)
    agrees = shared.is_equal[shared.document]
    agreeing, differing = (shared.seconds[is_timed & which] for which in (agrees, ~agrees))
    return JudgePace(
        agreeing=len(agreeing),
        differing=len(differing),
        agreeing_seconds=float(np.median(agreeing)) if len(agreeing) else None,
        differing_seconds=float(np.median(differing)) if len(differing) else None,
    )
