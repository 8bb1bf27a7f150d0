"""The precision of the runs of a board by recall, on a single topic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.curves import PrecisionRecallCurve, precision_recall
from evaluation.judging import JudgedRun
from evaluation.measures.ranks import LEVELS
from leaderboard.analysis.precision import PrecisionLine, precision_lines
from leaderboard.analysis.topics import RunOnTopic, TopicBreakdown
from leaderboard.boards.standings import Board
from leaderboard.display.csv_tables import CsvTable
from leaderboard.models import Run, ScoreSet, Topic
from leaderboard.scoring.judgments import load_judgments


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


def read_topic_recall(
    board: Board, breakdown: TopicBreakdown, run_id: str = ""
) -> TopicRecall | None:
    """Read the curves of the answers to a topic; None without a relevant document.

    In front is the run with this id, else the viewer's best, else the best of all.
    """
    if not breakdown.answers or not breakdown.relevant:
        return None
    curves = _read_curves(board, breakdown.topic, [each.run for each in breakdown.answers])
    runs = [each.run for each in breakdown.answers if each.run.pk in curves]
    if not runs:
        return None
    run = _in_front([each for each in breakdown.answers if each.run.pk in curves], run_id)
    own = curves[run.pk]
    steps = zip(own.rank.tolist(), own.recall.tolist(), own.precision.tolist(), strict=True)
    return TopicRecall(
        run=run,
        best=runs[0],
        runs=runs,
        by_recall=np.array([curves[each.pk].interpolated for each in runs]),
        steps=[RecallStep(*step) for step in steps],
    )


def _in_front(answers: list[RunOnTopic], run_id: str) -> Run:
    wanted = next((each.run for each in answers if each.run.pk == run_id), None)
    own = next((each.run for each in answers if each.is_own), None)
    return wanted or own or answers[0].run


def _read_curves(board: Board, topic: Topic, runs: list[Run]) -> dict[str, PrecisionRecallCurve]:
    """Return the curve of each run with a record, with the track's relevance threshold."""
    edition, rel = board.edition, board.sight.track.relevance_threshold
    judgments = load_judgments(edition.pk)
    place = judgments.topics.index(topic.number.encode())
    rows = ScoreSet.objects.filter(edition=edition, run__in=runs).values_list("run_id", "record")
    return {
        run_id: precision_recall(JudgedRun.unpack(bytes(record), judgments), place, rel)
        for run_id, record in rows
    }
