"""The numpy formulas beside the plain ones, on thousands of random rankings."""

import math
from dataclasses import replace

import pytest

from evaluation.conventions import TREC_EVAL_9
from evaluation.judging import JudgedRun
from evaluation.measures import MEASURES, parse_measure
from tests.evaluation.plain import PLAIN, Case, plain_score, scoring_order
from tests.evaluation.random_runs import MEASURES_TRIED, Sample, sample

pytestmark = pytest.mark.long

SEEDS = range(40)


def cases_of(sample: Sample, judged: JudgedRun) -> list[Case]:
    depth = 1000 if judged.depth is None else judged.depth
    top_grade = judged.judgments.top_grade
    rankings = [scoring_order(sample.scores.get(t, [])) for t in judged.judgments.topics]
    return [
        Case(sample.grades[topic], ranking[:depth], top_grade, depth)
        for topic, ranking in zip(judged.judgments.topics, rankings, strict=True)
    ]


@pytest.fixture(scope="module")
def samples() -> list[tuple[JudgedRun, list[Case]]]:
    drawn = [(each, each.judged(depth=None if seed % 2 else 7)) for seed, each in drawn_samples()]
    return [(judged, cases_of(each, judged)) for each, judged in drawn]


def drawn_samples() -> list[tuple[int, Sample]]:
    return [(seed, sample(seed)) for seed in SEEDS]


def assert_alike(measure, judged: JudgedRun, cases: list[Case]) -> None:
    for case, score in zip(cases, measure.scores(judged), strict=True):
        plain = plain_score(measure, case)
        both_undefined = math.isnan(plain) and math.isnan(score)
        assert both_undefined or abs(plain - score) < 1e-10, (case, plain, score)


@pytest.mark.parametrize("text", MEASURES_TRIED)
def test_numpy_and_plain_python_agree(text, samples):
    measure = parse_measure(text)
    for judged, cases in samples:
        assert_alike(measure, judged, cases)


@pytest.mark.parametrize("text", ["P@5", "R@5", "AP", "AP(rel=2)", "infAP", "infAP(rel=2)", "RR"])
def test_they_agree_to_the_last_bit_where_trec_eval_adds_up_so(text, samples):
    measure = parse_measure(text)
    for judged, cases in samples:
        assert [plain_score(measure, case) for case in cases] == measure.scores(judged).tolist()


@pytest.mark.parametrize("text", ["IPrec@0.1", "IPrec@0.5", "IPrec11"])
def test_they_agree_under_the_conventions_of_trec_eval_9(text, samples):
    for judged, cases in samples:
        old = [replace(case, recall_rounding=0.9) for case in cases]
        assert_alike(parse_measure(text), replace(judged, convention=TREC_EVAL_9), old)


def test_no_measure_is_left_out():
    assert set(PLAIN) == set(MEASURES) == {parse_measure(text).name for text in MEASURES_TRIED}
