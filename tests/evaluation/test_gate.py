"""The gate of a new run, on worked numbers and on input that allows no answer."""

import json

import numpy as np
import pytest
from pytest import approx

from evaluation.__main__ import main
from evaluation.significance import Gate, decide_gate
from evaluation.significance.gate import tango_bound, topics_to_pass
from tests.evaluation.test_groups import write_files

WORKED = np.array([0.1, -0.2, 0, 0, 0.05, 0, -0.3, 0.1, 0, 0, -0.05, 0.15])


def answer_to(gains, margin=0.05, half_range=0.5, **settings):
    return decide_gate(np.array(gains), Gate(margin, **settings), half_range)


def test_twelve_topics_cannot_tell_and_forty_two_are_needed():
    found = answer_to(WORKED)
    assert (found.answer, found.needed, found.changed) == ("cannot tell", 42, 7)
    assert (found.gain, found.low, found.high) == (
        approx(-0.0125),
        approx(-0.092377, abs=5.1e-7),
        approx(0.085395, abs=5.1e-7),
    )


@pytest.mark.parametrize(
    ("deviation", "topics"),
    [(0.05, (157, 41, 8)), (0.093, (537, 136, 23)), (0.174, (1874, 470, 77))],
)
def test_the_topics_that_a_margin_needs(deviation, topics):
    assert tuple(topics_to_pass(deviation, margin) for margin in (0.01, 0.02, 0.05)) == topics


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((50, 3, 6), -0.167974, 0.066228),
        ((40, 0, 0), -0.063353, 0.087622),
        ((25, 1, 4), -0.283245, 0.071339),
        ((200, 10, 12), -0.050656, 0.038385),
    ],
)
def test_tangos_score_bounds(counts, low, high):
    assert tango_bound(*counts, -1, 0.95) == approx(low, abs=5.1e-7)
    assert tango_bound(*counts, 1, 0.975) == approx(high, abs=5.1e-7)


def test_scores_of_0_and_1_have_tangos_bounds():
    gains = np.repeat([1.0, -1, 0], [3, 6, 41])
    found = decide_gate(gains, Gate(0.1), 0.5, is_binary=True)
    assert (found.low, found.high) == (
        approx(-0.167974, abs=5.1e-7),
        approx(0.066228, abs=5.1e-7),
    )


def test_a_gain_passes_and_a_loss_is_worse():
    noise = np.random.default_rng(1).normal(0, 0.02, 50)
    assert answer_to(noise + 0.05).answer == "pass"
    assert answer_to(noise - 0.1).answer == "worse"
    small = answer_to(noise - 0.02)
    assert (small.answer, small.is_within) == ("pass", True)


def test_more_topics_do_not_help_where_the_loss_is_the_margin():
    gains = np.random.default_rng(2).normal(0, 0.3, 20)
    gains += -0.06 - gains.mean()
    found = answer_to(gains)
    assert (found.answer, found.needed, found.helps) == ("cannot tell", None, False)


@pytest.mark.parametrize(("margin", "topics"), [(0.02, 149), (0.05, 59), (0.1, 29)])
def test_a_run_that_changes_no_topic_passes_only_on_many(margin, topics):
    fewer = answer_to(np.zeros(topics - 1), margin)
    assert (fewer.answer, fewer.needed) == ("cannot tell", topics)
    assert answer_to(np.zeros(topics), margin).answer == "pass"


def test_many_builds_need_a_stronger_loss_and_a_notice_says_so():
    noise = np.random.default_rng(3).normal(0, 0.1, 50)
    gains = noise - noise.mean() - 0.045
    assert answer_to(gains, 0.02).answer == "worse"
    of_many = answer_to(gains, 0.02, builds=50)
    assert (of_many.answer, of_many.is_notice) == ("cannot tell", True)


def test_each_look_spends_half_of_what_is_left():
    levels = [(Gate(0.1, look=k).pass_level, Gate(0.1, look=k).notice_level) for k in (1, 2)]
    assert levels == [(0.975, 0.9875), (0.9875, 0.99375)]
    assert Gate(0.1, builds=50).worse_level == approx(0.999)


@pytest.mark.parametrize("margin", [0, -0.1, np.nan, np.inf])
def test_a_margin_is_above_0(margin):
    with pytest.raises(ValueError, match="above 0"):
        Gate(margin)


@pytest.mark.parametrize("gains", [[], [0.1], [0.1] * 5, [np.nan] * 9, [0.1] * 5 + [np.nan] * 9])
def test_below_six_topics_the_gate_cannot_tell(gains):
    found = answer_to(gains)
    assert (found.answer, found.low, found.high) == ("cannot tell", None, None)


def test_without_a_range_a_run_that_changes_nothing_has_no_number_of_topics():
    found = answer_to(np.zeros(500), half_range=None)
    assert (found.answer, found.needed, found.low) == ("cannot tell", None, None)


def test_groups_are_the_units_of_the_gate():
    gains = np.random.default_rng(4).normal(0, 0.1, 40)
    whole = decide_gate(gains, Gate(0.1), 0.5, groups=np.repeat(np.arange(5), 8))
    assert (whole.answer, whole.low) == ("cannot tell", None)
    tenth = decide_gate(gains, Gate(0.1), 0.5, groups=np.repeat(np.arange(10), 4))
    assert tenth.low < tenth.gain < tenth.high


@pytest.fixture
def runs(tmp_path, monkeypatch):
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["first", "second"], 1),
        (["second", "first"], 0),
        (["first", "first"], 0),
        (["first", "first", "--require-pass"], 4),
        (["first", "second", "--margin", "0"], 2),
        (["first", "second", "second"], 2),
    ],
)
def test_the_exit_status_of_the_gate(runs, words, status):
    command = ["compare", "qrels", "-m", "RR", "--margin", "0.05", *words]
    try:
        assert main(command) == status
    except SystemExit as end:
        assert end.code == status


def test_the_report_says_what_moved_and_what_is_unjudged(runs, capfd):
    main(["compare", "qrels", "first", "second", "-m", "RR", "--margin", "0.05"])
    said = capfd.readouterr().out
    assert "14 topics; they differ on 14. second is worse than first." in said
    assert "Unjudged in the first ten: 1.0, of first 1.0." in said
    assert "0_1    1.0000  0.5000     -0.5000" in said


def test_the_report_is_also_json(runs, capfd):
    main(["compare", "qrels", "first", "first", "-m", "RR", "--margin", "0.05", "--format", "json"])
    [report] = json.loads(capfd.readouterr().out)
    assert (report["answer"], report["outcome"]["needed"]) == ("cannot tell", 59)
    assert report["sentences"][0] == "No topic of 14 differs."


def test_options_of_the_gate_need_a_margin(runs, capfd):
    with pytest.raises(SystemExit):
        main(["compare", "qrels", "first", "second", "--require-pass"])
    assert "need --margin" in capfd.readouterr().err
