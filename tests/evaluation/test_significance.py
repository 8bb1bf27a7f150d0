"""Tests of one run against a baseline, on published examples and on what must always hold."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytest import approx

from evaluation.measures import parse_measure
from evaluation.significance import (
    TESTS,
    all_paired_t,
    benjamini_hochberg,
    bootstrap,
    bootstraps,
    compare_with_baseline,
    critical_before,
    detectable_effect,
    holm,
    paired_t,
    power_of,
    scale_of,
    sign_flip,
    sign_flips,
    sign_test,
    smallest_p,
    t_interval,
    topics_in_family,
    topics_needed,
    wilcoxon,
)
from evaluation.significance.baseline import max_t
from tests.evaluation.samples import MAIZE, SAKAI, SLEEP, TAGUE

# The tests whose verdicts an interval agrees with.
WITH_INTERVAL = ("max_t", "t", "bootstrap")
PAIRS = {"1-2": SAKAI[0] - SAKAI[1], "1-3": SAKAI[0] - SAKAI[2], "2-3": SAKAI[1] - SAKAI[2]}
HUNDREDTHS = st.integers(-30, 30).map(lambda hundredths: hundredths / 100)


def random_scores(runs, topics, seed=1):
    return np.random.default_rng(seed).beta(2, 3, (runs, topics))


def flipped_by_hand(differences):
    """p by looking at every sign pattern, one after the other."""
    observed = abs(sum(differences))
    totals = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    return sum(abs(total) >= observed - 1e-9 for total in totals) / len(totals)


class TestSignFlips:
    @pytest.mark.parametrize(("pair", "count"), [("1-2", 213336), ("1-3", 6), ("2-3", 46)])
    def test_sakais_pairs_are_counted_out_of_two_to_the_twentieth(self, pair, count):
        result = sign_flip(PAIRS[pair])
        # One of the differences of 1-2 may be zero without changing p.
        assert result.p == approx(count / 2**20, abs=1e-15)
        assert result.exact

    def test_darwins_maize_has_fishers_count(self):
        result = sign_flip(MAIZE)
        assert (result.p, result.draws) == (1726 / 32768, 32768)
        assert result.statistic == approx(314 / 15)

    def test_a_zero_difference_does_not_change_p(self):
        assert sign_flip(SLEEP).p == sign_flip(SLEEP[SLEEP != 0]).p == 4 / 1024

    def test_tagues_ten_differences(self):
        assert sign_flip(TAGUE).p == 178 / 1024

    @given(st.lists(HUNDREDTHS, min_size=1, max_size=9))
    @settings(max_examples=60, deadline=None)
    def test_meeting_in_the_middle_equals_looking_at_every_pattern(self, differences):
        assert sign_flip(np.array(differences)).p == flipped_by_hand(differences)

    def test_noise_of_the_last_bit_does_not_break_a_tie(self):
        assert sign_flip(np.array([0.1 + 0.2, -0.3, 0.1, 0.1])).p == 12 / 16

    def test_thirds_tie_with_thirds(self):
        assert sign_flip(np.array([1 / 3, 1 / 3, -2 / 3])).p == 1.0

    def test_thirty_differences_are_counted_and_thirty_one_are_drawn(self):
        differences = PAIRS["1-2"]
        thirty = np.concatenate([differences, differences[:10]])
        assert (sign_flip(thirty).exact, sign_flip(thirty).draws) == (True, 2**30)
        one_more = sign_flip(np.append(thirty, 0.01))
        assert (one_more.exact, one_more.draws) == (False, 100_000)

    def test_zeros_do_not_count_towards_the_thirty(self):
        assert sign_flip(np.concatenate([PAIRS["1-2"], np.zeros(500)])).exact

    def test_drawn_and_counted_p_agree(self):
        differences = random_scores(1, 30)[0] - 0.33
        drawn = sign_flip(np.concatenate([differences, [1e-9]]))
        # Three standard errors of 100,000 draws.
        assert drawn.p == approx(sign_flip(differences).p, abs=3 * (0.25 / 100_000) ** 0.5)

    def test_a_drawn_p_is_never_zero(self):
        assert sign_flip(np.full(60, 0.1)).p == 1 / 100_001

    def test_draws_are_the_same_ones_every_time(self):
        differences = random_scores(1, 50)[0] - 0.38
        assert sign_flip(differences) == sign_flip(differences)
        assert sign_flip(differences, draws=999).p == 0.809

    @pytest.mark.parametrize("runs", [1, 3, 40])
    def test_p_is_bit_for_bit_the_same_alone_and_in_company(self, runs):
        differences = random_scores(40, 70) - 0.4
        together = sign_flips(differences)
        assert sign_flips(differences[:runs]).tolist() == together[:runs].tolist()

    @pytest.mark.parametrize("scale", [10, 10**7], ids=["tenths", "seven digits"])
    def test_totals_that_only_just_reach_are_counted_in_company_too(self, scale):
        differences = np.round((random_scores(20, 300) - 0.4) * scale) / scale
        # A pair of opposite differences lets many flips end where the observed total lies.
        differences[:, :200] = np.where(differences[:, :200] > 0, 0.3, -0.3)
        alone = [sign_flip(row).p for row in differences]
        assert sign_flips(differences).tolist() == alone

    def test_p_of_counts_is_as_exact_as_p_of_shares(self):
        differences = np.round(random_scores(1, 60)[0] * 100) - 38
        assert sign_flip(differences * 2.0**20).p == sign_flip(differences).p

    def test_undefined_topics_count_as_absent(self):
        holed = np.insert(MAIZE, 3, np.nan)
        assert sign_flip(holed) == sign_flip(MAIZE)

    @given(arrays(float, 8, elements=HUNDREDTHS), st.permutations(range(8)))
    @settings(max_examples=40, deadline=None)
    def test_counted_p_depends_neither_on_the_order_nor_on_the_direction(self, row, order):
        assert sign_flip(row).p == sign_flip(row[list(order)]).p == sign_flip(-row).p


class TestPairedTests:
    @pytest.mark.parametrize(
        ("pair", "t", "p", "low", "high"),
        [
            ("1-2", 1.310113, 0.20577649, -0.013371, 0.058121),
            ("1-3", 8.260661, 1.0376e-7, 0.062601, 0.105089),
            ("2-3", 4.772581, 0.00013239, 0.034512, 0.088428),
        ],
    )
    def test_students_t_on_sakais_pairs(self, pair, t, p, low, high):
        result, interval = paired_t(PAIRS[pair]), t_interval(PAIRS[pair])
        assert (result.statistic, result.p) == (approx(t, abs=5e-7), approx(p, rel=1e-4))
        assert (interval.low, interval.high) == (approx(low, abs=5e-7), approx(high, abs=5e-7))

    def test_students_t_on_maize_sleep_and_tague(self):
        assert paired_t(MAIZE).statistic == approx(2.147987, abs=5e-7)
        assert paired_t(MAIZE).p == approx(0.0497029, abs=5e-8)
        assert paired_t(SLEEP).statistic == approx(-4.062128, abs=5e-7)
        assert paired_t(SLEEP).p == approx(0.002832890, abs=5e-10)
        assert t_interval(SLEEP).low == approx(-2.459886, abs=5e-7)
        assert t_interval(SLEEP).high == approx(-0.700114, abs=5e-7)
        assert paired_t(TAGUE).p == approx(0.218088, abs=5e-7)

    @pytest.mark.parametrize(
        ("pair", "w", "p"),
        [("1-2", 71, 0.21616745), ("1-3", 2, 5.7220e-6), ("2-3", 8, 50 / 2**20)],
    )
    def test_wilcoxon_is_exact_over_shared_ranks(self, pair, w, p):
        result = wilcoxon(PAIRS[pair])
        assert (result.statistic, result.exact) == (w, True)
        assert result.p == approx(p, rel=1e-5)

    def test_wilcoxon_on_maize_and_its_normal_approximation_on_sleep(self):
        assert wilcoxon(MAIZE).statistic == 24
        assert wilcoxon(MAIZE).p == approx(0.0412598, abs=5e-8)
        assert wilcoxon(SLEEP, exact=False).p == approx(0.009090698, abs=5e-10)

    def test_wilcoxon_turns_to_the_normal_distribution_beyond_fifty(self):
        from scipy.stats import wilcoxon as reference

        differences = random_scores(1, 51)[0] - 0.38
        expected = reference(differences, correction=True, method="asymptotic")
        assert not wilcoxon(differences).exact
        assert wilcoxon(differences).p == approx(expected.pvalue, rel=1e-9)

    @pytest.mark.parametrize(("wins", "topics", "p"), [(29, 50, 0.3222363), (25, 43, 0.3603777)])
    def test_the_sign_test_on_wins(self, wins, topics, p):
        differences = np.repeat([0.1, -0.2], [wins, topics - wins])
        assert sign_test(differences).p == approx(p, abs=5e-8)

    @pytest.mark.parametrize(
        ("pair", "p"), [("1-2", 0.263176), ("1-3", 0.000040), ("2-3", 0.002577)]
    )
    def test_the_sign_test_on_sakais_pairs(self, pair, p):
        assert sign_test(PAIRS[pair]).p == approx(p, abs=5e-7)

    def test_the_sign_test_on_tague(self):
        assert (sign_test(TAGUE).statistic, sign_test(TAGUE).p) == (7, approx(0.34375))


class TestBootstrap:
    def test_its_p_lies_near_that_of_the_t_test(self):
        assert bootstrap(PAIRS["1-2"]).test.p == approx(paired_t(PAIRS["1-2"]).p, abs=0.03)

    def test_its_interval_leaves_zero_exactly_where_p_is_small(self):
        for result in bootstraps(random_scores(200, 25, seed=3) - 0.34):
            leaves = result.interval.low > 0 or result.interval.high < 0
            assert leaves == (result.test.p <= 0.05)

    def test_three_topics_have_no_bootstrap_interval_rather_than_an_endless_one(self):
        assert bootstrap(np.array([0.1, 0.2, 0.4])).interval is None

    def test_a_run_gets_the_same_answer_alone_and_beside_runs_with_holes(self):
        rows = random_scores(3, 40) - 0.4
        rows[1, 7] = np.nan
        assert bootstraps(rows)[2] == bootstrap(rows[2])
        assert bootstraps(rows)[1] == bootstrap(np.delete(rows[1], 7))


class TestAdjusting:
    def test_holm_and_benjamini_hochberg_on_four_values(self):
        p = np.array([0.01, 0.04, 0.03, 0.005])
        assert holm(p) == approx([0.03, 0.06, 0.06, 0.02])
        assert benjamini_hochberg(p) == approx([0.02, 0.04, 0.04, 0.02])

    def test_the_fifteen_values_of_benjamini_and_hochberg(self):
        p = np.fromstring(
            "0.0001 0.0004 0.0019 0.0095 0.0201 0.0278 0.0298 0.0344 0.0459 0.3240 0.4262 "
            "0.5719 0.6528 0.7590 1",
            sep=" ",
        )
        assert np.count_nonzero(holm(p) <= 0.05) == 3
        assert np.count_nonzero(benjamini_hochberg(p) <= 0.05) == 4

    def test_both_on_sakais_t_tests(self):
        p = np.array([paired_t(differences).p for differences in PAIRS.values()])
        assert holm(p) == approx([0.205776, 3.1128e-7, 2.64778e-4], rel=1e-4)
        assert benjamini_hochberg(p) == approx([0.205776, 3.1128e-7, 1.98583e-4], rel=1e-4)

    @given(arrays(float, st.integers(1, 12), elements=st.floats(0, 1)))
    def test_holm_never_lowers_p_and_keeps_its_order(self, p):
        adjusted = holm(p)
        assert np.all(adjusted >= p) and np.all(adjusted <= 1)
        assert np.all(np.diff(adjusted[np.argsort(p)]) >= 0)


class TestMaximumT:
    def test_a_run_that_is_there_twice_costs_nothing(self):
        row = random_scores(1, 10)[0] - 0.3
        (alone,), twice = max_t(row[np.newaxis]), max_t(np.array([row, row]))
        for outcome in twice:
            assert outcome.p_adjusted == approx(alone.p, abs=0.01)

    def test_the_adjusted_p_is_never_below_the_raw_p(self):
        for outcome in max_t(random_scores(6, 12, seed=4) - 0.3):
            assert outcome.p <= outcome.p_adjusted <= 1

    def test_p_and_interval_never_contradict_each_other(self):
        for seed in range(40):
            for outcome in max_t(random_scores(11, 20, seed=seed) - 0.33):
                leaves = outcome.interval.low > 0 or outcome.interval.high < 0
                assert leaves == (outcome.p_adjusted <= 0.05)

    def test_below_six_topics_there_is_no_interval_and_no_small_p(self):
        (outcome,) = max_t(np.array([[0.1, 0.11, 0.12, 0.1, 0.11]]))
        assert (outcome.p, outcome.interval) == (2**-4, None)

    def test_a_constant_difference_is_limited_by_the_number_of_topics(self):
        (outcome,) = max_t(np.full((1, 7), 0.1))
        assert (outcome.p, outcome.p_adjusted) == (2**-6, 2**-6)

    def test_runs_with_missing_topics_are_tested_on_their_own(self):
        differences = random_scores(2, 30, seed=9) - 0.3
        differences[0, 29] = np.nan
        holed, whole = max_t(differences, adjust=False)
        assert holed.p == max_t(differences[:1, :29])[0].p
        assert whole.p == max_t(differences[1:])[0].p

    def test_runs_without_a_difference_have_p_one(self):
        assert [outcome.p_adjusted for outcome in max_t(np.zeros((2, 9)))] == [1.0, 1.0]

    def test_the_order_of_runs_decides_nothing(self):
        differences = random_scores(5, 30, seed=2) - 0.3
        there, back = max_t(differences), max_t(differences[::-1])[::-1]
        assert [one.p_adjusted for one in there] == [one.p_adjusted for one in back]


class TestScales:
    # STATISTICS of one relevant document: base finds it at rank 1 or 1000, new at 2 or 10.
    BASE, NEW = (np.repeat(values, (20, 10)) for values in ([1, 0.001], [0.5, 0.1]))

    def test_a_geometric_mean_is_that_of_the_board(self):
        means = [parse_measure("GMAP").aggregate(scores) for scores in (self.BASE, self.NEW)]
        assert means == [approx(0.1, abs=5e-5), approx(0.2924, abs=5e-5)]

    @pytest.mark.parametrize(("test", "p"), [("t", 0.0280), ("sign_flip", 0.0254)])
    def test_a_geometric_mean_is_tested_by_logarithms(self, test, p):
        scale = scale_of(parse_measure("GMAP"))
        (new,) = compare_with_baseline(self.NEW[np.newaxis], self.BASE, test, scale=scale)
        assert (new.difference, new.p) == (approx(2.924, abs=5e-4), approx(p, abs=5e-5))
        assert new.gain > 0

    def test_a_sum_is_printed_as_a_total(self):
        found = random_scores(2, 30)
        (mean,) = compare_with_baseline(found[:1], found[1])
        (total,) = compare_with_baseline(
            found[:1], found[1], scale=scale_of(parse_measure("NumRelRet"))
        )
        assert (total.difference, total.low) == (
            approx(30 * mean.difference),
            approx(30 * mean.low),
        )
        assert total.p_adjusted == mean.p_adjusted


class TestCompareWithBaseline:
    def test_sakais_first_system_against_the_others(self):
        own, second, third = compare_with_baseline(SAKAI, baseline=0)
        assert own.p is None and own.difference == 0.0 and own.ties == 20
        assert second.difference == approx(-0.022375)
        assert (second.wins, second.losses, second.ties) == (7, 13, 0)
        assert second.effect_size == approx(-0.2930, abs=5e-5)
        assert third.effect_size == approx(-1.8471, abs=5e-5)
        assert second.p <= second.p_adjusted and third.p_adjusted < 0.001

    def test_a_baseline_may_stand_outside_the_board(self):
        inside = compare_with_baseline(SAKAI, baseline=0)[1:]
        assert compare_with_baseline(SAKAI[1:], SAKAI[0]) == inside

    @pytest.mark.parametrize("test", TESTS)
    def test_identical_runs_differ_by_nothing(self, test):
        same = compare_with_baseline(SAKAI[[0, 0]], baseline=0, test=test)[1]
        assert (same.difference, same.effect_size) == (0, 0)
        if test == "max_t":
            # Scores without a range tell nothing of the size of a difference.
            assert same.low is same.high is None
        else:
            assert {same.low, same.high} == ({0.0} if test in WITH_INTERVAL else {None})
        assert (same.p, same.p_adjusted, same.ties) == (1.0, 1.0, 20)

    @pytest.mark.parametrize("test", TESTS)
    def test_one_topic_tests_nothing(self, test):
        lone = compare_with_baseline(np.array([[0.25], [0.75]]), baseline=0, test=test)[1]
        assert (lone.difference, lone.wins, lone.topics) == (0.5, 1, 1)
        assert (lone.p, lone.p_adjusted, lone.low, lone.effect_size) == (None, None, None, None)

    @pytest.mark.parametrize("test", TESTS)
    def test_two_topics_give_finite_numbers(self, test):
        scores = np.array([[0.1, 0.2], [0.3, 0.7]])
        pair = compare_with_baseline(scores, baseline=0, test=test)[1]
        assert np.isfinite([pair.p, pair.p_adjusted, pair.effect_size]).all()

    @pytest.mark.parametrize(
        ("test", "p"),
        [
            ("max_t", 2 / 2**8),
            ("sign_flip", 2 / 2**8),
            ("t", 0),
            ("wilcoxon", 2 / 2**8),
            ("sign", 2 / 2**8),
            ("bootstrap", 1 / 10_001),
        ],
    )
    def test_a_constant_difference_has_no_effect_size_and_a_short_interval(self, test, p):
        scores = random_scores(1, 8) + np.array([[0.0], [0.1]])
        constant = compare_with_baseline(scores, baseline=0, test=test)[1]
        assert (constant.p, constant.effect_size) == (p, None)
        if test == "max_t":
            assert 0 < constant.low < 0.1 < constant.high < 0.2
        elif test in WITH_INTERVAL:
            assert constant.low == constant.high == approx(0.1)

    def test_undefined_topics_are_dropped_in_pairs_and_counted(self):
        scores = np.vstack([SAKAI, SAKAI[1:2]])
        scores[3, 4] = scores[0, 7] = np.nan
        holed = compare_with_baseline(scores, baseline=0)[3]
        kept = np.delete(SAKAI, [4, 7], axis=1)
        assert (holed.topics, holed.undefined) == (18, 2)
        tested = [compare_with_baseline(rows, 0, "sign_flip") for rows in (scores, kept)]
        assert tested[0][3].p == tested[1][1].p
        assert holed.wins + holed.losses + holed.ties == 18

    def test_a_run_without_any_score_has_no_numbers_and_leaves_the_family(self):
        scores = np.vstack([SAKAI, np.full((1, 20), np.nan)])
        *others, empty = compare_with_baseline(scores, baseline=0)
        assert (empty.difference, empty.p, empty.p_adjusted, empty.undefined) == (None,) * 3 + (20,)
        assert others == compare_with_baseline(SAKAI, baseline=0)

    @pytest.mark.parametrize("test", TESTS)
    def test_a_board_without_runs_or_topics_or_others_is_no_error(self, test):
        assert compare_with_baseline(np.zeros((0, 9)), np.zeros(9), test=test) == []
        assert compare_with_baseline(np.zeros((2, 0)), 0, test=test)[1].difference is None
        assert compare_with_baseline(SAKAI[:1], 0, test=test)[0].p is None

    def test_a_lone_baseline_leaves_max_t_nothing_to_adjust(self):
        assert compare_with_baseline(SAKAI[:1], 0)[0].p_adjusted is None

    def test_lower_wins_where_the_measure_says_so(self):
        pair = compare_with_baseline(SAKAI, baseline=0, direction=-1)[1]
        assert (pair.wins, pair.losses) == (13, 7)
        assert pair.difference == approx(-0.022375)

    @pytest.mark.parametrize("test", TESTS)
    def test_swapping_the_runs_turns_everything_round(self, test):
        there = compare_with_baseline(SAKAI[:2], baseline=0, test=test)[1]
        back = compare_with_baseline(SAKAI[:2], baseline=1, test=test)[0]
        assert (there.difference, there.p, there.wins) == (-back.difference, back.p, back.losses)
        assert there.effect_size == -back.effect_size
        if test in WITH_INTERVAL:
            assert there.low == approx(-back.high)

    @pytest.mark.parametrize("test", TESTS)
    def test_a_constant_added_to_every_run_changes_nothing(self, test):
        before = compare_with_baseline(SAKAI, baseline=0, test=test)
        after = compare_with_baseline(SAKAI + 0.125, baseline=0, test=test)
        assert [each.p for each in after[1:]] == approx([each.p for each in before[1:]], rel=1e-9)
        assert [each.wins for each in after] == [each.wins for each in before]

    @pytest.mark.parametrize("test", ["sign_flip", "t", "wilcoxon", "sign"])
    def test_the_order_of_topics_does_not_matter_where_nothing_is_drawn(self, test):
        order = np.random.default_rng(5).permutation(20)
        before = compare_with_baseline(SAKAI, baseline=0, test=test)[1]
        after = compare_with_baseline(SAKAI[:, order], baseline=0, test=test)[1]
        assert after.p == (approx(before.p, rel=1e-12) if test == "t" else before.p)

    def test_the_order_of_topics_moves_a_drawn_p_by_the_error_of_drawing_only(self):
        scores, order = random_scores(2, 60), np.random.default_rng(5).permutation(60)
        before = compare_with_baseline(scores, baseline=0)[1].p
        after = compare_with_baseline(scores[:, order], baseline=0)[1].p
        assert after == approx(before, abs=5 * (before * (1 - before) / 10_000) ** 0.5)

    def test_every_correction_can_be_chosen(self):
        p = {
            correction: compare_with_baseline(SAKAI, 2, "t", correction=correction)[0].p_adjusted
            for correction in ("none", "benjamini_hochberg", "holm")
        }
        assert p["none"] <= p["benjamini_hochberg"] <= p["holm"]

    def test_an_unknown_test_and_max_t_without_sign_flips_are_refused(self):
        with pytest.raises(ValueError, match="no such test"):
            compare_with_baseline(SAKAI, 0, test="chi")
        with pytest.raises(ValueError, match="max_t"):
            compare_with_baseline(SAKAI, 0, test="t", correction="max_t")

    @pytest.mark.parametrize("test", TESTS)
    def test_an_interval_is_shown_only_where_it_agrees_with_p(self, test):
        for found in compare_with_baseline(SAKAI, 0, test)[1:]:
            assert (found.low is None) == (test != "max_t")
        lone = compare_with_baseline(SAKAI[:2], 0, test)[1]
        assert (lone.low is None) == (test not in WITH_INTERVAL)

    @pytest.mark.parametrize("test", ["max_t", "sign_flip"])
    def test_false_findings_stay_below_six_in_a_hundred_boards(self, test):
        """Scores shuffled within topics: whatever is found is false."""
        draw = np.random.default_rng(20)
        scores = random_scores(6, 12)
        boards = [draw.permuted(scores, axis=0) for _ in range(400)]
        found = sum(
            any(run.p_adjusted <= 0.05 for run in compare_with_baseline(board[1:], board[0], test))
            for board in boards
        )
        assert found <= 0.06 * len(boards)


class TestPower:
    @pytest.mark.parametrize(
        ("topics", "effects", "of_all_pairs"),
        [
            (25, (0.5942, 0.7119, 0.7886, 0.8756, 0.9345), 0.9294),
            (50, (0.4131, 0.4895, 0.5383, 0.5928, 0.6292), 0.6257),
            (100, (0.2869, 0.3381, 0.3704, 0.4062, 0.4300), 0.4275),
            (250, (0.1789, 0.2101, 0.2297, 0.2513, 0.2656), 0.2640),
        ],
    )
    def test_the_effect_that_a_run_named_in_advance_shows(self, topics, effects, of_all_pairs):
        for runs, effect in zip((2, 5, 12, 40, 100), effects, strict=True):
            critical = critical_before(topics, runs)
            assert detectable_effect(topics, critical) == approx(effect, abs=5.1e-5)
        critical = critical_before(topics, 12, "all")
        assert detectable_effect(topics, critical) == approx(of_all_pairs, abs=5.1e-5)

    def test_dunnetts_critical_values(self):
        found = [critical_before(50, runs) for runs in (5, 12, 40, 100)]
        assert found == [approx(value, abs=5.1e-5) for value in (2.5238, 2.8499, 3.2124, 3.4534)]

    def test_the_fewest_topics_of_a_family_are_enough_and_one_fewer_is_not(self):
        topics = topics_in_family(0.3, 12)
        found = [detectable_effect(n, critical_before(n, 12)) for n in (topics - 1, topics)]
        assert found[0] > 0.3 >= found[1]

    @pytest.mark.parametrize(
        ("effect", "topics", "power"), [(0.5, 34, 0.808), (0.3, 90, 0.804), (0.2, 199, 0.802)]
    )
    def test_the_topics_that_an_effect_needs(self, effect, topics, power):
        assert topics_needed(effect) == topics
        assert power_of(effect, topics) == approx(power, abs=5e-4)
        assert power_of(effect, topics - 1) < 0.8

    def test_one_topic_or_one_run_makes_no_family(self):
        with pytest.raises(ValueError, match="two runs and two topics"):
            critical_before(1, 2)
        with pytest.raises(ValueError, match="two runs and two topics"):
            critical_before(50, 1)

    def test_no_effect_needs_no_number_of_topics(self):
        for plan in (topics_needed, lambda effect: topics_in_family(effect, 2)):
            with pytest.raises(ValueError, match="effect of 0"):
                plan(0.0)

    def test_an_enormous_effect_still_needs_two_topics(self):
        assert topics_needed(100.0) == 2

    def test_five_topics_cannot_be_significant_and_six_can(self):
        assert (smallest_p(5), smallest_p(6)) == (0.0625, 0.03125)


def test_all_pairs_at_once_have_the_p_of_each_pair():
    scores = random_scores(9, 40)
    # Nearly the first run, the first run again, and the first run with a constant added.
    scores[6:] = [scores[0] + 1e-9 * scores[1], scores[0], scores[0] + 0.25]
    by_pair = [[paired_t(one - other).p for other in scores] for one in scores]
    assert all_paired_t(scores) == approx(np.array(by_pair), abs=1e-12)
