"""Scores by groups of topics and by place in the group."""

from __future__ import annotations

import numpy as np

from evaluation.significance import natural_order, places_in_groups, split_scores


def test_turns_follow_their_numbers_and_not_their_file():
    numbers = ["31_10", "31_2", "31_1", "4_3", "4_1"]
    groups = ["31", "31", "31", "4", "4"]
    assert places_in_groups(numbers, groups).tolist() == [3, 2, 1, 2, 1]


def test_numbers_without_digits_are_in_the_order_of_letters():
    assert natural_order(["b", "a", "a1"]) == [1, 2, 0]


def test_a_score_that_is_undefined_counts_nowhere():
    found = split_scores(np.array([0.5, np.nan, 0.25]), ["a", "b", "a"])
    assert {name: own.tolist() for name, own in found.items()} == {"a": [0.5, 0.25], "b": []}
