"""The scores of a run on every measure and on every topic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.measures import parse_measure
from leaderboard.analysis.scores import Scores, read_scores
from leaderboard.boards.standings import Board
from leaderboard.models import Run, Topic
from leaderboard.scoring.judgments import load_judgments


@dataclass(frozen=True)
class MeasureLine:
    """One measure of a run among the runs of its board."""

    measure: str
    mean: float | None
    rank: int
    of: int
    others: dict[str, float]
    median: float
    best: float
    best_run: Run


@dataclass(frozen=True)
class TopicLine:
    topic: Topic
    score: float
    rank: int
    baseline: float | None
    median: float
    worst: float
    best: float
    best_run: Run
    num_relevant: int
    # +1 where higher is better, -1 where lower is.
    direction: int

    @property
    def difference(self) -> float | None:
        return None if self.baseline is None else self.score - self.baseline

    @property
    def from_median(self) -> float:
        return self.score - self.median

    @property
    def from_best(self) -> float:
        return self.score - self.best

    @property
    def lost(self) -> float:
        """How much better the best run of the topic is; NaN if the measure is undefined."""
        return -self.direction * self.from_best


@dataclass(frozen=True)
class RunBreakdown:
    measure: str
    lines: list[MeasureLine]
    topics: list[TopicLine]
    values: NDArray[np.float64]
    baseline_values: NDArray[np.float64] | None


def build_run_breakdown(board: Board, run: Run) -> RunBreakdown:
    """Return the scores of a run on every measure, and on every topic by the ranking one."""
    runs = [standing.run for standing in board.standings]
    scores = read_scores(board.edition, board.measure, runs)
    baseline = board.baseline if board.baseline in scores.runs else None
    return RunBreakdown(
        measure=board.measure,
        lines=[_measure_line(board, run, measure) for measure in board.measures],
        topics=_topic_lines(board, scores, run, baseline),
        values=scores.of(run),
        baseline_values=None if baseline is None else scores.of(baseline),
    )


def _measure_line(board: Board, run: Run, measure: str) -> MeasureLine:
    direction = parse_measure(measure).direction
    means = {
        standing.run: mean
        for standing in board.standings
        if (mean := standing.scores[measure]) is not None
    }
    mean = means.get(run)
    best_run = max(means, key=lambda other: direction * means[other])
    better = sum(direction * value > direction * (mean or 0.0) for value in means.values())
    return MeasureLine(
        measure=measure,
        mean=mean,
        rank=better + 1,
        of=len(means),
        others={other.pk: value for other, value in means.items() if other != run},
        median=float(np.median(list(means.values()))),
        best=means[best_run],
        best_run=best_run,
    )


def _topic_lines(board: Board, scores: Scores, run: Run, baseline: Run | None) -> list[TopicLine]:
    direction = parse_measure(board.measure).direction
    relevant = load_judgments(board.edition.pk).num_relevant(board.sight.track.relevance_threshold)
    own = scores.of(run)
    good = np.where(np.isnan(scores.values), -np.inf, direction * scores.values)
    best_rows = good.argmax(axis=0)
    best = np.nanmax(direction * scores.values, axis=0) * direction
    worst = np.nanmin(direction * scores.values, axis=0) * direction
    ranks = (good > direction * own).sum(axis=0) + 1
    against = None if baseline is None else scores.of(baseline)
    return [
        TopicLine(
            topic=topic,
            score=float(own[place]),
            rank=int(ranks[place]),
            baseline=None if against is None else float(against[place]),
            median=float(scores.median[place]),
            worst=float(worst[place]),
            best=float(best[place]),
            best_run=scores.runs[best_rows[place]],
            num_relevant=int(relevant[place]),
            direction=direction,
        )
        for place, topic in enumerate(scores.topics)
    ]
