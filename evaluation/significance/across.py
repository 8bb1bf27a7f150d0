"""Comparison of systems over several collections: the mean of their mean differences.

Topics are flipped around the mean of their own collection, and the largest t of a flip, over the
family, is what chance alone can reach. The claim is about these collections, not about others.

>>> base = np.linspace(0.1, 0.6, 12)
>>> small = np.array([1, 2, 1, 3, 1, 2, 1, 1, 2, 1, 2, 1]) / 1000
>>> one, other = (Collected(np.array([base, base + small]), [(n, t) for t in range(12)])
...     for n in "ab")
>>> _, found = compare_over_collections([one, other])
>>> round(found.difference, 4), found.p_adjusted < 0.01, found.wins
(0.0015, True, 24)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from evaluation.ragged import FloatArray
from evaluation.significance.baseline import Difference
from evaluation.significance.differences import EQUAL, whole
from evaluation.significance.pairwise import (
    PAIR_DRAWS,
    TIE,
    adjusted_p,
    can_decide,
    critical_value,
    interval_of,
)
from evaluation.significance.randomisation import sign_blocks
from evaluation.significance.scales import MEAN, Scale

Family: TypeAlias = Literal["baseline", "all"]


@dataclass(frozen=True, eq=False)
class Collected:
    """The scores of the systems on one collection, float64[R, T], and the keys of its topics.

    Keys can be ordered. A topic with the same key in two collections is one topic, and flips with
    itself.
    """

    scores: FloatArray
    topics: Sequence[Any]

    def defined(self) -> Collected:
        """The same without the topics that some system has no score for."""
        keep = np.flatnonzero(~np.isnan(self.scores).any(axis=0))
        return Collected(self.scores[:, keep], [self.topics[place] for place in keep.tolist()])


def compare_over_collections(
    collections: Sequence[Collected],
    baseline: int = 0,
    level: float = 0.95,
    direction: int = 1,
    scale: Scale = MEAN,
    family: Family = "baseline",
    draws: int = PAIR_DRAWS,
) -> list[Difference]:
    """Compare every system with the baseline by the mean over K collections of mean differences.

    p is adjusted over all comparisons with the baseline, or over all pairs of systems. With n_k
    topics, centred sum of squares q_k and mean m_k of a flip, the squared standard error of the
    flip is sum over k of (q_k - n_k m_k^2) / ((n_k - 1) n_k), divided by K^2. There is no test
    where a collection has fewer than two topics, and no interval where six in all are missing.
    ValueError for sums, whose means over collections mean nothing.
    """
    if scale.unit == "total":
        raise ValueError("sums have no mean over collections")
    tested = [Collected(scale.tested(each.scores), each.topics).defined() for each in collections]
    runs = len(tested[0].scores)
    others = [run for run in range(runs) if run != baseline]
    asked = [(run, baseline) for run in others]
    more = [pair for pair in combinations(others, 2) if family == "all"]
    flips = Flips.of(tested, [*asked, *more], len(asked), draws)
    found = flips.outcomes(level, scale, direction)
    outcomes = dict(zip(others, found, strict=False))
    undefined = sum(len(each.topics) for each in collections) - sum(len(t.topics) for t in tested)
    same = Difference(
        difference=scale.neutral,
        low=None,
        high=None,
        p=None,
        p_adjusted=None,
        effect_size=0.0,
        wins=0,
        losses=0,
        ties=sum(len(each.topics) for each in tested),
        topics=flips.topics,
        undefined=0,
        unit=scale.unit,
    )
    return [replace(outcomes.get(run, same), undefined=undefined) for run in range(runs)]


@dataclass(frozen=True, eq=False)
class Flips:
    """The differences of each pair asked about, by collection, and the t of every flip.

    rows: float64[pairs, T_k] of each collection; drawn: float64[pairs, draws], absolute; maxima:
    float64[draws], ascending, the largest of the whole family. Both have no draws where a
    collection has fewer than two topics. `topics` counts each topic once.
    """

    rows: list[FloatArray]
    drawn: FloatArray
    maxima: FloatArray
    topics: int

    @classmethod
    def of(
        cls,
        collections: Sequence[Collected],
        pairs: Sequence[tuple[int, int]],
        asked: int,
        draws: int,
    ) -> Flips:
        """Draw for all pairs of a family; the first `asked` of them are asked about."""
        keys = sorted({key for each in collections for key in each.topics})
        place = {key: number for number, key in enumerate(keys)}
        columns = [[place[key] for key in each.topics] for each in collections]
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        rows = [each.scores[first] - each.scores[second] for each in collections]
        shown = [row[:asked] for row in rows]
        if not pairs or min(row.shape[1] for row in rows) < 2:
            return cls(shown, np.zeros((asked, 0)), np.zeros(0), len(keys))
        centred = [row - row.mean(axis=1, keepdims=True) for row in rows]
        drawn, maxima = [], []
        for signs in sign_blocks(len(keys), draws):
            parts = [
                row @ signs.T[own] / row.shape[1] for row, own in zip(centred, columns, strict=True)
            ]
            t = t_of_means(parts, centred)
            drawn.append(t[:asked])
            maxima.append(t.max(axis=0))
        largest = np.sort(np.concatenate(maxima))
        return cls(shown, np.concatenate(drawn, axis=1), largest, len(keys))

    def outcomes(self, level: float, scale: Scale, direction: int) -> list[Difference]:
        """The tests of the pairs asked about, adjusted for the whole family."""
        can_test = len(self.maxima) > 0
        means = np.mean([row.mean(axis=1) for row in self.rows], axis=0)
        means[np.abs(means) <= EQUAL] = 0.0
        none = np.zeros(len(means))
        errors = _errors([none[:, np.newaxis] for _ in self.rows], self._centred)[:, 0]
        apart = np.where(means != 0, np.inf, 0.0)
        t = np.divide(np.abs(means), errors, out=apart, where=errors > 0)
        critical = critical_value(self.maxima, level)
        decided = can_test and bool(can_decide(self.topics, level)) and np.isfinite(critical)
        signs = np.sign(whole(np.concatenate(self.rows, axis=1))) * direction
        found = []
        for pair, mean in enumerate(means.tolist()):
            raw = adjusted_p(t[pair : pair + 1], np.sort(self.drawn[pair]), self.topics).item()
            held = adjusted_p(t[pair : pair + 1], self.maxima, self.topics).item()
            differs = bool(t[pair] > critical * (1 + TIE))
            interval = interval_of(mean, critical * errors[pair], differs) if decided else None
            ends = [mean, interval.low, interval.high] if interval else [mean]
            difference, *rest = scale.printed(np.array(ends)).tolist()
            low, high = rest or (None, None)
            found.append(
                Difference(
                    difference=difference,
                    low=low,
                    high=high,
                    p=raw if can_test else None,
                    p_adjusted=max(raw, held) if can_test else None,
                    effect_size=None,
                    wins=int(np.count_nonzero(signs[pair] > 0)),
                    losses=int(np.count_nonzero(signs[pair] < 0)),
                    ties=int(np.count_nonzero(signs[pair] == 0)),
                    topics=self.topics,
                    undefined=0,
                    unit=scale.unit,
                )
            )
        return found

    @property
    def _centred(self) -> list[FloatArray]:
        return [row - row.mean(axis=1, keepdims=True) for row in self.rows]


def t_of_means(parts: Sequence[FloatArray], centred: Sequence[FloatArray]) -> FloatArray:
    """float64[pairs, draws]: |t| of each flip, from the flipped mean of each collection."""
    distance, errors = np.abs(np.mean(parts, axis=0)), _errors(parts, centred)
    apart = np.where(distance > EQUAL, np.inf, 0.0)
    return np.divide(distance, errors, out=apart, where=errors > 0)


def _errors(parts: Sequence[FloatArray], centred: Sequence[FloatArray]) -> FloatArray:
    """float64[pairs, draws]: the standard error of each flip, made anew from its own means."""
    total = np.zeros(parts[0].shape)
    for part, row in zip(parts, centred, strict=True):
        topics = row.shape[1]
        squares = np.square(row).sum(axis=1, keepdims=True)
        squares[squares <= topics * EQUAL**2] = 0.0
        rest = squares - topics * np.square(part)
        total += np.where(rest > TIE * squares, rest, 0.0) / max((topics - 1) * topics, 1)
    errors: FloatArray = np.sqrt(total) / len(parts)
    return errors
