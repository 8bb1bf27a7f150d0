"""Judge noise: the spread of means, verdicts that depend on the judge, grades hardly used."""

import numpy as np
import pytest
from pytest import approx

from evaluation.agreement import count_flips, find_unused_grades, measure_noise


def test_judges_who_agree_make_no_noise():
    scores = np.tile(np.array([[0.2, 0.4, 0.6]]), (3, 1, 1))
    noise = measure_noise(scores)
    for each in (noise.low, noise.high, noise.least, noise.most):
        assert each.tolist() == approx([0.4])


def test_most_boards_of_drawn_judges_lie_between_the_ends():
    scores = np.random.default_rng(1).random((4, 2, 50))
    noise = measure_noise(scores)
    spread = scores.std(axis=0).mean() / 50**0.5
    assert (noise.high - noise.low) == approx(np.full(2, 2 * 1.96 * spread), rel=0.25)
    assert (noise.least <= noise.most).all()


def test_a_topic_that_a_measure_lacks_does_not_count():
    scores = np.array([[[0.5, np.nan]], [[0.7, np.nan]]])
    noise = measure_noise(scores)
    assert (noise.least[0], noise.most[0]) == approx((0.5, 0.7))


def test_a_pair_that_any_judge_decides_otherwise_flips():
    agreed = np.array([[0, 1, 1], [-1, 0, 0], [-1, 0, 0]])
    other = agreed.copy()
    other[0, 2], other[2, 0] = 0, 0
    assert count_flips(np.stack([agreed, agreed, other])) == (1, 3)


@pytest.mark.parametrize(
    ("counts", "unused"),
    [
        ({0: 9000, 1: 12000, 2: 5340, 3: 1}, [3]),
        ({0: 9000, 1: 12000, 2: 5341}, [3]),
        ({0: 900, 1: 90, 2: 5}, []),
        ({0: 600, 1: 600, 2: 600, 3: 600}, []),
    ],
)
def test_a_grade_that_is_hardly_used_is_named(counts, unused):
    assert find_unused_grades(counts, top_grade=3) == unused
