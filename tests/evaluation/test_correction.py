"""Means by a machine, corrected by a sample: worked numbers, and how they hold on DL 2019."""

import numpy as np
import pytest
from pytest import approx

from evaluation.correction import (
    Correction,
    SampleFrame,
    compare_gains,
    correct_board,
    draw_sample,
    explain_uncorrected,
    plan_labels,
    scale_topics,
    split_measure,
)
from evaluation.correction.sampling import share_labels
from evaluation.judging import judge, prepare
from evaluation.measures import MeasureError, parse_measure
from evaluation.pooling import depth_pool
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run
from tests.evaluation.corrected_simulations import read_scene, simulate, simulate_gains

RUNS = ("a1 a2 a3 b1 b2 b4", "a1 a4 a5 b1 b3 b5", "a2 a3 a6 b2 b3 b6")
DOCNOS = [f"{topic}{number}" for topic in "ab" for number in range(1, 7)]
MACHINE = np.array([float(docno in "a1 a2 a3 b1 b2 b3") for docno in DOCNOS])
PEOPLE = {"a2": 0, "a3": 1, "b1": 1, "b3": 1, "a5": 1, "a6": 0, "b4": 0}
ONE, OTHER = np.array([0]), np.array([1])


def make_correction(slope=None, people=PEOPLE):
    return Correction.of(
        np.array([[(docno in run) / 6 for docno in DOCNOS] for run in RUNS]),
        machine=MACHINE,
        topic=np.repeat([0, 1], 6),
        stratum=MACHINE.astype(int),
        sampled=np.array([DOCNOS.index(docno) for docno in people]),
        people=np.array(list(people.values()), float),
        slope=slope,
    )


def test_means_are_corrected_as_worked():
    correction = make_correction()
    found = correction.by_labels
    assert correction.slope == approx(0.8)
    assert found.value.tolist() == approx([0.566667, 0.833333, 0.433333], abs=1e-6)
    assert np.square(found.error).tolist() == approx([0.018889, 0.056667, 0.018889], abs=1e-6)
    assert found.degrees.tolist() == approx([3, 2.080245, 3], abs=1e-6)
    assert found.margin.tolist() == approx([0.437385, 0.987291, 0.437385], abs=1e-6)


def test_a_machine_that_is_followed_in_full_gives_other_means():
    found = make_correction(slope=1.0).by_labels
    assert found.value.tolist() == approx([0.583333, 0.833333, 0.416667], abs=1e-6)


def test_topics_like_these_have_another_error_than_these():
    correction = make_correction()
    expected = [[0.5, 0.633333], [0.933333, 0.733333], [0.233333, 0.633333]]
    assert correction.by_topic == approx(np.array(expected), abs=1e-6)
    assert correction.over_topics().error.tolist() == approx([0.066667, 0.1, 0.2], abs=1e-6)
    assert correction.over_topics().value.tolist() == approx(correction.by_labels.value.tolist())


def test_a_difference_has_its_own_weights():
    found = make_correction().subtract(ONE, OTHER)
    assert found.value.tolist() == approx([-0.266667], abs=1e-6)
    assert np.square(found.error).tolist() == approx([0.071111], abs=1e-6)
    assert found.degrees.tolist() == approx([3.114040], abs=1e-6)
    assert found.margin.tolist() == approx([0.831339], abs=1e-6)


def test_a_run_does_not_differ_from_itself():
    correction = make_correction()
    for found in (correction.subtract(ONE, ONE), correction.subtract_over_topics(ONE, ONE)):
        assert found.value.tolist() == found.margin.tolist() == [0]


def test_a_pair_over_topics_is_that_of_its_topic_values():
    correction = make_correction()
    apart = correction.by_topic[0] - correction.by_topic[1]
    found = correction.subtract_over_topics(ONE, OTHER)
    assert found.value.tolist() == approx([apart.mean()])
    assert found.error.tolist() == approx([apart.std(ddof=1) / 2**0.5])


def test_few_conversations_give_no_interval():
    found = make_correction().over_topics(np.array([0, 1]))
    assert np.isnan(found.margin).all() and not np.isnan(found.value).any()


def test_who_gains_from_the_machine_is_tested_as_worked():
    found = compare_gains(make_correction(), 1.0, margin=0.0)
    assert found.gains.value.tolist() == approx([0.291667, -0.583333, 0.291667], abs=1e-6)
    assert found.gains.error.tolist() == approx([0.138193, 0.276385, 0.138193], abs=1e-6)
    assert found.gains.degrees.tolist() == approx([3.457143] * 3, abs=1e-6)
    assert found.p.tolist() == approx([0.056626, 0.943374, 0.056626], abs=1e-6)
    assert found.adjusted.tolist() == approx([0.169877, 0.943374, 0.169877], abs=1e-6)


def test_a_sample_of_everything_is_the_truth():
    everything = {docno: float(docno in "a1 b2 b6") for docno in DOCNOS}
    found = make_correction(people=everything).by_labels
    truth = [sum(everything[docno] for docno in run.split()) / 6 for run in RUNS]
    assert found.value.tolist() == approx(truth)
    assert found.margin.tolist() == [0, 0, 0]


def test_a_stratum_without_two_labels_has_no_variance():
    with pytest.raises(ValueError, match="fewer than two judged"):
        make_correction(people={"a2": 0, "a5": 1, "a6": 0})


def test_more_labels_give_shorter_intervals():
    planned = plan_labels(make_correction(), np.full(12, 2), [7, 10, 12])
    assert [each.labels for each in planned] == [7, 10, 12]
    assert planned[0].mean > planned[1].mean > planned[2].mean == 0
    assert planned[0].difference > planned[1].difference > planned[2].difference == 0


def make_run(tag, **docnos):
    rankings = {
        topic.encode(): Ranking(
            [docno.encode() for docno in found.split()], -np.arange(len(found.split()), dtype=float)
        )
        for topic, found in docnos.items()
    }
    return Run(tag, rankings, 0, Problems())


BOARD = [
    make_run("ada", a="a1 a2 a3", b="b1 b2 b4"),
    make_run("ben", a="a1 a4 a5", b="b1 b3 b5"),
    make_run("cat", a="a2 a3 a6", b="b2 b3 b6"),
]
GRADES = {
    b"a": {b"a1": 2, b"a2": 1, b"a3": 0, b"a4": 0, b"a5": 1, b"a6": 0},
    b"b": {b"b1": 1, b"b2": 2, b"b3": 0, b"b4": 1, b"b5": 0, b"b6": 0},
}


def correct_all(text, labels=12, people=GRADES, runs=BOARD):
    """The board corrected by a sample of all, with what the machine graded as its judgments."""
    sample, _ = draw_sample(depth_pool(BOARD, 3), GRADES, labels, seed=1)
    frame = SampleFrame.of(sample, [b"a", b"b"])
    measure = parse_measure(text)
    judgments = prepare(Qrels(dict(GRADES), Problems()), [b"a", b"b"], 2)
    parts, scales = split_measure(measure, 2, 3), scale_topics(measure, judgments)
    grades = frame.grade(GRADES), frame.grade(people)
    board = correct_board(frame, frame.place(runs, 3), parts, scales, *grades)
    expected = [measure.aggregate(measure.scores(judge(run, judgments, 3))) for run in runs]
    return board, expected


@pytest.mark.parametrize(
    "text",
    [
        *("P@3", "P(rel=2)@2", "CG@3", "DCG@3", "DCG(gain=exp)@2", "DCG(discount=jk)@3"),
        *("RBP", "RBP(gain=graded)", "nDCG@3", "nDCG(gain=exp)@3", "Judged@3"),
    ],
)
def test_a_sum_over_documents_is_the_measure(text):
    board, expected = correct_all(text)
    assert board.correction.by_machine.tolist() == approx(expected)
    assert board.correction.by_labels.value.tolist() == approx(expected)


@pytest.mark.parametrize("text", ["AP", "RR", "nDCG(ideal=retrieved)@3", "P(holes=condensed)@3"])
def test_other_measures_have_no_honest_number(text):
    with pytest.raises(MeasureError, match="no honest number"):
        split_measure(parse_measure(text), 2, 10)


def test_a_measure_that_reads_deeper_than_the_frame_is_not_corrected():
    assert "more than the first 10" in explain_uncorrected(parse_measure("P@20"), 10)
    assert "more than the first 10" in explain_uncorrected(parse_measure("nDCG"), 10)


def test_what_a_later_run_has_outside_of_the_frame_is_counted():
    later = make_run("dan", a="a1 new a2", b="b1 b2 b3")
    board, _ = correct_all("P@3", runs=[*BOARD, later])
    assert board.uncovered.tolist() == approx([0, 0, 0, 1 / 6])


def test_a_document_that_nobody_could_judge_is_not_zero():
    people = {b"a": {**GRADES[b"a"], b"a1": -1}, b"b": GRADES[b"b"]}
    board, _ = correct_all("P@3", people=people)
    assert len(board.correction.people) == 11
    assert board.correction.by_labels.value[0] > 2 / 3


def test_the_draw_depends_on_seed_and_documents_alone():
    drawn, strata = draw_sample(depth_pool(BOARD, 3), GRADES, 8, seed=1)
    again, _ = draw_sample(depth_pool(BOARD[::-1], 3), GRADES, 8, seed=1)
    assert [docno.docno for _, docno in drawn] == [docno.docno for _, docno in again]
    assert sum(stratum.size for stratum in strata) == 12
    assert len(drawn) == sum(stratum.drawn for stratum in strata) < 12


def test_each_document_keeps_its_stratum_and_probability():
    drawn, strata = draw_sample(depth_pool(BOARD, 3), GRADES, 8, seed=1)
    for _, document in drawn:
        assert document.inclusion == strata[document.stratum - 1].inclusion
    undrawn = sum(map(len, drawn.undrawn.values()))
    assert len(drawn) + undrawn == 12


def test_every_document_is_drawn_as_often_as_its_probability_says():
    frame, counts = depth_pool(BOARD, 3), {}
    for seed in range(400):
        for _, document in draw_sample(frame, GRADES, 8, seed)[0]:
            counts.setdefault((document.docno, document.inclusion), []).append(seed)
    for (_, inclusion), seeds in counts.items():
        assert len(seeds) / 400 == approx(inclusion, abs=0.1)


@pytest.mark.parametrize("labels", [1, 10, 40, 137, 5000])
def test_a_stratum_has_two_labels_or_all(labels):
    sizes = np.array([100, 50, 3, 1, 2])
    quota = share_labels(sizes, np.array([1.0, 9.0, 2.0, 30.0, 1.0]), labels)
    assert (quota >= np.minimum(sizes, 2)).all() and (quota <= sizes).all()
    assert quota.sum() == min(max(labels, 9), sizes.sum())


@pytest.mark.data
def test_corrected_means_cover_what_people_would_say(data):
    scene = read_scene(data)
    for text in ("P(rel=2)@10", "nDCG@10"):
        cell = simulate(scene, text, 500, samples=12)
        assert all(share > 0.9 for name, share in cell.items() if name.startswith("cover"))


@pytest.mark.data
def test_a_run_that_the_machine_re_ranked_stands_out(data):
    cell = simulate_gains(read_scene(data, reranked=True), "P(rel=2)@10", 1500, samples=8)
    assert cell["named"] > 0.8 and cell["an honest run"] == 0
