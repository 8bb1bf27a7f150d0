"""Precision-recall curves: raw steps, eleven points, means."""

import numpy as np
import pytest

from evaluation.__main__ import main
from evaluation.curves import mean_curve, precision_recall
from evaluation.measures import example_run, parse_measure
from tests.evaluation.random_runs import sample


def test_a_curve_has_a_point_for_each_relevant_document_retrieved():
    curve = precision_recall(example_run(), place=0)
    assert curve.rank.tolist() == [1, 4, 7]
    assert curve.recall.tolist() == [0.25, 0.5, 0.75]
    assert curve.precision.tolist() == [1.0, 0.5, 3 / 7]


def test_a_higher_threshold_leaves_fewer_points():
    curve = precision_recall(example_run(), place=0, rel=2)
    assert (curve.rank.tolist(), curve.recall.tolist()) == ([1], [0.5])


@pytest.mark.parametrize("seed", range(5))
def test_the_area_under_the_raw_steps_is_average_precision(seed):
    judged = sample(seed).judged()
    areas = [precision_recall(judged, place).area for place in range(judged.rows.topics)]
    assert areas == pytest.approx(parse_measure("AP").scores(judged).tolist(), abs=1e-12)


def test_the_eleven_points_are_those_of_the_measure():
    judged = sample(3).judged()
    points = precision_recall(judged, place=5).interpolated
    assert points[4] == parse_measure("IPrec@0.4").scores(judged)[5]
    assert points.mean() == pytest.approx(parse_measure("IPrec11").scores(judged)[5])


def test_the_interpolated_curve_never_rises():
    judged = sample(4).judged()
    for place in range(judged.rows.topics):
        assert np.all(np.diff(precision_recall(judged, place).interpolated) <= 0)


def test_the_mean_curve_averages_every_level_over_all_topics():
    judged = sample(6).judged()
    measure = parse_measure("IPrec@0.2")
    mean = measure.aggregate(measure.scores(judged))
    assert mean_curve(judged).precision[2] == pytest.approx(mean)


def test_a_topic_that_is_not_answered_has_an_empty_curve():
    run = sample(0)
    judged = run.judged()
    place = next(i for i, t in enumerate(judged.judgments.topics) if t not in run.scores)
    curve = precision_recall(judged, place)
    assert (curve.rank.tolist(), curve.area) == ([], 0.0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_bytes(b"1 0 a 1\n1 0 c 1\n2 0 z 1\n")
    (tmp_path / "run").write_bytes(b"1 Q0 a 1 9 t\n1 Q0 b 2 8 t\n1 Q0 c 3 7 t\n")


def test_the_command_prints_the_steps_of_one_topic(folder, capfd):
    assert main(["curve", "qrels", "run", "--topic", "1", "--format", "tsv"]) == 0
    header, *steps = map(str.split, capfd.readouterr().out.splitlines())
    assert header == ["run", "rank", "recall", "precision"]
    assert steps == [["t", "1", "0.5000", "1.0000"], ["t", "3", "1.0000", "0.6667"]]


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ([], [["t", "0.0000", "0.5000"], ["t", "1.0000", "0.3333"]]),
        (
            ["--topic", "1", "--levels"],
            [["t", "0.0000", "1.0000"], ["t", "1.0000", "0.6667"]],
        ),
    ],
)
def test_the_command_prints_eleven_levels(options, ends, folder, capfd):
    assert main(["curve", "qrels", "run", *options]) == 0
    _, *points = map(str.split, capfd.readouterr().out.splitlines())
    assert (len(points), [points[0], points[-1]]) == (11, ends)


def test_a_curve_takes_no_measure(folder, capfd):
    assert main(["curve", "qrels", "run", "-m", "AP"]) == 2
    assert "remove -m" in capfd.readouterr().err


def test_a_topic_without_judgments_has_no_curve(folder, capfd):
    assert main(["curve", "qrels", "run", "--topic", "9"]) == 2
    assert "topic 9 is not judged" in capfd.readouterr().err
