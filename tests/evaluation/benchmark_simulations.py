"""How often each claim of such a board is false: python -m tests.evaluation.benchmark_simulations

The claims and structures are those of `simulations`. The collections of a benchmark are of unequal
size: the largest has four times the topics of the smallest, the others lie between by equal
factors. The true differences of a system are drawn for each collection anew, and what is true of
the benchmark is their mean.

Boards of cell (structure s, R systems, K collections, smallest T) number b come from the seed
[SEED, s, R, K, T, b].
"""

from __future__ import annotations

import argparse
import os
from itertools import product

import numpy as np

from evaluation.ragged import FloatArray
from evaluation.significance import (
    Collected,
    compare_over_collections,
    decide_pairs_over_collections,
    draw_maxima_over_collections,
)
from tests.evaluation.simulations import (
    AGAIN,
    CLAIMS,
    EFFECT,
    SEED,
    Board,
    Noise,
    limit_of,
    print_cell,
    structures_of,
)

SYSTEMS = 12
COLLECTIONS = (3, 10, 50)
SMALLEST = (3, 6, 10, 25, 50)


def sizes_of(collections: int, smallest: int) -> list[int]:
    """The number of topics of each collection.

    >>> sizes_of(3, 6)
    [6, 12, 24]
    """
    return [round(size) for size in np.geomspace(smallest, 4 * smallest, collections).tolist()]


def simulate_benchmark(
    structure: str, noise: Noise, systems: int, sizes: list[int], boards: range, draws: int
) -> dict[str, dict[str, float]]:
    """The share of boards with a false claim, for "equal" and "different" true means."""
    found = {truth: dict.fromkeys(CLAIMS, 0) for truth in ("equal", "different")}
    name = int.from_bytes(structure.encode(), "little")
    for number in boards:
        seed = [SEED, name, systems, len(sizes), sizes[0], number]
        generator = np.random.default_rng(seed)
        scores = [noise(generator, systems, size) for size in sizes]
        effects = [EFFECT * noise(generator, systems, 1) for _ in sizes]
        # Maxima are drawn from centred scores, so true differences leave them alone.
        maxima = draw_maxima_over_collections(collected_from(scores), draws)
        for truth, share in (("equal", 0), ("different", 1)):
            moved = [rows + share * means for rows, means in zip(scores, effects, strict=True)]
            means = np.mean([share * each[:, 0] for each in effects], axis=0)
            board = build_benchmark_board(collected_from(moved), means, maxima, draws)
            for claim, is_false in CLAIMS.items():
                found[truth][claim] += is_false(board)
    return {
        truth: {claim: count / len(boards) for claim, count in counts.items()}
        for truth, counts in found.items()
    }


def collected_from(scores: list[FloatArray]) -> list[Collected]:
    return [
        Collected(rows, [(place, topic) for topic in range(rows.shape[1])])
        for place, rows in enumerate(scores)
    ]


def build_benchmark_board(
    collections: list[Collected], truth: FloatArray, maxima: FloatArray, draws: int
) -> Board:
    compared = compare_over_collections(collections, draws=draws)[1:]
    against = [
        (each.low, each.high) for each in compared if each.low is not None and each.high is not None
    ]
    return Board(truth, decide_pairs_over_collections(collections, maxima=maxima), against)


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.evaluation.benchmark_simulations")
    parser.add_argument("--boards", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=999)
    parser.add_argument("--structures", nargs="+", help="only these structures")
    parser.add_argument("--collections", type=int, nargs="+", default=COLLECTIONS)
    parser.add_argument("--smallest", type=int, nargs="+", default=SMALLEST)
    parser.add_argument("--again", type=int, default=AGAIN, help="boards of a second drawing")
    options = parser.parse_args()
    print("\t".join(["structure", "tracks", "smallest", "truth", "boards", *CLAIMS, "verdict"]))
    for structure, noise, _ in structures_of(os.environ.get("RANKFIELD_DATA", "")):
        if options.structures and structure not in options.structures:
            continue
        for collections, smallest in product(options.collections, options.smallest):
            head, sizes = (
                [structure, str(collections), str(smallest)],
                sizes_of(collections, smallest),
            )
            first = range(options.boards)
            fresh = range(options.boards, options.boards + options.again)
            cell = simulate_benchmark(structure, noise, SYSTEMS, sizes, first, options.draws)
            print_cell(head, cell, len(first))
            worst = max(max(shares.values()) for shares in cell.values())
            if worst > limit_of(len(first)) and fresh:
                cell = simulate_benchmark(structure, noise, SYSTEMS, sizes, fresh, options.draws)
                print_cell(head, cell, len(fresh))


if __name__ == "__main__":
    main()
