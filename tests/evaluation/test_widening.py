"""The widened error, its intervals and its p, on worked numbers and on what must always hold."""

import numpy as np
import pytest
from pytest import approx
from scipy import stats

from evaluation.measures import parse_measure
from evaluation.significance import (
    compare_all_pairs,
    compare_with_baseline,
    interval_of_mean,
    posterior_of,
    scale_of,
)
from evaluation.significance.baseline import max_t
from evaluation.significance.units import Units, move_t
from evaluation.significance.widening import Spread

# Three runs minus the baseline on eight topics.
WORKED = np.array(
    [
        [0.1, 0, 0, 0.5, -0.2, 0, 0.3, 0.1],
        [0, 0, 0.05, 0, 0, 0, 0, 0],
        [0.2, 0.3, 0.1, 0.4, 0.2, 0.3, 0.1, 0.4],
    ]
)
SHARES = scale_of(parse_measure("AP"))


def close(*values):
    return approx(list(values), abs=5.1e-7)


def error_of(differences, half_range=0.5):
    spread = Spread.of(Units.of(np.array([differences])))
    return float(spread.errors(spread.family_size(half_range))[0])


def test_the_errors_of_three_runs():
    spread = Spread.of(Units.of(WORKED))
    assert spread.changed.tolist() == [5, 1, 8]
    assert spread.squares == close(0.32, 0.0021875, 0.1)
    assert spread.family_size(0.5) == approx(0.232336, abs=5.1e-7)
    assert np.sqrt(spread.sums / spread.changed) == close(0.257876, 0.046875, 0.167705)
    assert spread.errors(spread.family_size(0.5)) == close(0.075136, 0.041482, 0.052986)


def test_the_intervals_and_p_of_three_runs():
    outcomes = max_t(WORKED, half_range=0.5)
    assert [one.interval.low for one in outcomes] == close(-0.125409, -0.118195, 0.091042)
    assert [one.interval.high for one in outcomes] == close(0.325409, 0.130695, 0.408958)
    assert [one.p_adjusted for one in outcomes] == close(0.513249, 0.993501, 0.008399)


@pytest.mark.parametrize(
    ("changed", "error", "low", "high"),
    [
        (0, 0.025818, -0.051884, 0.051884),
        (1, 0.027429, -0.045120, 0.065120),
        (2, 0.028809, -0.037894, 0.077894),
    ],
)
def test_an_interval_where_few_topics_differ(changed, error, low, high):
    differences = np.repeat([0.5, 0], [changed, 50 - changed])
    assert error_of(differences) == approx(error, abs=5.1e-7)
    ends = differences.mean() + stats.t.ppf([0.025, 0.975], 49) * error_of(differences)
    assert list(ends) == close(low, high)


@pytest.mark.parametrize(("topics", "half_width"), [(10, 0.175068), (25, 0.087091), (50, 0.051884)])
def test_a_run_equal_to_the_baseline_has_an_interval_around_0(topics, half_width):
    [found] = compare_with_baseline(np.zeros((1, topics)), np.zeros(topics), scale=SHARES)
    assert (found.difference, found.p_adjusted) == (0, 1)
    assert [found.low, found.high] == close(-half_width, half_width)


@pytest.mark.parametrize(("size", "least"), [(1, (4, 5, 6, 7, 8)), (0.1, (None, 8, 9, 11, 12))])
def test_no_verdict_rests_on_very_few_topics(size, least):
    def differs(changed, topics):
        row = np.repeat([float(size), 0], [changed, topics - changed])
        return row.mean() / error_of(row) > stats.t.ppf(0.975, topics - 1)

    for topics, fewest in zip((6, 10, 25, 50, 150), least, strict=True):
        enough = [changed for changed in range(topics + 1) if differs(changed, topics)]
        assert next(iter(enough), None) == fewest


def test_without_any_difference_and_without_a_range_there_is_no_interval():
    [same] = compare_with_baseline(np.zeros((1, 9)), np.zeros(9))
    assert (same.low, same.high, same.p_adjusted) == (None, None, 1)
    pairs = compare_all_pairs(np.zeros((2, 9)))
    assert pairs.interval(0, 1) is None and not pairs.different.any()


def mixed_rows(seed, topics=20):
    """Normal, discrete and mostly-zero differences."""
    draw = np.random.default_rng(seed)
    rows = draw.normal(0.1, 0.3, (6, topics))
    rows[2:4] = np.round(rows[2:4], 1)
    rows[4:] = np.where(draw.random((2, topics)) < 0.7, 0, rows[4:])
    return rows


def test_p_is_small_exactly_where_the_interval_leaves_0():
    for seed in range(15):
        rows = mixed_rows(seed, topics=(6, 10, 25)[seed % 3])
        for adjust in (True, False):
            for found in max_t(rows, draws=999, adjust=adjust, half_range=0.5):
                leaves = found.interval.low > 0 or found.interval.high < 0
                assert leaves == (found.p_adjusted <= 0.05)


def test_the_order_of_runs_changes_no_digit():
    rows, order = mixed_rows(1), [3, 0, 5, 2, 4, 1]
    there, back = max_t(rows, draws=999), max_t(rows[order], draws=999)
    assert [there[run] for run in order] == back
    pairs, moved = (compare_all_pairs(each, draws=999) for each in (rows, rows[order]))
    assert (pairs.p[np.ix_(order, order)] == moved.p).all()
    assert pairs.interval(3, 0) == moved.interval(0, 1)


def test_the_opposite_direction_mirrors_every_interval():
    rows = mixed_rows(2)
    for one, other in zip(max_t(rows, draws=999), max_t(-rows, draws=999), strict=True):
        assert (one.p, one.p_adjusted) == (other.p, other.p_adjusted)
        assert (one.interval.low, one.interval.high) == (-other.interval.high, -other.interval.low)


def test_a_short_run_is_put_on_the_degrees_of_the_longest():
    moved = move_t(np.array([3.5, 2.0]), np.array(5.0), np.array(49.0))
    assert moved == close(2.464273, 1.666775)


def test_a_short_run_costs_the_others_little():
    rows = np.random.default_rng(4).normal(0, 1, (11, 50))
    with_short = rows.copy()
    with_short[0, 6:] = np.nan
    before, after = (max_t(each, draws=2000)[1].interval for each in (rows, with_short))
    assert after.high - after.low < 1.03 * (before.high - before.low)


def test_the_intervals_of_all_pairs_are_those_of_the_family_of_pairs():
    runs = np.vstack([np.zeros(8), WORKED])
    pairs = compare_all_pairs(runs, half_range=0.5)
    rows = np.array([runs[j] - runs[i] for i in range(4) for j in range(i + 1, 4)])
    spread = Spread.of(Units.of(rows))
    errors = spread.errors(spread.family_size(0.5))
    assert pairs.errors[np.triu_indices(4, 1)] == approx(errors, rel=1e-12)


def test_wilsons_interval_of_shares():
    ends = [interval_of_mean(np.repeat([1.0, 0], hits), (0, 1)) for hits in ((10, 0), (40, 10))]
    assert [ends[0].low, ends[0].high] == close(0.722467, 1)
    assert [ends[1].low, ends[1].high] == close(0.669629, 0.887563)


def test_the_interval_of_a_mean_stays_in_the_range():
    near_1 = interval_of_mean(np.repeat([1.0, 0.5], [9, 1]), (0, 1))
    assert near_1.low < 0.95 < near_1.high == 1
    assert interval_of_mean(np.array([0.5]), (0, 1)) is None
    assert interval_of_mean(np.full(9, 3.0), (0, np.inf)) is None


def test_ten_identical_topics_are_no_proof_of_equivalence():
    found = [posterior_of(np.zeros(10), region, 0.5).within for region in (0.02, 0.05, 0.1)]
    assert found == [approx(value, abs=5.1e-4) for value in (0.198, 0.466, 0.772)]


def test_nothing_is_said_of_equivalence_where_no_size_is_known():
    assert posterior_of(np.zeros(10), 0.1) is None
