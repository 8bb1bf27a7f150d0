"""Correlations of orders, on published values and against their definitions."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytest import approx

from evaluation.agreement import (
    compare_boards,
    kendall_tau,
    kendall_tau_b,
    ranks,
    rbo,
    tau_ap,
    tau_matrix,
    verdict_changes,
)
from evaluation.significance import tukey_hsd
from tests.evaluation.samples import SAKAI

TIED = st.integers(0, 3).map(float)
PAIRS_OF_ORDERS = st.integers(2, 5).flatmap(
    lambda n: st.tuples(arrays(float, n, elements=TIED), arrays(float, n, elements=TIED))
)


def ways_to_break_ties(scores):
    """Every order of the items, best first, that goes against no score."""
    return [
        order
        for order in permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]


def tau_ap_by_hand(order, scores, reference):
    """Of one order that goes against no score; ties of the reference are broken either way."""

    def is_above(above, item):
        if reference[above] == reference[item]:
            return 1 if scores[above] == scores[item] else 0.5
        return reference[above] > reference[item]

    right = [
        sum(is_above(above, item) for above in order[:place]) / place
        for place, item in enumerate(order)
        if place
    ]
    return 2 * sum(right) / (len(order) - 1) - 1


def rbo_by_hand(one, other, p, depths=2000):
    """The infinite sum, the agreement of the last listed rank going on for ever."""
    agreement = [len({*one[:d]} & {*other[:d]}) / d for d in range(1, len(one) + 1)]
    agreement += [agreement[-1]] * (depths - len(agreement))
    return (1 - p) * sum(a * p**d for d, a in enumerate(agreement))


class TestKendall:
    @pytest.mark.parametrize(
        ("listed", "tau", "ap"),
        [
            ("ABCDE", 1, 1),
            ("BACDE", 0.8, 0.5),
            ("ABCED", 0.8, 0.875),
            ("ABDCE", 0.8, 0.8333),
            ("CABDE", 0.6, 0.25),
            ("EDCBA", -1, -1),
        ],
    )
    def test_listed_orders_against_the_alphabet(self, listed, tau, ap):
        alphabet, order = np.arange(5.0)[::-1], np.array([-listed.index(name) for name in "ABCDE"])
        assert kendall_tau(order, alphabet) == kendall_tau_b(order, alphabet) == approx(tau)
        assert tau_ap(order, alphabet) == approx(ap, abs=5e-5)

    @given(PAIRS_OF_ORDERS)
    @settings(deadline=None)
    def test_tau_b_is_scipys(self, orders):
        from scipy.stats import kendalltau

        expected = kendalltau(*orders).statistic
        assert (kendall_tau_b(*orders) or np.nan) == approx(expected or np.nan, nan_ok=True)

    def test_one_item_or_only_ties_have_no_tau(self):
        one, ties, order = np.array([1.0]), np.array([2.0, 2.0]), np.array([1.0, 2.0])
        assert (kendall_tau(one, one), kendall_tau_b(one, one), tau_ap(one, one)) == (None,) * 3
        for tau in (kendall_tau, kendall_tau_b, tau_ap):
            assert tau(ties, order) is tau(order, ties) is tau(ties, ties) is None

    def test_a_board_with_ties_agrees_with_itself(self):
        board = np.array([3.0, 2.0, 2.0, 2.0, 1.0, 1.0])
        assert tau_ap(board, board) == kendall_tau_b(board, board) == approx(1.0)

    def test_scores_a_rounding_error_apart_are_tied(self):
        assert kendall_tau(np.array([0.1 + 0.2, 0.3]), np.array([1.0, 2.0])) is None

    def test_a_measure_without_means_agrees_with_nothing(self):
        matrix = tau_matrix(np.array([[1.0, 2.0, 3.0], [np.nan, np.nan, np.nan]]))
        assert matrix[0, 0] == 1.0
        assert np.isnan([matrix[0, 1], matrix[1, 1]]).all()

    def test_a_matrix_holds_tau_b_of_every_two_measures(self):
        boards = np.array([[4.0, 3.0, 2.0, 1.0], [4.0, 4.0, 1.0, 2.0], [1.0, 1.0, 1.0, 1.0]])
        matrix = tau_matrix(boards)
        assert matrix[0, 1] == matrix[1, 0] == approx(kendall_tau_b(boards[0], boards[1]))
        assert matrix[0, 0] == approx(1.0)
        assert np.isnan(matrix[2]).all()

    @given(PAIRS_OF_ORDERS)
    @settings(max_examples=60, deadline=None)
    def test_tau_ap_with_ties_is_the_mean_over_all_ways_to_break_them(self, orders):
        scores, reference = orders
        assume(len({*scores}) > 1 and len({*reference}) > 1)
        broken = [tau_ap_by_hand(one, *orders) for one in ways_to_break_ties(scores)]
        assert tau_ap(scores, reference) == approx(np.mean(broken))


class TestRankBiasedOverlap:
    @pytest.mark.parametrize(
        ("other", "overlap"), [("ABCDE", 1), ("BACDE", 0.9), ("EDCBA", 0.737775), ("VWXYZ", 0)]
    )
    def test_five_letters(self, other, overlap):
        assert rbo("ABCDE", other) == approx(overlap, abs=5e-7)

    @given(st.permutations("ABCDEFG"), st.floats(0.3, 0.95))
    def test_equal_lengths_go_on_as_they_ended(self, other, p):
        assert rbo("ABCXYFG", other, p) == approx(rbo_by_hand("ABCXYFG", other, p))

    @given(st.permutations("ABCDEFGH"), st.integers(1, 8), st.floats(0.3, 0.95))
    def test_it_is_symmetric_and_lies_between_zero_and_one(self, other, length, p):
        short = other[:length]
        assert rbo("ABCXYZ", short, p) == rbo(short, "ABCXYZ", p)
        assert -1e-12 <= rbo("ABCXYZ", short, p) <= 1 + 1e-12

    def test_a_short_ranking_agrees_fully_with_a_longer_one_that_begins_like_it(self):
        assert rbo([b"d1", b"d2"], [b"d1", b"d2", b"d3", b"d4"]) == approx(1.0)

    def test_an_uneven_pair_by_the_published_formula(self):
        p, overlap = 0.9, [0, 1, 2, 2]
        listed = sum(x * p**d / d for d, x in enumerate(overlap, 1))
        beyond = sum(1 * (d - 2) * p**d / (2 * d) for d in (3, 4))
        expected = (1 - p) / p * (listed + beyond) + ((2 - 1) / 4 + 1 / 2) * p**4
        assert rbo("AB", "CBAD") == approx(expected)

    def test_empty_rankings_agree_only_with_each_other(self):
        assert (rbo([], []), rbo([], ["d1"])) == (1.0, 0.0)

    def test_a_repeated_document_and_a_p_out_of_range_are_refused(self):
        with pytest.raises(ValueError, match="twice"):
            rbo("ABA", "ABC")
        with pytest.raises(ValueError, match="between 0 and 1"):
            rbo("AB", "AB", p=1.0)


class TestBoards:
    def test_equal_means_share_a_rank(self):
        assert ranks(np.array([0.2, 0.4, 0.4, 0.1])).tolist() == [3, 1, 1, 4]
        assert ranks(np.array([0.2, 0.4, 0.4, 0.1]), direction=-1).tolist() == [2, 3, 3, 1]

    def test_a_board_agrees_with_itself(self):
        means = np.array([0.4, 0.2, 0.3])
        same = compare_boards(means, means)
        assert (same.tau, same.tau_b, same.tau_ap) == (1.0, approx(1.0), 1.0)
        assert (same.first_changed, same.moves.tolist()) == (False, [0] * 3)

    def test_a_change_at_the_top_weighs_more_than_one_at_the_bottom(self):
        old = np.array([0.4, 0.3, 0.2, 0.1])
        top = compare_boards(old, np.array([0.3, 0.45, 0.2, 0.1]))
        bottom = compare_boards(old, np.array([0.4, 0.3, 0.1, 0.2]))
        assert top.tau == bottom.tau and top.tau_ap < bottom.tau_ap
        assert (top.first_changed, bottom.first_changed) == (True, False)
        assert top.moves.tolist() == [-1, 1, 0, 0]

    def test_lower_means_first_turns_the_top_round(self):
        old, new = np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0])
        assert compare_boards(old, new, direction=-1).tau_ap == approx(0.0)
        assert compare_boards(old, new).tau_ap == approx(0.5)

    def test_an_empty_board_has_nothing_to_compare(self):
        empty = compare_boards(np.empty(0), np.empty(0))
        assert (empty.tau, empty.first_changed) == (None, False)

    def test_verdicts_that_were_lost_gained_and_reversed_are_counted(self):
        before = tukey_hsd(SAKAI)
        after = tukey_hsd(SAKAI[[2, 1, 0]])
        apart_before = np.abs(before.differences) > before.margin
        apart_after = np.abs(after.differences) > after.margin
        changes = verdict_changes(before.differences, apart_before, after.differences, apart_after)
        assert (changes.lost, changes.gained, changes.reversed) == (1, 1, 1)
