"""python -m evaluation: what it prints and how it ends."""

import gzip
import io
import json
import re
import subprocess
import sys

import pytest

from evaluation.__main__ import main
from evaluation.reading import paths
from evaluation.reading.fast import blocks

QRELS = b"1 0 a 2\n1 0 b 0\n2 0 a 1\n10 0 c 1\n"
RUN = b"1 Q0 b 1 9 bm25\n1 Q0 a 2 8 bm25\n2 Q0 a 1 3 bm25\n2 Q0 x 2 1 bm25\n"
BETTER = b"1 Q0 a 1 9 rrf\n2 Q0 a 1 3 rrf\n10 Q0 c 1 1 rrf\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working directory with judgments and two runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "run").write_bytes(RUN)
    (tmp_path / "better").write_bytes(BETTER)
    return tmp_path


def lines_of(out: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("\t")] for line in out.splitlines()]


def test_score_prints_the_three_columns_of_trec_eval(capfd):
    assert main(["score", "-q", "-c", "-m", "map", "-m", "num_ret", "qrels", "run"]) == 0
    assert capfd.readouterr().out == (
        "map                   \t1\t0.5000\n"
        "num_ret               \t1\t2\n"
        "map                   \t10\t0.0000\n"
        "num_ret               \t10\t0\n"
        "map                   \t2\t1.0000\n"
        "num_ret               \t2\t2\n"
        "map                   \tall\t0.5000\n"
        "num_ret               \tall\t4\n"
    )


def test_measures_are_named_as_they_were_asked_for(capfd):
    main(["score", "qrels", "run", "-m", "MRR@10", "-m", "P.2,1", "-m", "AP(rel=2)"])
    names = [line[0] for line in lines_of(capfd.readouterr().out)]
    assert names == ["MRR@10", "P_1", "P_2", "AP(rel=2)"]


def test_a_measure_asked_for_twice_is_printed_once(capfd):
    main(["score", "qrels", "run", "-m", "map", "-m", "official"])
    names = [line[0] for line in lines_of(capfd.readouterr().out)]
    assert names.count("map") == 1


def test_without_a_measure_the_official_ones_are_printed(capfd):
    main(["score", "qrels", "run"])
    names = [line[0] for line in lines_of(capfd.readouterr().out)]
    assert names[:6] == ["num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map"]


def test_seventeen_digits_keep_every_bit(capfd):
    main(["score", "qrels", "run", "-m", "P@3", "--digits", "17"])
    assert lines_of(capfd.readouterr().out) == [["P@3", "all", "0.22222222222222221"]]


def test_intersection_leaves_out_topics_that_the_run_skips(capfd):
    main(["score", "--intersection", "qrels", "run", "-m", "map", "-m", "num_q"])
    assert lines_of(capfd.readouterr().out) == [["map", "all", "0.7500"], ["num_q", "all", "2"]]


@pytest.mark.parametrize(
    ("options", "mean", "topics"),
    [
        (["--without-topics", "10"], "0.7500", "2"),
        (["--without-topics", "1 10"], "1.0000", "1"),
        (["-l", "2", "--drop-empty-topics"], "0.5000", "1"),
        (["-l", "0", "--drop-empty-topics"], "0.6667", "3"),
    ],
)
def test_topics_are_left_out_of_the_means(options, mean, topics, capfd):
    main(["score", "qrels", "run", *options, "-m", "map", "-m", "num_q"])
    assert lines_of(capfd.readouterr().out) == [["map", "all", mean], ["num_q", "all", topics]]


def test_a_topic_left_out_that_is_not_judged_is_noted(capfd):
    assert main(["score", "qrels", "run", "--without-topics", "10 11", "-m", "num_q"]) == 0
    out, err = capfd.readouterr()
    assert lines_of(out) == [["num_q", "all", "2"]]
    assert err == "qrels: note: topic 11 is not judged\n"


def test_compare_leaves_topics_out_as_well(capfd):
    main(["compare", "qrels", "run", "better", "--without-topics=10 2", "--format", "tsv"])
    _, baseline, better, _ = lines_of(capfd.readouterr().out)
    assert (baseline[3], better[3], better[10:]) == ("0.5000", "1.0000", ["1", "0", "0"])


@pytest.mark.parametrize(
    "command",
    [
        *(["score"], ["score", "--intersection"], ["score", "--fix", "q0"]),
        *(["compare"], ["pairs"], ["agree"], ["bounds"], ["curve"], ["plan"], ["reuse"]),
        ["simulate"],
    ],
)
def test_a_run_without_a_judged_topic_is_rejected(command, folder, capfd):
    (folder / "other").write_bytes(b"q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n")
    name, *options = command
    assert main([name, "qrels", "other", "other", *options]) == 2
    out, err = capfd.readouterr()
    assert 'no topic of the run is judged: the run has "q1", the judgments "1"' in err
    assert out == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["overlap", "run", "other"], 'the first has "1", the second "T1"'),
        (["pool", "other", "--qrels", "qrels"], 'the run has "T1", the judgments "1"'),
    ],
)
def test_runs_to_overlap_or_pool_have_a_topic_in_common(words, message, folder, capfd):
    (folder / "other").write_bytes(b"T1 Q0 a 1 1 t\n")
    assert main(words) == 2
    assert message in capfd.readouterr().err
    assert main([*words, "--fix", "topics"]) == 0


def test_a_run_without_a_judged_topic_is_scored_as_trec_eval_does_if_asked(folder, capfd):
    (folder / "other").write_bytes(b"q1 Q0 a 1 1 t\n")
    assert main(["score", "qrels", "other", "--lenient", "-m", "AP"]) == 0
    out, err = capfd.readouterr()
    assert lines_of(out) == [["AP", "all", "0.0000"]]
    assert "no topic of the run is judged" in err


def test_a_run_of_judged_topics_that_are_left_out_scores_zero(folder, capfd):
    (folder / "other").write_bytes(b"1 Q0 a 1 1 t\n")
    assert main(["score", "qrels", "other", "-m", "AP", "--without-topics", "1"]) == 0
    assert lines_of(capfd.readouterr().out) == [["AP", "all", "0.0000"]]


@pytest.mark.parametrize("command", ["score", "compare", "reuse"])
def test_topics_with_a_prefix_are_read_once_the_repair_is_named(command, folder, capfd):
    for name in ("run", "better"):
        text = (folder / name).read_bytes().replace(b"\n", b"\nAR00")
        (folder / name).write_bytes(b"AR00" + text.removesuffix(b"AR00"))
    assert main([command, "qrels", "run", "better", "-m", "AP"]) == 2
    assert "Read AR001 as 1, and so on? Repair with --fix topics." in capfd.readouterr().err
    assert main([command, "qrels", "run", "better", "-m", "AP", "--fix", "topics"]) == 0


@pytest.mark.parametrize(
    ("options", "value"),
    [
        (["-l2", "-m", "map"], "0.1667"),
        (["-M1", "-m", "map"], "0.3333"),
        (["-J", "-m", "num_ret"], "3"),
        (["--top-grade", "3", "-m", "ERR@5"], "0.1042"),
        (["--convention", "trec_eval-9", "-m", "iprec_at_recall_0.50"], "0.5000"),
    ],
)
def test_options_reach_the_measures(options, value, capfd):
    main(["score", "qrels", "run", *options])
    assert lines_of(capfd.readouterr().out)[0][2] == value


def test_several_runs_follow_each_other_behind_their_tags(capfd):
    main(["score", "qrels", "run", "better", "-m", "map"])
    assert lines_of(capfd.readouterr().out) == [
        ["runid", "all", "bm25"],
        ["map", "all", "0.5000"],
        ["runid", "all", "rrf"],
        ["map", "all", "1.0000"],
    ]


def test_several_processes_print_what_one_prints(folder, capfd):
    names = ["ben.run", "missing.run", "cat.run", "bad.run"]
    (folder / "ben.run").write_text("1 Q0 d1 1 9 ben\n")
    (folder / "cat.run").write_text("1 Q0 d9 1 9 cat\n1 Q0 d1 2 8 cat\n")
    (folder / "bad.run").write_text("1 Q0 d1 1 nan ben\n")
    (folder / "qrels").write_text("1 0 d1 1\n")
    told = []
    for processes in ("1", "2", "4", "9"):
        status = main(["score", "--processes", processes, "qrels", *names])
        told.append((status, *capfd.readouterr()))
    assert told[0][0] == 2 and "E_SCORE" in told[0][2]
    assert told[1:] == told[:1] * 3


def test_json_holds_full_precision_and_null_for_undefined(capfd):
    main(["score", "-q", "--format", "json", "qrels", "run", "-m", "AUC", "-m", "map"])
    (run,) = json.loads(capfd.readouterr().out)["runs"]
    assert run["scores"]["AUC"] == {
        "measure": "AUC",
        "all": 0.0,
        "topics": {"1": 0.0, "10": None, "2": None},
    }
    assert run["scores"]["map"]["measure"] == "AP"


@pytest.mark.parametrize(
    ("form", "table"),
    [
        ("tsv", "run\tmap\tP_1\nbm25\t0.5000\t0.3333\nrrf\t1.0000\t1.0000\n"),
        (
            "md",
            "| run | map | P_1 |\n| :-- | --: | --: |\n"
            "| bm25 | 0.5000 | 0.3333 |\n| rrf | 1.0000 | 1.0000 |\n",
        ),
        (
            "tex",
            "\\begin{tabular}{lrr}\n\\hline\nrun & map & P\\_1 \\\\\n\\hline\n"
            "bm25 & 0.5000 & 0.3333 \\\\\nrrf & 1.0000 & 1.0000 \\\\\n\\hline\n\\end{tabular}\n",
        ),
    ],
)
def test_tables_have_a_line_for_each_run(form, table, capfd):
    main(["score", "--format", form, "qrels", "run", "better", "-m", "map", "-m", "P.1"])
    assert capfd.readouterr().out == table


def test_with_q_tables_have_a_line_for_each_topic(capfd):
    main(["score", "-q", "--format", "tsv", "qrels", "run", "-m", "map"])
    topics = [line[1] for line in lines_of(capfd.readouterr().out)]
    assert topics == ["topic", "1", "10", "2", "all"]


def test_a_compressed_run_is_unpacked(folder, capfd):
    (folder / "run.gz").write_bytes(gzip.compress(RUN))
    main(["score", "qrels", "run.gz", "-m", "map"])
    assert lines_of(capfd.readouterr().out) == [["map", "all", "0.5000"]]


def test_a_run_comes_from_the_standard_input(monkeypatch, capfd):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(RUN))))
    main(["score", "qrels", "-", "-m", "map"])
    assert lines_of(capfd.readouterr().out) == [["map", "all", "0.5000"]]


def test_identifiers_that_are_not_utf8_come_back_as_the_same_bytes(folder, capfdbinary):
    (folder / "latin").write_bytes(b"caf\xe9 0 d\xe9 1\n")
    (folder / "run").write_bytes(b"caf\xe9 Q0 d\xe9 1 1 t\n")
    for form, line in (
        ("trec", b"P_1                   \tcaf\xe9\t1.0000"),
        ("tsv", b"t\tcaf\xe9\t1"),
    ):
        main(["score", "--lenient", "-q", "--format", form, "latin", "run", "-m", "P.1"])
        assert line in capfdbinary.readouterr().out


def test_a_refused_run_is_explained_and_the_others_are_scored(folder, capfd):
    (folder / "bad").write_bytes(b"1 Q0 a 1 nan t\n1 Q0 b\n")
    assert main(["score", "qrels", "bad", "run", "-m", "map"]) == 2
    printed = capfd.readouterr()
    assert "bad: error: line 1: E_SCORE" in printed.err
    assert "bad: error: line 2: E_COLUMNS" in printed.err
    assert lines_of(printed.out) == [["map", "all", "0.5000"]]


def test_many_problems_are_counted_after_the_first_fifty(folder, capfd):
    good = b"".join(b"1 Q0 d%d 1 1 t\n" % number for number in range(60))
    (folder / "bad").write_bytes(b"1 Q0 a 1 nan t\n" * 60 + good)
    main(["score", "qrels", "bad"])
    errors = capfd.readouterr().err
    assert errors.count(": error: line") == 50
    assert "E_SCORE 60" in errors


def test_check_and_score_repair_what_they_are_asked_to(folder, capfd):
    (folder / "blank").write_bytes(b"1 Q0 a 1 2 LMD m\n1 Q0 b 2 1 LMD m\n")
    assert main(["check", "blank"]) == 2
    assert "Use LMD-m as the tag? Repair with --fix tag." in capfd.readouterr().out
    assert main(["check", "blank", "--fix", "tag"]) == 0
    assert "accepted, tag LMD-m" in capfd.readouterr().err
    assert main(["score", "qrels", "blank", "--fix", "tag", "--tag", "lmd", "-m", "map"]) == 0


def test_score_spells_topics_as_the_judgments_do(folder, capfd):
    (folder / "other").write_bytes((folder / "run").read_bytes().replace(b"1 Q0", b"MB001 Q0"))
    assert main(["score", "qrels", "run", "-m", "map"]) == 0
    expected = capfd.readouterr().out
    assert main(["score", "qrels", "other", "-m", "map", "--fix", "topics"]) == 0
    assert capfd.readouterr().out == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["qrels", "nosuch"], "nosuch: error: No such file"),
        (["nosuch", "run"], "nosuch: error: No such file"),
        (["qrels", "run", "--top-grade", "1"], "qrels: error: E_TOP_GRADE"),
    ],
)
def test_a_file_that_cannot_be_used_exits_2(arguments, message, capfd):
    assert main(["score", *arguments]) == 2
    assert message in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "nosuch"], "no such measure; there are P, R"),
        (["-m", "nDCG@0"], "k is an integer of at least 1"),
        (["-m", "P.5,5"], "given twice"),
        (["-m", "runid"], "not implemented"),
        (["-l", "-1"], "expected an integer of at least 0"),
        (["-M", "0"], "expected an integer of at least 1"),
        (["--digits", "x"], "expected an integer"),
        (["-N", "1000"], "unrecognized arguments"),
    ],
)
def test_a_command_that_is_not_understood_exits_2(arguments, message, capfd):
    with pytest.raises(SystemExit) as stopped:
        main(["score", "qrels", "run", *arguments])
    assert stopped.value.code == 2
    assert message in capfd.readouterr().err


def test_a_grade_too_high_for_its_gain_is_told(folder, capfd):
    (folder / "qrels").write_bytes(b"1 0 a 2000\n")
    assert main(["score", "--lenient", "qrels", "run", "-m", "nDCG(gain=exp)@5"]) == 2
    assert "allows grades up to 1023, found 2000" in capfd.readouterr().err


def test_a_terminal_shows_how_much_of_a_long_file_is_read(folder, monkeypatch, capfd):
    (folder / "run").write_bytes(b"".join(b"1 Q0 d%d 1 1 t\n" % n for n in range(1000, 2000)))
    monkeypatch.setattr(paths, "LONG", 1000)
    monkeypatch.setattr(paths, "CHUNK", 1500)
    monkeypatch.setattr(blocks, "BLOCK", 1500)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["score", "qrels", "run", "better", "-m", "map"])
    progress = capfd.readouterr().err
    assert "run 35 %" in progress
    assert "2/2 better" in progress


def test_nothing_but_a_terminal_is_shown_progress(monkeypatch, capfd):
    monkeypatch.setattr(paths, "LONG", 1)
    main(["score", "qrels", "run", "better", "-m", "map"])
    assert capfd.readouterr().err == ""


def test_check_accepts_a_good_run(capfd):
    assert main(["check", "run"]) == 0
    assert "run: accepted, tag bm25, 2 topics, 4 lines" in capfd.readouterr().err


def test_check_knows_topics_and_documents(folder, capfd):
    (folder / "topics.tsv").write_bytes(b"1\tcars\n3\tdogs\n")
    (folder / "docnos").write_bytes(b"a\nb\n")
    assert main(["check", "run", "--topics", "topics.tsv", "--docnos", "docnos"]) == 2
    printed = capfd.readouterr().out
    assert "line 3: E_UNKNOWN_TOPIC" in printed
    assert "line 4: E_UNKNOWN_DOC" in printed


def test_check_keeps_the_rules_of_a_track(folder, capfd):
    (folder / "topics.tsv").write_text("1\tcats\n2\tdogs\n3\tbirds\n")
    rules = ["--topics", "topics.tsv", "--missing-topics", "refuse", "--tag", "other"]
    assert main(["check", "run", *rules, "--depth", "1"]) == 2
    out = capfd.readouterr().out
    assert all(code in out for code in ("E_TAG", "E_DEPTH", "E_MISSING_TOPIC"))


def test_check_takes_the_formats_that_a_track_takes(folder, capfd):
    (folder / "ranks").write_text("1\ta\t1\n1\tb\t2\n")
    assert main(["check", "ranks"]) == 2
    assert main(["check", "ranks", "--takes", "msmarco", "--tag", "mine"]) == 0


def test_check_reads_judgments_and_prints_json_lines(folder, capfd):
    (folder / "qrels").write_bytes(b"1 0 a 2\n1 0 a 1\n")
    assert main(["check", "--qrels", "qrels", "--format", "json"]) == 2
    (problem,) = map(json.loads, capfd.readouterr().out.splitlines())
    assert (problem["code"], problem["line"], problem["severity"]) == ("E_DUP_QREL", 2, "error")


def test_compare_prints_every_run_beside_the_baseline(capfd):
    assert main(["compare", "qrels", "run", "better", "-m", "map", "--format", "tsv"]) == 0
    header, baseline, better, note = capfd.readouterr().out.splitlines()
    assert header.split("\t")[:5] == ["measure", "run", "verdict", "mean", "difference"]
    assert baseline.split("\t")[:4] == ["map", "bm25", "baseline", "0.5000"]
    assert better.split("\t")[1:5] == ["rrf", "not significant", "1.0000", "+0.5000"]
    assert better.split("\t")[10:] == ["2", "0", "1"]
    assert note.startswith("# two-sided maximum-t test (sign flips of all runs together); p ")


@pytest.mark.parametrize(("baseline", "run", "status"), [("good", "poor", 1), ("poor", "good", 0)])
def test_compare_can_fail_when_a_run_is_worse(folder, baseline, run, status):
    topics = range(12)
    (folder / "qrels").write_text("".join(f"{t} 0 a 1\n" for t in topics))
    (folder / "good").write_text("".join(f"{t} Q0 a 1 1 good\n" for t in topics))
    (folder / "poor").write_text("".join(f"{t} Q0 b 1 1 poor\n" for t in topics))
    assert main(["compare", "qrels", baseline, run, "--fail-if-worse"]) == status


@pytest.fixture
def two_versions(folder):
    """Two versions of the judgments under which another run is better, on twelve topics."""
    topics = range(12)
    for version, grades in (("v1", "10"), ("v2", "01")):
        lines = (f"{t} 0 a {grades[0]}\n{t} 0 b {grades[1]}\n" for t in topics)
        (folder / version).write_text("".join(lines))
    for tag, first, second in (("good", "a", "b"), ("poor", "b", "a")):
        lines = (f"{t} Q0 {first} 1 2 {tag}\n{t} Q0 {second} 2 1 {tag}\n" for t in topics)
        (folder / tag).write_text("".join(lines))


@pytest.mark.parametrize(("version", "status"), [("v1", 1), ("v2", 0)])
def test_a_run_is_worse_only_if_that_holds_under_each_version(two_versions, version, status):
    words = ["compare", "v1", "good", "poor", "--fail-if-worse", "--holds-under", version]
    assert main(words) == status


@pytest.mark.parametrize(("version", "status"), [("v1", 1), ("v2", 4)])
def test_a_gate_whose_answers_differ_cannot_tell(two_versions, version, status):
    words = ["compare", "v1", "good", "poor", "--margin", ".1", "--require-pass"]
    assert main([*words, "--holds-under", version]) == status


def test_what_each_version_says_is_printed(two_versions, capfd):
    main(["compare", "v1", "good", "poor", "--holds-under", "v2", "--format", "tsv"])
    lines = [line.split("\t") for line in capfd.readouterr().out.splitlines()]
    assert ["measure", "run", "v1", "v2", "holds"] in lines
    assert ["AP", "poor", "worse", "better", "no"] in lines
    main(["compare", "v1", "good", "poor", "--holds-under", "v2", "--format", "json"])
    (held,) = json.loads(capfd.readouterr().out)["holds_under"]
    assert (held["verdicts"], held["holds"]) == (["worse", "better"], False)


def test_measures_lists_every_measure(capfd):
    main(["measures", "--format", "tsv"])
    lines = lines_of(capfd.readouterr().out)
    assert lines[0][:3] == ["measure", "what it is", "trec_eval"]
    assert ["AP(rel=1,norm=R)[@k]", "map map_cut_k"] in [[line[0], line[2]] for line in lines]


def test_measures_says_all_about_one(capfd):
    main(["measures", "RBP"])
    printed = capfd.readouterr().out
    assert printed.startswith("RBP(rel=1,p=0.8,gain=binary): Expected rate of gain of a user")
    assert "Source: Moffat and Zobel, TOIS 2008." in printed


@pytest.mark.parametrize("arguments", [[], ["nosuch"]])
def test_without_a_command_the_commands_are_listed(arguments, capfd):
    assert main(arguments) == 2
    assert "score            score runs against judgments" in capfd.readouterr().err


@pytest.mark.parametrize(
    "command", ["score", "compare", "check", "pool", "settle", "simulate", "measures"]
)
def test_every_help_documents_the_exit_status(command, capfd):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert "Exit status: 0" in capfd.readouterr().out


def test_scoring_starts_with_numpy_alone():
    program = (
        "import sys; from evaluation.__main__ import main;"
        "main(['score', 'qrels', 'run', '-m', 'map']);"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'scipy', 'django', 'numpy'}))"
    )
    root = str(__import__("evaluation").__path__[0]).removesuffix("/evaluation")
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={"PYTHONPATH": root}
    )
    assert ended.stdout.splitlines()[-1] == "['numpy']"


def test_pool_lists_the_union_of_the_tops(capfd):
    assert main(["pool", "run", "better", "--depth", "1"]) == 0
    printed = capfd.readouterr()
    assert printed.out == "1 a\n1 b\n10 c\n2 a\n"
    assert printed.err == "depth@1: 4 documents of 3 topics (1 to 2 per topic, median 1)\n"


def test_pool_leaves_out_what_is_judged(capfd):
    main(["pool", "run", "better", "--depth", "2", "--qrels", "qrels"])
    printed = capfd.readouterr()
    assert printed.out == "2 x\n"
    assert "; 4 judged, 1 to judge" in printed.err


def test_pool_says_where_each_document_comes_from(capfd):
    main(["pool", "run", "better", "--depth", "2", "--format", "tsv", "--order", "priority"])
    assert lines_of(capfd.readouterr().out)[:3] == [
        ["topic", "docno", "places", "stratum", "inclusion"],
        ["1", "a", "bm25:2 rrf:1", "1", "1.0"],
        ["1", "b", "bm25:1", "1", "1.0"],
    ]


@pytest.mark.parametrize(
    ("options", "documents"),
    [
        (["--method", "take", "--size", "1"], ["a", "c", "a"]),
        (["--method", "rrf", "--size", "1"], ["a", "c", "a"]),
        (["--method", "rbp", "--size", "1"], ["a", "c", "a"]),
        (["--method", "strata", "--strata", "1:1"], ["a", "b", "c", "a"]),
    ],
)
def test_pool_knows_other_methods(options, documents, capfd):
    main(["pool", "run", "better", "--format", "json", *options])
    pool = json.loads(capfd.readouterr().out)
    assert [each["docno"] for each in pool["documents"]] == documents


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "rrf"], "needs --size"),
        (["--method", "strata"], "needs --strata"),
        (["--strata", "10"], "expected RANK:RATE"),
        (["--method", "strata", "--strata", "10:2"], "rate"),
    ],
)
def test_a_pool_that_cannot_be_built_exits_2(options, message, capfd):
    with pytest.raises(SystemExit) as stopped:
        main(["pool", "run", *options])
    assert stopped.value.code == 2
    assert message in capfd.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["check", "one"],
        ["check", "--qrels", "judged"],
        ["check", "--qrels", "unjudged"],
        ["pairs", "judged", "one"],
        ["agree", "judged", "one", "-m", "P@1", "-m", "AP"],
        ["overlap", "one", "one", "-M", "1"],
    ],
)
def test_one_of_a_kind_is_named_in_the_singular(words, folder, capfd):
    (folder / "one").write_bytes(b"1 Q0 a 1 1 t\n")
    (folder / "judged").write_bytes(b"1 0 a 1\n")
    (folder / "unjudged").write_bytes(b"1 0 a 0\n")
    main(words)
    told = "".join(capfd.readouterr())
    assert not re.search(r"\b1 (topic|line|run|document|judgment|assessor|mark|second)s", told)


@pytest.mark.parametrize(
    "judgments",
    [
        b"query-id\tcorpus-id\tscore\n1\ta\t2\n2\ta\t1\n10\tc\t1\n1\tb\t0\n",
        b"1 a 2\n1 b 0\n2 a 1\n10 c 1\n",
        b"1 a L2\n1 b L0\n2 a L1\n10 c L1\n",
        b"1 0 a L2\n1 0 b L0\n2 0 a L1\n10 0 c L1\n",
        b"1,a,2\n1,b,0\n2,a,1\n10,c,1\n",
        b'{"1": {"a": 2, "b": 0}, "2": {"a": 1}, "10": {"c": 1}}',
    ],
)
def test_judgments_in_other_formats_are_read_as_they_show_themselves(judgments, folder, capfd):
    (folder / "other").write_bytes(judgments)
    assert main(["score", "qrels", "run"]) == main(["score", "other", "run"]) == 0
    lines = lines_of(capfd.readouterr().out)
    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]


def test_three_columns_that_may_be_a_run_are_read_once_their_format_is_named(folder, capfd):
    (folder / "three").write_bytes(b"1 a 1\n1 b 2\n2 a 1\n10 c 1\n")
    assert main(["score", "three", "run", "-m", "AP"]) == 2
    told = capfd.readouterr().err
    assert "E_FORMAT" in told and "Option: --qrels-format cranfield." in told
    assert main(["score", "three", "run", "-m", "AP", "--qrels-format", "cranfield"]) == 0
