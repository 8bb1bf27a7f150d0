"""Strengths of runs from games with ties, by Davidson's model, with errors clustered by topic.

A run of strength p beats one of strength q, ties with it or loses with chances in proportion to
p : v sqrt(p q) : q. Strengths have geometric mean 1; without ties this is the model of Bradley
and Terry (Biometrika 1952; Davidson, Journal of the American Statistical Association 1970). Games
of one topic are not independent, so errors are those of whole topics (Liang and Zeger 1986).

>>> from evaluation.battles.votes import Vote, count_games
>>> won = [("A", "B", 2), ("B", "A", 3), ("A", "D", 1), ("D", "A", 4)]
>>> won += [("B", "C", 5), ("C", "B", 3), ("C", "D", 1), ("D", "C", 3)]
>>> votes = [Vote("7", one, other, "left") for one, other, times in won for _ in range(times)]
>>> fit_strengths(count_games(votes)).strengths.round(6).tolist()
[0.639835, 1.043314, 0.65981, 2.270377]
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.battles.votes import Games
from evaluation.ragged import FloatArray
from evaluation.significance import Interval
from evaluation.significance.units import FEWEST_TOPICS

# Newton's steps: few are needed, because the likelihood has one maximum.
STEPS = 100
CLOSE = 1e-11
HALF_A_GAME = 0.5


@dataclass(frozen=True, slots=True)
class Effect:
    """How much a difference of the two sides moves votes, with strengths held equal.

    `odds` multiplies the odds that the left side wins for each unit of the difference. `interval`
    is that of `odds` at 95 %, clustered by topic; None below six topics.
    """

    name: str
    odds: float
    interval: Interval | None


@dataclass(frozen=True, eq=False)
class Strengths:
    """Strengths of R runs from games on G topics.

    `logs` float64[R] are natural logarithms with mean 0. `tie` is the v of the model, 0 where no
    game was a tie. `influences` float64[R, G] is what each topic moves the logarithms by.
    `has_half_games` tells that some run never won or never lost, or that runs were not connected:
    then each run has half a won and half a lost game against an average run.
    """

    logs: FloatArray
    tie: float
    influences: FloatArray = field(repr=False)
    has_half_games: bool
    effects: tuple[Effect, ...] = ()

    @property
    def strengths(self) -> FloatArray:
        """float64[R], with geometric mean 1."""
        strengths: FloatArray = np.exp(self.logs)
        return strengths

    @property
    def values(self) -> FloatArray:
        """float64[R, G]: values by topic whose mean and standard error are those of the logs."""
        values: FloatArray = self.logs[:, np.newaxis] + self.influences.shape[1] * self.influences
        return values

    @property
    def errors(self) -> FloatArray:
        """float64[R]: the standard errors of the logarithms, NaN with one topic."""
        return _clustered(self.influences)

    def errors_of_pairs(self) -> FloatArray:
        """float64[R, R]: the standard errors of differences of logarithms."""
        return np.stack([_clustered(self.influences - own) for own in self.influences])

    def chance_of(self, log: float, other: float = 0.0) -> float:
        """How often a run is preferred to another, ties counted half; by default to an average one.

        >>> strengths = Strengths(np.log([2.0, 0.5]), 1.0, np.zeros((2, 1)), False)
        >>> round(strengths.chance_of(strengths.logs[0], strengths.logs[1]), 6)
        0.714286
        """
        odds = float(np.exp(np.clip((log - other) / 2, -350, 350)))
        return float((odds + self.tie / 2) / (odds + self.tie + 1 / odds))


def fit_strengths(games: Games, differences: dict[str, FloatArray] | None = None) -> Strengths:
    """Fit strengths by maximum likelihood.

    `differences` has, by name, float64[N]: the left side less the right one of each game, such as
    its words; each gets an `Effect`. ValueError for games of fewer than two runs.
    """
    if len(games.runs) < 2:
        raise ValueError("strengths need games of two runs")
    model = _Model.of(games, differences or {})
    found = model.maximise()
    inverse = model.inverse(found)
    scores = model.scores_by_topic(found) @ inverse
    runs, place = len(games.runs), len(games.runs) + model.has_ties
    return Strengths(
        logs=found[:runs],
        tie=float(np.exp(found[runs])) if model.has_ties else 0.0,
        influences=np.ascontiguousarray(scores[:, :runs].T),
        has_half_games=model.has_half_games,
        effects=tuple(
            _effect(name, float(found[place + at]), scores[:, place + at])
            for at, name in enumerate(differences or {})
        ),
    )


def is_connected(games: Games) -> bool:
    """Whether every run won and lost, and wins and ties lead from each run to every other."""
    wins = games.wins
    if not (wins.any(axis=0) & wins.any(axis=1)).all():
        return False
    parts, _ = scipy.sparse.csgraph.connected_components(
        scipy.sparse.csr_array(wins + games.ties), connection="strong"
    )
    return bool(parts == 1)


def _effect(name: str, log: float, influences: FloatArray) -> Effect:
    topics = len(influences)
    if topics < FEWEST_TOPICS:
        return Effect(name, float(np.exp(log)), None)
    margin = scipy.special.stdtrit(topics - 1, 0.975) * float(_clustered(influences[np.newaxis])[0])
    low, high = (float(np.exp(end)) for end in (log - margin, log + margin))
    return Effect(name, float(np.exp(log)), Interval(low, high))


def _clustered(influences: FloatArray) -> FloatArray:
    """float64[rows]: sqrt(G / (G - 1) sum of squares) over G topics."""
    topics = influences.shape[1]
    if topics < 2:
        return np.full(len(influences), np.nan)
    errors: FloatArray = np.sqrt(topics / (topics - 1) * np.square(influences).sum(axis=1))
    return errors


@dataclass(frozen=True, eq=False)
class _Model:
    """The likelihood. Parameters: R logs, the log of v where games tied, K coefficients.

    `design` is sparse [games, parameters]: what the difference of the two sides adds up from.
    Half games come after those of the votes and belong to no topic; they are against strength 1.
    """

    games: Games
    design: scipy.sparse.csr_array
    outcomes: FloatArray
    weights: FloatArray
    has_ties: bool
    has_half_games: bool

    @classmethod
    def of(cls, games: Games, differences: dict[str, FloatArray]) -> _Model:
        runs, played = len(games.runs), len(games.outcomes)
        rows = np.arange(played)
        ones = np.ones(played)
        sides = scipy.sparse.csr_array(
            (
                np.concatenate([ones, -ones]),
                (np.tile(rows, 2), np.concatenate([games.left, games.right])),
            ),
            shape=(played, runs),
        )
        has_ties = bool((games.outcomes == 0).any())
        further = np.zeros((played, has_ties + len(differences)))
        for place, values in enumerate(differences.values()):
            further[:, has_ties + place] = values
        design = scipy.sparse.hstack([sides, scipy.sparse.csr_array(further)], format="csr")
        outcomes, weights = games.outcomes.astype(np.float64), ones
        has_half_games = not is_connected(games)
        if has_half_games:
            against_one = scipy.sparse.eye_array(runs, design.shape[1], format="csr")
            design = scipy.sparse.vstack([design, against_one, against_one], format="csr")
            outcomes = np.concatenate([outcomes, np.ones(runs), -np.ones(runs)])
            weights = np.concatenate([weights, np.full(2 * runs, HALF_A_GAME)])
        return cls(games, design, outcomes, weights, has_ties, has_half_games)

    def chances(self, found: FloatArray) -> tuple[FloatArray, FloatArray]:
        """float64[games] each: the expected outcome, and the chance of a tie."""
        half = np.clip(self.design @ found / 2, -350, 350)
        tie = found[len(self.games.runs)] if self.has_ties else -np.inf
        largest = np.maximum(np.abs(half), tie)
        left, right = np.exp(half - largest), np.exp(-half - largest)
        both = np.exp(tie - largest)
        total = left + right + both
        return (left - right) / total, both / total

    def gradients(self, found: FloatArray) -> scipy.sparse.csr_array:
        """Sparse [games, parameters]: what each game adds to the gradient."""
        expected, tied = self.chances(found)
        rows = scipy.sparse.csr_array(
            self.design.multiply(self._column((self.outcomes - expected) / 2))
        )
        if self.has_ties:
            rows = rows + self._in_tie_column((self.outcomes == 0) - tied)
        return scipy.sparse.csr_array(rows.multiply(self._column(self.weights)))

    def information(self, found: FloatArray) -> FloatArray:
        """float64[parameters, parameters]: the expected information of all games."""
        expected, tied = self.chances(found)
        spread = self.weights * ((1 - tied) - expected**2) / 4
        scaled = self.design.multiply(self._column(spread))
        matrix: FloatArray = np.asarray((self.design.T @ scaled).toarray())
        if self.has_ties:
            place = len(self.games.runs)
            mixed = self.design.T @ (-self.weights * expected * tied / 2)
            matrix[place, :] += mixed
            matrix[:, place] += mixed
            matrix[place, place] += float((self.weights * tied * (1 - tied)).sum())
        return matrix

    def inverse(self, found: FloatArray) -> FloatArray:
        """The inverse of the information among logs that add up to 0."""
        size = self.design.shape[1]
        inverse = np.linalg.pinv(self._bordered(found))[:size, :size]
        return np.asarray(inverse, dtype=np.float64)

    def maximise(self) -> FloatArray:
        """The parameters of largest likelihood, by Newton's steps that are halved where needed."""
        found = np.zeros(self.design.shape[1])
        value = self.likelihood(found)
        for _ in range(STEPS):
            gradient = np.asarray(self.gradients(found).sum(axis=0)).reshape(-1)
            step = (np.linalg.pinv(self._bordered(found)) @ np.append(gradient, 0.0))[:-1]
            size = 1.0
            while self.likelihood(found + size * step) < value - CLOSE and size > CLOSE:
                size /= 2
            found = found + size * step
            value = self.likelihood(found)
            if np.abs(step).max() <= CLOSE:
                break
        found[: len(self.games.runs)] -= found[: len(self.games.runs)].mean()
        return found

    def likelihood(self, found: FloatArray) -> float:
        expected, tied = self.chances(found)
        won = (1 - tied + self.outcomes * expected) / 2
        chances = np.where(self.outcomes == 0, tied, won)
        return float(self.weights @ np.log(np.maximum(chances, 1e-300)))

    def scores_by_topic(self, found: FloatArray) -> FloatArray:
        """float64[G, parameters]: the gradient of the games of each topic."""
        votes = len(self.games.outcomes)
        members = scipy.sparse.csr_array(
            (np.ones(votes), (self.games.topic, np.arange(votes))),
            shape=(len(self.games.topics), votes),
        )
        return np.asarray((members @ self.gradients(found)[:votes]).toarray())

    def _bordered(self, found: FloatArray) -> FloatArray:
        size = self.design.shape[1]
        matrix = np.zeros((size + 1, size + 1))
        matrix[:size, :size] = self.information(found)
        matrix[size, : len(self.games.runs)] = matrix[: len(self.games.runs), size] = 1.0
        return matrix

    def _column(self, values: FloatArray) -> FloatArray:
        return values.reshape(-1, 1)

    def _in_tie_column(self, values: FloatArray) -> scipy.sparse.csr_array:
        rows = np.arange(len(values))
        places = np.full(len(values), len(self.games.runs))
        return scipy.sparse.csr_array((values, (rows, places)), shape=self.design.shape)
