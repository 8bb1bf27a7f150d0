"""The commands that hold many runs to each other: pairs, agree, overlap, bounds."""

import re

import numpy as np
import pytest

from evaluation.__main__ import main
from evaluation.agreement import rbo, tau_ap, tau_matrix
from evaluation.comparison import Records
from evaluation.measures import Measure
from evaluation.significance import compare_all_pairs, tukey_hsd

QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 c 1\n3 0 d 1\n"
RUNS = {
    "good": {"1": "ab", "2": "ac", "3": "dx"},
    "fair": {"1": "ba", "2": "xa", "3": "dx"},
    "poor": {"1": "xy", "2": "xb", "3": "xd"},
}
AP = {"good": [1, 1, 1], "fair": [1 / 2, 1 / 4, 1], "poor": [0, 0, 1 / 2]}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working directory with judgments and three runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    for tag, rankings in RUNS.items():
        lines = [
            f"{topic} Q0 {docno} {rank} {9 - rank} {tag}\n"
            for topic, docnos in rankings.items()
            for rank, docno in enumerate(docnos, 1)
        ]
        (tmp_path / tag).write_text("".join(lines))
    return tmp_path


def printed(capfd, *words: str) -> list[list[str]]:
    """The cells that a command prints beneath its head, and a note of one cell."""
    assert main([*words, "--format", "tsv", "--digits", "6"]) == 0
    return [line.split("\t") for line in capfd.readouterr().out.splitlines()[1:]]


def test_pairs_have_their_differences_and_p_best_run_first(capfd):
    *lines, [note] = printed(capfd, "pairs", "qrels", "poor", "good", "fair", "--method", "hsd")
    pairs = tukey_hsd(np.array([AP["poor"], AP["good"], AP["fair"]], dtype=float))
    assert [line[1:3] for line in lines] == [["good", "fair"], ["good", "poor"], ["fair", "poor"]]
    assert lines[1][3:] == [f"{pairs.differences[1, 0]:+.6f}", f"{pairs.p[1, 0]:.3g}"]
    assert f"3 runs and 3 topics; alpha 0.05, margin {pairs.margin:.6f}" in note


def test_ranks_are_those_that_each_run_may_have(capfd):
    lines = printed(capfd, "pairs", "qrels", "good", "fair", "poor", "--ranks", "--method", "hsd")[
        :3
    ]
    pairs = tukey_hsd(np.array(list(AP.values()), dtype=float))
    assert [int(line[5]) for line in lines] == pairs.rank_high.tolist()
    assert [line[2] for line in lines] == list(pairs.letters)


def test_pairs_are_tested_by_the_studentised_maximum(capfd):
    *lines, [note] = printed(capfd, "pairs", "qrels", "poor", "good", "fair")
    pairs = compare_all_pairs(np.array([AP["poor"], AP["good"], AP["fair"]], dtype=float))
    assert lines[1][3:] == [f"{pairs.differences[1, 0]:+.6f}", f"{pairs.p[1, 0]:.3g}"]
    assert "studentised maximum over 3 runs and 3 topics" in note


def test_a_comparison_can_ask_about_all_pairs(capfd):
    *lines, [note] = printed(capfd, "compare", "qrels", *RUNS, "--family", "all", "-m", "AP")
    *pairs, _ = printed(capfd, "pairs", "qrels", *RUNS, "-m", "AP")
    assert {line[8] for line in lines[1:]} <= {pair[4] for pair in pairs}
    assert "all pairs of 3 runs" in note


def test_one_variance_for_unequal_pairs_is_warned_of(capfd):
    for method, is_warned in (("hsd", True), ("randomised", True), ("maximum", False)):
        assert main(["pairs", "qrels", "poor", "good", "fair", "--method", method]) == 0
        assert ("use --method maximum" in capfd.readouterr().err) == is_warned


def test_three_topics_carry_no_verdict_of_flips_at_any_level(capfd):
    words = ["compare", "qrels", "poor", "good", "--alpha", "0.4"]
    verdicts = [
        printed(capfd, *words, *more)[1][2] for more in ([], ["--family", "all"], ["--test", "t"])
    ]
    assert verdicts == ["not significant", "not significant", "better"]


def test_measures_agree_as_their_boards_do(capfd):
    words = ("agree", "qrels", *RUNS, "-m", "AP", "-m", "P@1")
    [_, _, tau, tau_of_tops], *_ = printed(capfd, *words)
    boards = np.array([[np.mean(AP[tag]) for tag in RUNS], [3, 1, 0]])
    assert float(tau) == pytest.approx(tau_matrix(boards)[0, 1])
    assert float(tau_of_tops) == pytest.approx(tau_ap(*boards))


def test_overlap_is_told_topic_by_topic(capfd):
    lines = printed(capfd, "overlap", "good", "fair")[:3]
    assert [line[0] for line in lines] == ["1", "2", "3"]
    assert lines[1][1] == f"{rbo('ac', 'xa'):.6f}" and lines[2][1] == "1.000000"


def test_a_topic_that_one_run_leaves_out_has_no_overlap(capfd, folder):
    (folder / "short").write_text("1 Q0 a 1 9 short\n")
    assert [line[1] for line in printed(capfd, "overlap", "good", "short")[1:3]] == ["0.000000"] * 2


def test_a_topic_of_any_bytes_is_printed_as_it_is(capfdbinary, folder):
    (folder / "odd").write_bytes(b"\xff Q0 a 1 9 odd\n")
    assert main(["overlap", "--lenient", "odd", "odd", "--format", "tsv"]) == 0
    assert b"\xff\t1.0000\n" in capfdbinary.readouterr().out


def test_bounds_judge_all_that_is_unjudged_one_way_and_the_other(capfd):
    good, poor = printed(capfd, "bounds", "qrels", "good", "poor", "-m", "P@2")
    assert good == ["P@2", "good", "0.666667", "0.666667", "0.833333"]
    assert poor == ["P@2", "poor", "0.166667", "0.166667", "1.000000"]


def test_what_is_no_bound_is_marked(capfd):
    line, note = printed(capfd, "bounds", "qrels", "poor", "-m", "AP")
    assert line[0] == "AP*" and "two scenarios" in note[0]


def test_a_measure_without_bounds_is_refused(capfd):
    assert main(["bounds", "qrels", "good", "-m", "num_ret"]) == 2
    assert "has no bounds" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["pairs", "agree", "bounds", "overlap"])
def test_a_faulty_run_is_told_with_its_line(command, capfd, folder):
    (folder / "faulty").write_text("1 Q0 a 1 9 faulty\n1 Q0 b 2 high faulty\n")
    judgments = [] if command == "overlap" else ["qrels"]
    assert main([command, *judgments, "good", "faulty"]) == 2
    assert re.search(r"faulty: error: line 2", capfd.readouterr().err)


@pytest.mark.parametrize("words", [["pairs"], ["compare", "--family", "all"]])
def test_a_run_without_any_value_is_left_out_by_name(words, capfd, folder, monkeypatch):
    """No measure is undefined for one run of these alone, so one is made so."""
    topics = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    rows = np.array([topics, topics**2, np.full(6, np.nan)])
    monkeypatch.setattr(Records, "scores", lambda self, measure: rows[: len(self.tags)])
    monkeypatch.setattr(Measure, "aggregate", lambda self, row: float(np.mean(row)))
    *lines, [note] = printed(capfd, words[0], "qrels", "good", "fair", "poor", *words[1:])
    p = f"{compare_all_pairs(rows[:2]).p[0, 1]:.3g}"
    assert next(line for line in lines if "fair" in line[1:3])[4 if words == ["pairs"] else 8] == p
    assert "excluded, undefined on every topic: poor" in note
