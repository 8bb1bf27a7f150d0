"""kappa --about: how far assessors agree about nuggets and support; marks that name keys."""

import io
import json

import pytest

from evaluation.__main__ import main
from evaluation.answers.agreement import grades_of_nuggets
from evaluation.answers.assignment_files import read_assignments
from evaluation.answers.judged import AnswerMarks
from evaluation.answers.marks import bank_of_marks
from evaluation.answers.runs import Answer, Sentence, sentence_key
from evaluation.answers.scoring import score_answers
from evaluation.problems import Refused
from tests.evaluation.answers.samples import lines_of, read

CEDAR = sentence_key("Cedar smells strong.").hex()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def support(docno, assessor, label):
    fields = {"topic": "t1", "about": "support", "sentence": CEDAR, "docno": docno}
    return {**fields, "assessor": assessor, "label": label}


def agreement(capfd, *words) -> dict[str, tuple[str, str]]:
    """Return the number of pairs and the value of each statistic."""
    assert main(["kappa", *words, "--format", "tsv"]) == 0
    rows = [line.split("\t") for line in capfd.readouterr().out.splitlines()[1:]]
    return {row[1]: (row[2], row[3]) for row in rows if len(row) > 3}


def test_two_assessors_of_one_file_are_compared(folder, capfd):
    labels = {"ada": ("full", "none", "contradicts"), "ben": ("full", "partial", "contradicts")}
    marks = [
        support(f"d{n}", who, how) for who, given in labels.items() for n, how in enumerate(given)
    ]
    (folder / "both").write_bytes(lines_of(*marks))
    found = agreement(capfd, "--about", "support", "both")
    # Of three pairs two agree; by chance 2/9 would.
    assert (found["agreement"], found["kappa"]) == (("3", "0.6667"), ("3", "0.5714"))


def test_partial_support_is_relevant_unless_full_is_asked_for(folder, capfd):
    marks = [support("d1", "ada", "full"), support("d1", "ben", "partial")]
    (folder / "both").write_bytes(lines_of(*marks))
    assert agreement(capfd, "--about", "support", "both")["overlap"] == ("1", "1.0000")
    assert agreement(capfd, "--about", "support", "both", "-l", "2")["overlap"] == ("1", "0.0000")


def test_a_mark_by_place_meets_a_mark_by_text(folder, capfd):
    cited = [{"docno": "d1", "support": 2}]
    people = {"topic_id": "t1", "run_id": "oak", "sentences": [{"text": "Cedar smells strong."}]}
    people["sentences"][0]["citations"] = cited
    (folder / "people.jsonl").write_bytes(lines_of(people))
    (folder / "machine.jsonl").write_bytes(lines_of(support("d1", "gpt-x/p3", "full")))
    found = agreement(capfd, "--about", "support", "people.jsonl", "machine.jsonl")
    assert found["agreement"] == ("1", "1.0000")


def test_nuggets_by_position_meet_those_by_key(folder, capfd):
    (folder / "nuggets").write_bytes(lines_of({"qid": "t1", "nuggets": [{"text": "cedar"}]}))
    (folder / "people").write_text("oak t1 1 support\n")
    (folder / "machine").write_text("oak t1 t1-1 none\n")
    words = ["--about", "nugget", "--nuggets", "nuggets", "people", "machine"]
    assert agreement(capfd, *words)["agreement"] == ("1", "0.0000")


def test_a_faulty_file_of_marks_is_named(folder, capfd):
    (folder / "people").write_text("oak t1 n1 support\n")
    (folder / "machine").write_text("oak t1 n1 maybe\n")
    assert main(["kappa", "--about", "nugget", "people", "machine"]) == 2
    assert 'machine: error: line 1: E_LABEL: this is no label: "maybe"' in capfd.readouterr().err


@pytest.mark.parametrize("about", ["nugget", "support"])
def test_judges_of_marks_show_how_far_their_confidence_can_be_believed(folder, capfd, about):
    named = {"nugget": {"run": "oak", "nugget": "n1"}, "support": {"sentence": CEDAR, "docno": "d"}}
    judge = {"about": about, **named[about], "assessor": "gpt-x/p3", "confidence": 0.9}
    labels = ("full", "none")
    people = [{"topic": f"t{n}", **judge, "assessor": "ada", "label": "full"} for n in (1, 2)]
    given = [{"topic": f"t{n}", **judge, "label": each} for n, each in enumerate(labels, 1)]
    (folder / "people").write_bytes(lines_of(*people))
    (folder / "judge").write_bytes(lines_of(*given))
    command = ["judges", "people", "judge", "--about", about, "--format", "tsv"]
    assert main(command) == 0
    head, row = (line.split("\t") for line in capfd.readouterr().out.splitlines()[:2])
    assert dict(zip(head, row, strict=True))["brier"] == "0.4100"
    assert main([*command, "--calibration"]) == 0
    assert capfd.readouterr().out.splitlines()[1] == "judge\t0.9\t1.0\t2\t0.9000\t0.5000"


def test_a_confidence_in_words_is_told_and_not_read(folder, capfd):
    marks = [support("d1", who, "full") | {"confidence": "high"} for who in ("ada", "gpt-x/p3")]
    for name, mark in zip(("people", "judge"), marks, strict=True):
        (folder / name).write_bytes(lines_of(mark))
    assert main(["judges", "people", "judge", "--about", "support"]) == 0
    told = capfd.readouterr()
    assert "W_CONFIDENCE" in told.err + told.out and "brier" not in told.out


# Marks that name an answer by its key.


def score_of(*marks) -> float:
    """Return the share of the nuggets in the answer about cedar, by these marks."""
    layer = read_assignments(io.BytesIO(lines_of(*marks)))
    run = read(
        {
            "request_id": "t1",
            "run_id": "oak",
            "sentences": [{"text": "Cedar smells strong.", "citations": []}],
        }
    )
    return score_answers(run, AnswerMarks(bank_of_marks(layer), layer), ["strict_all"], ["t1"])[
        "strict_all"
    ]


def test_a_mark_names_an_answer_by_the_key_of_its_text():
    assert Answer("t1", (Sentence("Cedar  smells"), Sentence("strong."))).key.hex() == CEDAR
    mark = {"topic": "t1", "about": "nugget", "answer": CEDAR, "nugget": "n1", "label": "support"}
    assert score_of(mark, {**mark, "nugget": "n2", "label": "none"}) == 0.5


def test_a_prompt_comes_back_with_its_labels():
    asked = {"nuggets": [{"key": "n1", "text": "cedar"}, {"key": "n2", "text": "oak"}]}
    prompt = {"id": f"assign t1 {CEDAR}", "about": "nugget", "topic": {"title": "wood"}, **asked}
    assert score_of({**prompt, "labels": {"n1": "support", "n2": "none"}}) == 0.5


def test_the_id_of_a_prompt_is_enough(folder, capfd):
    (folder / "people.jsonl").write_bytes(lines_of(support("d1", "ada", "full")))
    (folder / "machine.jsonl").write_text(
        json.dumps({"id": f"support t1 {CEDAR} d1", "label": "FS"})
    )
    found = agreement(capfd, "--about", "support", "people.jsonl", "machine.jsonl")
    assert found["agreement"] == ("1", "1.0000")


@pytest.mark.parametrize("about", ["nugget", "support"])
def test_marks_of_a_judge_are_checked(folder, capfd, about):
    (folder / "marks").write_bytes(lines_of(support("d1", "ada", "full")))
    (folder / "columns").write_text("oak t1 n1 full\n")
    file = "columns" if about == "nugget" else "marks"
    assert main(["check", file, "--about", about]) == 0
    assert "accepted, 1 topic, 1 mark" in capfd.readouterr().err
    (folder / "wrong").write_text("oak t1 n1 perhaps\n")
    assert main(["check", "wrong", "--about", about]) == 2


def test_marks_by_run_and_by_key_are_of_one_answer():
    answers = {"oak": {"t1": Answer("t1", (Sentence("Cedar smells strong."),))}}
    by_key = '{"topic": "t1", "answer": "%s", "nugget": "n1", "label": "full", "confidence": 0.5}'
    layers = [b"oak t1 n1 full\n", (by_key % CEDAR).encode()]
    first, second = (
        grades_of_nuggets(read_assignments(io.BytesIO(each)), answers) for each in layers
    )
    assert first.grades == second.grades
    assert list(second.confidences[b"t1"]) == list(second.grades[b"t1"])


def test_a_reply_that_failed_stays_unjudged_and_is_counted():
    mark = {"topic": "t1", "about": "nugget", "answer": CEDAR, "nugget": "n1", "failed": True}
    layer = read_assignments(io.BytesIO(lines_of(mark)))
    assert layer.by_key["t1", bytes.fromhex(CEDAR)]["n1"].code == 255
    [problem] = layer.problems
    assert str(problem) == "W_FAILED: marks without a label, which stay unjudged: 1"


def test_one_assessor_marks_a_key_once():
    mark = {"topic": "t1", "answer": CEDAR, "nugget": "n1", "label": "none", "assessor": "ada"}
    with pytest.raises(Refused, match="E_DUP_MARK"):
        read_assignments(io.BytesIO(lines_of(mark, {**mark, "label": "support"})))
