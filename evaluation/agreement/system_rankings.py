"""Rankings of systems as entrants: how far each has the order of the truth, and which has more.

The truth are the scores of the systems by topic. Another draw of topics would have another order,
so topics are resampled, and each resample has its order and its taus with all entrants. What is
estimated is the mean tau with the boards of as many topics like these; the entrants were made
without the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import scipy  # type: ignore[import-untyped]
from numpy.random import PCG64

from evaluation.agreement.jackknife import Estimate
from evaluation.agreement.judges import TOP
from evaluation.agreement.orders import EQUAL, tau_a_between, tau_ap_between, top_tau_b_between
from evaluation.ragged import BoolArray, FloatArray, IntArray
from evaluation.significance.pairwise import PairDecisions, deciding_value
from evaluation.significance.units import FEWEST_DEGREES, FEWEST_TOPICS, Units, move_t

# What ranks entrants unless another is asked for.
USUAL_ORDER = "tau"
# From float64[M, R] and float64[N, R] to float64[M, N], NaN where undefined.
ORDERS: Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]] = MappingProxyType(
    {
        "tau": tau_a_between,
        "tau_ap": tau_ap_between,
        "top": lambda boards, references: top_tau_b_between(boards, references, TOP),
    }
)
RESAMPLES = 1_000
LEVEL = 0.95
# The resampled topics are the same for all entrants: the raw stream of PCG64 from this seed.
SEED = 20_081_107
# Numbers of a block of resamples: some ten megabytes.
BLOCK = 4_000_000


@dataclass(frozen=True, slots=True)
class RankingStanding:
    """One entrant beside the truth; `named` are the systems that it ranks.

    `statistics` are tau, tau_AP and tau_b of the first ten of the truth, each with its interval.
    `error` is the mean distance of a score from that of the truth, and `bias` the mean difference,
    positive where the entrant gives more; None for an order without scores.
    """

    name: str
    named: int
    statistics: Mapping[str, Estimate]
    error: float | None
    bias: float | None


@dataclass(frozen=True, eq=False)
class RankingsBoard:
    """Entrants by one statistic; `pairs` compares all of them by it, with one resampling."""

    statistic: str
    standings: tuple[RankingStanding, ...]
    systems: int
    topics: int
    pairs: PairDecisions

    @property
    def order(self) -> list[int]:
        """The entrants from the best to the worst by the statistic; undefined ones last."""
        found = np.nan_to_num(self.pairs.means, nan=-np.inf)
        return [int(place) for place in np.argsort(-found, kind="stable")]


@dataclass(frozen=True, eq=False)
class Truth:
    """The scores of systems by topic that rankings are compared with.

    scores: float64[systems, topics], NaN where undefined, on the scale whose mean ranks the board.
    levels: float64[systems], the value of each system on the board.
    direction: -1 where low values are good.
    groups: int[topics], the group of each topic, from 0; resampled as a whole. None without.
    """

    scores: FloatArray
    levels: FloatArray
    direction: int = 1
    groups: IntArray | None = None

    @property
    def order(self) -> FloatArray:
        """float64[systems]: what the board ranks by, higher is better."""
        order: FloatArray = self._board_of(np.ones((1, self.scores.shape[1])))[0]
        return order

    @property
    def units(self) -> tuple[int, float]:
        """How many topics or groups there are, and the degrees of freedom that they leave."""
        units = Units.of(np.zeros((1, self.scores.shape[1])), self.groups)
        return int(units.counts[0]), float(units.degrees[0])

    def resample(self, draws: int) -> Iterator[FloatArray]:
        """Yield the orders of resampled boards in blocks of float64[n, systems]."""
        systems, topics = self.scores.shape
        group = np.arange(topics) if self.groups is None else self.groups
        units, size = int(group.max()) + 1, max(1, BLOCK // max(1, systems**2))
        drawn = PCG64(SEED).random_raw(draws * units).reshape(draws, units) % np.uint64(units)
        for start in range(0, draws, size):
            rows = drawn[start : start + size].astype(np.int64)
            counts = np.array([np.bincount(row, minlength=units) for row in rows])
            yield self._board_of(counts[:, group].astype(np.float64))

    def _board_of(self, weights: FloatArray) -> FloatArray:
        """float64[n, systems]: the weighted means of float64[n, topics], higher is better."""
        defined = (~np.isnan(self.scores)).astype(np.float64)
        sums, counts = weights @ np.nan_to_num(self.scores).T, weights @ defined.T
        boards: FloatArray = np.full(sums.shape, np.nan)
        np.divide(self.direction * sums, counts, out=boards, where=counts > 0)
        return boards


@dataclass(frozen=True, eq=False)
class RankedSystems:
    """An entrant: float64[systems] in the order of the truth, NaN where it does not rank one.

    Higher is better, or as in the truth where the values are `levels` of its measure.
    """

    values: FloatArray
    has_levels: bool = True


@dataclass(frozen=True, eq=False)
class Resampled:
    """One statistic of all entrants with the truth, and with each resampled truth.

    values: float64[entrants]; drawn: float64[entrants, draws]; NaN where undefined.
    units: how many topics or groups are resampled; degrees: the freedom that they leave.
    """

    values: FloatArray
    drawn: FloatArray
    units: int
    degrees: float

    @property
    def widened(self) -> float:
        """By what the spread of resamples is too narrow, since they vary around one sample."""
        return float((self.units / max(self.units - 1, 1)) ** 0.5)

    @property
    def members(self) -> BoolArray:
        """bool[entrants]: which have a value, here and with some resample."""
        members: BoolArray = ~np.isnan(self.values) & ~np.isnan(self.drawn).all(axis=1)
        return members

    def estimate(self) -> list[Estimate]:
        """Return the interval of each entrant; none with too few topics."""
        values = [None if np.isnan(value) else float(value) for value in self.values]
        if self.units < FEWEST_TOPICS or self.degrees < FEWEST_DEGREES:
            return [Estimate(value) for value in values]
        critical = self.widened * float(scipy.special.stdtrit(self.degrees, (1 + LEVEL) / 2))
        return [
            Estimate(value)
            if value is None or not is_member
            else _cut(value, critical * float(np.nanstd(row)))
            for value, is_member, row in zip(values, self.members, self.drawn, strict=True)
        ]

    def compare_pairs(self, systems: int, topics: int) -> PairDecisions:
        """Compare all pairs over the same resamples, each pair with its own error."""
        inside = np.flatnonzero(self.members)
        kept = self.drawn[inside]
        kept = kept[:, ~np.isnan(kept).any(axis=0)]
        draws = kept.shape[1]
        maxima, errors = np.zeros(draws), np.zeros((len(self.values), len(self.values)))
        # A difference that no resample changed is known to less than one pair of systems.
        least = 4 / max(systems * (systems - 1), 1) / max(draws, 1) ** 0.5
        for place, one in enumerate(inside[:-1] if draws else ()):
            others, apart = inside[place + 1 :], kept[place] - kept[place + 1 :]
            moved = np.abs(apart - (self.values[one] - self.values[others])[:, np.newaxis])
            spread = np.sqrt(np.square(moved).mean(axis=1, keepdims=True))
            t = np.divide(moved, spread, out=np.zeros_like(moved), where=spread > EQUAL)
            maxima = np.maximum(maxima, t.max(axis=0))
            differs = (np.abs(apart) > EQUAL).any(axis=1)
            error = self.widened * np.where(differs, np.maximum(spread[:, 0], least), 0.0)
            errors[one, others] = errors[others, one] = error
        # Errors are those of few topics, and not known as the spread over resamples is.
        maxima = move_t(np.sort(maxima), np.array(np.inf), np.array(self.units - 1.0))
        decides = len(inside) > 1 and draws > 0
        critical = deciding_value(maxima, LEVEL, self.units, self.degrees) if decides else None
        return PairDecisions(
            means=self.values,
            errors=errors,
            maxima=maxima,
            critical=critical,
            topics=topics,
            undefined=0,
            units=self.units,
            degrees=self.degrees,
            sizes=(),
            members=self.members,
        )


def _cut(value: float, margin: float) -> Estimate:
    return Estimate(value, max(value - margin, -1.0), min(value + margin, 1.0))


def compare_rankings(
    truth: Truth,
    entrants: Mapping[str, RankedSystems],
    statistic: str = USUAL_ORDER,
    draws: int = RESAMPLES,
) -> RankingsBoard:
    """Compare rankings of systems with the truth by one of `ORDERS`; ValueError for another name.

    Systems that an entrant does not rank are tied at its end. An interval is tau ± t se, t with
    the degrees of freedom of the topics and se the standard deviation over resamples, times
    sqrt(T / (T - 1)). All pairs are compared by the studentised maximum of the centred differences
    over resamples (Westfall and Young 1993), at least by Student's t. There is neither below six
    topics (Efron and Tibshirani 1993, chapter 12).

    >>> truth = np.linspace([0.1, 0.2, 0.3, 0.4], [0.4, 0.5, 0.6, 0.7], 20).T
    >>> right, wrong = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 3.0, 4.0])
    >>> entrants = {"right": RankedSystems(right, False), "wrong": RankedSystems(wrong, False)}
    >>> board = compare_rankings(Truth(truth, truth.mean(axis=1)), entrants)
    >>> [round(each.statistics["tau"].value, 3) for each in board.standings], board.pairs.letters
    ([1.0, 0.667], ('a', 'b'))
    """
    if statistic not in ORDERS:
        raise ValueError(f"{statistic} is no statistic of orders")
    rows = np.array([_order_of(each, truth) for each in entrants.values()])
    rows = rows.reshape(len(entrants), len(truth.levels))
    order, blocks = truth.order[np.newaxis], list(truth.resample(draws))
    found = {
        name: Resampled(
            between(rows, order)[:, 0],
            np.concatenate([between(rows, block) for block in blocks], axis=1),
            *truth.units,
        )
        for name, between in ORDERS.items()
    }
    estimates = {name: each.estimate() for name, each in found.items()}
    standings = [
        _describe(name, entrant, truth, {order: row[place] for order, row in estimates.items()})
        for place, (name, entrant) in enumerate(entrants.items())
    ]
    systems, topics = truth.scores.shape
    pairs = found[statistic].compare_pairs(systems, topics)
    return RankingsBoard(statistic, tuple(standings), systems, topics, pairs)


def _order_of(entrant: RankedSystems, truth: Truth) -> FloatArray:
    """float64[systems], higher is better; systems that are not ranked are tied at the end."""
    direction = truth.direction if entrant.has_levels else 1
    return np.nan_to_num(direction * entrant.values, nan=-np.inf)


def _describe(
    name: str, entrant: RankedSystems, truth: Truth, statistics: Mapping[str, Estimate]
) -> RankingStanding:
    named = ~np.isnan(entrant.values)
    apart = (entrant.values - truth.levels)[named & ~np.isnan(truth.levels)]
    has_levels = entrant.has_levels and len(apart) > 0
    return RankingStanding(
        name=name,
        named=int(np.count_nonzero(named)),
        statistics=statistics,
        error=float(np.abs(apart).mean()) if has_levels else None,
        bias=float(apart.mean()) if has_levels else None,
    )
