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
>>> pairs = decide_pairs_over_collections([one, other])
>>> pairs.better.tolist(), pairs.rank_low.tolist(), pairs.rank_high.tolist()
([[False, False], [True, False]], [2, 1], [2, 1])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from evaluation.ragged import FloatArray, IntArray
from evaluation.significance.baseline import Difference
from evaluation.significance.differences import EQUAL, whole
from evaluation.significance.pairwise import (
    PAIR_DRAWS,
    TIE,
    TOTALS,
    PairDecisions,
    adjusted_p,
    can_decide,
    deciding_value,
    fill_pairs,
    interval_of,
    spread_of_pairs,
    square_sums,
)
from evaluation.significance.randomisation import sign_blocks, topic_order
from evaluation.significance.scales import MEAN, Scale
from evaluation.significance.units import FEWEST_DEGREES, Units
from evaluation.significance.widening import Spread

# A block has no fewer draws than this: matrix products of fewer columns are slow.
NARROWEST = 64

Family: TypeAlias = Literal["baseline", "all"]


@dataclass(frozen=True, eq=False)
class Collected:
    """The scores of the systems on one collection, float64[R, T], and the keys of its topics.

    Keys can be ordered. A topic with the same key in two collections is one topic, and flips with
    itself. `groups` has the key of the group of each topic, where topics are in groups: these flip
    as a whole, also across collections.
    """

    scores: FloatArray
    topics: Sequence[Any]
    groups: Sequence[Any] | None = None

    def defined(self) -> Collected:
        """The same without the topics that some system has no score for."""
        keep = np.flatnonzero(~np.isnan(self.scores).any(axis=0)).tolist()
        return self._select(keep)

    @cached_property
    def in_order(self) -> Collected:
        """The same with the topics in the order of their keys, as every draw follows them."""
        return self._select(topic_order(self.topics).tolist())

    def _select(self, places: list[int]) -> Collected:
        groups = None if self.groups is None else [self.groups[place] for place in places]
        return Collected(self.scores[:, places], [self.topics[place] for place in places], groups)

    @cached_property
    def keys(self) -> Sequence[Any]:
        """The keys of what is flipped: topics, or groups in the order of their keys."""
        return self.topics if self.groups is None else sorted(set(self.groups))

    @cached_property
    def members(self) -> IntArray | None:
        """int[T]: the place of the group of each topic among the keys; None without groups."""
        if self.groups is None:
            return None
        place = {key: number for number, key in enumerate(self.keys)}
        return np.array([place[group] for group in self.groups], dtype=np.int64)

    @cached_property
    def degrees(self) -> float:
        """The degrees of freedom that topics, or groups of unequal size, leave."""
        return float(self.units_of(np.zeros((1, len(self.topics)))).degrees[0])

    def units_of(self, rows: FloatArray) -> Units:
        """Rows of float64[., T] as what is flipped."""
        return Units.of(rows, self.members)

    def can_decide(self, level: float = 0.95) -> bool:
        """Whether there are enough topics, or groups of similar size, for a verdict."""
        return bool(can_decide(len(self.keys), level)) and self.degrees >= FEWEST_DEGREES

    @property
    def means(self) -> FloatArray:
        """float64[R]: the mean of each system, NaN without topics."""
        if not len(self.topics):
            return np.full(len(self.scores), np.nan)
        means: FloatArray = self.scores.mean(axis=1)
        return means


def decide_pairs_over_collections(
    collections: Sequence[Collected],
    level: float = 0.95,
    direction: int = 1,
    scale: Scale = MEAN,
    draws: int = PAIR_DRAWS,
    maxima: FloatArray | None = None,
    sizes: Sequence[float] | None = None,
) -> PairDecisions:
    """Decide about all pairs of R systems by the mean over the collections of mean differences.

    The rows of all collections are the same systems. Means and errors of the decisions are those
    of the mean over collections, on the scale that is tested; `topics` counts a shared topic once,
    `undefined` counts the topics that some system has no score for. With one collection the
    decisions are those of `decide_pairs`. `maxima` and `sizes` are those of earlier decisions about
    a family that has all these systems.

    There is no verdict below six topics in total, and none where a collection has fewer than two:
    the error of its mean is unknown, so that of the mean over all collections is unknown too. Then
    every p is 1 and every rank is 1 to R. ValueError for sums, whose means over collections mean
    nothing. Memory is bounded by R x R and by R x K x 64 totals.
    """
    tested = tested_together(collections, scale)
    flips = Flips.of(tested)
    if maxima is None:
        maxima = draw_maxima_over_collections(tested, draws)
    spreads = [_spread_of_pairs(each) for each in tested]
    if sizes is None:
        sizes = [spread.family_size(scale.half_range) for spread in spreads]
    systems = len(tested[0].scores)
    return PairDecisions(
        means=np.mean([each.means for each in tested], axis=0),
        errors=fill_pairs(_mean_errors(spreads, sizes), systems),
        maxima=maxima,
        critical=deciding_value(maxima, level, flips.units, flips.degrees) if systems > 1 else None,
        topics=_count_distinct(tested),
        undefined=_count_topics(collections) - _count_topics(tested),
        units=flips.units,
        degrees=flips.degrees,
        sizes=tuple(sizes),
        members=np.ones(systems, dtype=bool),
        direction=direction,
    )


def draw_maxima_over_collections(
    collections: Sequence[Collected], draws: int = PAIR_DRAWS
) -> FloatArray:
    """The largest t over all pairs of systems in each flip, float64[draws], ascending.

    Scores are on the scale that is tested. All are infinite where a collection has fewer than two
    topics, so that nothing exceeds them.
    """
    tested = [each.defined() for each in collections]
    flips, systems = Flips.of(tested), len(tested[0].scores)
    if systems < 2:
        return np.zeros(draws)
    if not flips.can_test:
        return np.full(draws, np.inf)
    centred = [each.units_of(each.scores).centred for each in tested]
    errors = flips.squared_errors([square_sums(rows) for rows in centred])
    largest = [_largest(means, errors, flips) for means in flips.draw(centred, draws)]
    return np.sort(np.sqrt(np.concatenate(largest)))


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
    flip is sum over k of (q_k - n_k m_k^2) / ((n_k - 1) n_k), divided by K^2; that of the observed
    difference is the sum over k of the squared widened errors, divided by K^2. There is no test
    where a collection has fewer than two topics, and no interval where six in all are missing.
    ValueError for sums, whose means over collections mean nothing.
    """
    tested = tested_together(collections, scale)
    systems = len(tested[0].scores)
    others = [system for system in range(systems) if system != baseline]
    rows = [each.scores[others] - each.scores[baseline] for each in tested]
    flips = Flips.of(tested)
    units = [each.units_of(row) for each, row in zip(tested, rows, strict=True)]
    drawn = flips.draw_t(units, draws) if others and flips.can_test else None
    maxima = None if drawn is None else np.sort(drawn.max(axis=0))
    if maxima is not None and family == "all":
        maxima = draw_maxima_over_collections(tested, draws)
    same = Difference(
        difference=scale.neutral if all(flips.sizes) else None,
        low=None,
        high=None,
        p=None,
        p_adjusted=None,
        effect_size=0.0,
        wins=0,
        losses=0,
        ties=_count_topics(tested),
        topics=_count_distinct(tested),
        undefined=_count_topics(collections) - _count_topics(tested),
        unit=scale.unit,
    )
    compared = [
        replace(same, effect_size=None, wins=wins, losses=losses, ties=ties)
        for wins, losses, ties in _count_signs(rows, direction)
    ]
    if all(flips.sizes):
        spreads = [Spread.of(each) for each in units]
        of_family = [_spread_of_pairs(each) for each in tested] if family == "all" else spreads
        sizes = [spread.family_size(scale.half_range) for spread in of_family]
        errors = _mean_errors(spreads, sizes)
        compared = _decide(compared, rows, errors, flips, drawn, maxima, level, scale)
    return [*compared[:baseline], same, *compared[baseline:]]


def tested_together(collections: Sequence[Collected], scale: Scale = MEAN) -> list[Collected]:
    """The scores on the scale that is tested, without topics that some system has no score for.

    ValueError for sums, whose means over collections mean nothing.
    """
    if scale.unit == "total":
        raise ValueError("sums have no mean over collections")
    return [replace(each, scores=scale.tested(each.scores)).defined() for each in collections]


@dataclass(frozen=True, eq=False)
class Flips:
    """How the topics of K collections, or their groups of topics, are flipped together.

    `sizes` are the numbers of units of the collections, `columns` the place of each unit among
    all, `units` the number of places: a shared one has one. Groups of unequal size leave fewer
    `degrees` of freedom than the units less 1.
    """

    sizes: list[int]
    columns: list[list[int]]
    units: int
    degrees: float

    @classmethod
    def of(cls, collections: Sequence[Collected]) -> Flips:
        keys = sorted({key for each in collections for key in each.keys})
        place = {key: number for number, key in enumerate(keys)}
        columns = [[place[key] for key in each.keys] for each in collections]
        lost = sum(len(each.keys) - 1 - each.degrees for each in collections if each.groups)
        return cls([len(own) for own in columns], columns, len(keys), len(keys) - 1.0 - lost)

    @property
    def can_test(self) -> bool:
        return min(self.sizes) >= 2

    def squared_errors(self, squares: Sequence[FloatArray]) -> FloatArray:
        """The squared standard error of the sum of K means, from the centred sums of squares."""
        parts = [part / max((n - 1) * n, 1) for part, n in zip(squares, self.sizes, strict=True)]
        total: FloatArray = np.sum(parts, axis=0)
        return total

    def draw(self, centred: Sequence[FloatArray], draws: int) -> Iterator[FloatArray]:
        """The mean of each centred row in each flip, float64[K, rows, block], in blocks.

        A block is overwritten by the next.
        """
        stride = max(NARROWEST, TOTALS // (len(centred) * len(centred[0])))
        buffer = np.empty(len(centred) * len(centred[0]) * stride)
        for signs in sign_blocks(self.units, draws):
            for start in range(0, len(signs), stride):
                block = np.ascontiguousarray(signs[start : start + stride].T)
                shape = (len(centred), len(centred[0]), block.shape[1])
                means = buffer[: np.prod(shape)].reshape(shape)
                for mean, row, own in zip(means, centred, self.columns, strict=True):
                    np.matmul(row / row.shape[1], block[own], out=mean)
                yield means

    def squared_t(self, means: FloatArray, errors: FloatArray) -> FloatArray:
        """float64[rows, block]: t^2 of flips with these means, which are overwritten.

        `errors` are the squared standard errors before the flip, float64[rows]. After it they are
        smaller by the sum over k of m_k^2 / (n_k - 1). t is inf where all that is left is
        rounding, and 0 where the flipped mean is rounding too.
        """
        squares: FloatArray = np.square(means.sum(axis=0))
        np.square(means, out=means)
        left = errors[:, np.newaxis] - np.tensordot(self._shares, means, axes=1)
        flat = left <= TIE * errors[:, np.newaxis]
        if flat.any():
            squares[flat] = np.where(squares[flat] > (len(means) * EQUAL) ** 2, np.inf, 0.0)
            left[flat] = 1.0
        squares /= left
        return squares

    def draw_t(self, rows: Sequence[Units], draws: int) -> FloatArray:
        """float64[rows, draws]: |t| of each row of differences in each flip."""
        centred = [row.centred for row in rows]
        errors = self.squared_errors(_squares(centred))
        blocks = [self.squared_t(means, errors) for means in self.draw(centred, draws)]
        return np.sqrt(np.concatenate(blocks, axis=1))

    @property
    def _shares(self) -> FloatArray:
        return 1.0 / (np.array(self.sizes) - 1)


def _largest(means: FloatArray, errors: FloatArray, flips: Flips) -> FloatArray:
    """float64[block]: the largest t^2 of a pair; means are float64[K, R, block]."""
    collections, systems, block = means.shape
    largest, buffer = np.zeros(block), np.empty(means.size)
    for system in range(systems - 1):
        shape = (collections, systems - 1 - system, block)
        apart = buffer[: collections * shape[1] * block].reshape(shape)
        np.subtract(means[:, system + 1 :], means[:, system : system + 1], out=apart)
        squares = flips.squared_t(apart, errors[system, system + 1 :])
        np.maximum(largest, squares.max(axis=0), out=largest)
    return largest


def _decide(
    compared: Sequence[Difference],
    rows: Sequence[FloatArray],
    errors: FloatArray,
    flips: Flips,
    drawn: FloatArray | None,
    maxima: FloatArray | None,
    level: float,
    scale: Scale,
) -> list[Difference]:
    """Return the comparisons with their difference, and with p and interval where flips are drawn.

    `errors` are the widened errors of the rows. `drawn` is float64[rows, draws], the t of each
    row; `maxima`, ascending, those of the family.
    """
    means = np.mean([row.mean(axis=1) for row in rows], axis=0)
    means[np.abs(means) <= EQUAL] = 0.0
    t = np.divide(np.abs(means), errors, out=np.zeros_like(means), where=errors > 0)
    units, degrees = np.array(flips.units), np.array(flips.degrees)
    critical = None if maxima is None else deciding_value(maxima, level, flips.units, flips.degrees)
    found = []
    for row, (each, mean) in enumerate(zip(compared, means.tolist(), strict=True)):
        ends, p, held = [mean], None, None
        if drawn is not None and maxima is not None:
            p = float(adjusted_p(t[row], np.sort(drawn[row]), units, degrees))
            held = max(p, float(adjusted_p(t[row], maxima, units, degrees)))
            if critical is not None and errors[row] > 0:
                differs = bool(t[row] > critical * (1 + TIE))
                interval = interval_of(mean, critical * float(errors[row]), differs)
                ends += [interval.low, interval.high]
        difference, *rest = scale.printed(np.array(ends)).tolist()
        low, high = rest or (None, None)
        found.append(replace(each, difference=difference, low=low, high=high, p=p, p_adjusted=held))
    return found


def _spread_of_pairs(collected: Collected) -> Spread:
    units = collected.units_of(collected.scores)
    return spread_of_pairs(units.centred, units.means)


def _mean_errors(spreads: Sequence[Spread], sizes: Sequence[float]) -> FloatArray:
    """The widened error of each mean over the collections of mean differences."""
    squares = [np.square(spread.errors(size)) for spread, size in zip(spreads, sizes, strict=True)]
    errors: FloatArray = np.sqrt(np.sum(squares, axis=0)) / len(squares)
    return errors


def _count_signs(rows: Sequence[FloatArray], direction: int) -> list[tuple[int, int, int]]:
    """Wins, losses and ties of every row, over the topics of all collections."""
    signs = np.sign(whole(np.concatenate(rows, axis=1))) * direction
    counts = [np.count_nonzero(signs == sign, axis=1).tolist() for sign in (1, -1, 0)]
    return list(zip(*counts, strict=True))


def _count_topics(collections: Sequence[Collected]) -> int:
    return sum(len(each.topics) for each in collections)


def _count_distinct(collections: Sequence[Collected]) -> int:
    """How many topics there are; a shared one counts once."""
    return len({topic for each in collections for topic in each.topics})


def _squares(centred: Sequence[FloatArray]) -> list[FloatArray]:
    """The sum of squares of every row of each collection, 0 where it is rounding."""
    found = [np.square(row).sum(axis=1) for row in centred]
    sizes = [row.shape[1] for row in centred]
    return [np.where(part <= n * EQUAL**2, 0.0, part) for part, n in zip(found, sizes, strict=True)]
