"""Tukey's HSD, the studentized range beneath it, rank intervals and letters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytest import approx

from evaluation.significance import (
    letters_of,
    randomised_tukey,
    studentized_range_quantile,
    studentized_range_tail,
    tukey_hsd,
)
from tests.evaluation.samples import SAKAI

FIVE_TOPICS = np.array(
    [[0.5, 0.4, 0.1], [0.6, 0.5, 0.2], [0.7, 0.3, 0.3], [0.4, 0.45, 0.2], [0.8, 0.6, 0.25]]
).T
BOARDS = arrays(
    float,
    st.tuples(st.integers(1, 6), st.integers(1, 5)),
    elements=st.integers(0, 20).map(lambda twentieths: twentieths / 20),
)


def board(runs, topics, spread, seed=3):
    draw = np.random.default_rng(seed)
    return draw.normal(0, 0.1, (runs, topics)) + draw.normal(0, spread, (runs, 1))


class TestTheStudentizedRange:
    @pytest.mark.parametrize(
        ("runs", "degrees", "q"),
        [(3, 38, 3.449021), (17, 1584, 4.899037), (88, 4089, 6.011418), (200, 9751, 6.498751)],
    )
    def test_its_quantiles_for_boards_of_all_sizes(self, runs, degrees, q):
        assert studentized_range_quantile(0.95, runs, degrees) == approx(q, abs=1e-6)

    @pytest.mark.parametrize(
        ("runs", "degrees"), [(2, 1), (2, 7), (3, 4), (5, 60), (40, 351), (150, 30_000)]
    )
    def test_its_tail_is_that_of_scipy(self, runs, degrees):
        from scipy.stats import studentized_range

        q = np.array([0.5, 2.5, 4.0, 7.0])
        assert studentized_range_tail(q, runs, degrees) == approx(
            studentized_range.sf(q, runs, degrees), abs=1e-10
        )

    @pytest.mark.parametrize("degrees", [1, 2, 19, 400])
    def test_for_two_runs_it_is_students_t(self, degrees):
        from scipy.stats import t

        q = np.array([0.01, 0.7, 3.0, 12.0, 300.0])
        assert studentized_range_tail(q, 2, degrees) == approx(
            2 * t.sf(q / 2**0.5, degrees), abs=1e-11
        )

    @pytest.mark.parametrize(("runs", "degrees"), [(30, 29), (100, 4851)])
    def test_many_values_are_read_off_as_exactly_as_few_are_computed(self, runs, degrees):
        q = np.linspace(0, 12, 400)
        few = np.concatenate(
            [studentized_range_tail(part, runs, degrees) for part in q.reshape(4, -1)]
        )
        assert studentized_range_tail(q, runs, degrees) == approx(few, abs=1e-10)

    def test_no_range_has_tail_one_and_a_huge_one_none(self):
        assert studentized_range_tail(np.array([0.0, 90.0]), 5, 80) == approx([1.0, 0.0])


class TestTukeysHsd:
    def test_sakais_three_systems(self):
        pairs = tukey_hsd(SAKAI)
        assert pairs.means == approx([0.450050, 0.427675, 0.366205], abs=5e-7)
        assert (pairs.residual_variance, pairs.degrees) == (approx(0.00186864, abs=5e-9), 38)
        assert (pairs.q, pairs.margin) == (approx(3.449021, abs=1e-6), approx(0.0333383, abs=1e-7))
        assert pairs.p[[0, 0, 1], [1, 2, 2]] == approx([0.24288, 1.11e-6, 0.00018292], rel=5e-3)
        assert pairs.letters == ("a", "a", "b")
        assert list(zip(pairs.rank_low, pairs.rank_high, strict=True)) == [(1, 2), (1, 2), (3, 3)]

    def test_the_interval_of_a_difference_is_the_margin_to_both_sides(self):
        interval = tukey_hsd(SAKAI).interval(1, 0)
        assert (interval.low, interval.high) == (
            approx(-0.022375 - 0.0333383, abs=1e-7),
            approx(-0.022375 + 0.0333383, abs=1e-7),
        )

    def test_a_pair_is_significant_exactly_when_its_p_is_below_the_level(self):
        pairs = tukey_hsd(board(12, 20, spread=0.05))
        apart = np.abs(pairs.differences) > pairs.margin
        assert np.array_equal(apart, pairs.p < 0.05)
        assert 0 < np.count_nonzero(apart) < 132

    def test_lower_ranks_first_where_the_measure_says_so(self):
        pairs = tukey_hsd(SAKAI, direction=-1)
        assert (pairs.rank_low.tolist(), pairs.letters) == ([2, 2, 1], ("b", "b", "a"))

    @pytest.mark.parametrize("method", [tukey_hsd, randomised_tukey])
    def test_one_run_has_rank_one_and_nothing_else(self, method):
        lone = method(SAKAI[:1])
        assert (lone.rank_low.tolist(), lone.rank_high.tolist()) == ([1], [1])
        assert (lone.margin, lone.residual_variance, lone.letters) == (None, None, ("a",))

    @pytest.mark.parametrize("method", [tukey_hsd, randomised_tukey])
    def test_one_topic_separates_no_runs(self, method):
        pairs = method(SAKAI[:, :1])
        assert (pairs.rank_low.tolist(), pairs.rank_high.tolist()) == ([1, 1, 1], [3, 3, 3])
        assert (pairs.margin, pairs.interval(0, 1), pairs.letters) == (None, None, ("a",) * 3)

    @pytest.mark.parametrize("method", [tukey_hsd, randomised_tukey])
    def test_no_runs_and_no_topics_are_no_error(self, method):
        assert method(np.zeros((0, 5))).letters == ()
        assert method(np.zeros((3, 0))).rank_high.tolist() == [3, 3, 3]

    @pytest.mark.parametrize("method", [tukey_hsd, randomised_tukey])
    def test_identical_runs_share_everything(self, method):
        pairs = method(SAKAI[[0, 0, 0]])
        assert (pairs.margin, pairs.letters) == (0.0, ("a", "a", "a"))
        assert pairs.p.tolist() == np.ones((3, 3)).tolist()

    def test_a_constant_difference_leaves_no_residual_and_is_significant(self):
        pairs = tukey_hsd(SAKAI[[0, 0]] + np.array([[0.0], [0.1]]))
        assert (pairs.margin, pairs.residual_variance, pairs.p[0, 1]) == (0.0, 0.0, 0.0)
        assert pairs.letters == ("b", "a")

    def test_a_topic_that_one_run_has_no_score_for_is_left_out(self):
        scores = SAKAI.copy()
        scores[1, 3] = np.nan
        pairs = tukey_hsd(scores)
        assert (pairs.topics, pairs.undefined) == (19, 1)
        assert pairs.margin == tukey_hsd(np.delete(SAKAI, 3, axis=1)).margin

    @given(BOARDS)
    @settings(max_examples=30, deadline=None)
    def test_rank_intervals_contain_the_observed_rank(self, scores):
        pairs = tukey_hsd(scores)
        rank = 1 + np.count_nonzero(pairs.differences < -1e-12, axis=1)
        assert np.all(pairs.rank_low <= rank) and np.all(rank <= pairs.rank_high)

    def test_a_constant_and_the_order_of_topics_change_nothing(self):
        before, order = tukey_hsd(SAKAI), np.random.default_rng(2).permutation(20)
        after = tukey_hsd(SAKAI[:, order] + 0.25)
        assert after.margin == approx(before.margin, rel=1e-12)
        assert (after.letters, after.rank_high.tolist()) == (before.letters, [2, 2, 3])

    def test_false_findings_among_all_pairs_stay_below_six_in_a_hundred_boards(self):
        draw = np.random.default_rng(12)
        scores = draw.beta(2, 3, (5, 15))
        boards = [draw.permuted(scores, axis=0) for _ in range(500)]
        assert sum("b" in "".join(tukey_hsd(each).letters) for each in boards) <= 30


class TestRandomisedTukey:
    def test_five_topics_are_enumerated(self):
        pairs = randomised_tukey(FIVE_TOPICS)
        counts = pairs.p[[0, 0, 1], [1, 2, 2]] * 6**5
        assert counts == approx([4524, 24, 1656])

    def test_sakais_three_systems_within_the_error_of_drawing(self):
        pairs = randomised_tukey(SAKAI, draws=5000)
        assert pairs.p[[0, 0, 1], [1, 2, 2]] == approx([0.4792, 4e-6, 0.00246], abs=0.025)
        assert pairs.letters == ("a", "a", "b")

    @pytest.mark.parametrize("scores", [FIVE_TOPICS, board(9, 20, spread=0.05)])
    def test_a_pair_is_significant_exactly_when_its_p_is_below_the_level(self, scores):
        pairs = randomised_tukey(scores)
        apart = np.abs(pairs.differences) > pairs.margin + 1e-12
        assert np.array_equal(apart, pairs.p < 0.05)
        assert apart.any()

    def test_many_runs_are_drawn(self):
        pairs = randomised_tukey(board(180, 3, spread=0.5), draws=100)
        assert pairs.p[0, 1] == approx(1.0, abs=0.01)
        assert pairs.margin is not None

    def test_two_topics_of_two_runs_can_show_nothing(self):
        pairs = randomised_tukey(np.array([[0.1, 0.2], [0.8, 0.9]]))
        assert (pairs.p[0, 1], pairs.letters) == (0.5, ("a", "a"))


class TestLetters:
    def test_a_chain_of_overlapping_groups(self):
        means = np.arange(6)[::-1] / 10
        different = np.abs(means[:, np.newaxis] - means) > 0.25
        assert letters_of(different, np.arange(6)) == ("a", "ab", "abc", "bcd", "cd", "d")

    def test_the_first_letter_goes_to_the_best_wherever_it_stands(self):
        different = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=bool)
        assert letters_of(different, np.array([2, 1, 0])) == ("b", "a", "a")

    @given(st.integers(1, 9), st.data())
    def test_two_runs_share_a_letter_exactly_when_they_do_not_differ(self, runs, data):
        drawn = data.draw(arrays(bool, (runs, runs)))
        different = np.triu(drawn, 1) | np.triu(drawn, 1).T
        words = [set(word) for word in letters_of(different, np.arange(runs))]
        shared = np.array([[bool(one & other) for other in words] for one in words])
        assert np.array_equal(shared, ~different)

    @given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(0, 20))
    def test_one_margin_makes_no_group_that_lies_in_another(self, means, margin):
        means = -np.sort(-np.array(means))
        words = letters_of(np.abs(means[:, np.newaxis] - means) > margin, np.arange(len(means)))
        shared = [[bool(set(one) & set(other)) for other in words] for one in words]
        assert np.array_equal(shared, np.abs(means[:, np.newaxis] - means) <= margin)
        groups = [
            {n for n, word in enumerate(words) if name in word} for name in set("".join(words))
        ]
        assert not any(one < other for one in groups for other in groups)

    def test_more_than_fifty_two_groups_still_have_names(self):
        words = letters_of(~np.eye(60, dtype=bool), np.arange(60))
        assert (words[0], words[51], words[52]) == ("a", "Z", "a'")
        assert len(set(words)) == 60

    def test_no_runs_have_no_letters(self):
        assert letters_of(np.zeros((0, 0), dtype=bool), np.arange(0)) == ()
