"""The board of battles: strengths with intervals, ranks and letters, and what else moves votes.

All pairs of runs are one family together with each run against an average one, by the flips of
whole topics that decide about all pairs of runs elsewhere. Errors are those of the strengths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.battles.strengths import Effect, Strengths, fit_strengths
from evaluation.battles.votes import Games, Vote, count_games
from evaluation.ragged import FloatArray, IntArray
from evaluation.significance import Interval, PairDecisions, draw_maxima
from evaluation.significance.pairwise import PAIR_DRAWS, deciding_value

# With fewer battles than this a run has no rank.
FEWEST_BATTLES = 30


@dataclass(frozen=True, eq=False)
class BattleBoard:
    """R runs by strength. `pairs` compares the logarithms of strengths.

    `held_equal` has the strengths with length, citations and position held equal, None where
    none of them is known to differ.
    """

    games: Games
    strengths: Strengths
    pairs: PairDecisions
    held_equal: Strengths | None

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What length, citations and position do to votes."""
        return () if self.held_equal is None else self.held_equal.effects

    @cached_property
    def num_battles(self) -> IntArray:
        """int[R]: the games of each run."""
        return np.asarray(self.games.played.sum(axis=1), dtype=np.int64)

    @cached_property
    def won(self) -> FloatArray:
        """float64[R]: the share of its games that a run won."""
        return np.asarray(self.games.wins.sum(axis=1) / self.num_battles)

    @cached_property
    def tied(self) -> FloatArray:
        """float64[R]: the share of its games that a run tied; games that were both bad too."""
        return np.asarray(self.games.ties.sum(axis=1) / self.num_battles)

    @property
    def num_best(self) -> int:
        """How many runs may be the best."""
        return int(np.count_nonzero(self.pairs.rank_low == 1))

    def preferred(self, run: int) -> float:
        """The chance that a run is preferred to an average one, ties counted half."""
        return self.strengths.chance_of(float(self.strengths.logs[run]))

    def interval(self, run: int) -> Interval | None:
        """The 95 % interval of `preferred`; those of all runs hold together."""
        if self.pairs.critical is None:
            return None
        log, margin = float(self.strengths.logs[run]), float(self.strengths.errors[run])
        ends = (log - self.pairs.critical * margin, log + self.pairs.critical * margin)
        return Interval(*(self.strengths.chance_of(end) for end in ends))

    def chance(self, run: int, other: int) -> float:
        """P(run beats other) = p / (p + q), a tie left out."""
        return float(1 / (1 + np.exp(self.strengths.logs[other] - self.strengths.logs[run])))


def make_board(votes: Sequence[Vote], draws: int = PAIR_DRAWS) -> BattleBoard:
    """Return the board of votes of one kind of voter; ValueError without two runs.

    >>> names = ["oak", "elm"]
    >>> votes = [Vote(str(t), *names, "right" if t % 4 else "left", str(t)) for t in range(40)]
    >>> board = make_board(votes)
    >>> board.games.runs, [round(board.preferred(run), 3) for run in (0, 1)], board.pairs.letters
    (('elm', 'oak'), [0.634, 0.366], ('a', 'b'))
    >>> board.pairs.rank_high.tolist(), round(board.chance(0, 1), 3)
    ([1, 2], 0.75)
    """
    games = count_games(votes)
    strengths = fit_strengths(games)
    differences = differences_of(votes)
    return BattleBoard(
        games=games,
        strengths=strengths,
        pairs=decide_about(strengths, draws),
        held_equal=fit_strengths(games, differences) if differences else None,
    )


def decide_about(
    strengths: Strengths, draws: int = PAIR_DRAWS, level: float = 0.95
) -> PairDecisions:
    """Compare all pairs by the flips of the topics' influences; no verdict below six topics."""
    values, topics = strengths.values, strengths.influences.shape[1]
    average = np.zeros((1, topics))
    maxima = draw_maxima(np.concatenate([values, average]), draws)
    errors = np.nan_to_num(strengths.errors_of_pairs())
    return PairDecisions(
        means=strengths.logs,
        errors=errors,
        maxima=maxima,
        critical=deciding_value(maxima, level, topics, topics - 1.0),
        topics=topics,
        undefined=0,
        units=topics,
        degrees=topics - 1.0,
        sizes=(0.0,),
        members=np.ones(len(strengths.logs), dtype=bool),
    )


def differences_of(votes: Sequence[Vote]) -> dict[str, FloatArray]:
    """What is known to differ between sides, float64[N] each: the left side less the right one.

    Length is the binary logarithm of the ratio of words, so that its unit is twice the length;
    citations are counted; the position is 1 in every game, what the left side itself gains. A
    difference that is missing for some vote, or always 0, is left out.

    >>> votes = [Vote("7", "oak", "elm", "tie", left_words=80, right_words=40)]
    >>> {name: values.tolist() for name, values in differences_of(votes).items()}
    {'length': [1.0], 'position': [1.0]}
    """
    read: dict[str, Callable[[Vote], float | None]] = {
        "length": lambda vote: _log_ratio(vote.left_words, vote.right_words),
        "citations": lambda vote: _less(vote.left_citations, vote.right_citations),
        "position": lambda vote: 1.0,
    }
    found = {}
    for name, difference in read.items():
        values = [difference(vote) for vote in votes]
        known = np.array([np.nan if value is None else value for value in values])
        if np.isfinite(known).all() and known.any():
            found[name] = known
    return found


def share_preferring_more(votes: Sequence[Vote], name: str) -> float | None:
    """How often the side with more of a difference won, of the votes where a side did.

    >>> long = Vote("7", "oak", "elm", "left", left_words=80, right_words=40)
    >>> share_preferring_more([long], "length"), share_preferring_more([long], "citations")
    (1.0, None)
    """
    differences = differences_of(votes).get(name)
    if differences is None:
        return None
    outcomes = np.array([{"left": 1, "right": -1}.get(vote.choice, 0) for vote in votes])
    signs = np.sign(differences) * outcomes
    decided = int(np.count_nonzero(signs))
    return float(np.count_nonzero(signs > 0) / decided) if decided else None


def _log_ratio(left: int | None, right: int | None) -> float | None:
    return None if left is None or right is None else float(np.log2(max(left, 1) / max(right, 1)))


def _less(left: int | None, right: int | None) -> float | None:
    return None if left is None or right is None else float(left - right)
