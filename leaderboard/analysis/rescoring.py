"""The runs of a board, read again to be scored with fewer judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.conventions import CONVENTIONS
from evaluation.judging import Judgments, judge, prepare
from evaluation.measures import Measure, parse_measure
from evaluation.problems import Problems
from evaluation.reading.qrels import Qrels
from evaluation.reading.runs import Run as ReadRun
from leaderboard.analysis.rankings import open_rankings
from leaderboard.models import Edition, Run
from leaderboard.scoring.judgments import load_judgments

# Retrieved documents of all runs up to which a request scores them again itself.
MOST_DOCUMENTS = 2_000_000


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
        pairs = zip(self.judgments.topics, self.judgments.grades, strict=True)
        return Qrels(dict(pairs), Problems())

    def means(self, qrels: Qrels, numbers: Sequence[int]) -> NDArray[np.float64]:
        """Return the values of these runs on a board with these judgments, float64[runs]."""
        judgments = prepare(qrels, self.judgments.topics, self.judgments.top_grade)
        depth = self.edition.settings["depth"]
        convention = CONVENTIONS[self.edition.convention]
        records = (judge(self.runs[n], judgments, depth, convention) for n in numbers)
        measure = self.measure
        return np.array([measure.aggregate(measure.scores(record)) for record in records])


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
