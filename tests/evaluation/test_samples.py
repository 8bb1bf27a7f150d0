"""Measures of stratified samples, as NIST's sample_eval computes them."""

from io import BytesIO

import pytest

from evaluation.__main__ import main
from evaluation.judging import judge, prepare
from evaluation.measures import parse_measure
from evaluation.problems import Refused
from evaluation.reading.qrels import read_qrels
from evaluation.reading.runs import read_run

SAMPLE = b"1 0 a 1 1\n1 0 b 1 0\n1 0 c 2 1\n1 0 d 2 -1\n1 0 e 2 0\n1 0 f 2 -1\n"
WHOLE = b"1 0 a 1 1\n1 0 b 1 0\n1 0 c 2 2\n1 0 d 2 0\n1 0 e 2 1\n1 0 f 2 0\n"
RUN = b"".join(b"1 Q0 %c %d %d t\n" % (c, n, 9 - n) for n, c in enumerate(b"abdcef", 1))


def score(text: str, qrels: bytes) -> float:
    judgments = prepare(read_qrels(BytesIO(qrels), format="strata"))
    return float(parse_measure(text).scores(judge(read_run(BytesIO(RUN)), judgments))[0])


@pytest.mark.parametrize(("text", "value"), [("xinfAP", 0.7222), ("infNDCG", 0.8735)])
def test_a_sample_is_scored_as_by_sample_eval(text, value):
    assert round(score(text, SAMPLE), 4) == value


@pytest.mark.parametrize(("estimate", "exact"), [("xinfAP", "AP"), ("infNDCG", "nDCG")])
def test_a_sample_of_everything_is_no_estimate(estimate, exact):
    assert score(estimate, WHOLE) == pytest.approx(score(exact, WHOLE), abs=1e-4)


def test_the_command_reads_five_columns(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_bytes(SAMPLE)
    (tmp_path / "run").write_bytes(RUN)
    assert main(["score", "qrels", "run", "-m", "xinfAP", "-m", "infNDCG"]) == 0
    assert capfd.readouterr().out.split() == ["xinfAP", "all", "0.7222", "infNDCG", "all", "0.8735"]


def test_problems_of_a_sample_have_their_lines():
    with pytest.raises(Refused) as refusal:
        read_qrels(BytesIO(b"1 0 a 1 1\n1 0 b 0\n1 0 c 2 x\n"), format="strata")
    found = [(problem.code, problem.line) for problem in refusal.value.problems]
    assert found == [("E_COLUMNS", 2), ("E_REL", 3)]
