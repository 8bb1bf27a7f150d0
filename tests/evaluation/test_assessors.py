"""Agreement of assessors on published tables and on tables done by hand."""

import numpy as np
import pytest
from pytest import approx

from evaluation.agreement import (
    agreement_of_assessors,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    overlap,
    specific_agreement,
)

GAP = np.nan
# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section E.
FOUR_CODERS = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, GAP, GAP, GAP],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, GAP, 3],
    [GAP, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, GAP],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, GAP],
])  # fmt: skip
# 10 subjects, 14 raters, 5 categories: the table of "Fleiss' kappa" in Wikipedia, kappa .210.
FOURTEEN_RATERS = np.array([
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
])  # fmt: skip
ADA, BEN = np.array([2.0, 1, 0, 0, 1, GAP]), np.array([2.0, 0, 0, 1, 1, 2])


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_krippendorffs_with_missing_grades(level, alpha):
    assert round(krippendorff_alpha(FOUR_CODERS, level), 3) == alpha


def test_fleiss_kappa_is_the_published_one():
    assert round(fleiss_kappa(FOURTEEN_RATERS), 3) == 0.210


def test_fleiss_kappa_needs_as_many_grades_for_each_document():
    with pytest.raises(ValueError, match="same number"):
        fleiss_kappa(np.array([[2, 0], [1, 0]]))


def test_cohens_kappa_is_one_of_a_table_done_by_hand():
    # 20 and 15 agreed, 5 and 10 not (a common textbook table): (.7 - .5) / (1 - .5).
    one = np.repeat([1.0, 1, 0, 0], [20, 5, 10, 15])
    other = np.repeat([1.0, 0, 1, 0], [20, 5, 10, 15])
    assert cohen_kappa(one, other) == approx(0.4)


@pytest.mark.parametrize(
    # Disagreement observed 2 of 5; expected .64, .80 and 1.12 by the shares .4 .4 .2 of both.
    ("weights", "kappa"),
    [("none", 1 - 0.4 / 0.64), ("linear", 1 - 0.4 / 0.8), ("quadratic", 1 - 0.4 / 1.12)],
)
def test_weights_count_how_far_grades_are_apart(weights, kappa):
    assert cohen_kappa(ADA, BEN, weights) == approx(kappa)


def test_an_unused_grade_between_two_keeps_its_distance():
    one, other = np.array([0.0, 3.0, 1.0]), np.array([1.0, 3.0, 0.0])
    assert cohen_kappa(one, other, "linear") == approx(1 - (2 / 3) / (12 / 9))


def test_kappa_is_undefined_where_all_grades_are_the_same():
    assert cohen_kappa(np.ones(3), np.ones(3)) is None


def test_kappa_is_undefined_without_a_common_document():
    assert cohen_kappa(np.array([1.0, GAP]), np.array([GAP, 1.0])) is None


def test_overlap_and_specific_agreement_count_relevant_documents():
    assert overlap(ADA, BEN) == 0.5
    assert specific_agreement(ADA, BEN) == (approx(4 / 6), approx(2 / 4))
    assert overlap(ADA, BEN, rel=2) == 1.0


def test_the_same_topic_many_times_has_no_uncertainty():
    grades, topics = np.tile([ADA[:5], BEN[:5]], 4), np.repeat(np.arange(4), 5)
    for each in agreement_of_assessors(grades, topics):
        assert (each.low, each.high) == (approx(each.value), approx(each.value))


def test_an_interval_covers_its_value_and_narrows_with_topics():
    chance = np.random.default_rng(4)
    grades, topics = chance.integers(0, 3, (2, 800)).astype(float), np.repeat(np.arange(80), 10)
    few = {e.statistic: e for e in agreement_of_assessors(grades[:, :80], topics[:80])}
    many = {e.statistic: e for e in agreement_of_assessors(grades, topics)}
    assert many["kappa"].low < many["kappa"].value < many["kappa"].high
    assert many["kappa"].high - many["kappa"].low < few["kappa"].high - few["kappa"].low


def test_two_topics_have_values_but_no_intervals():
    found = agreement_of_assessors(np.stack([ADA, BEN]), np.array([0, 0, 0, 1, 1, 1]))
    assert {(each.low, each.high) for each in found} == {(None, None)}
    assert found[0].value == approx(3 / 5)
