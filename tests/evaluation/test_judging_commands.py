"""Commands about judging: what kappa, plan and reuse print."""

import pytest
from pytest import approx

from evaluation.__main__ import main

ADA = b"1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 a 0\n2 0 b 1\n"
BEN = b"1 0 a 2\n1 0 b 0\n1 0 c 0\n2 0 a 1\n2 0 b 1\n2 0 c 2\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working directory with the judgments of two assessors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ada").write_bytes(ADA)
    (tmp_path / "ben").write_bytes(BEN)
    return tmp_path


def table(out: str) -> list[list[str]]:
    return [line.split("\t") for line in out.splitlines() if not line.startswith("#")]


def values(out: str) -> dict[str, float]:
    return {row[1]: float(row[3]) for row in table(out)[1:]}


def test_kappa_prints_the_statistics_of_two_files(capfd):
    assert main(["kappa", "ada", "ben", "--format", "tsv", "--digits", "6"]) == 0
    found = values(capfd.readouterr().out)
    assert found["kappa"] == approx(1 - 0.4 / 0.64, abs=1e-6)
    assert found["kappa_quadratic"] == approx(1 - 0.4 / 1.12, abs=1e-6)
    assert (found["overlap"], found["negative"]) == (0.5, 0.5)


def test_kappa_reads_assessors_from_the_second_column(capfd, folder):
    both = ADA.replace(b" 0 ", b" ada ") + BEN.replace(b" 0 ", b" ben ")
    (folder / "both").write_bytes(both)
    assert main(["kappa", "both", "--format", "tsv"]) == 0
    out = capfd.readouterr().out
    assert table(out)[1][:4] == ["ada ben", "agreement", "5", "0.6000"]


def test_kappa_by_topic_names_the_topic(capfd):
    main(["kappa", "ada", "ben", "-q", "--format", "tsv"])
    rows = table(capfd.readouterr().out)
    agreed = [(row[0], row[4]) for row in rows if row[2] == "agreement"]
    assert agreed == [("1", "0.6667"), ("2", "0.5000"), ("all", "0.6000")]


def test_kappa_with_bin_makes_grades_binary(capfd):
    main(["kappa", "ada", "ben", "--bin", "2", "--format", "tsv"])
    assert values(capfd.readouterr().out)["kappa"] == 1.0


def test_kappa_needs_two_assessors(capfd):
    with pytest.raises(SystemExit):
        main(["kappa", "ada"])
    assert "two assessors are needed" in capfd.readouterr().err


def test_a_line_with_a_wrong_grade_is_reported_where_it_is(capfd, folder):
    (folder / "both").write_bytes(b"1 ada a 2\n1 ben a x\n")
    assert main(["kappa", "both"]) == 2
    assert "line 2" in capfd.readouterr().err


QRELS = b"1 0 a 1\n1 0 b 1\n1 0 c 0\n1 0 d 1\n2 0 a 1\n2 0 e 1\n"
RUNS = {
    "one": b"1 Q0 a 1 9 one\n1 Q0 b 2 8 one\n2 Q0 a 1 9 one\n",
    "two": b"1 Q0 b 1 9 two\n1 Q0 c 2 8 two\n2 Q0 e 1 9 two\n",
    "six": b"1 Q0 c 1 9 six\n1 Q0 a 2 8 six\n2 Q0 a 1 9 six\n",
}


@pytest.fixture
def runs(folder):
    (folder / "qrels").write_bytes(QRELS)
    for name, text in RUNS.items():
        (folder / name).write_bytes(text)
    return ["qrels", *RUNS]


def topics(out: str) -> list[str]:
    return [row[3] for row in table(out)[1:]]


def test_plan_prints_the_topics_of_a_paired_test(capfd):
    assert main(["plan", "--effect", "0.5", "0.3", "0.2", "--format", "tsv"]) == 0
    assert topics(capfd.readouterr().out) == ["34", "90", "199"]


def test_plan_prints_the_topics_of_an_analysis_of_variance(capfd):
    typed = ["--variance", "0.0462", "--difference", "0.1", "--runs", "2", "3", "10"]
    assert main(["plan", *typed, "--format", "tsv"]) == 0
    assert topics(capfd.readouterr().out)[1:] == ["74", "91", "146"]


def test_plan_needs_a_variance_for_a_difference(capfd):
    with pytest.raises(SystemExit):
        main(["plan", "--difference", "0.1"])
    assert "need --variance" in capfd.readouterr().err


def test_plan_compares_pools_by_the_runs_at_hand(capfd, runs):
    assert main(["plan", *runs, "--depth", "1", "2", "--seconds", "600", "--format", "tsv"]) == 0
    depths = [row for row in table(capfd.readouterr().out) if len(row) == 7]
    # At depth 1 the runs bring a, b and c for topic 1, a and e for topic 2.
    pool = ["5", "5", "4", "0.8"]
    assert [row[:5] for row in depths[1:]] == [["1", *pool], ["2", *pool]]


def test_reuse_takes_from_a_team_what_only_it_found(capfd, runs):
    assert main(["reuse", *runs, "-m", "P@1", "--format", "tsv"]) == 0
    rows = {row[0]: row for row in table(capfd.readouterr().out)}
    assert rows["two"][2:9] == ["1", "1", "1.0000", "0.5000", "-50.0", "1", "2"]


def test_a_team_without_own_documents_does_not_move(capfd, runs):
    main(["reuse", *runs, "-m", "P@1", "--format", "tsv"])
    rows = {row[0]: row for row in table(capfd.readouterr().out)}
    assert rows["one"][2:] == ["0", "0", "1.0000", "1.0000", "+0.0", "1", "1", "1.0000"]


def test_reuse_refuses_a_team_with_an_unknown_run(capfd, runs):
    with pytest.raises(SystemExit):
        main(["reuse", *runs, "--team", "ada=none"])
    assert "no run has the tag none" in capfd.readouterr().err
