"""What scores on several collections say about a collection that nobody has seen yet.

Systems and collections are both samples here: the collections of a benchmark stand for others of
their kind. So the units are collections instead of topics, and the luck of the topics is a part
of how much a system varies from one collection to the next.

>>> means = np.array([[0.5, 0.6, 0.7, 0.5], [0.4, 0.5, 0.6, 0.6], [0.2, 0.3, 0.1, 0.2]])
>>> predicted = predict_ranks(means)
>>> predicted.low.tolist(), predicted.high.tolist(), predicted.level
([1, 1, 3], [2, 2, 3], 0.6)
>>> [round(left.foretold, 2) for left in leave_one_out(means)]
[1.0, 1.0, 1.0, 0.33]
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import floor, sqrt

import numpy as np

from evaluation.agreement.orders import kendall_tau_b
from evaluation.ragged import FloatArray, IntArray
from evaluation.significance.across import Collected, tested_together
from evaluation.significance.differences import EQUAL
from evaluation.significance.pairwise import PairDecisions, compare_all_pairs
from evaluation.significance.scales import MEAN, Scale


def number_collections(names: Sequence[Hashable]) -> IntArray:
    """int[K]: the number of the collection of each column, from 0 in the order of appearance.

    >>> number_collections(["news", "web", "news"]).tolist()
    [0, 1, 0]
    """
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([places[name] for name in names], dtype=np.int64)


def decide_pairs_of_unseen(
    collections: Sequence[Collected],
    names: Sequence[Hashable] | None = None,
    direction: int = 1,
    scale: Scale = MEAN,
) -> PairDecisions:
    """Decide about all pairs of R systems by their mean over collections of this kind.

    Each system has one mean for each of the K collections, and whole collections are flipped. So
    the claim is about the mean over all collections that these are a sample of, while that of
    `decide_pairs_over_collections` is about these. `names` says which columns are of one
    collection; those flip together. There is no verdict below six collections.
    """
    tested = tested_together(collections, scale)
    means = np.array([each.means for each in tested]).T
    groups = None
    if names is not None and len(set(names)) < len(names):
        groups = number_collections(names)
    return compare_all_pairs(means, direction=direction, half_range=scale.half_range, groups=groups)


@dataclass(frozen=True, eq=False)
class PredictedRanks:
    """The ranks that each system may have on one more collection, int[R] each.

    The interval of one system, named in advance, holds with a probability of at least `level`;
    those of all systems do not hold together.
    """

    low: IntArray
    high: IntArray
    level: float


def predict_ranks(
    means: FloatArray,
    direction: int = 1,
    groups: IntArray | None = None,
    level: float = 0.95,
) -> PredictedRanks:
    """Predict the rank of each system of float64[R, K] on one more collection.

    If the collections are a sample, the next one is as likely to be the lowest, the second lowest
    and so on as each of them. So the rank there is below the l-th lowest rank so far with a
    probability of at most l / (K + 1), and above the l-th highest alike. l is the largest number
    that leaves `level`, but at least 1: below 39 collections the level is lower than .95. Equal
    systems may have each of their ranks. `groups` has the number of the collection of each
    column: several columns of one collection count as one, with all ranks that they show.
    """
    signed = direction * np.asarray(means, dtype=np.float64)
    apart = signed[:, np.newaxis, :] - signed[np.newaxis, :, :]
    low = 1 + np.count_nonzero(apart < -EQUAL, axis=1)
    high = len(signed) - np.count_nonzero(apart > EQUAL, axis=1)
    if groups is not None:
        numbers = range(int(groups.max(initial=-1)) + 1)
        low = np.array([low[:, groups == number].min(axis=1) for number in numbers]).T
        high = np.array([high[:, groups == number].max(axis=1) for number in numbers]).T
    collections = low.shape[1]
    place = max(1, floor((collections + 1) * (1 - level) / 2 + EQUAL))
    return PredictedRanks(
        low=np.sort(low, axis=1)[:, place - 1],
        high=np.sort(high, axis=1)[:, collections - place],
        level=1 - 2 * place / (collections + 1),
    )


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The order of R systems without one collection.

    `tau` is tau_b of the order without it with the order by all, `foretold` that with the order on
    the collection itself: how well the others say what happens there. None where all are tied.
    `ranks` are those without it, int[R].
    """

    tau: float | None
    foretold: float | None
    ranks: IntArray


def leave_one_out(
    means: FloatArray, direction: int = 1, groups: IntArray | None = None
) -> list[LeftOut]:
    """Leave each collection out in turn; the order is by the mean of float64[R, K] over the rest.

    `groups` has the number of the collection of each column: all its columns are left out, and
    there is one result for each collection.
    """
    signed = direction * np.asarray(means, dtype=np.float64)
    members = np.arange(signed.shape[1]) if groups is None else groups
    whole = signed.mean(axis=1)
    found = []
    for number in range(int(members.max(initial=-1)) + 1):
        out = members == number
        rest = signed[:, ~out].mean(axis=1)
        found.append(
            LeftOut(
                tau=kendall_tau_b(rest, whole),
                foretold=kendall_tau_b(rest, signed[:, out].mean(axis=1)),
                ranks=rank_values(rest),
            )
        )
    return found


def rank_values(values: FloatArray) -> IntArray:
    """int[R]: 1 plus the number of larger values; values within 1e-12 are equal.

    >>> rank_values(np.array([0.2, 0.5, 0.5])).tolist()
    [3, 1, 1]
    """
    ordered = np.sort(values)
    larger = len(values) - np.searchsorted(ordered, values + EQUAL, side="right")
    ranks: IntArray = 1 + larger
    return ranks


@dataclass(frozen=True)
class Components:
    """What makes a score, as standard deviations over systems x collections.

    `systems` is how far systems are from each other on all collections of the kind, `collections`
    how far collections are from each other for all systems, and `both` what a system gains or
    loses on a single collection besides, the luck of its topics included. `dependability` is the
    share of the variance of the means over K collections that is due to the systems.
    """

    systems: float
    collections: float
    both: float
    dependability: float | None


def find_components(means: FloatArray) -> Components | None:
    """Return the components of float64[R, K] by the analysis of variance of a two-way layout.

    A component below 0 is 0. None with fewer than two systems or collections.

    >>> found = find_components(np.array([[0.5, 0.7, 0.6], [0.3, 0.5, 0.4], [0.1, 0.1, 0.4]]))
    >>> [round(each, 6) for each in (found.systems, found.collections, found.both)]
    [0.188562, 0.057735, 0.11547]
    >>> round(found.dependability, 6)
    0.888889
    """
    systems, collections = means.shape
    if min(systems, collections) < 2:
        return None
    grand, rows, columns = means.mean(), means.mean(axis=1), means.mean(axis=0)
    rest = means - rows[:, np.newaxis] - columns + grand
    both = float(np.square(rest).sum()) / ((systems - 1) * (collections - 1))
    of_rows = collections * float(np.square(rows - grand).sum()) / (systems - 1)
    of_columns = systems * float(np.square(columns - grand).sum()) / (collections - 1)
    own = max(0.0, (of_rows - both) / collections)
    between = max(0.0, (of_columns - both) / systems)
    total = own + both / collections
    return Components(
        systems=sqrt(own),
        collections=sqrt(between),
        both=sqrt(both),
        dependability=own / total if total > EQUAL**2 else None,
    )
