"""Every test beside scipy, which the product uses for distributions only."""

import numpy as np
import pytest
from pytest import approx
from scipy import stats

from evaluation.significance import (
    anova_topics,
    benjamini_hochberg,
    bootstrap,
    compare_all_pairs,
    compare_with_baseline,
    holm,
    paired_t,
    posterior_of,
    power_of,
    sign_flip,
    sign_test,
    t_interval,
    tukey_hsd,
    wilcoxon,
)
from evaluation.significance.bootstrap import draw_topics
from tests.evaluation.plain_benchmarks import widened_error
from tests.evaluation.samples import SAKAI

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


@pytest.mark.parametrize("row", ROWS, ids=len)
def test_the_studentised_bootstrap_counts_scipys_t_of_every_resample(row):
    """The resamples are ours; scipy tests each of them against the mean of the row."""
    counts = np.concatenate(list(draw_topics(len(row), 999))).astype(int)
    resampled = [np.repeat(row, times) for times in counts]
    drawn = np.array([abs(stats.ttest_1samp(each, row.mean()).statistic) for each in resampled])
    t = abs(stats.ttest_1samp(row, 0).statistic)
    reached = np.count_nonzero(drawn >= t * (1 - 1e-9))
    assert bootstrap(row, resamples=999).test.p == (reached + 1) / 1000


def test_tukeys_test_is_scipys_studentised_range_of_two_ways():
    """q is a difference over the standard error of the two-way residual."""
    topics, pairs = SAKAI.shape[1], tukey_hsd(SAKAI)
    left = SAKAI - SAKAI.mean(axis=0) - SAKAI.mean(axis=1, keepdims=True) + SAKAI.mean()
    degrees = 2 * (topics - 1)
    error = np.sqrt(np.square(left).sum() / degrees / topics)
    for run, other in ((0, 1), (0, 2), (1, 2)):
        q = abs(SAKAI[run].mean() - SAKAI[other].mean()) / error
        assert pairs.p[run, other] == approx(stats.studentized_range.sf(q, 3, degrees), abs=1e-10)


@pytest.mark.parametrize("topics", [6, 25, 50])
def test_the_error_of_a_pair_is_scipys_with_two_more_topics(topics):
    scores = np.random.default_rng(topics).normal(0.5, 0.2, size=(2, topics))
    differences = scores[0] - scores[1]
    # A family of one pair, so its size is its own but for half of the range.
    squares = np.square(differences - differences.mean() / 2).sum()
    size = max(np.sqrt((squares + 0.25) / (topics + 1)), np.sqrt(squares / topics))
    away = size * min(2, (topics / 4) ** 0.25)
    added = [*differences, differences.mean() + away, differences.mean() - away]
    pairs = compare_all_pairs(scores, draws=99, half_range=0.5)
    assert pairs.errors[0, 1] == approx(stats.sem(added), rel=1e-10)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "sign_flip"])
def test_runs_beside_a_baseline_have_scipys_p(test):
    scores = np.random.default_rng(5).normal(0.5, 0.2, size=(3, 12))
    reference = {
        "t": lambda row: stats.ttest_1samp(row, 0).pvalue,
        "wilcoxon": lambda row: stats.wilcoxon(row, method="exact").pvalue,
        "sign": lambda row: stats.binomtest(int((row > 0).sum()), len(row)).pvalue,
        "sign_flip": lambda row: (
            stats.permutation_test(
                (row,), np.mean, permutation_type="samples", n_resamples=np.inf
            ).pvalue
        ),
    }[test]
    found = compare_with_baseline(scores[1:], scores[0], test)
    expected = [reference(row - scores[0]) for row in scores[1:]]
    assert [each.p for each in found] == approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_p_is_scipys_and_the_step_down_of_holm(seed):
    p = np.random.default_rng(seed).beta(0.5, 5, size=9)
    expected = stats.false_discovery_control(p, method="bh")
    assert benjamini_hochberg(p) == approx(expected, rel=1e-10)
    order = sorted(range(9), key=lambda place: p[place])
    steps = [(9 - rank) * p[place] for rank, place in enumerate(order)]
    stepped = {place: min(1, max(steps[: rank + 1])) for rank, place in enumerate(order)}
    assert holm(p).tolist() == approx([stepped[place] for place in range(9)], rel=1e-10)


@pytest.mark.parametrize("row", ROWS, ids=len)
@pytest.mark.parametrize("region", [0.0, 0.05])
def test_probabilities_are_those_of_scipys_t_distribution(row, region):
    values = row.tolist()
    error = widened_error(values, [values]) if region else stats.sem(row)
    around = stats.t(len(row) - 1, loc=row.mean(), scale=error)
    found = posterior_of(row, region)
    expected = (around.sf(region), around.cdf(region) - around.cdf(-region), around.cdf(-region))
    assert (found.better, found.within, found.worse) == approx(expected, abs=1e-10)


@pytest.mark.parametrize("topics", [6, 25, 50, 225])
@pytest.mark.parametrize("effect", [0.1, 0.5, 1.0])
def test_power_is_that_of_scipys_noncentral_t(topics, effect):
    critical = stats.t.ppf(0.975, topics - 1)
    shifted = stats.nct(topics - 1, effect * topics**0.5)
    # Where nothing is left of the lower tail, scipy has NaN.
    expected = shifted.sf(critical) + np.nan_to_num(shifted.cdf(-critical))
    assert power_of(effect, topics) == approx(expected, abs=1e-10)


@pytest.mark.parametrize(("runs", "topics"), [(2, 74), (3, 91), (10, 146)])
def test_one_topic_fewer_lacks_power_by_scipys_noncentral_f(runs, topics):
    def power(n: int) -> float:
        between, within = runs - 1, runs * (n - 1)
        critical = stats.f.ppf(0.95, between, within)
        return stats.ncf.sf(critical, between, within, n * 0.1**2 / (2 * 0.0462))

    assert anova_topics(0.1, 0.0462, runs) == topics
    assert power(topics) >= 0.8 > power(topics - 1)
