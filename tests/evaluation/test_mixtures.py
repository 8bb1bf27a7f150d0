"""Boards of mixed judges, beside boards that are put together topic by topic."""

from __future__ import annotations

from itertools import product
from statistics import fmean

import numpy as np
import pytest
from pytest import approx

from evaluation.agreement import kendall_tau_b, mix_judges, ranks, summarise_mixtures, top_tau_b


@pytest.fixture
def scores() -> np.ndarray:
    """Three judges, five runs, four topics."""
    return np.random.default_rng(2).random((3, 5, 4))


EVERYTHING = np.ones((3, 4), dtype=bool)


def plain_boards(scores: np.ndarray, judged: np.ndarray) -> set[tuple[float, ...]]:
    """Every board that some choice of one judge for each topic makes."""
    judges = [[j for j in range(len(judged)) if judged[j, t]] for t in range(judged.shape[1])]
    return {
        tuple(
            round(fmean(scores[j, run, t] for t, j in enumerate(choice)), 9)
            for run in range(scores.shape[1])
        )
        for choice in product(*judges)
    }


def found_boards(boards: np.ndarray) -> set[tuple[float, ...]]:
    return {tuple(row) for row in boards.round(9).tolist()}


def test_mixtures_are_the_boards_of_all_choices(scores):
    boards = mix_judges(scores, EVERYTHING, draws=2000)
    assert found_boards(boards) == plain_boards(scores, EVERYTHING)


def test_a_topic_takes_only_those_who_judged_it(scores):
    judged = EVERYTHING.copy()
    judged[0, 1] = judged[2, 1] = judged[1, 3] = False
    boards = mix_judges(scores, judged, draws=2000)
    assert found_boards(boards) == plain_boards(scores, judged)


def test_all_judges_of_a_topic_are_equally_likely(scores):
    one_topic = scores[:, :, :1]
    boards = mix_judges(one_topic, EVERYTHING[:, :1], draws=9000)
    for judge in range(3):
        share = np.isclose(boards[:, 0], one_topic[judge, 0, 0]).mean()
        assert share == approx(1 / 3, abs=0.02)


def test_a_topic_that_nobody_judged_takes_the_other_scores(scores):
    judged, other = EVERYTHING.copy(), np.full((5, 4), 7.0)
    judged[:, 2] = False
    boards = mix_judges(scores, judged, other, draws=50)
    without = mix_judges(scores[:, :, [0, 1, 3]], judged[:, [0, 1, 3]], draws=50)
    assert boards.min() > 7 / 4 and without.max() < 1


def test_undefined_scores_do_not_count(scores):
    scores[:, 0, :3] = np.nan
    boards = mix_judges(scores, EVERYTHING, draws=200)
    assert set(boards[:, 0].round(9)) == set(scores[:, 0, 3].round(9))


def test_the_range_of_ranks_is_that_over_all_boards(scores):
    boards, reference = mix_judges(scores, EVERYTHING, draws=40), scores.mean(axis=(0, 2))
    found = summarise_mixtures(boards, reference)
    places = [ranks(board).tolist() for board in boards]
    taus = [kendall_tau_b(board, reference) for board in boards]
    assert found.best.tolist() == [min(each) for each in zip(*places, strict=True)]
    assert found.worst.tolist() == [max(each) for each in zip(*places, strict=True)]
    assert (found.mean_tau, found.least_tau) == (approx(fmean(taus)), min(taus))


def test_a_lower_mean_can_be_better(scores):
    boards, reference = mix_judges(scores, EVERYTHING, draws=40), scores[0].mean(axis=1)
    found = summarise_mixtures(boards, reference, direction=-1)
    turned = summarise_mixtures(-boards, -reference)
    assert found.best.tolist() == turned.best.tolist() and found.least_tau == turned.least_tau


def test_one_judge_alone_changes_nothing(scores):
    boards = mix_judges(scores[:1], EVERYTHING[:1], draws=30)
    found = summarise_mixtures(boards, scores[0].mean(axis=1))
    assert found.best.tolist() == found.worst.tolist() and found.least_tau == 1


def test_the_top_of_a_board_is_that_of_the_reference():
    reference, other = np.arange(20.0), np.concatenate([np.arange(10.0)[::-1], np.arange(10.0, 20)])
    assert top_tau_b(other, reference) == 1 and top_tau_b(other, reference, 20) < 1
