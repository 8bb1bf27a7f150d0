"""What the unjudged documents could change."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from evaluation.judging import JudgedRun, judge, prepare
from evaluation.measures import MEASURES, example_run, parse_measure
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run

GRADES = {b"a": 2, b"b": 0, b"c": -1, b"d": 1, b"e": 2}
RANKING = [b"u", b"a", b"c", b"b", b"v", b"d"]
HOLES = [b"u", b"c", b"v"]
TRUE = """
P@3 P(rel=2)@5 RR RR@2 MR CG@4 DCG DCG(gain=exp)@5 DCG(discount=jk)@3 ERR@3 ERR@10 Success@1
RBP RBP(p=0.5) RBP(gain=graded) RBP(rel=2)
"""


def record(grades: dict[bytes, int], ranking: list[bytes] = RANKING) -> JudgedRun:
    run = Run("tag", {b"1": Ranking(ranking, -np.arange(float(len(ranking))))}, 0, Problems())
    return judge(run, prepare(Qrels({b"1": grades}, Problems()), top_grade=2))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("nDCG@5", 0.5798, 0.8106),
        ("P@5", 0.4, 0.8),
        ("RBP(p=0.8)", 0.3548, 0.8065),
    ],
)
def test_the_worked_bounds(text, low, high):
    bounds = parse_measure(text).bounds(example_run())
    assert bounds.low[0] == pytest.approx(low, abs=5e-5)
    assert bounds.high[0] == pytest.approx(high, abs=5e-5)


@pytest.mark.parametrize("text", TRUE.split())
def test_no_judgment_of_the_holes_leaves_the_true_bounds(text):
    measure = parse_measure(text)
    assert measure.definition.bounds == "true"
    low, high = measure.bounds(record(GRADES))
    for grades in product((0, 1, 2), repeat=3):
        told = record({**GRADES, **dict(zip(HOLES, grades, strict=True))})
        value = measure.scores(told)[0]
        assert low[0] - 1e-12 <= value <= high[0] + 1e-12, grades


def test_a_hole_can_leave_the_bounds_where_it_raises_the_highest_grade():
    measure, ranking = parse_measure("ERR(top=topic)@5"), [b"a", b"b", b"c", b"d", b"u"]
    before, after = record({b"a": 1}, ranking), record({b"a": 1, b"u": 2}, ranking)
    assert measure.scores(after)[0] < measure.scores(before)[0]


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("ERR(top=topic)@3", "none"),
        ("nERR(top=topic)", "none"),
        ("ERR@3", "true"),
        ("nERR", "scenarios"),
    ],
)
def test_the_highest_grade_of_a_topic_leaves_no_bounds(text, bounds):
    assert parse_measure(text).definition.bounds == bounds


def test_every_measure_with_true_bounds_is_tried():
    tried = {parse_measure(text).name for text in TRUE.split()}
    assert tried == {name for name, each in MEASURES.items() if each.bounds == "true"}


def test_the_second_scenario_of_average_precision_can_be_the_lower_one():
    low, high = parse_measure("AP").bounds(record({b"a": 1}, [b"a", b"u", b"v", b"w", b"x"]))
    assert (low[0], high[0]) == (1.0, 1.0)
    low, high = parse_measure("R@1").bounds(record({b"a": 1}, [b"a", b"u", b"v"]))
    assert low[0] == 1.0 > high[0]


def test_rbp_adds_what_was_not_retrieved():
    judged = record({b"a": 1}, [b"a"])
    low, high = parse_measure("RBP(p=0.5)").bounds(judged)
    assert (low[0], high[0]) == (0.5, 1.0)


def test_a_condensed_ranking_has_no_holes_left():
    low, high = parse_measure("P(holes=condensed)@3").bounds(record(GRADES))
    assert low[0] == high[0] == pytest.approx(2 / 3)


def test_bounds_leave_the_record_as_it_was():
    judged = record(GRADES)
    before = replace(judged)
    parse_measure("AP").bounds(judged)
    assert before.grade.tolist() == judged.grade.tolist()
    assert judged.judgments.num_relevant(1).tolist() == [3]
