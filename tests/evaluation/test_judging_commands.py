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
