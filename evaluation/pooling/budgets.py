"""Pools of a given size: the documents with the highest priority, or samples from strata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, fsum
from typing import Literal, TypeAlias, get_args

from evaluation.pooling.pools import (
    Place,
    Pool,
    Pooled,
    chance_of,
    depth_pool,
    gathered,
    in_docno_order,
    tags_of,
)
from evaluation.reading.runs.reader import Run

DEPTH = 1000

# Maps a document's places to its priority; the highest is pooled first.
Priority: TypeAlias = Callable[[Sequence[Place]], tuple[float, ...]]


def take_pool(
    runs: Sequence[Run], size: int, depth: int = DEPTH, topics: Iterable[bytes] | None = None
) -> Pool:
    """take@N: the `size` documents per topic with the best rank, then the most runs.

    Documents are added rank by rank up to the budget, which is the same for every topic
    (Lipani, Palotti, Lupu, Piroi, Zuccon and Hanbury 2017).
    """
    return _pool_by_priority(f"take@{size}", runs, size, depth, topics, by_rank)


def rrf_pool(
    runs: Sequence[Run],
    size: int,
    k: int = 60,
    depth: int = DEPTH,
    topics: Iterable[bytes] | None = None,
) -> Pool:
    """The `size` documents per topic with the highest sum of 1 / (k + rank) over the runs.

    Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009).
    """
    name = f"RRF(k={k})@{size}"
    return _pool_by_priority(
        name, runs, size, depth, topics, lambda places: reciprocal_ranks(places, k)
    )


def rbp_pool(
    runs: Sequence[Run],
    size: int,
    p: float = 0.8,
    depth: int = DEPTH,
    topics: Iterable[bytes] | None = None,
) -> Pool:
    """The `size` documents per topic with the highest sum of (1 - p) p^(rank - 1).

    The weight that RBP gives a document (Moffat, Webber and Zobel, SIGIR 2007).
    """
    name = f"RBP(p={p})@{size}"
    return _pool_by_priority(name, runs, size, depth, topics, lambda places: persistence(places, p))


def by_rank(places: Sequence[Place]) -> tuple[float, ...]:
    """Best rank first, then the larger number of runs.

    >>> by_rank([Place(run=0, rank=3), Place(run=2, rank=9)])
    (-3, 2)
    """
    return -min(place.rank for place in places), len(places)


def reciprocal_ranks(places: Sequence[Place], k: int = 60) -> tuple[float, ...]:
    """Sum of 1 / (k + rank).

    >>> reciprocal_ranks([Place(run=0, rank=4), Place(run=1, rank=68)], k=60)
    (0.0234375,)
    """
    return (fsum(1 / (k + place.rank) for place in places),)


def persistence(places: Sequence[Place], p: float = 0.8) -> tuple[float, ...]:
    """Sum of (1 - p) p^(rank - 1).

    >>> persistence([Place(run=0, rank=1), Place(run=1, rank=2)], p=0.5)
    (0.75,)
    """
    return (fsum((1 - p) * p ** (place.rank - 1) for place in places),)


def _pool_by_priority(
    method: str,
    runs: Sequence[Run],
    size: int,
    depth: int,
    topics: Iterable[bytes] | None,
    priority: Priority,
) -> Pool:
    """Take the `size` documents of each topic with the highest priority, equal ones by docno."""
    if size < 1:
        raise ValueError(f"a pool needs at least one document per topic: {size}")
    pooled: dict[bytes, tuple[Pooled, ...]] = {}
    for topic, found in gathered(runs, depth, topics).items():
        first = sorted(found)
        # The sort is stable: equal documents stay in docno order.
        first.sort(key=lambda docno: priority(found[docno]), reverse=True)
        pooled[topic] = in_docno_order(Pooled(docno, found[docno]) for docno in first[:size])
    return Pool(method, tags_of(runs), pooled)


@dataclass(frozen=True, slots=True)
class DepthStratum:
    """Documents whose best rank is deeper than the stratum before and at most `to`.

    A share `rate` of them is pooled, 0 < rate <= 1.
    """

    to: int
    rate: float


def stratified_pool(
    runs: Sequence[Run],
    strata: Sequence[DepthStratum],
    seed: int = 0,
    topics: Iterable[bytes] | None = None,
) -> Pool:
    """Documents drawn from strata of best rank, each with its inclusion probability.

    Of the n documents of a topic's stratum, ceil(rate n) are drawn without replacement, so
    each was included with probability ceil(rate n) / n (Yilmaz, Kanoulas and Aslam, SIGIR 2008).
    The draw depends on the seed, topic and docno only. The others are in `undrawn`. ValueError
    for strata that are not in increasing depth or a rate out of range.
    """
    ends = [stratum.to for stratum in strata]
    if not strata or ends != sorted(set(ends)) or ends[0] < 1:
        raise ValueError("each stratum must be deeper than the one before")
    if not all(0 < stratum.rate <= 1 for stratum in strata):
        raise ValueError("the rate of a stratum must be above 0 and at most 1")
    pooled: dict[bytes, tuple[Pooled, ...]] = {}
    undrawn: dict[bytes, tuple[Pooled, ...]] = {}
    for topic, found in gathered(runs, ends[-1], topics).items():
        draws = [
            _draw(topic, _within(found, strata, number), number, stratum.rate, seed)
            for number, stratum in enumerate(strata, 1)
        ]
        pooled[topic] = in_docno_order(document for drawn, _ in draws for document in drawn)
        undrawn[topic] = in_docno_order(document for _, others in draws for document in others)
    name = ",".join(f"{stratum.to}:{stratum.rate:g}" for stratum in strata)
    return Pool(f"strata({name})", tags_of(runs), pooled, undrawn)


def _within(
    found: dict[bytes, tuple[Place, ...]], strata: Sequence[DepthStratum], number: int
) -> dict[bytes, tuple[Place, ...]]:
    """The documents whose best rank is in a stratum; strata count from 1."""
    above = strata[number - 2].to if number > 1 else 0
    return {
        docno: places
        for docno, places in found.items()
        if above < min(place.rank for place in places) <= strata[number - 1].to
    }


def _draw(
    topic: bytes, found: dict[bytes, tuple[Place, ...]], number: int, rate: float, seed: int
) -> tuple[list[Pooled], list[Pooled]]:
    """Return the documents of a stratum that are drawn, and those that are not."""
    # Use the decimal rate: 0.1 of 30 documents is 3, although 0.1 is stored slightly too high.
    size = ceil(Fraction(str(rate)) * len(found))
    shuffled = sorted(found, key=lambda docno: chance_of(seed, topic, docno))
    documents = [Pooled(docno, found[docno], number, size / len(found)) for docno in shuffled]
    return documents[:size], documents[size:]


Method: TypeAlias = Literal["depth", "take", "rrf", "rbp", "strata"]
METHODS: tuple[Method, ...] = get_args(Method)
# Those that take so many documents per topic.
SIZED: dict[str, Callable[[Sequence[Run], int], Pool]] = {
    "take": take_pool,
    "rrf": rrf_pool,
    "rbp": rbp_pool,
}


def pool_runs(
    runs: Sequence[Run],
    method: Method = "depth",
    depth: int = 100,
    size: int | None = None,
    strata: Sequence[DepthStratum] = (),
    seed: int = 0,
) -> Pool:
    """Pool runs by the method of this name; ValueError where it lacks its size or strata."""
    if method not in METHODS:
        raise ValueError(f"no method {method}; there are {', '.join(METHODS)}")
    if method == "depth":
        return depth_pool(runs, depth)
    if method == "strata":
        if not strata:
            raise ValueError("the method strata needs strata")
        return stratified_pool(runs, strata, seed)
    if size is None:
        raise ValueError(f"the method {method} needs a size")
    return SIZED[method](runs, size)
