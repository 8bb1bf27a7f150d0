"""The precision of the runs of a board by recall, on a single topic."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from evaluation.conventions import CONVENTIONS
from evaluation.measures.ranks import LEVELS, interpolate
from evaluation.ragged import Ragged
from leaderboard.analysis.precision import PrecisionLine, precision_lines
from leaderboard.analysis.topics import RunOnTopic, TopicBreakdown
from leaderboard.boards.standings import Board
from leaderboard.display.csv_tables import CsvTable
from leaderboard.models import Run


@dataclass(frozen=True)
class RecallStep:
    """The recall and the precision at the rank of a relevant document."""

    rank: int
    recall: float
    precision: float


@dataclass(frozen=True)
class TopicRecall:
    """Interpolated precision of all runs at eleven levels of recall, and the steps of one run.

    `by_recall` is float64[runs, 11]; `best` is the first run by the measure of the board.
    """

    run: Run
    best: Run
    runs: list[Run]
    by_recall: NDArray[np.float64]
    steps: list[RecallStep]

    def curve_of(self, run: Run) -> NDArray[np.float64]:
        return self.by_recall[self.runs.index(run)]

    @property
    def levels(self) -> list[PrecisionLine]:
        """The precision of the run at each level of recall, beside the median and the best run."""
        median, levels = np.median(self.by_recall, axis=0), list(LEVELS)
        return precision_lines(levels, self.curve_of(self.run), median, self.curve_of(self.best))

    @property
    def table(self) -> CsvTable:
        """A line for each run and level of recall."""
        rows = [
            [run.pk, run.tag, level, precision]
            for run, curve in zip(self.runs, self.by_recall.tolist(), strict=True)
            for level, precision in zip(LEVELS, curve, strict=True)
        ]
        return CsvTable(["run", "tag", "recall", "precision"], rows)


def build_topic_recall(
    board: Board, breakdown: TopicBreakdown, run_id: str = ""
) -> TopicRecall | None:
    """Return the curves of the answers to a topic; None without a relevant document.

    In front is the run with this id, else the viewer's best, else the best of all.
    """
    if not breakdown.answers or not breakdown.relevant:
        return None
    run = _in_front(breakdown.answers, run_id)
    relevant, depth = len(breakdown.relevant), board.sight.track.depth
    ranks = [_until(each.relevant_ranks, depth) for each in breakdown.answers]
    rows = Ragged(np.repeat(np.arange(len(ranks)), list(map(len, ranks))), len(ranks))
    return TopicRecall(
        run=run.run,
        best=breakdown.answers[0].run,
        runs=[each.run for each in breakdown.answers],
        by_recall=interpolate(
            rows,
            np.array(list(chain.from_iterable(ranks)), np.int64),
            np.full(len(ranks), relevant),
            CONVENTIONS[board.edition.convention],
        ),
        steps=[
            RecallStep(rank, found / relevant, found / rank)
            for found, rank in enumerate(_until(run.relevant_ranks, depth), start=1)
        ],
    )


def _until(ranks: list[int], depth: int) -> list[int]:
    """Return those of the ascending ranks that are scored."""
    return ranks[: bisect_right(ranks, depth)]


def _in_front(answers: list[RunOnTopic], run_id: str) -> RunOnTopic:
    wanted = next((each for each in answers if each.run.pk == run_id), None)
    return wanted or next((each for each in answers if each.is_own), answers[0])
