"""Expected values over the orders of equal scores, beside the mean of every order."""

from __future__ import annotations

from io import BytesIO
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from evaluation.__main__ import main
from evaluation.conventions import TREC_EVAL_9
from evaluation.expectations import EXPECTED, TiedRun, expected_scores, find_ties
from evaluation.judging import judge, prepare
from evaluation.measures import MeasureError, parse_measure
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.runs.reader import read_run

QRELS = b"1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 3\n1 0 z 1\n2 0 e 1\n3 0 g 1\n"
LEVELS = ((b"u",), (b"a", b"b", b"x"), (b"v",), (b"c", b"d", b"w"))
TEXTS = """
P@1 P@2 P@3 P(rel=2)@6 R@3 R(rel=2)@7 RCap@3 F@3 F(beta=2)@7 Success@1 Success@3 Success(rel=3)@7
RR RR@2 RR(rel=3) RR(rel=3)@6 AP AP@3 AP@7 AP(rel=2) AP(norm=cap)@3 DCG DCG@3 DCG(gain=exp)@6
DCG(discount=jk)@7 nDCG nDCG@2 nDCG@7 nDCG(ideal=retrieved)@3 nDCG(gains={1:3,2:9})@6
"""


def run_of(levels) -> bytes:
    """Return a run in which the documents of a level have equal scores; topic 2 has no tie."""
    lines = [(docno, 90 - place) for place, level in enumerate(levels) for docno in level]
    written = b"".join(b"1 Q0 %b 1 %d t\n" % line for line in lines)
    return written + b"2 Q0 f 1 9 t\n2 Q0 e 2 8 t\n9 Q0 e 1 8 t\n"


def tied(run: bytes, qrels: bytes = QRELS) -> TiedRun:
    read, judgments = read_run(BytesIO(run)), prepare(read_qrels(BytesIO(qrels)))
    return find_ties(read, judge(read, judgments))


def mean_of_all_orders(measure):
    orders = [
        [b"u", *second, b"v", *fourth]
        for second in permutations(LEVELS[1])
        for fourth in permutations(LEVELS[3])
    ]
    scores = [measure.scores(tied(run_of([(d,) for d in order])).run) for order in orders]
    return np.mean(scores, axis=0)


@pytest.mark.parametrize("text", TEXTS.split())
def test_the_expected_value_is_the_mean_of_all_orders(text):
    measure = parse_measure(text)
    found = expected_scores(measure, tied(run_of(LEVELS)))
    assert found == pytest.approx(mean_of_all_orders(measure), abs=1e-12)


def test_every_closed_form_is_tried():
    assert {parse_measure(text).name for text in TEXTS.split()} == EXPECTED.keys()


def test_the_worked_example_of_two_documents_for_one_rank():
    qrels = b"1 0 a 10\n1 0 b 0\n1 0 c 0\n1 0 d 1\n1 0 e 5\n"
    run = b"1 Q0 a 1 1 t\n1 Q0 b 2 0 t\n1 Q0 c 3 0 t\n1 Q0 d 4 0 t\n1 Q0 e 5 1 t\n"
    assert expected_scores(parse_measure("nDCG@1"), tied(run, qrels)).tolist() == [0.75]


def test_scores_that_are_equal_as_32_bit_floats_are_a_tie():
    run = read_run(BytesIO(b"2 Q0 f 1 1.00000001 t\n2 Q0 e 2 1 t\n"))
    judged = judge(run, prepare(read_qrels(BytesIO(QRELS))), convention=TREC_EVAL_9)
    assert expected_scores(parse_measure("RR"), find_ties(run, judged)).tolist() == [0, 0.75, 0]


@pytest.mark.parametrize(
    "text",
    ["Bpref", "ERR@5", "GMAP", "AP(norm=hits)", "P(holes=condensed)@5"],
)
def test_a_measure_without_a_closed_form_is_refused(text):
    with pytest.raises(MeasureError, match="no closed form"):
        expected_scores(parse_measure(text), tied(run_of(LEVELS)))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_bytes(b"1 0 a 1\n1 0 b 0\n2 0 c 1\n")
    (tmp_path / "run").write_bytes(b"1 Q0 a 1 5 t\n1 Q0 b 2 5 t\n")


@pytest.mark.parametrize("options", [[], ["--lenient"], ["--convention", "trec_eval-9"]])
def test_the_command_prints_expected_values(options, folder, capfd):
    asked = ["-m", "recip_rank", "-m", "num_ret"]
    assert main(["score", "qrels", "run", "--ties", "expected", *asked, *options]) == 0
    assert capfd.readouterr().out.split() == ["recip_rank", "all", "0.3750", "num_ret", "all", "2"]


@pytest.mark.parametrize(
    ("options", "message"), [(["-m", "bpref"], "closed form"), (["-M9", "-m", "P_5"], "-M")]
)
def test_the_command_says_what_it_cannot_compute(options, message, folder, capfd):
    assert main(["score", "qrels", "run", "--ties", "expected", *options]) == 2
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("command", ["compare", "pairs"])
def test_runs_are_compared_by_expected_values(command, folder, capfd):
    Path("other").write_bytes(b"1 Q0 b 1 9 u\n1 Q0 a 2 5 u\n2 Q0 c 1 5 u\n")
    asked = ["--ties", "expected", "-m", "RR", "--format", "tsv"]
    assert main([command, "qrels", "run", "other", *asked]) == 0
    cells = capfd.readouterr().out.split()
    assert "+0.3750" in cells, "(0.5 + 1) / 2 less (0.75 + 0) / 2"
    assert main([command, "qrels", "run", "other", "--ties", "expected", "-M9"]) == 2
    assert "remove -J and -M" in capfd.readouterr().err
