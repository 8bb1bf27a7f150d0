"""A small share of the simulations: the claims of a board are rarely false."""

import numpy as np
import pytest

from evaluation.significance import decide_pairs, measured_error
from tests.evaluation.simulations import (
    CLAIMS,
    STRUCTURES,
    Board,
    coverage_of,
    draw_population,
    has_false_rank,
    limit_of,
    says_false_pair,
    simulate,
)


@pytest.mark.parametrize("structure", [name for name in STRUCTURES if "unequally" not in name])
def test_no_claim_is_false_more_often_than_promised(structure):
    cell = simulate(structure, STRUCTURES[structure], 12, 25, range(100), draws=499)
    assert max(max(shares.values()) for shares in cell.values()) <= limit_of(100)
    assert set(cell["equal"]) == set(CLAIMS)


def test_a_false_claim_is_found():
    """Every pair is said to differ, and none does."""
    scores = np.random.default_rng(1).normal(size=(4, 20)) / 100 + np.arange(4)[:, np.newaxis]
    board = Board(np.zeros(4), decide_pairs(scores, np.zeros(99)), [])
    assert says_false_pair(board) and has_false_rank(board)


def test_a_true_claim_is_not_called_false():
    scores = np.random.default_rng(1).normal(size=(4, 20)) / 100 + np.arange(4)[:, np.newaxis]
    board = Board(np.arange(4.0), decide_pairs(scores, np.zeros(99)), [])
    assert board.pairs.num_different == 6
    assert not any(CLAIMS[claim](board) for claim in ("pair differs", "rank interval", "leader"))


def test_the_error_of_unequally_skewed_boards_is_the_one_that_is_printed():
    found = simulate("unequally skewed", STRUCTURES["unequally skewed"], 12, 10, range(300), 499)
    printed = measured_error(10, 12).all_pairs
    spread = (printed * (1 - printed) / 300) ** 0.5
    assert abs(found["equal"]["pair differs"] - printed) <= 3.5 * spread


def test_between_two_simulated_boards_the_worse_error_is_printed():
    assert (measured_error(7, 40).all_pairs, measured_error(7, 40).baseline) == (0.025, 0.108)
    assert (measured_error(30, 40).all_pairs, measured_error(30, 40).baseline) == (0.101, 0.142)
    assert measured_error(900, 900) == measured_error(100, 40)


@pytest.mark.parametrize("family", ["baseline", "all"])
def test_intervals_cover_the_truth_where_few_topics_differ(family):
    """The usual error covered it on less than half of such boards."""
    generator = np.random.default_rng(7)
    scores = draw_population("variants", "RR", generator, 6)
    assert coverage_of(scores, 10, family, 60, 199, generator) >= 0.9
