"""The runs of a board, read again to be scored with fewer judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import parse_measure
from evaluation.conventions import CONVENTIONS
from evaluation.judging import JudgedRun, Judgments, judge, prepare
from evaluation.measures import Measure
from evaluation.reading.judging.qrels import Qrels
from evaluation.reading.runs.reader import Run as ReadRun
from leaderboard.analysis.rankings import open_rankings
from leaderboard.models import Edition, Run
from leaderboard.scoring.judgments import load_judgments

# Retrieved documents of all runs up to which a request scores them again itself.
MOST_DOCUMENTS = 1_500_000


@dataclass(frozen=True, eq=False)
class Rescoring:
    """Runs by number, with the judgments of an edition; its topics and top grade stay."""

    edition: Edition
    measure: Measure
    runs: list[ReadRun]
    judgments: Judgments

    @property
    def rel(self) -> int:
        """The grade from which a document counts as relevant."""
        threshold: int = self.edition.settings["relevance_threshold"]
        return threshold

    @property
    def qrels(self) -> Qrels:
        """The judgments of the topics that count."""
        return self.judgments.qrels

    def means(self, qrels: Qrels, numbers: Sequence[int]) -> NDArray[np.float64]:
        """Return the values of these runs on a board with some of the judgments, float64[runs]."""
        judgments = prepare(qrels, self.judgments.topics, self.judgments.top_grade)
        pairs = zip(judgments.grades, self.judgments.grades, strict=True)
        is_kept = np.array([docno in some for some, judged in pairs for docno in judged], bool)
        records = (_keep(self.records[n], is_kept, judgments) for n in numbers)
        return np.array([self.measure.aggregate(self.measure.scores(each)) for each in records])

    @cached_property
    def records(self) -> list[JudgedRun]:
        """Every run judged once, its documents numbered: fewer judgments only leave some out."""
        qrels = self.qrels
        if not (qrels.strata or qrels.subtopics):
            one_stratum = {t: dict.fromkeys(judged, b"") for t, judged in qrels.grades.items()}
            qrels = replace(qrels, strata=one_stratum)
        numbered = prepare(qrels, self.judgments.topics, self.judgments.top_grade)
        depth = self.edition.settings["depth"]
        convention = CONVENTIONS[self.edition.convention]
        return [judge(run, numbered, depth, convention) for run in self.runs]


def _keep(record: JudgedRun, is_kept: NDArray[np.bool_], judgments: Judgments) -> JudgedRun:
    """Return the record of a run with the judgments that are kept."""
    assert record.document is not None
    keep = is_kept[record.document]
    document = None
    if judgments.strata or judgments.subtopics:
        numbers = np.cumsum(is_kept, dtype=np.int32) - 1
        document = numbers[record.document[keep]]
    return replace(
        record,
        topic=record.topic[keep],
        rank=record.rank[keep],
        grade=record.grade[keep],
        judgments=judgments,
        document=document,
    )


def load_rescoring(edition_id: int, measure: str, run_ids: Sequence[str]) -> Rescoring:
    """Read the rankings of these runs, numbered in this order."""
    edition = Edition.objects.select_related("track", "judgment_set").get(pk=edition_id)
    found = Run.objects.in_bulk(run_ids)
    return Rescoring(
        edition=edition,
        measure=parse_measure(measure).resolved(edition.settings["relevance_threshold"]),
        runs=[_read(found[run_id]) for run_id in run_ids],
        judgments=load_judgments(edition_id),
    )


def is_too_large(runs: Sequence[Run]) -> bool:
    """Whether a request would take too long to score these runs again."""
    return sum(run.num_retrieved for run in runs) > MOST_DOCUMENTS


def _read(run: Run) -> ReadRun:
    with open_rankings(run) as rankings:
        return rankings.run(run.tag)
