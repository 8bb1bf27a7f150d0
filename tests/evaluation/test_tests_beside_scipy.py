"""Every test of one pair beside scipy, which the product uses for distributions only."""

import numpy as np
import pytest
from pytest import approx
from scipy import stats

from evaluation.significance import paired_t, sign_flip, sign_test, t_interval, wilcoxon

ROWS = [
    np.random.default_rng(seed).normal(0.1, 0.3, size=topics).round(2)
    for seed, topics in enumerate((6, 10, 12, 25, 50))
]


@pytest.mark.parametrize("row", ROWS, ids=len)
def test_the_t_test_and_its_interval_are_scipys(row):
    found = stats.ttest_1samp(row, 0)
    assert paired_t(row).p == approx(found.pvalue, rel=1e-10)
    assert paired_t(row).statistic == approx(found.statistic, rel=1e-10)
    interval = found.confidence_interval(0.95)
    assert [t_interval(row).low, t_interval(row).high] == approx(list(interval), rel=1e-10)


@pytest.mark.parametrize("row", ROWS, ids=len)
def test_the_sign_test_is_scipys_binomial_test(row):
    wins, losses = np.count_nonzero(row > 0), np.count_nonzero(row < 0)
    assert sign_test(row).p == approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-10)


@pytest.mark.parametrize("topics", [6, 10, 12, 25, 50])
def test_the_exact_wilcoxon_test_is_scipys_where_no_sizes_are_equal(topics):
    row = np.random.default_rng(topics).normal(0.1, 0.3, size=topics)
    found = stats.wilcoxon(row, method="exact")
    assert wilcoxon(row).p == approx(found.pvalue, rel=1e-10)
    assert wilcoxon(row).statistic == found.statistic


@pytest.mark.parametrize("row", ROWS, ids=len)
def test_the_normal_wilcoxon_test_is_scipys_with_ties_and_continuity(row):
    changed = row[row != 0]
    found = stats.wilcoxon(changed, method="asymptotic", correction=True)
    assert wilcoxon(row, exact=False).p == approx(found.pvalue, rel=1e-10)


@pytest.mark.parametrize("row", ROWS[:3], ids=len)
def test_the_exact_sign_flip_test_is_scipys_permutation_test(row):
    found = stats.permutation_test((row,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(row).p == approx(found.pvalue, rel=1e-10)
