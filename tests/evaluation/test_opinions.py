"""Pairs of opinions, beside counts in plain Python."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from pytest import approx

from evaluation.agreement import OpinionPairs, cohen_kappa, count_opinions, specific_agreement

GAP = np.nan


@pytest.fixture
def opinions() -> np.ndarray:
    """Three opinions on 300 documents of ten topics; a third of them has two only."""
    draw = np.random.default_rng(4)
    grades = draw.integers(0, 4, (3, 300)).astype(float)
    grades[1] = np.where(draw.random(300) < 0.5, grades[0], grades[1])
    grades[2, ::3] = GAP
    return grades


@pytest.fixture
def topics() -> np.ndarray:
    return np.arange(300) % 10


def plain_pairs(opinions: np.ndarray) -> list[tuple[int, int]]:
    """Every two opinions on a document, the earlier one first."""
    columns = ([int(grade) for grade in column if grade == grade] for column in opinions.T)
    return [pair for column in columns for pair in combinations(column, 2)]


def test_every_two_opinions_on_a_document_are_a_pair(opinions, topics):
    pairs, plain = count_opinions(opinions, topics), plain_pairs(opinions)
    assert pairs.num_pairs == len(plain) == 200 * 3 + 100
    assert pairs.counts[2, 1] == plain.count((2, 1))
    assert pairs.share == sum(a == b for a, b in plain) / len(plain)


def test_kappa_of_two_opinions_is_cohens(opinions, topics):
    found = count_opinions(opinions[:2], topics).kappa()
    assert found.value == approx(cohen_kappa(*opinions[:2]))
    assert found.low < found.value < found.high


def test_kappa_of_each_topic_is_that_of_its_documents(opinions, topics):
    here = opinions[:2, topics == 7]
    assert count_opinions(opinions[:2], topics).kappas_by_topic()[7] == approx(cohen_kappa(*here))


def test_the_interval_leaves_out_one_topic_after_the_other():
    counts = np.array([[[8, 2], [1, 9]], [[5, 3], [2, 10]], [[9, 1], [4, 6]], [[6, 0], [3, 11]]])
    found = OpinionPairs(np.array([0.0, 1.0]), counts.astype(float)).kappa()
    expected = [approx(value, abs=5.1e-7) for value in (0.596977, 0.420839, 0.773115)]
    assert [found.value, found.low, found.high] == expected


def test_a_topic_without_which_kappa_is_undefined_leaves_no_interval():
    counts = np.array([[[8, 2], [1, 9]], [[5, 0], [0, 0]], [[9, 0], [0, 0]]], dtype=float)
    found = OpinionPairs(np.array([0.0, 1.0]), counts).kappa()
    assert found.value is not None and found.low is found.high is None


def test_one_topic_has_no_interval(opinions):
    assert count_opinions(opinions, np.zeros(300, int)).kappa().low is None


def test_agreement_on_a_grade_is_specific_agreement_of_that_grade(opinions, topics):
    for found in count_opinions(opinions[:2], topics).by_grade():
        has = (opinions[:2] == found.grade).astype(float)
        assert (found.positive, found.negative) == approx(specific_agreement(*has))
        assert (found.first, found.second) == tuple(has.sum(axis=1))


def test_without_pairs_nothing_is_defined():
    pairs = count_opinions(np.array([[1.0], [GAP]]), np.array([0]))
    assert (pairs.num_pairs, pairs.share, pairs.kappa().value) == (0, None, None)
