"""The scores of every run on every topic, and the topics that invert the order of runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # type: ignore[import-untyped]
from numpy.typing import NDArray

from evaluation.answers.any_measure import parse_measure
from leaderboard.analysis.scores import Scores, find_extremes, read_scores
from leaderboard.analysis.summaries import TopicSummary, build_topic_summaries
from leaderboard.analysis.topic_choice import EVERY_TOPIC, ChosenTopics
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.csv_tables import TOPIC_COLUMNS, CsvTable, tabulate
from leaderboard.models import Topic

# With fewer runs a correlation means nothing.
FEWEST_RUNS = 3
ALPHA = 0.05
# Spreads below this are rounding.
EQUAL = 1e-12


@dataclass(frozen=True)
class MappedTopic:
    """A topic with its item-total correlation: its scores against the means of all others."""

    summary: TopicSummary
    correlation: float
    # Whether runs that are better on all other topics are worse on this one, beyond chance.
    is_inverted: bool
    # The lowest score, the quartiles and the highest.
    spread: list[float]

    @property
    def topic(self) -> Topic:
        return self.summary.topic

    @property
    def number(self) -> str:
        return self.topic.number

    @property
    def relevant(self) -> int:
        return self.summary.relevant

    @property
    def median(self) -> float:
        return self.summary.median


@dataclass(frozen=True)
class TopicMap:
    """`values` is float64[runs, topics], NaN = undefined: runs best first, topics easiest first.

    `low` and `high` are the ends of the scale: 0 and 1 if all values are between them.
    """

    measure: str
    standings: list[Standing]
    topics: list[MappedTopic]
    values: NDArray[np.float64]
    low: float
    high: float

    @property
    def shares(self) -> NDArray[np.float64]:
        """The values from 0 at the low end of the scale to 1 at the high end."""
        return (self.values - self.low) / (self.high - self.low)

    @property
    def hardest(self) -> MappedTopic | None:
        """The last topic with a median, if at least two topics have one."""
        known = [topic for topic in self.topics if not np.isnan(topic.summary.median)]
        return known[-1] if len(known) > 1 else None

    @property
    def inverted(self) -> list[MappedTopic]:
        return [topic for topic in self.topics if topic.is_inverted]

    def table(self, *, with_correlation: bool) -> CsvTable:
        """A line for each topic, a column for each run, by its tag; correlations if asked for."""
        correlation = [("correlation", "correlation")] if with_correlation else []
        columns = [*TOPIC_COLUMNS, ("relevant", "relevant"), *correlation]
        found = tabulate(self.topics, columns)
        spread = ["lowest", "first_quartile", "median", "third_quartile", "highest"]
        rows = zip(found.rows, self.topics, self.values.T.tolist(), strict=True)
        return CsvTable(
            [*found.head, *spread, *(standing.name for standing in self.standings)],
            [[*cells, *topic.spread, *of_runs] for cells, topic, of_runs in rows],
        )


def build_topic_map(board: Board, chosen: ChosenTopics = EVERY_TOPIC) -> TopicMap:
    """Return the chosen topics of a board; the scale and correlations are those of all topics."""
    summaries = build_topic_summaries(board)
    medians = np.array([summary.median for summary in summaries])
    # NaN sorts last, so topics without a median come at the end.
    order = np.argsort(-parse_measure(board.measure).direction * medians, kind="stable")
    scores = read_scores(board.edition, board.measure, [standing.run for standing in board.ranked])
    correlations = item_total_correlations(scores.values)
    low, high = _scale(scores.values)
    order = np.array([place for place in order if chosen.has(summaries[place].topic)], dtype=int)
    values = scores.values[:, order]
    spread = _spread(scores).T.tolist()
    return TopicMap(
        measure=board.measure,
        standings=board.ranked,
        topics=[
            MappedTopic(
                summaries[place],
                float(correlations[place]),
                is_inverted(correlations[place], *scores.values.shape),
                spread[place],
            )
            for place in order
        ],
        values=values,
        low=low,
        high=high,
    )


def _spread(scores: Scores) -> NDArray[np.float64]:
    """Return the lowest score of every topic, its quartiles and the highest."""
    lowest, highest = find_extremes(scores.values)
    return np.vstack([lowest, scores.quartiles, highest])


def _scale(values: NDArray[np.float64]) -> tuple[float, float]:
    low = float(np.nanmin(values, initial=0.0))
    high = float(np.nanmax(values, initial=0.0))
    return low, 1.0 if low == 0.0 and high <= 1.0 else high


def item_total_correlations(
    values: NDArray[np.float64], topics: slice = slice(None)
) -> NDArray[np.float64]:
    """Pearson's r over runs of each of these topics with the sum of the others, float64[topics].

    It is NaN with fewer than three runs, on a topic with equal scores, or on a topic that is
    undefined for a run (which is then in no sum either).
    """
    chosen = values[:, topics]
    found = np.full(chosen.shape[1], np.nan)
    if len(values) < FEWEST_RUNS:
        return found
    every = values.sum(axis=1, where=~np.isnan(values).any(axis=0), keepdims=True)
    own, rest = chosen - chosen.mean(axis=0), every - chosen
    rest -= rest.mean(axis=0)
    spread = np.sqrt(np.square(own).sum(axis=0) * np.square(rest).sum(axis=0))
    return np.divide((own * rest).sum(axis=0), spread, out=found, where=spread > EQUAL)


def is_inverted(correlation: float, runs: int, topics: int) -> bool:
    """Return whether a topic turns the order of runs more than chance explains.

    Among many topics some correlations are below 0 by chance. So this is Student's test of
    Pearson's r, one-sided, at .05 divided by the number of topics.

    >>> is_inverted(-0.5, runs=8, topics=25), is_inverted(-0.95, runs=8, topics=25)
    (False, True)
    """
    if not correlation < 0:
        return False
    unexplained = max(1 - correlation**2, EQUAL)
    t = correlation * np.sqrt((runs - 2) / unexplained)
    return bool(scipy.special.stdtr(runs - 2, t) * topics < ALPHA)
