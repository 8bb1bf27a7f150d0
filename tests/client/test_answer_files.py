"""Runs of answers are checked by the rules of their track before they are submitted."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderboard.models import ApiToken, Run
from rankfield.__main__ import main
from rankfield.answers import AnswerSettings, Track
from rankfield.checks import Repairs, TrackRules, answer_rules_of, check_file, rules_of
from rankfield.errors import RejectedError
from tests.client.conftest import URL
from tests.evaluation.answers.samples import common, lines_of, rag24

BREAD = Track(
    *("bread", "Bread", "bread", "open", "open", ["AP"], "AP", 100, ["trec"], "refuse", "refuse")
)
TOPICS = {b"t1": b"why", b"t2": b"who"}
NO_FIX = Repairs()


def rules(**settings) -> TrackRules:
    """Return the rules of a track of answers."""
    asked = AnswerSettings("answers", **settings)
    return TrackRules(rules_of(BREAD), answer_rules_of(BREAD, asked, TOPICS))


def faults(content: bytes, rules: TrackRules, repairs: Repairs = NO_FIX) -> list[str]:
    """Return the codes of the problems for which a file would be rejected."""
    try:
        check_file("my.jsonl", content, rules, repairs)
    except RejectedError as error:
        return [problem.code for problem in error.problems]
    return []


def test_answers_are_checked_by_the_preset_and_the_topics_of_the_track():
    both = lines_of(rag24("t1"), rag24("t2", topic="who"))
    assert faults(both, rules(answer_rules="rag24")) == []
    assert faults(lines_of(rag24("t1")), rules(answer_rules="rag24")) == ["E_MISSING_TOPIC"]
    assert "E_UNKNOWN_TOPIC" in faults(lines_of(rag24("t9")), rules())


def test_a_limit_of_the_track_comes_before_that_of_its_preset():
    asked = {"answer_limit": 2, "answer_unit": "words", "answer_over": "refuse"}
    both = lines_of(common("t1"), common("t2", sentences=[]))
    assert faults(both, rules()) == []
    assert faults(both, rules(**asked)) == ["E_TOO_LONG"]
    assert faults(both, rules(**asked), Repairs(("cut",))) == []


def test_rules_of_a_later_version_are_left_to_the_site():
    both = lines_of(common("t1"), common("t2"))
    assert faults(both, rules(answer_rules="rag29")) == []


@pytest.fixture
def bens_shell(network, track, ben, monkeypatch, tmp_path) -> None:
    _, token = ApiToken.objects.issue(ben, ["read", "submit"])
    monkeypatch.setenv("RANKFIELD_URL", URL)
    monkeypatch.setenv("RANKFIELD_TOKEN", token)
    monkeypatch.chdir(tmp_path)


def test_answers_for_a_track_of_ranked_runs_are_not_sent(bens_shell, capsys):
    Path("my.jsonl").write_bytes(lines_of(common("1")))
    assert main(["submit", "bread", "my.jsonl"]) == 2
    said = "my.jsonl is a run of answers (common), and the track takes ranked runs."
    assert said in capsys.readouterr().err
    assert not Run.objects.exists()


def test_a_repair_of_answers_does_not_disturb_a_ranked_run(bens_shell, capsys):
    Path("my.run").write_text("1 Q0 d1 1 2.0 ben\n")
    assert main(["submit", "bread", "my.run", "--check-only", "--fix", "cut"]) == 0
