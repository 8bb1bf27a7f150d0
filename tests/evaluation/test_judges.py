"""Judges as entrants: agreement with people, differences of judges, boards of systems."""

import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from pytest import approx

from evaluation.__main__ import main
from evaluation.agreement import agreement_of_assessors, grades_of
from evaluation.agreement.judges import compare_judges, compare_systems
from evaluation.problems import Refused
from evaluation.reading import paths
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


def test_a_judge_is_described_by_grade_and_by_topic(people):
    (standing,) = compare_judges(qrels(people), {"high": qrels(wrong(people, 1.0))}).standings
    by_grade = {grade: (part.same, part.bias) for grade, part in standing.by_grade.items()}
    assert by_grade == {0: (0, 1), 1: (0, 1), 2: (0, 1), 3: (1, 0)}
    assert standing.by_topic[b"0"].same == approx(np.mean(people[0] == 3))
    assert sum(part.documents for part in standing.by_topic.values()) == people.size


def lines_of(grades: np.ndarray, sure: np.ndarray) -> bytes:
    """Judgments with a column of confidences; float64[topics, documents] each."""
    rows = [
        f"{topic} 0 d{place} {grades[topic, place]:.0f} {sure[topic, place]:.3f}\n"
        for topic, place in np.ndindex(grades.shape)
    ]
    return "".join(rows).encode()


@pytest.fixture
def sure() -> np.ndarray:
    return np.random.default_rng(11).uniform(0.3, 1.0, (20, 30))


def read_judge(lines: bytes) -> Qrels:
    return read_qrels(BytesIO(lines), of_judge=True)


def test_calibration_is_that_of_plain_loops(people, sure):
    judge = wrong(people, 0.4)
    judges = {"one": read_judge(lines_of(judge, sure))}
    (standing,) = compare_judges(qrels(people), judges).standings
    printed, right = sure.round(3), (judge == people).astype(float)
    assert standing.calibration.brier.value == approx(np.mean((printed - right) ** 2))
    bins = [(printed * 10).astype(int) == place for place in range(10)]
    gaps = [abs(printed[of].sum() - right[of].sum()) for of in bins]
    assert standing.calibration.error.value == approx(sum(gaps) / people.size)
    assert sum(each.documents for each in standing.calibration.bins) == people.size


def test_a_judge_that_is_too_sure_is_told_apart_from_one_that_is_right(people):
    grades = wrong(people, 0.5)
    share = np.mean(grades == people)
    judges = {
        str(level): read_judge(lines_of(grades, np.full(people.shape, level)))
        for level in (share, 0.99)
    }
    board = compare_judges(qrels(people), judges | {"silent": qrels(grades)})
    honest, boaster, silent = (each.calibration for each in board.standings)
    assert honest.error.high < boaster.error.low and boaster.excess == approx(
        0.99 - share, abs=1e-3
    )
    assert honest.error.low == 0 and honest.brier.high < boaster.brier.low
    assert silent is None


def test_probabilities_count_by_that_of_the_given_grade(people):
    lines = [
        {"topic": str(topic), "docno": f"d{place}", "probabilities": {"0": 0.25, str(grade): 0.75}}
        for topic, row in enumerate(people.astype(int).clip(1))
        for place, grade in enumerate(row)
    ]
    judge = read_judge("\n".join(map(json.dumps, lines)).encode())
    assert judge.grades == qrels(people.clip(1)).grades
    assert set(judge.confidences[b"0"].values()) == {0.75}


@pytest.mark.parametrize(
    "line",
    [
        b"1 0 d1 2 85\n",
        b"1 0 d1 2 high\n",
        b'{"topic": "1", "docno": "d1", "grade": 2, "confidence": NaN}\n',
        b'{"topic": "1", "docno": "d1", "grade": 2, "confidence": -0.5}\n',
        b'{"topic": "1", "docno": "d1", "grade": 2, "probabilities": [0.5, 0.9]}\n',
    ],
)
def test_what_is_no_confidence_is_told_by_line(line):
    with pytest.raises(Refused) as refused:
        read_judge(line)
    assert "E_CONFIDENCE" in {problem.code for problem in refused.value.problems}


def test_a_judge_has_confidences_unless_its_format_is_chosen(tmp_path):
    path = tmp_path / "judge.jsonl"
    path.write_text('{"topic": "1", "docno": "d1", "grade": 2, "confidence": 0.5}\n')
    assert paths.read_judge(str(path), False).confidences == {b"1": {b"d1": 0.5}}
    assert paths.read_judge(str(path), False, "jsonl").confidences == {}
    path.write_text("1 0 d1 0.9\n")
    assert paths.read_judge(str(path), True).grades == {b"1": {b"d1": 0}}


def test_confidences_of_judgments_that_are_no_judge_are_another_field():
    line = b'{"topic": "1", "docno": "d1", "grade": 2, "confidence": "high"}\n'
    assert read_qrels(BytesIO(line), format="jsonl").confidences == {}


def test_a_document_that_people_did_not_grade_has_no_calibration():
    people = read_qrels(BytesIO(b"1 0 d1 2\n1 0 d2 -1\n"))
    judge = read_judge(b"1 0 d1 2 0.5\n1 0 d2 1 0.9\n1 0 d3 1 0.9\n2 0 d1 1 0.9\n")
    (standing,) = compare_judges(people, {"one": judge}).standings
    assert (standing.calibration.documents, standing.calibration.brier.low) == (1, None)


def test_the_command_prints_calibration_and_its_bins(tmp_path, people, sure, capfd):
    (tmp_path / "people").write_bytes(
        b"".join(line.rpartition(b" ")[0] + b"\n" for line in lines_of(people, sure).splitlines())
    )
    (tmp_path / "sure").write_bytes(lines_of(wrong(people, 0.4), sure))
    command = ["judges", str(tmp_path / "people"), str(tmp_path / "sure"), "--format", "tsv"]
    assert main(command) == 0
    assert capfd.readouterr().out.splitlines()[0].endswith("abstained\tbrier\tcalibration error")
    assert main([*command, "--calibration"]) == 0
    _, first, *_ = capfd.readouterr().out.splitlines()
    assert first.startswith("sure\t0.3\t0.4\t")
    assert main([*command, "--by", "grade"]) == 0
    head, first, *_ = capfd.readouterr().out.splitlines()
    assert head == "judge\tgrade\tdocuments\tsame\tbias" and first.startswith("sure\t0\t")
    assert main(["check", str(tmp_path / "sure"), "--judge"]) == 0


@pytest.mark.data
def test_a_judge_submitted_to_the_truth_of_the_kiddie_set_gets_the_published_order(data, capfd):
    truth = Path(data) / "data/answers/kiddie/eval/kiddie_fake.eval.ir_measures.txt"
    other = Path(data) / "answers/kiddie/judge.eval.txt"
    command = ["judges", str(truth), str(truth), str(other), "--values", "RELEVANCE"]
    assert main([*command, "--format", "tsv"]) == 0
    exact, judge = [line.split("\t") for line in capfd.readouterr().out.splitlines()[1:3]]
    assert exact[1:4] == ["run1 run2 run3 run4", "1.0000", "1.0000"]
    assert float(judge[2]) < 1 and judge[-1] == "4"
