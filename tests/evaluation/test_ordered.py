"""Collections in an order: the numbers of LongEval, and who loses more than the baseline."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from evaluation.measures import parse_measure
from evaluation.significance import (
    Collected,
    compare_losses,
    compare_with_baseline,
    describe_change,
    scale_of,
)
from tests.evaluation.ordered_simulations import simulate_losses

# AP by topic of a system and of a pivot on two collections, and what repro_eval 0.5.0 makes of
# them (DRI and ER of repro_eval.measure.overall_effects).
FIRST = [0.5, 0.545, 0.459, 0.366, 0.432, 0.351, 0.509, 0.701]
PIVOT_FIRST = [0.326, 0.307, 0.473, 0.454, 0.416, 0.26, 0.396, 0.504]
LATER = [0.218, 0.351, 0.135, 0.227, 0.144, 0.385, 0.23, 0.461, 0.444, 0.392]
PIVOT_LATER = [0.002, 0.299, 0.373, 0.397, 0.15, 0.308, 0.233, 0.259, 0.539, 0.259]
DRI, ER = 0.1722283783147878, 0.18486932599724895


def collected(*rows: list[float], name: str = "a") -> Collected:
    return Collected(np.array(rows), [(name, topic) for topic in range(len(rows[0]))])


def test_the_numbers_of_a_change_are_those_of_repro_eval():
    means = [float(np.mean(each)) for each in (FIRST, LATER, PIVOT_FIRST, PIVOT_LATER)]
    change = describe_change(*means)
    assert change.relative_improvement_delta == approx(DRI, abs=1e-12)
    assert change.effect_ratio == approx(ER, abs=1e-12)
    assert change.relative_change == approx((means[0] - means[1]) / means[0])
    assert change.average == approx((means[0] + means[1]) / 2)


def test_what_is_divided_by_nothing_is_undefined():
    change = describe_change(0.0, 0.1, pivot_first=0.0, pivot_later=0.2)
    assert (change.result_delta, change.relative_change) == (-0.1, None)
    assert (change.relative_improvement_delta, change.effect_ratio) == (None, None)
    assert describe_change(0.5, 0.4).effect_ratio is None


def test_a_loss_is_the_change_of_the_lead():
    collections = collected(PIVOT_FIRST, FIRST), collected(PIVOT_LATER, LATER, name="b")
    [[nothing, loss]] = compare_losses(collections)
    leads = [np.mean(LATER) - np.mean(PIVOT_LATER), np.mean(FIRST) - np.mean(PIVOT_FIRST)]
    assert nothing is None and loss.difference == approx(leads[0] - leads[1])
    assert loss.low < loss.difference < loss.high


def test_p_says_what_the_interval_says():
    rng = np.random.default_rng(3)
    for shift in np.linspace(0.02, 0.3, 12):
        first = rng.normal(0.5, 0.1, (3, 12))
        later = rng.normal(0.5, 0.1, (3, 15)) - np.array([[0], [shift], [shift / 2]])
        made = [collected(*first.tolist()), collected(*later.tolist(), name="b")]
        [losses] = compare_losses([*made[:1], made[1]], draws=499)
        assert all((loss.p <= 0.05) == (loss.high < 0 or loss.low > 0) for loss in losses[1:])


def test_a_constant_loss_on_the_same_topics_is_the_paired_test():
    """A baseline that is 0 on the first collection leaves the later differences alone."""
    zeros, later = [[0.0] * 10] * 2, [PIVOT_LATER, LATER]
    [[_, loss]] = compare_losses([collected(*zeros), collected(*later, name="b")])
    [alone] = compare_with_baseline(np.array([LATER]), np.array(PIVOT_LATER))
    assert loss.difference == approx(alone.difference) and loss.high - loss.low > 0


def test_several_later_collections_are_adjusted_for():
    first, later = collected(PIVOT_FIRST, FIRST), collected(PIVOT_LATER, LATER, name="b")
    [[_, one]] = compare_losses([first, later])
    [[_, both], _] = compare_losses([first, later, later])
    assert both.p == approx(min(1, 2 * one.p)) and both.low < one.low


def test_few_topics_have_no_verdict():
    five = collected(PIVOT_FIRST[:5], FIRST[:5])
    [[_, loss]] = compare_losses([five, collected(PIVOT_LATER, LATER, name="b")])
    assert (loss.low, loss.high, loss.p, loss.interval) == (None, None, None, None)


def test_a_geometric_mean_loses_by_a_ratio():
    scale = scale_of(parse_measure("GMAP"))
    half = collected([0.2] * 8, [0.1] * 8, name="b")
    [[_, loss]] = compare_losses([collected([0.2] * 8, [0.2] * 8), half], scale=scale)
    assert loss.difference == approx(0.5)


def test_sums_are_refused():
    made = collected([1.0] * 8, [2.0] * 8)
    with pytest.raises(ValueError, match="sums"):
        compare_losses([made, made], scale=scale_of(parse_measure("NumRelRet")))


def test_equal_losses_are_rarely_called_different():
    assert simulate_losses("alike", (12, 12), boards=60, draws=199) <= 0.05 + 3.5 * 0.028


@pytest.mark.night
@pytest.mark.parametrize("structure", ["alike", "skewed", "duplicates"])
@pytest.mark.parametrize("sizes", [(6, 6), (10, 25), (25, 25), (50, 50, 50, 50)])
def test_losses_hold_in_simulation(structure, sizes):
    found = simulate_losses(structure, sizes, boards=1000, draws=499)
    assert found <= 0.05 + 3.5 * 0.0069
