"""Votes on pairs of runs, and the games that they are.

>>> votes = [Vote("7", "oak", "elm", "left"), Vote("7", "elm", "oak", "both bad", "ada")]
>>> games = count_games(votes)
>>> games.runs, games.topics, games.outcomes.tolist(), games.shares.tolist()
(('elm', 'oak'), ('7',), [1, 0], [[nan, 0.25], [0.75, nan]])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from evaluation.ragged import FloatArray, IntArray
from evaluation.significance.randomisation import topic_order

Choice: TypeAlias = Literal["left", "right", "tie", "both bad"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
Kind: TypeAlias = Literal["person", "machine"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# What a vote says of the run at the left: it won, lost, or neither.
OUTCOMES: dict[Choice, int] = {"left": 1, "right": -1, "tie": 0, "both bad": 0}


@dataclass(frozen=True, slots=True)
class Vote:
    """What one voter prefers of two runs on a topic.

    `left` and `right` are the tags of the runs, at the sides where the voter saw them. Words and
    citations count those of each side, None where unknown. `probability` is that with which the
    pair was drawn among those offered, `at` has a time zone.
    """

    topic: str
    left: str
    right: str
    choice: Choice
    voter: str = ""
    kind: Kind = "person"
    reason: str = ""
    left_words: int | None = None
    right_words: int | None = None
    left_citations: int | None = None
    right_citations: int | None = None
    probability: float | None = None
    at: datetime | None = None

    @property
    def pair(self) -> tuple[str, str, str]:
        """The topic and both runs, whatever their sides."""
        return self.topic, min(self.left, self.right), max(self.left, self.right)


@dataclass(frozen=True, eq=False)
class Games:
    """Votes as N games of R runs on G topics, in the order in which topics are drawn.

    `left`, `right` and `topic` are int[N] places; `outcomes` int[N] is 1 where the left run won,
    -1 where the right one did, 0 for ties and where both are bad.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    left: IntArray
    right: IntArray
    topic: IntArray
    outcomes: IntArray

    @cached_property
    def wins(self) -> FloatArray:
        """float64[R, R]: how often the run of the row won against that of the column."""
        wins = np.zeros((len(self.runs), len(self.runs)))
        np.add.at(wins, (self.left, self.right), self.outcomes == 1)
        np.add.at(wins, (self.right, self.left), self.outcomes == -1)
        return wins

    @cached_property
    def ties(self) -> FloatArray:
        """float64[R, R], symmetric: how often two runs tied."""
        ties = np.zeros((len(self.runs), len(self.runs)))
        np.add.at(ties, (self.left, self.right), self.outcomes == 0)
        return ties + ties.T

    @cached_property
    def played(self) -> FloatArray:
        """float64[R, R], symmetric: the games of each pair."""
        played: FloatArray = self.wins + self.wins.T + self.ties
        return played

    @cached_property
    def shares(self) -> FloatArray:
        """float64[R, R]: how often the row was preferred to the column, ties half; NaN if never."""
        shares = np.full(self.played.shape, np.nan)
        points = self.wins + self.ties / 2
        np.divide(points, self.played, out=shares, where=self.played > 0)
        return shares


def count_games(votes: Iterable[Vote]) -> Games:
    """Return votes as games, runs by tag and topics by number."""
    listed = list(votes)
    runs = sorted({tag for vote in listed for tag in (vote.left, vote.right)})
    named = list({vote.topic for vote in listed})
    topics = [named[place] for place in topic_order(named)]
    place_of_run, place_of_topic = _places(runs), _places(topics)
    return Games(
        runs=tuple(runs),
        topics=tuple(topics),
        left=np.array([place_of_run[vote.left] for vote in listed], dtype=np.int64),
        right=np.array([place_of_run[vote.right] for vote in listed], dtype=np.int64),
        topic=np.array([place_of_topic[vote.topic] for vote in listed], dtype=np.int64),
        outcomes=np.array([OUTCOMES[vote.choice] for vote in listed], dtype=np.int64),
    )


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}
