"""All pairs by the studentised maximum."""

import re

import numpy as np
import pytest
from pytest import approx

from evaluation.significance import (
    compare_all_pairs,
    compare_with_baseline,
    decide_within_all_pairs,
    find_members,
    letters_of,
    paired_t,
    topic_order,
    tukey_hsd,
)
from evaluation.significance.pairwise import FEWEST_TOPICS, critical_value, t_of


def alike(runs: int, topics: int, seed: int) -> np.ndarray:
    """Runs of one distribution: normal topics with normal noise."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=topics) + rng.normal(size=(runs, topics))


def near_duplicates(runs: int, topics: int, seed: int) -> np.ndarray:
    """All but three runs are one run with a little noise."""
    scores = alike(runs, topics, seed)
    noise = np.random.default_rng(seed + 1).normal(size=(runs - 3, topics))
    scores[3:] = scores[3] + noise / 100
    return scores


def test_the_t_of_a_pair_is_smaller_than_that_of_the_paired_test():
    scores = alike(3, 20, 1)
    pairs = compare_all_pairs(scores)
    plain = abs(paired_t(scores[0] - scores[1]).statistic)
    assert 0.8 * plain < pairs.t[0, 1] < plain


def test_the_shortcut_for_t_is_the_t_of_the_flipped_differences():
    differences = alike(1, 15, 2)[0]
    centred = differences - differences.mean()
    flipped = centred * np.random.default_rng(3).choice([-1, 1], 15)
    u = abs(flipped.sum()) / np.sqrt(np.square(centred).sum())
    assert t_of(np.array(u), 15) == approx(abs(paired_t(flipped).statistic), rel=1e-10)


def test_the_critical_value_is_the_9501st_of_10000():
    assert critical_value(np.arange(1.0, 10_001)) == 9501


def test_p_interval_and_decision_never_contradict_each_other():
    for seed in range(20):
        pairs = compare_all_pairs(near_duplicates(8, 12, seed))
        for run, other in np.ndindex(8, 8):
            if run != other:
                interval = pairs.interval(run, other)
                leaves = interval.low > 0 or interval.high < 0
                assert leaves == pairs.different[run, other] == (pairs.p[run, other] <= 0.05)


def test_equal_runs_never_differ_and_a_constant_difference_does():
    scores = alike(1, 10, 4).repeat(3, axis=0)
    scores[2] += 0.1
    pairs = compare_all_pairs(scores)
    assert pairs.p[0, 1] == 1.0 and not pairs.different[0, 1]
    assert pairs.different[0, 2] and pairs.p[0, 2] == 2.0**-9


def test_below_six_topics_every_rank_is_possible():
    scores = alike(4, FEWEST_TOPICS - 1, 5) + np.arange(4)[:, np.newaxis] * 100
    pairs = compare_all_pairs(scores)
    assert (pairs.critical, pairs.interval(0, 3)) == (None, None)
    assert pairs.rank_low.tolist() == [1] * 4 and pairs.rank_high.tolist() == [4] * 4
    assert set(pairs.letters) == {"a"} and pairs.separated == []
    assert pairs.p.min() == 2.0**-4


def test_rank_intervals_count_the_runs_that_are_better_and_worse():
    scores = alike(1, 30, 6) + alike(6, 30, 7) / 50 + np.arange(6)[:, np.newaxis] / 100
    pairs = compare_all_pairs(scores)
    for run in range(6):
        assert pairs.rank_low[run] == 1 + np.count_nonzero(pairs.better[:, run])
        assert pairs.rank_high[run] == 6 - np.count_nonzero(pairs.better[run])


def test_letters_are_shared_exactly_by_runs_that_do_not_differ():
    pairs = compare_all_pairs(near_duplicates(12, 30, 8))
    for run, other in np.ndindex(12, 12):
        shared = set(pairs.letters[run]) & set(pairs.letters[other])
        assert bool(shared) != pairs.different[run, other]


def test_a_line_separates_only_runs_that_all_differ():
    scores = alike(1, 25, 9).repeat(4, axis=0) + alike(4, 25, 10) / 100
    scores[2:] += 5
    pairs = compare_all_pairs(scores)
    above, below = pairs.order[:2], pairs.order[2:]
    assert 1 in pairs.separated
    assert pairs.better[np.ix_(above, below)].all()


def test_lower_is_better_where_the_measure_says_so():
    scores = alike(1, 20, 11) + alike(2, 20, 12) / 100 + np.array([[0.0], [1.0]])
    pairs = compare_all_pairs(scores, direction=-1)
    assert pairs.rank_low.tolist() == [1, 2] and pairs.better[0, 1]


def test_a_topic_that_one_run_lacks_is_left_out():
    scores = alike(3, 20, 13)
    scores[1, 4] = np.nan
    pairs = compare_all_pairs(scores)
    assert (pairs.topics, pairs.undefined) == (19, 1)
    assert pairs.p.tolist() == compare_all_pairs(np.delete(scores, 4, axis=1)).p.tolist()


def test_one_run_or_no_topic_is_no_error():
    assert compare_all_pairs(np.zeros((1, 9))).rank_high.tolist() == [1]
    assert compare_all_pairs(np.zeros((2, 0))).critical is None


def test_a_comparison_within_all_pairs_repeats_their_decision():
    scores = near_duplicates(8, 30, 14)
    pairs = compare_all_pairs(scores)
    for run, alone in enumerate(compare_with_baseline(scores, 0, correction="none")):
        if run:
            found = decide_within_all_pairs(alone, pairs, run, 0)
            assert (found.p_adjusted <= 0.05) == pairs.different[run, 0]
            assert found.low <= found.difference <= found.high and found.p <= found.p_adjusted


def test_a_comparison_alone_asks_less_than_one_within_all_pairs():
    scores = alike(6, 30, 15)
    alone = compare_with_baseline(scores, 0)[1]
    within = decide_within_all_pairs(alone, compare_all_pairs(scores), 1, 0)
    assert within.high - within.low > alone.high - alone.low


def test_topics_are_drawn_in_the_order_of_their_numbers():
    assert topic_order([b"q2", b"q10", b"q1"]).tolist() == [2, 1, 0]


def test_boards_of_near_duplicates_deceive_hsd_but_not_the_maximum():
    """No run is truly better; STATISTICS of 37 near-duplicates among 40 runs, 50 topics."""
    boards = [near_duplicates(40, 50, 100 + 2 * seed) for seed in range(60)]
    ours = sum(compare_all_pairs(scores, draws=999).num_different > 0 for scores in boards)
    hsds = sum(bool((tukey_hsd(scores).p < 0.05).any()) for scores in boards)
    assert ours <= 8 and hsds >= 15


def test_where_the_smallest_p_is_above_the_level_there_is_no_verdict():
    scores = alike(1, 6, 16).repeat(2, axis=0) + alike(2, 6, 17) / 100 + np.array([[0.0], [9.0]])
    pairs = compare_all_pairs(scores, level=0.99)
    assert (pairs.p.min(), pairs.critical, pairs.different.any()) == (2.0**-5, None, False)
    assert compare_with_baseline(scores, 0, level=0.99)[1].low is None


def test_an_infinite_maximum_leaves_no_interval_rather_than_an_endless_one():
    """Differences of one size in two directions are all equal in too many of the flips."""
    one, other = [1, -1, 1, -1, 1, -1], [1, 1, -1, -1, 1, -1]
    scores = np.array([[0] * 6, one, other, [2, 1, 2, 2, 1, 1], [3] * 6], dtype=float)
    pairs = compare_all_pairs(scores)
    assert pairs.interval(0, 1) is pairs.interval(0, 4) is None and pairs.p[0, 4] > 0.05
    assert all(found.low is None for found in compare_with_baseline(scores, 0))


@pytest.mark.parametrize("seed", range(20))
def test_letters_of_any_relation_are_few_and_shared_exactly_where_runs_do_not_differ(seed):
    different = np.triu(np.random.default_rng(seed).random((40, 40)) < 0.15, 1)
    different |= different.T
    words = [set(re.findall(r"\w'*", word)) for word in letters_of(different, np.arange(40))]
    shared = [[bool(one & other) for other in words] for one in words]
    assert shared == (~different).tolist() and len(set().union(*words)) <= 780


def test_a_short_run_does_not_take_the_topics_of_all_others():
    scores = near_duplicates(8, 30, 18)
    scores[7, 6:] = np.nan
    pairs = compare_all_pairs(scores)
    alone = compare_all_pairs(scores[:7])
    assert (pairs.topics, pairs.members.tolist()) == (30, [True] * 7 + [False])
    assert pairs.p[:7, :7].tolist() == alone.p.tolist()
    assert (pairs.letters[7], pairs.rank_low[7], pairs.rank_high[7]) == ("", 1, 8)
    assert pairs.interval(7, 0) is None and pairs.p[7, 0] == 1


def test_a_pair_with_a_short_run_has_no_verdict_among_all():
    scores = near_duplicates(4, 30, 19)
    scores[3, 6:] = np.nan
    alone = compare_with_baseline(scores, 0, correction="none")[3]
    found = decide_within_all_pairs(alone, compare_all_pairs(scores), 3, 0)
    assert (found.p_adjusted, found.low, found.topics) == (None, None, 6)
    assert found.difference == alone.difference


@pytest.mark.parametrize(
    ("lengths", "members"),
    [
        ((50, 6), (True, True)),
        ((50, 50, 6, 6), (True, True, False, False)),
        ((50, 30, 30, 30), (True, True, True, True)),
        ((50, 46, 44), (True, True, True)),
        ((50, 50, 44), (True, True, False)),
        ((50, 50, 0), (True, True, False)),
    ],
)
def test_runs_join_all_pairs_if_they_leave_the_others_their_topics(lengths, members):
    scores = np.zeros((len(lengths), 50))
    for run, length in enumerate(lengths):
        scores[run, length:] = np.nan
    assert tuple(find_members(scores).tolist()) == members
    assert find_members(scores[::-1])[::-1].tolist() == list(members)
