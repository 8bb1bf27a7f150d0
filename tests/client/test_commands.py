"""`rankfield submit` and `rankfield board`: what they print and how they end."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from leaderboard.models import ApiToken, Benchmark, Run, Track
from rankfield import checkout
from rankfield.__main__ import main
from tests.builders import OTHER_RUN, RUN, make_run
from tests.client.conftest import URL, InProcess
from tests.pages.ten_topics import run_of, send, ten_track

OK, WORSE, REJECTED, NOT_REACHED, CANNOT_TELL = 0, 1, 2, 3, 4


@pytest.fixture(autouse=True)
def bens_shell(network: InProcess, track, ben, monkeypatch, tmp_path) -> None:
    """Ben works in a folder with two runs; the site and his token are in the environment."""
    _, token = ApiToken.objects.issue(ben, ["read", "submit"])
    monkeypatch.setenv("RANKFIELD_URL", URL)
    monkeypatch.setenv("RANKFIELD_TOKEN", token)
    monkeypatch.chdir(tmp_path)
    Path("my.run").write_text(RUN)
    Path("other.run").write_text(OTHER_RUN)


def test_submit_prints_the_scores(capsys):
    assert main(["submit", "bread", "my.run"]) == OK
    header, line, *_ = capsys.readouterr().out.splitlines()
    assert header.split() == ["run", "state", "AP", "nDCG@10", "P@5", "page"]
    assert line.split()[:3] == ["ben-bm25", "scored", "0.6944"]


@pytest.mark.parametrize(
    ("token", "said"),
    [("", "This needs a token."), ("rf_wrong", "The site does not accept this token.")],
)
def test_without_a_token_submit_says_where_to_create_one(capsys, monkeypatch, token, said):
    monkeypatch.setenv("RANKFIELD_TOKEN", token)
    assert main(["submit", "bread", "my.run"]) == REJECTED
    expected = f"{said} Create one at {URL}/account/ and set RANKFIELD_TOKEN to it, or "
    assert expected in capsys.readouterr().err


def test_several_runs_are_submitted_at_once(capsys):
    assert main(["submit", "bread", "my.run", "other.run", "--description", "tuned"]) == OK
    assert {run.description for run in Run.objects.all()} == {"tuned"}
    assert Run.objects.count() == 2


def test_a_run_that_the_check_rejects_is_not_submitted(capsys):
    Path("bad.run").write_text("1 Q0 d1 1 nan ben\n")
    assert main(["submit", "bread", "my.run", "bad.run"]) == REJECTED
    assert "bad.run would be rejected.\nLine 1: " in capsys.readouterr().err
    assert not Run.objects.exists()


def test_a_run_that_the_site_rejects_ends_with_two(capsys):
    Path("bad.run").write_text("1 Q0 d99 1 2.0 ben\n")
    assert main(["submit", "bread", "bad.run"]) == REJECTED
    assert capsys.readouterr().err.startswith(
        'bad.run was rejected.\nLine 1: the document is not in the collection: "d99".'
    )


def test_a_closed_track_holds_up_no_script(capsys):
    Track.objects.update(closes_at="2020-01-01T00:00Z")
    assert main(["submit", "bread", "my.run"]) == REJECTED
    assert capsys.readouterr().err.startswith("my.run: ")


def test_a_repair_is_made_by_check_and_site(capsys):
    Path("comma.run").write_text(RUN.replace(".0 ", ",0 "))
    assert main(["submit", "bread", "comma.run", "--fix", "comma"]) == OK


def test_a_site_that_is_away_ends_with_three(capsys, network):
    network.lost = 100
    assert main(["submit", "bread", "my.run"]) == NOT_REACHED
    assert capsys.readouterr().err.startswith("rankfield submit: http://testserver cannot be")


def test_a_missing_file_ends_with_two(capsys):
    assert main(["submit", "bread", "nothing.run"]) == REJECTED
    assert capsys.readouterr().err == "rankfield submit: nothing.run: No such file or directory\n"


def test_submit_prints_json_for_scripts(capsys):
    main(["submit", "bread", "my.run", "--format", "json"])
    [run] = json.loads(capsys.readouterr().out)
    assert (run["state"], run["tag"]) == ("scored", "ben-bm25")


def test_facts_are_stated_by_name():
    words = ["--fact", "llm=true", "--fact", "models=BM25 of Lucene 10"]
    assert main(["submit", "bread", "my.run", *words]) == OK
    facts = Run.objects.get().facts
    assert (facts["llm"], facts["models"]) == (True, "BM25 of Lucene 10")


@pytest.mark.parametrize(
    "text",
    [
        '{"lr": 1e-05, "retriever": {"depth": 100}, "stages": ["first", "second"]}',
        "# of the sweep\nlr: 1e-05\nretriever:\n  depth: 100\nstages: first, second\n",
    ],
    ids=["json", "yaml"],
)
def test_facts_of_a_file_are_flat_and_those_of_the_command_win(text):
    Path("facts").write_text(text)
    words = ["--facts", "facts", "--fact", "retriever.depth=50"]
    assert main(["submit", "bread", "my.run", *words]) == OK
    facts = Run.objects.get().facts
    assert facts == {"lr": 1e-05, "retriever.depth": 50, "stages": "first, second"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"lr": ', "facts is not JSON: Expecting value"),
        ("[1]", "facts is a JSON list. Facts are an object"),
        ("lr: 1\n - - x: [\nlr\n", "facts, line 2: "),
        ("", "facts has no facts: write lines such as k1: 0.9"),
    ],
)
def test_a_file_without_facts_is_refused_and_nothing_is_submitted(capsys, text, said):
    Path("facts").write_text(text)
    assert main(["submit", "bread", "my.run", "--facts", "facts"]) != OK
    assert said in capsys.readouterr().err and not Run.objects.exists()


def test_no_wait_ends_while_the_run_is_queued(capsys, network):
    assert main(["submit", "bread", "my.run", "--no-wait"]) == OK
    assert network.calls[-1] == "POST /api/v1/tracks/bread/runs"


def test_a_run_is_compared_with_the_previous_best(capsys, ben, track):
    make_run(track, ben, OTHER_RUN)
    assert main(["submit", "bread", "my.run", "--fail-if-worse"]) == OK
    assert "ben-bm25 cannot be told apart from other, your previous best: AP +0.1667" in (
        capsys.readouterr().out
    )


def test_a_run_that_is_worse_ends_with_one_if_asked(capsys, ada, ben):
    send(ten_track(ada), ben, "first", 1)
    Path("worse.run").write_text(run_of("second", [2, 3, 4, 2, 3, 4, 2, 3, 4, 5]))
    assert main(["submit", "ten", "worse.run", "--fail-if-worse"]) == WORSE
    assert "second is worse than first, your previous best: AP -" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("ranks", "answer", "status"),
    [([2, 3, 4, 2, 3, 4, 2, 3, 4, 5], "worse", WORSE), ([1] * 9 + [2], "cannot tell", CANNOT_TELL)],
)
def test_the_gate_has_three_answers(capsys, ada, ben, ranks, answer, status):
    send(ten_track(ada), ben, "first", 1)
    Track.objects.filter(slug="ten").update(baseline=Run.objects.get())
    Path("new.run").write_text(run_of("second", ranks))
    assert main(["submit", "ten", "new.run", "--margin", ".05", "--require-pass"]) == status
    printed = capsys.readouterr().out
    assert f"second: {answer}. AP -" in printed
    assert "Moved most: 10 -" in printed if answer != "worse" else "second is worse than first."


def test_on_an_internal_board_both_comparisons_are_printed(capsys, ada, ben):
    send(ten_track(ada), ben, "first", 1)
    Benchmark.objects.update(main_branch="main")
    Track.objects.filter(slug="ten").update(baseline=Run.objects.get())
    Path("worse.run").write_text(run_of("second", [2, 3, 4, 2, 3, 4, 2, 3, 4, 5]))
    main(["submit", "ten", "worse.run"])
    printed = capsys.readouterr().out
    assert "against the baseline (first): better on 0 topics, worse on 10." in printed
    assert "second is worse than first, your previous best: AP -" in printed


def test_on_an_internal_board_a_run_states_its_commit(capsys, monkeypatch):
    Benchmark.objects.update(main_branch="main")
    for name in (*checkout.COMMITS, *checkout.BRANCHES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITHUB_SHA", "4a0ffee")
    monkeypatch.setenv("GITHUB_REF_NAME", "rrf")
    main(["submit", "bread", "my.run", "--configuration", "k1=0.9"])
    made_by = {"commit": "4a0ffee", "branch": "rrf", "configuration": "k1=0.9"}
    assert made_by.items() <= Run.objects.get().facts.items()


def test_on_a_public_board_no_run_states_a_commit_by_default(monkeypatch):
    monkeypatch.setenv("GITHUB_SHA", "4a0ffee")
    main(["submit", "bread", "my.run"])
    assert "commit" not in Run.objects.get().facts


@pytest.mark.parametrize("page", ["/benchmarks/bread/submit/", "/benchmarks/bread/"])
def test_the_command_on_a_page_works(as_ben, page, monkeypatch):
    monkeypatch.delenv("RANKFIELD_URL")
    Path("my.run.gz").write_bytes(gzip.compress(RUN.encode()))
    text = as_ben.get(page).content.decode().replace("\\\n", "")
    [words] = re.findall(r"rankfield (submit bread .*?)</pre>", text, re.S)
    assert main(words.split()) == OK
    assert Run.objects.count() == 1


def test_board_prints_a_table(capsys, ben, track):
    make_run(track, ben)
    assert main(["board", "bread"]) == OK
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["1", "ben-bm25", "ben"]


def test_board_prints_the_csv_of_the_site(capsysbinary, ben, track):
    make_run(track, ben)
    main(["board", "bread", "--format", "csv"])
    assert capsysbinary.readouterr().out.startswith(b"rank,")


def test_board_prints_json(capsys, ben, track):
    make_run(track, ben)
    main(["board", "bread", "--format", "json", "-m", "P@5"])
    board = json.loads(capsys.readouterr().out)
    assert (board["measure"], board["standings"][0]["tag"]) == ("P@5", "ben-bm25")


def test_a_board_that_is_not_there_ends_with_two(capsys):
    assert main(["board", "cheese"]) == REJECTED
    assert "Not found, or you do not have access." in capsys.readouterr().err


@pytest.mark.parametrize("word", ["submit", "board", "score", "demo"])
def test_the_usage_names_every_command(capsys, word):
    assert main(["--help"]) == OK
    assert f"\n  {word} " in capsys.readouterr().out


def test_help_names_the_program_that_was_called(capsys):
    with pytest.raises(SystemExit):
        main(["score", "--help"])
    assert capsys.readouterr().out.startswith("usage: rankfield score ")


def test_the_commands_of_the_server_are_djangos(capsys):
    assert main(["help", "demo"]) == OK
    assert "the sample collections" in capsys.readouterr().out


def test_without_the_server_its_commands_say_how_to_install_it(capsys, monkeypatch):
    monkeypatch.setattr("rankfield.__main__.SERVER_PACKAGES", ("a_package_of_no_one",))
    assert main(["demo"]) == REJECTED
    assert "pip install 'rankfield[server]'" in capsys.readouterr().err
