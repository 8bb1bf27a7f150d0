"""What a benchmark says about a collection not yet seen: worked by hand, and simulated."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.significance import (
    Collected,
    compare_all_pairs,
    decide_pairs_of_unseen,
    find_components,
    leave_one_out,
    number_collections,
    predict_ranks,
)
from tests.evaluation.unseen_simulations import simulate_pairs, simulate_ranks

# Six collections of two topics each; the first system is ahead by about .1 everywhere.
MEANS = np.array([[0.50, 0.61, 0.72, 0.53, 0.44, 0.65], [0.40, 0.50, 0.63, 0.42, 0.35, 0.54]])


def collected(means: np.ndarray) -> list[Collected]:
    """A collection for each column, whose two topics are .05 below and above the mean."""
    around = np.array([-0.05, 0.05])
    return [
        Collected(column[:, np.newaxis] + around, [(place, topic) for topic in range(2)])
        for place, column in enumerate(means.T)
    ]


def test_pairs_are_decided_by_the_means_of_collections_as_units():
    found, plain = decide_pairs_of_unseen(collected(MEANS)), compare_all_pairs(MEANS)
    assert found.p == pytest.approx(plain.p) and found.units == 6
    assert found.rank_high.tolist() == plain.rank_high.tolist() == [1, 2]


def test_below_six_collections_there_is_no_verdict():
    found = decide_pairs_of_unseen(collected(MEANS[:, :5]))
    assert found.critical is None and found.rank_high.tolist() == [2, 2]


def test_tracks_of_one_collection_are_one_unit():
    names = ["a", "a", "b", "c", "d", "e"]
    found = decide_pairs_of_unseen(collected(MEANS), names)
    assert (found.units, found.critical) == (5, None)


def test_the_level_of_a_predicted_rank_is_that_of_its_order_statistics():
    levels = [predict_ranks(np.ones((2, number))).level for number in (3, 19, 38, 39, 79, 119)]
    assert levels == pytest.approx([0.5, 0.9, 37 / 39, 0.95, 0.95, 0.95])


def test_one_odd_collection_of_forty_is_outside_of_the_prediction():
    means = np.tile(np.array([[0.6], [0.5], [0.4]]), 79)
    means[:, 0] = 0.1, 0.2, 0.3
    predicted = predict_ranks(means)
    assert predicted.low.tolist() == predicted.high.tolist() == [1, 2, 3]


def test_equal_systems_may_have_each_of_their_ranks():
    predicted = predict_ranks(np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.9]]))
    assert predicted.low.tolist() == [2, 2, 1] and predicted.high.tolist() == [3, 3, 1]


def test_columns_of_one_collection_count_once_with_all_their_ranks():
    means = np.array([[0.5, 0.3, 0.5], [0.4, 0.4, 0.4]])
    predicted = predict_ranks(means, groups=number_collections("xxy"))
    assert predicted.low.tolist() == [1, 1] and predicted.high.tolist() == [2, 2]
    assert predicted.level == pytest.approx(1 / 3)


def test_a_measure_of_which_less_is_better_turns_the_ranks():
    assert predict_ranks(MEANS, direction=-1).low.tolist() == [2, 1]
    assert leave_one_out(MEANS, direction=-1)[0].ranks.tolist() == [2, 1]


def test_the_order_without_a_collection_is_that_of_the_others():
    means = np.array([[0.9, 0.3, 0.3], [0.4, 0.4, 0.4]])
    first, second, _ = leave_one_out(means)
    assert (first.tau, first.foretold, first.ranks.tolist()) == (-1.0, -1.0, [2, 1])
    assert (second.tau, second.foretold, second.ranks.tolist()) == (1.0, -1.0, [1, 2])


def test_all_tracks_of_a_collection_are_left_out_together():
    means = np.array([[0.9, 0.3, 0.3], [0.4, 0.4, 0.4]])
    found = leave_one_out(means, groups=number_collections("xxy"))
    assert [left.ranks.tolist() for left in found] == [[2, 1], [1, 2]]


def test_systems_that_are_apart_alike_everywhere_depend_on_no_collection():
    found = find_components(np.array([[0.5, 0.7], [0.3, 0.5]]))
    assert (round(found.both, 12), round(found.dependability, 12)) == (0, 1)
    assert found.systems == pytest.approx(0.2 / np.sqrt(2))
    assert find_components(np.ones((1, 5))) is None


@pytest.mark.parametrize("collections", [6, 12])
def test_equal_systems_are_told_apart_no_more_often_than_promised(collections):
    assert simulate_pairs("unequal", collections, boards=60, draws=199) <= 0.05 + 3.5 * 0.028


def test_the_rank_on_the_next_collection_is_predicted_as_often_as_promised():
    assert simulate_ranks(19, boards=200) >= 0.9 - 3.5 * 0.021


@pytest.mark.night
@pytest.mark.parametrize("structure", ["alike", "unequal", "skewed", "duplicates"])
@pytest.mark.parametrize("collections", [6, 10, 18, 40])
def test_claims_about_new_collections_hold_in_simulation(structure, collections):
    alarms = simulate_pairs(structure, collections, boards=1000, draws=499)
    assert alarms <= 0.05 + 3.5 * 0.0069
