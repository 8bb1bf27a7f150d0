"""Boards of mixed judges: each topic is judged by one of its assessors, chosen at random.

A mixture is a choice, so every run is scored once for each judge and topic, and 1,000 boards are
one product of matrices (Voorhees, Variations in Relevance Judgments and the Measurement of
Retrieval Effectiveness, Information Processing and Management 2000).

    >>> scores = np.array([[[0.2, 0.4], [0.1, 0.9]], [[0.6, 0.8], [0.5, 0.1]]])
    >>> boards = mix_judges(scores, np.ones((2, 2), dtype=bool), draws=100)
    >>> sorted(set(boards[:, 0].round(6).tolist()))
    [0.3, 0.5, 0.7]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.agreement.orders import kendall_tau_b, ranks
from evaluation.ragged import BoolArray, FloatArray, IntArray

MIXTURES = 1000


@dataclass(frozen=True, eq=False)
class RankRanges:
    """The ranks of R runs over random mixtures of judges: best and worst, int64[R].

    `mean_tau` and `least_tau` are Kendall's tau_b with the reference; None where undefined.
    """

    draws: int
    best: IntArray
    worst: IntArray
    mean_tau: float | None
    least_tau: float | None


def mix_judges(
    scores: FloatArray,
    judged: BoolArray,
    otherwise: FloatArray | None = None,
    draws: int = MIXTURES,
    seed: int = 0,
) -> FloatArray:
    """Return the means of all runs on each random board: float64[draws, R].

    `scores` is float64[J, R, T], every run by every judge, NaN where a measure is undefined.
    `judged` is bool[J, T]: a topic takes one of the judges who judged it, all equally likely.
    `otherwise`, float64[R, T], has the scores of topics that none of them judged; without it
    such a topic does not count.
    """
    judges, runs, topics = scores.shape
    if otherwise is None:
        otherwise = np.full((runs, topics), np.nan)
    every = np.concatenate([scores, otherwise[np.newaxis]])
    choices = _choose(judged, draws, seed)
    # bool[draws, judges + 1, T]: which judge a board takes for each topic.
    taken = choices[:, np.newaxis, :] == np.arange(judges + 1)[:, np.newaxis]
    chosen = taken.reshape(draws, -1).astype(np.float64)
    values = every.swapaxes(1, 2).reshape(-1, runs)
    defined = ~np.isnan(values)
    totals = chosen @ np.where(defined, values, 0.0)
    counts = chosen @ defined
    means = np.full(totals.shape, np.nan)
    np.divide(totals, counts, out=means, where=counts > 0)
    return means


def _choose(judged: BoolArray, draws: int, seed: int) -> IntArray:
    """int64[draws, T]: the judge of each topic, and the number of judges where none judged it."""
    judges, topics = judged.shape
    numbers = judged.sum(axis=0)
    nth = (np.random.default_rng(seed).random((draws, topics)) * numbers).astype(np.int64)
    # Judges of a topic first, in their order.
    order = np.argsort(~judged, axis=0, kind="stable")
    chosen: IntArray = np.where(numbers > 0, order[nth, np.arange(topics)], judges)
    return chosen


def summarise_mixtures(boards: FloatArray, reference: FloatArray, direction: int = 1) -> RankRanges:
    """Return the range of ranks of each run over boards, float64[draws, R].

    `reference` is float64[R], the board with which each is compared. Runs without a mean are last.

    >>> found = summarise_mixtures(np.array([[3.0, 2.0], [1.0, 2.0]]), np.array([3.0, 2.0]))
    >>> found.best.tolist(), found.worst.tolist(), found.mean_tau, found.least_tau
    ([1, 1], [2, 2], 0.0, -1.0)
    """
    shown = np.where(np.isnan(boards), -np.inf, direction * boards)
    beside = np.where(np.isnan(reference), -np.inf, direction * reference)
    places = np.array([ranks(board) for board in shown])
    taus = [kendall_tau_b(board, beside) for board in shown]
    known = [tau for tau in taus if tau is not None]
    return RankRanges(
        draws=len(boards),
        best=places.min(axis=0),
        worst=places.max(axis=0),
        mean_tau=float(np.mean(known)) if known else None,
        least_tau=min(known, default=None),
    )
