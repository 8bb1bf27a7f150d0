"""python -m evaluation answers: what it prints and how it ends."""

import io
import json
import sys
import zipfile
from types import SimpleNamespace

import pytest

from evaluation.__main__ import main
from tests.evaluation.answers.samples import common, lines_of, rag24

RUN = lines_of(common("t1"), common("t2", sentences=[]))
NUGGETS = lines_of({"qid": "t1", "nuggets": [{"text": "cedar"}, {"text": "oak"}]})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working directory with a run of answers, a faulty one, nuggets and marks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.jsonl").write_bytes(RUN)
    (tmp_path / "bad.jsonl").write_bytes(lines_of(common("t1"), common("t1")))
    (tmp_path / "nuggets").write_bytes(NUGGETS)
    (tmp_path / "marks").write_text("oak t1 1 support\noak t1 9 none\nelm t1 1 none\n")
    (tmp_path / "qrels").write_text("t1 0 d1 2\nt1 0 d2 0\n")
    return tmp_path


def test_an_accepted_run_is_described(capsys):
    assert main(["answers", "check", "run.jsonl"]) == 0
    assert capsys.readouterr().err == ("run.jsonl: accepted, run oak, dialect common, 2 answers\n")


def test_a_rejected_run_ends_with_2_and_json_names_topic_and_sentence(capsys):
    assert main(["answers", "check", "bad.jsonl", "--format", "json"]) == 2
    problem = json.loads(capsys.readouterr().out)
    assert (problem["code"], problem["line"], problem["topic"]) == ("E_DUP_TOPIC", 2, "t1")
    assert problem["sentence"] is None


def test_a_repair_is_offered_and_made(capsys):
    main(["answers", "check", "bad.jsonl"])
    assert "Keep the first answer? Repair with --fix keep-first." in capsys.readouterr().out
    assert main(["answers", "check", "bad.jsonl", "--fix", "keep-first"]) == 0
    assert "keep-first: 1 repair" in capsys.readouterr().err


def test_limits_and_presets_are_options(capsys):
    assert main(["answers", "check", "run.jsonl", "--limit", "2", "--unit", "characters"]) == 0
    assert "W_TOO_LONG" in capsys.readouterr().out
    assert main(["answers", "check", "run.jsonl", "--preset", "ragtime"]) == 2


def test_a_run_is_read_from_stdin_an_archive_and_a_folder(folder, capsys, monkeypatch):
    inside = folder / "parts"
    inside.mkdir()
    with zipfile.ZipFile(folder / "run.zip", "w") as archive:
        for name in ("t1", "t2"):
            archive.writestr(f"{name}.json", json.dumps(common(name)))
            (inside / f"{name}.json").write_text(json.dumps(common(name)))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(RUN)))
    for path in ("run.zip", "parts", "-"):
        assert main(["answers", "check", path]) == 0
        assert capsys.readouterr().err.endswith("run oak, dialect common, 2 answers\n")


def test_a_ranking_is_a_run_of_trec(capfd):
    assert main(["answers", "ranking", "run.jsonl", "--view", "cited"]) == 0
    assert capfd.readouterr().out == "t1 Q0 d1 1 2 oak\nt1 Q0 d2 2 1 oak\n"
    assert main(["answers", "ranking", "run.jsonl"]) == 2
    assert "the answers have no references" in capfd.readouterr().err


def test_a_converted_run_says_what_is_lost(folder, capfd):
    (folder / "run24.jsonl").write_bytes(lines_of(rag24(topic="why cedar")))
    assert main(["answers", "convert", "run24.jsonl", "--to", "rag"]) == 0
    assert json.loads(capfd.readouterr().out)["metadata"]["narrative"] == "why cedar"
    main(["answers", "convert", "run.jsonl", "--to", "rag24"])
    assert capfd.readouterr().err == ""
    assert main(["answers", "convert", "marks", "--to", "columns"]) == 0
    assert capfd.readouterr().out.startswith("oak t1 1 support\n")


def test_scores_are_a_table_or_json(capfd):
    files = ["--nuggets", "nuggets", "--assignments", "marks"]
    assert main(["answers", "score", *files, "-m", "all,strict_vital", "run.jsonl"]) == 0
    out, err = capfd.readouterr()
    assert " ".join(out.split("\n")[1].split()) == "oak 0.5000 to 1.0000 0.5000 to 1.0000"
    assert err == "1 mark of nothing in the runs ignored\n"
    main(["answers", "score", *files, "-m", "all", "-q", "--format", "json", "run.jsonl"])
    (run,) = json.loads(capfd.readouterr().out)["runs"]
    assert (run["run"], run["ignored"], run["layers"]) == ("oak", 1, {"assignments": "people"})
    score = run["scores"]["all"]
    assert (score["all"], score["judged"], score["topics"]) == (0.5, 0.5, {"t1": 0.5})
    assert score["bounds"] == {"t1": [0.5, 1.0]}


def test_without_a_run_the_marks_are_scored(capfd):
    assert main(["answers", "score", "--assignments", "marks", "-m", "strict_all"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["oak", "elm"]


def test_a_rejected_run_does_not_stop_the_others(capfd):
    command = ["answers", "score", "--qrels", "qrels", "-m", "Cited,nDCG@10 (cited)"]
    assert main([*command, "bad.jsonl", "run.jsonl"]) == 2
    out, err = capfd.readouterr()
    assert out.splitlines()[1].split() == ["oak", "1.0000", "1.0000"]
    assert "bad.jsonl: error: line 2: E_DUP_TOPIC" in err


def test_a_measure_without_its_file_is_a_wrong_command(capfd):
    assert main(["answers", "score", "run.jsonl", "-m", "SupportP"]) == 2
    assert capfd.readouterr().err.endswith("SupportP: --support is missing\n")


def test_only_answers_may_be_averaged(folder, capfd):
    (folder / "topics").write_text("t1\nt2\nt3\n")
    (folder / "support").write_text("oak t1 1 d1 FS\noak t1 1 d2 FS\n")
    command = ["answers", "score", "--support", "support", "-m", "SupportR", "--topics", "topics"]
    for option, value in (([], "0.3333"), (["--answered-only"], "0.5000")):
        main([*command, *option, "run.jsonl"])
        assert capfd.readouterr().out.splitlines()[1].split() == ["oak", value]


@pytest.fixture
def judged_by_nuggets(folder):
    """Two runs on eight topics: elm has both nuggets of each, oak one and no answer to t8."""
    topics = [f"t{number}" for number in range(1, 9)]
    (folder / "oak").write_bytes(lines_of(*(common(topic) for topic in topics[:-1])))
    (folder / "elm").write_bytes(lines_of(*(common(topic, "elm") for topic in topics)))
    marks = [f"{run} {t} {n} support\n" for run, n in (("oak", 1), ("elm", 1)) for t in topics]
    marks += [
        f"{run} {t} 2 {how}\n" for run, how in (("oak", "none"), ("elm", "full")) for t in topics
    ]
    (folder / "marked").write_text("".join(marks))


@pytest.mark.parametrize("words", ["answers compare", "compare --answers"])
def test_answers_are_compared_as_ranked_runs_are(words, capfd, judged_by_nuggets):
    assert main([*words.split(), "oak", "elm", "--assignments", "marked", "-m", "all"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[1].split() == ["all", "oak", "baseline", "0.4375"]
    assert lines[2].split()[:5] == ["all", "elm", "better", "1.0000", "+0.5625"]


def test_a_worse_run_of_answers_can_fail_a_build(judged_by_nuggets):
    command = ["answers", "compare", "elm", "oak", "--assignments", "marked", "--fail-if-worse"]
    assert main([*command, "-m", "all"]) == 1


def test_all_pairs_of_the_marked_runs_have_letters(capfd, judged_by_nuggets):
    assert main(["answers", "pairs", "--assignments", "marked", "-m", "all", "--ranks"]) == 0
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert [line[:4] for line in lines[1:3]] == [
        ["all", "elm", "a", "1.0000"],
        ["all", "oak", "b", "0.5000"],
    ]


def test_topics_of_one_conversation_are_flipped_together(folder, capfd, judged_by_nuggets):
    (folder / "groups").write_text("".join(f"t{n} c{n // 3}\n" for n in range(1, 9)))
    command = ["answers", "compare", "oak", "elm", "--assignments", "marked", "-m", "all"]
    assert main([*command, "--groups", "groups"]) == 0
    assert "8 topics in 3 groups: verdicts need six" in capfd.readouterr().out


@pytest.mark.parametrize("measure", ["Words", "Nuggets(over=pairs)"])
def test_what_cannot_be_compared_is_rejected(measure, capfd, judged_by_nuggets):
    command = ["answers", "compare", "oak", "elm", "--assignments", "marked", "-m", measure]
    with pytest.raises(SystemExit, match="2"):
        main(command)
    assert f"{measure}: n" in capfd.readouterr().err


def test_a_run_with_few_marks_is_named(capfd):
    command = ["compare", "--answers", "run.jsonl", "run.jsonl", "--nuggets", "nuggets"]
    assert main([*command, "--assignments", "marks", "-m", "all"]) == 0
    assert "all: warning: only 50 % of the pairs of oak have a mark" in capfd.readouterr().err


def test_a_view_of_answers_is_compared_as_its_ranking_is(folder, capfd):
    topics = [f"t{number}" for number in range(8)]
    (folder / "judged").write_text("".join(f"{topic} 0 d1 1\n" for topic in topics))
    for run, citations in (("oak", ["d1", "d2"]), ("elm", ["d2", "d1"])):
        sentences = [{"text": "Cedar.", "citations": citations}]
        (folder / run).write_bytes(lines_of(*(common(t, run, sentences) for t in topics)))
        main(["answers", "ranking", run, "--view", "cited"])
        (folder / f"{run}.run").write_text(capfd.readouterr().out)
    main(["answers", "compare", "oak", "elm", "--qrels", "judged", "-m", "RR (cited)"])
    of_answers = capfd.readouterr().out.replace("RR (cited)", "RR").split()
    main(["compare", "judged", "oak.run", "elm.run", "-m", "RR"])
    assert of_answers == capfd.readouterr().out.split()
    assert of_answers.count("worse") == 1
