"""Means of answers from drawn pairs: weights by hand, samples of everything, and a simulation."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.answers.drawn_pairs import NoEstimateError, PairSample
from evaluation.answers.labels import CONTRADICTS, NONE, PARTIAL, SUPPORT
from evaluation.answers.measures import parse_answer_measure
from evaluation.answers.measures.example import NUGGETS, SENTENCES, TOPIC, example_answers
from evaluation.answers.nuggets import NuggetBank
from evaluation.answers.pair_weights import Pair, explain_no_sum, value_pairs, weigh_pairs
from evaluation.answers.runs import Answer
from evaluation.correction.frames import FrameRow
from evaluation.problems import Problems
from tests.evaluation.drawn_simulations import measure_coverage

CODES = {
    **dict(zip("1234", (SUPPORT, PARTIAL, NONE, CONTRADICTS), strict=True)),
    **{"d1": SUPPORT, "d2": PARTIAL, "d3": NONE},
}
SUMS = ["all", "strict_vital", "WNuggets", "Contradicted", "CitationP", "SupportP", "SupportR"]


def weigh(text: str) -> dict[Pair, float]:
    bank = NuggetBank({TOPIC: NUGGETS}, "", Problems())
    answers = {TOPIC: Answer(TOPIC, SENTENCES)}
    return weigh_pairs(
        parse_answer_measure(text), example_answers().filled(NONE, NONE), answers, bank
    )


@pytest.mark.parametrize("text", [*SUMS, "SupportP(cites=all)", "SupportR(cites=all,partial=0)"])
def test_a_score_is_the_weighted_sum_of_the_values_of_its_pairs(text):
    measure, weights = parse_answer_measure(text), weigh(text)
    values = value_pairs(measure, np.array([CODES[pair.other] for pair in weights], np.uint8))
    whole = measure.scores(example_answers().filled(NONE, NONE)).overall
    assert np.dot([*weights.values()], values) == pytest.approx(whole)


@pytest.mark.parametrize("text", ["SupportF1", "Groups", "SentenceSupport", "Nuggets(over=pairs)"])
def test_what_is_no_sum_has_no_estimate(text):
    assert explain_no_sum(parse_answer_measure(text)).endswith("is no sum over pairs")


def rows_of(drawn: int, size: int = 80) -> list[FrameRow]:
    return [FrameRow(b"t1", b"p%d" % n, 1, 1, n < drawn) for n in range(size)]


def label(count: int) -> dict[tuple[str, str], int]:
    return {("t1", f"p{n}"): SUPPORT if n % 2 else NONE for n in range(count)}


WEIGHTS = {("t1", f"p{n}"): 1 / 80 for n in range(80)}


def test_a_sample_of_everything_is_the_score():
    found = PairSample.of(rows_of(80), ["t1"], label(80)).estimate(WEIGHTS, lambda codes: codes / 2)
    assert (found.value, found.margin, found.over_topics) == (pytest.approx(0.5), 0, None)


def test_half_of_the_pairs_give_an_interval_as_by_hand():
    found = PairSample.of(rows_of(40), ["t1"], label(40)).estimate(WEIGHTS, lambda codes: codes / 2)
    # Cochran: N^2 (1 - n/N) s^2 / n of values 0 and 1/80, with t of 39 degrees of freedom.
    error = np.sqrt(80**2 * (1 - 40 / 80) * np.var([0, 1 / 80] * 20, ddof=1) / 40)
    assert (found.value, found.margin) == (pytest.approx(0.5), pytest.approx(2.02269092 * error))


def test_a_later_run_with_other_pairs_has_no_estimate():
    later = {**WEIGHTS, ("t1", "new"): 0.1}
    with pytest.raises(NoEstimateError, match="9% of its weight is on pairs outside"):
        PairSample.of(rows_of(40), ["t1"], label(40)).estimate(later, lambda codes: codes / 2)


def test_a_run_with_few_labels_has_no_estimate():
    own = {("t1", f"p{n}"): 1 / 60 for n in range(20, 80)}
    with pytest.raises(NoEstimateError, match="20 labels of its pairs, and 30 are needed"):
        PairSample.of(rows_of(40), ["t1"], label(40)).estimate(own, lambda codes: codes / 2)


def test_a_sample_that_is_hardly_judged_has_no_estimate():
    with pytest.raises(NoEstimateError, match="2 of 4 drawn pairs have a label"):
        PairSample.of(rows_of(4), ["t1"], label(2))


def test_the_intervals_cover_in_simulation():
    found = measure_coverage(size=1000, topics=25, samples=10)
    assert all(cover >= 0.9 for cover, _ in found.values())
