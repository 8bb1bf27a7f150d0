"""Commands about judging: what kappa, settle, plan and reuse print."""

import gzip

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


@pytest.mark.parametrize(
    ("rule", "grades"),
    [
        ("first", "2 1 0 0 1 2"),
        ("majority", "2 1 0 0 1 2"),
        ("median", "2 0 0 0 1 2"),
        ("single", "2 - 0 - 1 2"),
        ("agreed", "2 - 0 - 1 2"),
    ],
)
def test_settle_prints_one_grade_per_document(capfd, rule, grades):
    assert main(["settle", "ada", "ben", "--rule", rule]) == 0
    documents = ["1 0 a", "1 0 b", "1 0 c", "2 0 a", "2 0 b", "2 0 c"]
    rows = zip(documents, grades.split(), strict=True)
    expected = [f"{document} {grade}" for document, grade in rows if grade != "-"]
    assert capfd.readouterr().out.splitlines() == expected


def test_settle_sorts_topics_and_docnos_as_other_commands_do(capfd, folder):
    (folder / "cat").write_bytes(b"2 0 b 1\n10 0 b 0\n10 0 a 2\n")
    main(["settle", "cat"])
    assert capfd.readouterr().out == "10 0 a 2\n10 0 b 0\n2 0 b 1\n"


def test_settle_tells_how_many_opinions_there_were(capfd):
    main(["settle", "ada", "ben", "--rule", "single"])
    assert capfd.readouterr().err == (
        "11 marks of 2 assessors\n"
        "1 document with one opinion\n"
        "5 documents with several opinions, 2 of them disputed\n"
        "2 documents without a grade\n"
    )


def test_settle_takes_the_decisions_of_an_organiser(capfd, folder):
    (folder / "decided").write_bytes(b"1 0 b 1\n2 0 a -1\n9 0 z 1\n")
    main(["settle", "ada", "ben", "--rule", "single", "--decisions", "decided"])
    printed = capfd.readouterr()
    assert "1 0 b 1\n" in printed.out and "2 0 a" not in printed.out
    assert "decisions about documents without marks, ignored: 1" in printed.err


@pytest.fixture
def assessors(folder):
    """A folder with the judgments of each assessor in a file of its own."""
    (folder / "assessors").mkdir()
    (folder / "assessors/ada.qrels").write_bytes(ADA)
    (folder / "assessors/ben.qrels.gz").write_bytes(gzip.compress(BEN))
    return folder / "assessors"


def test_settle_reads_a_folder_with_a_file_for_each_assessor(capfd, assessors):
    main(["settle", "ada", "ben"])
    files = capfd.readouterr()
    assert main(["settle", "assessors"]) == 0
    assert capfd.readouterr() == files


def test_settle_reads_a_folder_after_a_file(capfd, folder, assessors):
    (folder / "cat").write_bytes(b"1 0 a 0\n")
    assert main(["settle", "cat", "assessors"]) == 0
    printed = capfd.readouterr()
    assert printed.out.startswith("1 0 a 0\n") and "12 marks of 3 assessors" in printed.err


def test_settle_names_the_file_of_a_folder_that_is_rejected(capfd, assessors):
    (assessors / "cat.qrels").write_bytes(b"1 0 a x\n")
    assert main(["settle", "assessors"]) == 2
    assert "assessors: error: line 1: E_REL: cat.qrels: the grade" in capfd.readouterr().err


def test_settle_rejects_an_empty_folder(capfd, folder):
    (folder / "none").mkdir()
    assert main(["settle", "none"]) == 2
    assert "none: error: E_EMPTY: the folder has no files" in capfd.readouterr().err


def test_a_folder_is_not_an_export_of_doccano(capfd, assessors):
    assert main(["settle", "assessors", "--format", "doccano"]) == 2
    assert "assessors: error: Is a directory" in capfd.readouterr().err


MARK = '{"topic": "1", "docno": "a", "assessor": "ada", "grade": 2, "key": "k1"}\n'
BETTER = '{"topic": "1", "docno": "a", "assessor": "ada", "grade": 0, "replaces": "k1"}\n'


def test_settle_replays_corrections_across_files(capfd, folder):
    (folder / "one.jsonl").write_text(MARK)
    (folder / "two.jsonl").write_text(BETTER)
    assert main(["settle", "one.jsonl", "two.jsonl"]) == 0
    printed = capfd.readouterr()
    assert printed.out == "1 0 a 0\n"
    assert "2 marks of 1 assessor, 1 valid after corrections" in printed.err


def test_settle_shows_marks_that_it_counts_once(capfd, folder):
    (folder / "one.jsonl").write_text(MARK * 2)
    assert main(["settle", "one.jsonl"]) == 0
    assert "one.jsonl: note: line 2: W_AGAIN" in capfd.readouterr().err


def test_settle_reads_doccano_when_it_is_named(capfd, folder):
    (folder / "ada.jsonl").write_text('{"qid": 1, "docid": "a", "label": ["best (3)"]}\n')
    assert main(["settle", "ada.jsonl", "--format", "doccano"]) == 0
    assert capfd.readouterr().out == "1 0 a 3\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ada", "ada"], "ada: error: line 1: E_DUP_MARK"),
        (["ada", "none"], "none: error: No such file"),
        (["ada", "--format", "doccano"], "ada: error: line 1: E_JSON"),
        (["ada", "--decisions", "bad"], "bad: error: line 1: E_COLUMNS"),
    ],
)
def test_settle_prints_nothing_where_a_file_is_rejected(capfd, folder, words, message):
    (folder / "bad").write_bytes(b"1 a\n")
    assert main(["settle", *words]) == 2
    printed = capfd.readouterr()
    assert message in printed.err
    assert printed.out == ""


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


def test_plan_prints_the_topics_of_a_paired_test(capfd):
    assert main(["plan", "--effect", "0.5", "0.3", "0.2", "--format", "tsv"]) == 0
    alone = [row[3] for row in table(capfd.readouterr().out) if row[0] == "paired t"]
    assert alone == ["34", "90", "199"]


def test_plan_prints_the_topics_of_a_run_in_its_family(capfd):
    assert main(["plan", "--effect", "0.5384", "--runs", "12", "--format", "tsv"]) == 0
    rows = [row[:2] + row[3:] for row in table(capfd.readouterr().out)[2:]]
    assert rows == [["baseline", "12", "50"], ["all pairs", "12", "66"]]


def test_plan_prints_the_topics_of_an_analysis_of_variance(capfd):
    typed = ["--variance", "0.0462", "--difference", "0.1", "--runs", "2", "3", "10"]
    assert main(["plan", *typed, "--format", "tsv"]) == 0
    found = [row[3] for row in table(capfd.readouterr().out) if row[0] == "ANOVA"]
    assert found == ["74", "91", "146"]


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
