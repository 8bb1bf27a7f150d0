"""Gaps between open and private collections."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx
from scipy.stats import ttest_ind

from evaluation.significance import beyond_others, compare_gaps
from evaluation.significance.gaps import _gaps


def scene(collections: int, private: int, systems: int = 6, seed: int = 1):
    random = np.random.default_rng(seed)
    means = random.normal(0.5, 0.1, collections) + random.normal(0, 0.03, (systems, collections))
    return means, np.arange(collections) < private


def test_a_gap_has_the_t_of_welch():
    means, private = scene(20, 7)
    gaps, errors = _gaps(means, private[np.newaxis])
    expected = ttest_ind(means[:, ~private], means[:, private], axis=1, equal_var=False)
    assert (gaps / errors)[:, 0] == approx(expected.statistic)


def test_p_of_one_system_is_the_share_of_divisions_as_far_apart():
    means, private = scene(8, 3, systems=1)
    [gap] = compare_gaps(means, private)
    assert gap.p is not None and gap.p * 56 == approx(round(gap.p * 56))


@pytest.mark.parametrize("seed", range(5))
def test_interval_and_p_agree(seed):
    means, private = scene(14, 5, seed=seed)
    for gap in compare_gaps(means - 0.04 * private, private):
        assert (gap.p <= 0.05) == (gap.low > 0 or gap.high < 0)


def test_chance_alone_rarely_makes_any_system_stand_out():
    found = []
    for seed in range(200):
        means, private = scene(12, 4, seed=seed)
        gaps = compare_gaps(beyond_others(means), private)
        found.append(any(gap.p <= 0.05 for gap in gaps))
    assert 0.01 < np.mean(found) < 0.1


def test_a_system_that_knows_the_open_collections_stands_out_although_private_ones_are_harder():
    means, private = scene(20, 8)
    means -= 0.2 * private
    means[2] += 0.1 * ~private
    gaps = compare_gaps(beyond_others(means), private)
    assert [gap.difference > 0 and gap.p <= 0.05 for gap in gaps].index(True) == 2
    assert gaps[2].low < 0.1 < gaps[2].high


@pytest.mark.parametrize(("collections", "private"), [(5, 1), (4, 2), (9, 8)])
def test_too_few_collections_have_a_gap_and_no_test(collections, private):
    means, kinds = scene(collections, private)
    for row, gap in zip(means, compare_gaps(means, kinds), strict=True):
        assert gap.difference == approx(row[~kinds].mean() - row[kinds].mean())
        assert (gap.low, gap.high, gap.p) == (None, None, None)


def test_a_system_that_never_varies_has_no_test():
    means, private = scene(12, 4)
    means[0] = 0.5
    assert compare_gaps(means, private)[0].p is None
