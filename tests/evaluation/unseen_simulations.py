"""How often a claim about new collections is false: python -m tests.evaluation.unseen_simulations

Twelve systems whose mean over all collections of the kind is equal, so that each pair that is told
apart is a false alarm. A collection moves each system by its own luck, and its 5 to 50 topics add
theirs. Boards of cell (structure s, K collections) number b come from the seed [SEED, s, K, b].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluation.ragged import FloatArray
from evaluation.significance import (
    Collected,
    decide_pairs_over_collections,
    predict_ranks,
)
from evaluation.significance.pairwise import compare_all_pairs

SEED, SYSTEMS = 20_264, 12
# What a collection, and one topic, add to a system.
COLLECTION, TOPIC = 0.05, 0.2

Luck = Callable[[np.random.Generator, int], FloatArray]


def _alike(generator: np.random.Generator, collections: int) -> FloatArray:
    return generator.normal(size=(SYSTEMS, collections))


def _unequal(generator: np.random.Generator, collections: int) -> FloatArray:
    """A third of the collections move systems four times as far."""
    far = np.where(np.arange(collections) % 3 == 0, 4.0, 1.0)
    return generator.normal(size=(SYSTEMS, collections)) * far


def _skewed(generator: np.random.Generator, collections: int) -> FloatArray:
    return generator.exponential(size=(SYSTEMS, collections)) - 1


def _duplicates(generator: np.random.Generator, collections: int) -> FloatArray:
    """Nine of twelve systems are variants of the first."""
    luck = generator.normal(size=(SYSTEMS, collections))
    luck[1:10] = luck[0] + luck[1:10] / 10
    return luck


STRUCTURES: dict[str, Luck] = {
    "alike": _alike,
    "unequal": _unequal,
    "skewed": _skewed,
    "duplicates": _duplicates,
}


def draw_means(structure: str, collections: int, number: int) -> FloatArray:
    """float64[systems, collections]: the means of a board without true differences."""
    name = int.from_bytes(structure.encode(), "little") % 2**32
    generator = np.random.default_rng([SEED, name, collections, number])
    topics = generator.integers(5, 51, size=collections)
    luck = COLLECTION * STRUCTURES[structure](generator, collections)
    noise = TOPIC * generator.normal(size=(SYSTEMS, collections)) / np.sqrt(topics)
    return luck + noise


def simulate_pairs(structure: str, collections: int, boards: int, draws: int) -> float:
    """The share of boards on which some pair of equal systems is told apart."""
    wrong = 0
    for number in range(boards):
        means = draw_means(structure, collections, number)
        wrong += compare_all_pairs(means, draws=draws, half_range=0.5).num_different > 0
    return wrong / boards


def simulate_ranks(collections: int, boards: int) -> float:
    """The share of systems whose rank on the next collection is where it was predicted."""
    held = []
    for number in range(boards):
        means = draw_means("unequal", collections + 1, number)
        # One of the collections at random is the next one: all are alike but for their luck.
        out = number % (collections + 1)
        predicted = predict_ranks(np.delete(means, out, axis=1))
        rank = 1 + (means[:, out] > means[:, [out]].T.reshape(-1, 1)).sum(axis=1)
        held.append(np.mean((predicted.low <= rank) & (rank <= predicted.high)))
    return float(np.mean(held))


def simulate_given(structure: str, collections: int, boards: int) -> float:
    """The same share where the claim about the given collections is read as one about others."""
    wrong = 0
    for number in range(boards):
        name = int.from_bytes(structure.encode(), "little") % 2**32
        generator = np.random.default_rng([SEED, name, collections, number])
        topics = generator.integers(5, 51, size=collections)
        luck = COLLECTION * STRUCTURES[structure](generator, collections)
        drawn = [
            Collected(
                column[:, np.newaxis] + TOPIC * generator.normal(size=(SYSTEMS, size)),
                [(place, topic) for topic in range(size)],
            )
            for place, (column, size) in enumerate(zip(luck.T, topics, strict=True))
        ]
        wrong += decide_pairs_over_collections(drawn, draws=499).num_different > 0
    return wrong / boards


if __name__ == "__main__":
    for structure in STRUCTURES:
        for collections in (6, 10, 18, 40):
            new = simulate_pairs(structure, collections, 1000, 499)
            given = simulate_given(structure, collections, 100)
            print(f"{structure:12} {collections:3} new {new:.3f}, taken from these {given:.3f}")
    for collections in (9, 19, 39):
        print(f"next rank, {collections} collections: {simulate_ranks(collections, 2000):.3f}")
