"""Planning and posterior probabilities, on published values and by simulation."""

import numpy as np
import pytest
from pytest import approx

from evaluation.measures import parse_measure
from evaluation.significance import (
    anova_topics,
    interval_topics,
    paired_t,
    posterior_of,
    posterior_of_pair,
    topics_needed,
    variances_of,
)
from tests.evaluation.samples import SAKAI


@pytest.mark.parametrize(("effect", "topics"), [(0.5, 34), (0.3, 90), (0.2, 199)])
def test_a_paired_t_test_needs_sakais_topics(effect, topics):
    assert topics_needed(effect, power=0.8, alpha=0.05) == topics


@pytest.mark.parametrize(("runs", "topics"), [(2, 74), (3, 91), (10, 146)])
def test_an_analysis_of_variance_needs_sakais_topics(runs, topics):
    assert anova_topics(0.1, 0.0462, runs) == topics


def test_an_interval_is_expected_to_be_as_narrow_as_planned_and_not_before():
    topics = interval_topics(0.5, 1.0)
    samples = np.random.default_rng(3).normal(size=(20_000, topics))
    deviation = samples.std(axis=1, ddof=1).mean()
    assert 2 * 2.0 * deviation / topics**0.5 == approx(0.5, rel=0.02)


def test_the_paired_variance_is_the_mean_variance_of_all_differences():
    differences = [SAKAI[0] - SAKAI[1], SAKAI[0] - SAKAI[2], SAKAI[1] - SAKAI[2]]
    expected = np.mean([np.var(each, ddof=1) for each in differences])
    assert variances_of(SAKAI).paired == approx(expected, abs=1e-15)
    assert variances_of(SAKAI).paired == approx(2 * 0.00186864, abs=1e-8)
    assert variances_of(SAKAI).residual == approx(np.var(SAKAI, axis=1, ddof=1).mean())


@pytest.mark.parametrize(("difference", "variance"), [(0, 1), (0.1, 0), (-0.1, 1)])
def test_nothing_to_detect_has_no_plan(difference, variance):
    with pytest.raises(ValueError, match="above 0"):
        anova_topics(difference, variance, 2)


def test_the_run_ahead_is_better_with_one_minus_half_of_p():
    differences = SAKAI[0] - SAKAI[1]
    assert round(posterior_of(differences).better, 6) == 0.897112
    assert posterior_of(differences).better == approx(1 - paired_t(differences).p / 2)
    assert posterior_of(-differences).better == approx(paired_t(differences).p / 2)


def test_a_region_of_equivalence_takes_from_both_sides():
    found, without = posterior_of(SAKAI[0] - SAKAI[1], 0.01), posterior_of(SAKAI[0] - SAKAI[1])
    assert found.better + found.within + found.worse == approx(1)
    assert found.better < without.better
    assert found.worse < without.worse


def test_equal_runs_are_as_likely_better_as_worse():
    assert posterior_of(np.zeros(8)).better == 0.5
    near = posterior_of(np.zeros(8), region=0.01, half_range=0.5)
    assert near.better == near.worse and 0 < near.within < 0.2


def test_one_topic_gives_no_probability():
    with pytest.raises(ValueError, match="two topics"):
        posterior_of(np.array([0.3]))


def test_a_region_is_in_the_unit_of_the_printed_difference():
    """Totals of ten topics differ by .1 a topic; geometric means by their ratio."""
    run, other = np.linspace(0.2, 0.9, 10), np.linspace(0.1, 0.95, 10)
    total = posterior_of_pair(run, other, parse_measure("NumRelRet"), 1.0)
    assert total == posterior_of(run - other, 0.1)
    ratio = posterior_of_pair(run, other, parse_measure("GMAP"), 0.1)
    assert ratio.within == approx(posterior_of(np.log(run / other), np.log(1.1)).within)
