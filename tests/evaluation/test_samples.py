"""Measures of stratified samples, as NIST's sample_eval computes them."""

from io import BytesIO

import pytest

from evaluation.__main__ import main
from evaluation.judging import judge, prepare
from evaluation.measures import parse_measure
from evaluation.problems import Refused
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.runs.reader import read_run

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


POOLED = ["pool", "run", "--method", "strata", "--strata", "2:1,6:0.5", "--format", "sample"]
FULL = b"".join(b"1 0 %c %d\n" % pair for pair in zip(b"abcdef", (1, 0, 1, 1, 0, 1), strict=True))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").write_bytes(RUN)
    (tmp_path / "full").write_bytes(FULL)
    return tmp_path


def test_a_sample_lists_whole_strata_and_marks_what_was_drawn(folder, capfd):
    main(POOLED)
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert [line[2] for line in lines] == list("abcdef")
    assert [line[3:] for line in lines[:2]] == [["1", "?"]] * 2
    assert sorted(line[4] for line in lines[2:]) == ["-1", "-1", "?", "?"]


def test_a_judged_sample_is_scored(folder, capfd):
    main([*POOLED, "--qrels", "full"])
    (folder / "sample").write_bytes(capfd.readouterr().out.encode())
    drawn = [grade for *_, grade in map(str.split, (folder / "sample").open()) if grade != "-1"]
    assert main(["score", "sample", "run", "-m", "xinfAP", "-m", "num_rel"]) == 0
    out = capfd.readouterr().out.split()
    assert 0 < float(out[2]) <= 1.5
    assert int(out[5]) == sum(map(int, drawn))


def test_a_whole_sample_estimates_the_exact_value(folder, capfd):
    main([*POOLED, "--strata", "2:1,6:1", "--qrels", "full"])
    (folder / "sample").write_bytes(capfd.readouterr().out.encode())
    main(["score", "sample", "run", "-m", "xinfAP"])
    estimate = capfd.readouterr().out.split()[2]
    main(["score", "full", "run", "-m", "AP"])
    assert float(estimate) == pytest.approx(float(capfd.readouterr().out.split()[2]), abs=2e-4)


def test_a_sample_that_is_not_judged_yet_is_refused(folder, capfd):
    main(POOLED)
    (folder / "sample").write_bytes(capfd.readouterr().out.encode())
    assert main(["score", "sample", "run", "-m", "xinfAP"]) == 2
    assert "Judge this document" in capfd.readouterr().err


def test_only_strata_have_a_sample(folder):
    with pytest.raises(SystemExit):
        main(["pool", "run", "--format", "sample"])


def test_a_measure_that_cannot_estimate_is_named(folder, capfd):
    (folder / "qrels").write_bytes(SAMPLE)
    assert main(["score", "qrels", "run", "-m", "AP", "-m", "xinfAP", "-m", "num_ret"]) == 0
    (line,) = capfd.readouterr().err.splitlines()
    assert "a sample, which AP cannot estimate" in line


@pytest.mark.parametrize("qrels", [WHOLE, FULL])
def test_judgments_of_everything_give_no_warning(qrels, folder, capfd):
    (folder / "qrels").write_bytes(qrels)
    main(["score", "qrels", "run", "-m", "AP"])
    assert capfd.readouterr().err == ""


def test_check_says_what_a_sample_is_good_for(folder, capfd):
    (folder / "qrels").write_bytes(SAMPLE)
    assert main(["check", "--qrels", "qrels"]) == 0
    expected = (
        "of them 2 documents not drawn: a sample, from which only xinfAP and infNDCG estimate"
    )
    assert expected in capfd.readouterr().err


def test_one_stratum_drawn_in_part_is_warned_of(folder, capfd):
    main([*POOLED, "--strata", "6:0.5"])
    assert "xinfAP is too low from one stratum" in capfd.readouterr().err
    (folder / "sample").write_text("1 0 d1 1 1\n1 0 d2 1 -1\n")
    main(["score", "sample", "run", "-m", "xinfAP"])
    assert "Draw the first ten ranks in full." in capfd.readouterr().err
