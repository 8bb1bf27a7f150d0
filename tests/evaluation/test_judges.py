"""Judges as entrants: agreement with people, differences of judges, boards of systems."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from pytest import approx

from evaluation.__main__ import main
from evaluation.agreement import agreement_of_assessors, grades_of
from evaluation.agreement.judges import compare_judges, compare_systems
from evaluation.reading.judging.qrels import Qrels, read_qrels


def qrels(grades: np.ndarray) -> Qrels:
    """float64[topics, documents]; -1 is no grade."""
    lines = [
        f"{topic} 0 d{place} {grade:.0f}\n"
        for topic, row in enumerate(grades)
        for place, grade in enumerate(row)
        if grade >= 0
    ]
    return read_qrels(BytesIO("".join(lines).encode()))


@pytest.fixture
def people() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 4, (20, 30)).astype(float)


def wrong(people: np.ndarray, share: float, seed: int = 5) -> np.ndarray:
    """The grades of people, with a share of them one too high."""
    slips = np.random.default_rng(seed).random(people.shape) < share
    return np.where(slips, np.minimum(people + 1, 3), people)


def test_a_judge_agrees_as_an_assessor_does(people):
    truth, judge = qrels(people), qrels(wrong(people, 0.3))
    (standing,) = compare_judges(truth, {"one": judge}).standings
    _, grades, topics = grades_of([truth, judge])
    for each in agreement_of_assessors(grades, topics):
        if each.statistic in standing.statistics:
            found = standing.statistics[each.statistic]
            assert (found.value, found.low, found.high) == approx((each.value, each.low, each.high))


def test_the_better_of_two_judges_is_told_with_its_difference(people):
    judges = {"bad": qrels(wrong(people, 0.5)), "good": qrels(wrong(people, 0.1))}
    board = compare_judges(qrels(people), judges)
    assert board.order == [1, 0] and board.pairs.different[0, 1]
    values = [each.statistics["kappa_quadratic"].value for each in board.standings]
    interval = board.pairs.interval(1, 0)
    assert interval.low < values[1] - values[0] < interval.high and interval.low > 0


def test_equal_judges_cannot_be_told_apart(people):
    judges = {str(seed): qrels(wrong(people, 0.3, seed)) for seed in range(4)}
    board = compare_judges(qrels(people), judges)
    assert set(board.pairs.letters) == {"a"} and board.pairs.rank_high.tolist() == [4] * 4


def test_a_judge_that_abstains_is_counted_on_what_it_graded(people):
    judge = people.copy()
    judge[:, ::2] = -1
    (standing,) = compare_judges(qrels(people), {"half": qrels(judge)}).standings
    assert (standing.documents, standing.abstained) == (300, 300)
    assert standing.statistics["kappa"].value == approx(1) and standing.has_rank


def test_grades_that_are_too_high_are_a_bias(people):
    (standing,) = compare_judges(qrels(people), {"high": qrels(wrong(people, 1.0))}).standings
    assert standing.bias == standing.error == approx(np.mean(people < 3))


def test_a_judge_of_few_documents_has_no_rank(people):
    (standing,) = compare_judges(qrels(people[:3]), {"few": qrels(people[:3])}).standings
    assert standing.documents == 90 and not standing.has_rank


def test_a_judge_with_the_values_of_people_makes_their_board():
    values = np.array([0.864, 0.692, 0.316, 0.088])
    board = compare_systems(values, values)
    assert (board.tau, board.tau_ap, board.top, board.error, board.bias) == (1, 1, 1, 0, 0)
    assert compare_systems(values, values[::-1]).tau == -1


def test_the_command_ranks_judges_and_compares_pairs(tmp_path, people, capfd):
    for name, share in {"people": 0.0, "good": 0.1, "bad": 0.5}.items():
        lines = [
            f"{topic} 0 d{place} {grade:.0f}\n"
            for topic, row in enumerate(wrong(people, share))
            for place, grade in enumerate(row)
        ]
        (tmp_path / name).write_text("".join(lines))
    paths = [str(tmp_path / name) for name in ("people", "bad", "good")]
    assert main(["judges", *paths, "--format", "tsv"]) == 0
    rows = [line.split("\t")[:2] for line in capfd.readouterr().out.splitlines()[1:3]]
    assert rows == [["good", "a"], ["bad", "b"]]
    assert main(["judges", *paths, "--pairs", "--format", "tsv"]) == 0
    assert capfd.readouterr().out.splitlines()[1].startswith("good\tbad\t+")


@pytest.mark.data
def test_a_judge_submitted_to_the_truth_of_the_kiddie_set_gets_the_published_order(data, capfd):
    truth = Path(data) / "data/answers/kiddie/eval/kiddie_fake.eval.ir_measures.txt"
    other = Path(data) / "answers/kiddie/judge.eval.txt"
    command = ["judges", str(truth), str(truth), str(other), "--values", "RELEVANCE"]
    assert main([*command, "--format", "tsv"]) == 0
    exact, judge = [line.split("\t") for line in capfd.readouterr().out.splitlines()[1:3]]
    assert exact[1:4] == ["run1 run2 run3 run4", "1.0000", "1.0000"]
    assert float(judge[2]) < 1 and judge[-1] == "4"
