"""How often a loss is false: python -m tests.evaluation.ordered_simulations

Twelve systems that differ, but lose equally from the first collection to each later one, so that
each loss that is called different from the baseline's is a false alarm. Boards of cell (structure
s, sizes n) number b come from the seed [SEED, s, *n, b].
"""

from __future__ import annotations

from itertools import product

import numpy as np

from evaluation.ragged import FloatArray
from evaluation.significance import Collected, compare_losses

SEED, SYSTEMS = 20_265, 12
STRUCTURES = ("alike", "skewed", "duplicates")
SIZES = ((6, 6), (10, 10), (10, 25), (25, 25), (50, 50), (50, 50, 50, 50))


def draw_scores(structure: str, size: int, generator: np.random.Generator) -> FloatArray:
    """float64[systems, size]: the luck of topics."""
    if structure == "skewed":
        return generator.exponential(0.15, size=(SYSTEMS, size))
    scores = generator.normal(0, 0.15, size=(SYSTEMS, size))
    if structure == "duplicates":
        scores[1:10] = scores[0] + scores[1:10] / 10
    return scores


def simulate_losses(structure: str, sizes: tuple[int, ...], boards: int, draws: int) -> float:
    """The share of boards on which some loss is called different from the baseline's."""
    wrong = 0
    for number in range(boards):
        name = int.from_bytes(structure.encode(), "little") % 2**32
        generator = np.random.default_rng([SEED, name, *sizes, number])
        means = generator.normal(0.5, 0.05, size=(SYSTEMS, 1))
        collections = [
            Collected(
                means - place / 20 + draw_scores(structure, size, generator),
                [(place, topic) for topic in range(size)],
            )
            for place, size in enumerate(sizes)
        ]
        found = compare_losses(collections, draws=draws)
        wrong += any(loss is not None and (loss.p or 1) <= 0.05 for of in found for loss in of)
    return wrong / boards


if __name__ == "__main__":
    for structure, sizes in product(STRUCTURES, SIZES):
        share = simulate_losses(structure, sizes, boards=1000, draws=499)
        print(f"{structure:12} {'-'.join(map(str, sizes)):12} {share:.3f}")
