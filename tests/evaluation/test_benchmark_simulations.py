"""A small share of the simulations of benchmarks: the claims of their boards are rarely false."""

import numpy as np
import pytest

from tests.evaluation.benchmark_simulations import (
    build_benchmark_board,
    collected_from,
    simulate_benchmark,
    sizes_of,
)
from tests.evaluation.simulations import CLAIMS, STRUCTURES, limit_of

PROMISED = [name for name in STRUCTURES if "unequally" not in name]


@pytest.mark.parametrize("structure", PROMISED)
@pytest.mark.parametrize("collections", [3, 10])
def test_no_claim_of_a_benchmark_is_false_more_often_than_promised(structure, collections):
    sizes = sizes_of(collections, 6)
    cell = simulate_benchmark(structure, STRUCTURES[structure], 12, sizes, range(60), draws=299)
    assert max(max(shares.values()) for shares in cell.values()) <= limit_of(60)


def test_a_false_claim_about_a_benchmark_is_found():
    """One flip with a maximum of 0: every pair is said to differ."""
    generator = np.random.default_rng(1)
    apart = 9.0 * np.arange(4)[:, np.newaxis]
    scores = [apart + generator.normal(size=(4, size)) for size in (10, 20)]
    board = build_benchmark_board(collected_from(scores), np.zeros(4), np.zeros(99), 99)
    assert CLAIMS["pair differs"](board) and CLAIMS["rank interval"](board)


def test_a_true_claim_about_a_benchmark_is_not_called_false():
    generator, steps = np.random.default_rng(1), np.arange(4.0)
    scores = [generator.normal(size=(4, size)) / 100 + steps[:, np.newaxis] for size in (10, 20)]
    board = build_benchmark_board(collected_from(scores), steps, np.zeros(99), 99)
    assert board.pairs.num_different == 6
    assert not any(CLAIMS[claim](board) for claim in ("pair differs", "rank interval", "leader"))
