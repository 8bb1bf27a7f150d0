"""All pairs by the studentised maximum, against its definition and against its own promises."""

import re

import numpy as np
import pytest

from evaluation.significance import compare_all_pairs, letters_of
from evaluation.significance.randomisation import sign_blocks

GENERATOR = np.random.default_rng(20_261_123)
BOARD = GENERATOR.normal(size=(8, 20)) + GENERATOR.normal(size=(8, 1)) + GENERATOR.normal(size=20)
BOARD[7] = BOARD[6] + GENERATOR.normal(size=20) / 1000


def plain_maxima(scores, draws):
    """The sorted largest t of each draw, pair by pair."""
    topics = scores.shape[1]
    signs = np.concatenate(list(sign_blocks(topics, draws)))
    largest = np.zeros(draws)
    for one in range(len(scores)):
        for other in range(one):
            apart = scores[one] - scores[other]
            flipped = signs * (apart - apart.mean())
            t = np.abs(flipped.mean(axis=1)) / (flipped.std(axis=1, ddof=1) / topics**0.5)
            largest = np.maximum(largest, t)
    return np.sort(largest)


def test_p_and_critical_value_follow_the_definition():
    pairs, maxima = compare_all_pairs(BOARD, draws=999), plain_maxima(BOARD, 999)
    apart = BOARD[2] - BOARD[5]
    t = abs(apart.mean()) / (apart.std(ddof=1) / 20**0.5)
    assert pairs.critical == pytest.approx(maxima[949], rel=1e-12)
    assert pairs.p[2, 5] == (1 + np.count_nonzero(maxima >= t * (1 - 1e-9))) / 1000


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_p_interval_and_decision_agree(level):
    pairs = compare_all_pairs(BOARD, level, draws=999)
    assert (pairs.different == (pairs.p <= 1 - level + 1e-12)).all()
    for one, other in zip(*np.triu_indices(8, 1), strict=True):
        interval = pairs.interval(one, other)
        assert (interval.low > 0 or interval.high < 0) == pairs.different[one, other]


def test_nearly_equal_runs_are_told_apart():
    related = np.array([BOARD[0], BOARD[0] + 1e-9 * (1 + BOARD[1] / 9)])
    assert compare_all_pairs(related).different[0, 1]


def test_equal_runs_never_differ():
    pairs = compare_all_pairs(np.vstack([BOARD, BOARD[:1]]))
    assert pairs.p[0, 8] == 1 and not pairs.different[0, 8]


def test_a_constant_difference_has_the_smallest_p_that_its_topics_allow():
    row = GENERATOR.random(7)
    pairs = compare_all_pairs(np.array([row, row + 0.25]))
    assert pairs.p[0, 1] == 2**-6 and pairs.different[0, 1]
    assert pairs.interval(1, 0).low == pytest.approx(0.25)


@pytest.mark.parametrize("topics", [0, 1, 2, 5])
def test_below_six_topics_there_is_no_verdict(topics):
    pairs = compare_all_pairs(np.arange(3)[:, np.newaxis] + GENERATOR.random((3, topics)) / 99)
    assert pairs.critical is None and pairs.interval(0, 1) is None and not pairs.different.any()
    assert pairs.letters == ("a", "a", "a") and pairs.separated == ()
    assert (pairs.rank_low == 1).all() and (pairs.rank_high == 3).all()
    assert pairs.p.min() >= 2.0 ** (1 - max(topics, 1))


def test_a_topic_undefined_for_one_run_is_left_out():
    holed = np.insert(BOARD, 4, np.nan, axis=1)
    pairs = compare_all_pairs(holed, draws=99)
    assert (pairs.topics, pairs.undefined) == (20, 1)
    assert (pairs.p == compare_all_pairs(BOARD, draws=99).p).all()


def test_lower_scores_win_where_the_direction_says_so():
    there, back = compare_all_pairs(BOARD), compare_all_pairs(BOARD, direction=-1)
    assert (back.p == there.p).all() and (back.differences == there.differences).all()
    assert (back.rank_low == 9 - there.rank_high).all()


def test_a_place_separates_where_every_pair_across_it_differs():
    pairs = compare_all_pairs(BOARD + 2.0 * (np.arange(8)[:, np.newaxis] % 3))
    order = np.argsort(-pairs.means)
    across = [pairs.different[np.ix_(order[:k], order[k:])].all() for k in range(1, 8)]
    assert pairs.separated == tuple(np.flatnonzero(across) + 1) != ()


@pytest.mark.parametrize("seed", range(20))
def test_runs_share_a_letter_exactly_where_they_do_not_differ(seed):
    different = np.triu(np.random.default_rng(seed).random((25, 25)) < 0.6, 1)
    different |= different.T
    words = [set(re.findall(r"\w'*", word)) for word in letters_of(different, np.arange(25))]
    shared = [[bool(one & other) for other in words] for one in words]
    assert shared == (~different).tolist()


def test_many_near_duplicates_are_no_false_alarm():
    found = 0
    for seed in range(60):
        generator = np.random.default_rng([seed, 37])
        board = generator.normal(size=(12, 50))
        board[2:] = board[2] + generator.normal(size=(10, 50)) / 20
        found += compare_all_pairs(board, draws=499).different.any()
    assert found <= 60 * 0.05 + 3.5 * (60 * 0.05 * 0.95) ** 0.5
