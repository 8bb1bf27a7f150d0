"""`rankfield submit BENCHMARK DIR`: a version of a system from a folder or a zip."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from leaderboard.actions import people
from leaderboard.models import ApiToken, Benchmark, Run, SystemVersion
from rankfield import Site, checkout
from rankfield.__main__ import main
from tests.benchmark_scene import ROLLS_RUN, join_tracks, make_benchmark, zipped
from tests.builders import OTHER_RUN, RUN
from tests.client.conftest import URL, InProcess
from tests.pages.ten_topics import run_of, ten_track

OK, WORSE, REJECTED = 0, 1, 2


@pytest.fixture
def benchmark(ada, ben) -> Benchmark:
    return make_benchmark(ada, ben, main_branch="main")


@pytest.fixture(autouse=True)
def bens_shell(network: InProcess, benchmark, ben, monkeypatch, tmp_path) -> None:
    """Ben's CI is on the branch rrf; his folder `oven` has a run for each track."""
    _, token = ApiToken.objects.issue(ben, ["read", "submit"])
    for name in (*checkout.COMMITS, *checkout.BRANCHES):
        monkeypatch.delenv(name, raising=False)
    found = {"RANKFIELD_URL": URL, "RANKFIELD_TOKEN": token, "GITHUB_SHA": "4a0ffee"}
    for name, value in {**found, "GITHUB_REF_NAME": "rrf"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    write({"oven/bread.run": RUN, "oven/rolls/my.run": ROLLS_RUN})


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def test_a_folder_becomes_a_version_with_its_commit(capsys):
    assert main(["submit", "baking", "oven"]) == OK
    version = SystemVersion.objects.get()
    stated = (version.system.name, version.label, version.branch)
    assert stated == ("oven", "4a0ffee", "rrf")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["bread", "scored", "0.6944"]
    assert lines[2].split() == ["rolls", "scored", "0.6944"]


def test_a_version_is_compared_with_main(capsys):
    main(["submit", "baking", "oven", "--branch", "main", "--commit", "abc123"])
    write({"oven/bread.run": OTHER_RUN})
    assert main(["submit", "baking", "oven", "--fail-if-worse"]) == OK
    out = capsys.readouterr().out
    assert "oven 4a0ffee" in out and "main (oven abc123) over 2 tracks" in out
    assert re.search(r"\nbenchmark +not (tested|to be told apart) +-0\.", out)


def test_a_zip_is_sent_as_it_is(capsys):
    Path("all.zip").write_bytes(zipped({"bread/a.run": RUN, "x.run": ROLLS_RUN}))
    assert main(["submit", "baking", "all.zip"]) == OK
    assert SystemVersion.objects.get().system.name == "all"
    assert Run.objects.count() == 2


def test_the_same_folder_again_is_the_same_version():
    assert main(["submit", "baking", "oven"]) == main(["submit", "baking", "oven"]) == OK
    assert Run.objects.count() == 2


def test_what_lies_beside_the_runs_stays_here(network):
    write({"oven/README.md": "hello", "oven/.cache/x": "y"})
    assert main(["submit", "baking", "oven"]) == OK
    assert Run.objects.count() == 2


def test_a_missing_track_is_said(capsys):
    assert main(["submit", "baking", "oven/bread.run", "--name", "oven"]) == OK
    assert "rolls  missing" in capsys.readouterr().out


def test_a_run_that_the_check_rejects_is_not_submitted(capsys):
    write({"oven/rolls/my.run": "11 Q0 d1 1 nan ben\n"})
    assert main(["submit", "baking", "oven"]) == REJECTED
    assert "rolls.my.run would be rejected.\nLine 1: " in capsys.readouterr().err
    assert not Run.objects.exists()


def test_a_run_that_the_site_rejects_ends_with_two(capsys):
    write({"oven/bread.run": "1 Q0 d99 1 2.0 ben\n"})
    assert main(["submit", "baking", "oven"]) == REJECTED
    assert re.search(r"bread: \w+ was rejected.\nLine 1: .*d99", capsys.readouterr().err)


@pytest.mark.parametrize("words", [["empty"], ["oven", "--tag", "x"], ["oven", "empty"]])
def test_a_wrong_command_ends_with_two(words):
    Path("empty").mkdir()
    assert main(["submit", "baking", *words]) == REJECTED
    assert not Run.objects.exists()


def test_neither_a_benchmark_nor_a_track_ends_with_two(capsys):
    assert main(["submit", "cheese", "oven/bread.run"]) == REJECTED
    assert "Not found, or you do not have access." in capsys.readouterr().err


def test_a_public_benchmark_gets_no_commit_by_default():
    Benchmark.objects.update(main_branch="")
    main(["submit", "baking", "oven"])
    assert SystemVersion.objects.get().commit == ""


def test_scripts_get_json(capsys):
    main(["submit", "baking", "oven", "--format", "json", "--no-wait"])
    version = json.loads(capsys.readouterr().out)
    assert (version["version"], version["missing"]) == ("4a0ffee", [])


def test_a_version_that_is_worse_ends_with_one_if_asked(capsys, ada, ben):
    track = ten_track(ada)
    benchmark = join_tracks([track], slug="tens", name="Tens", main_branch="main")
    people.create_team(benchmark, ben, ben.username)
    write({"first/ten.run": run_of("first", [1] * 10)})
    main(["submit", "tens", "first", "--name", "x", "--branch", "main", "--commit", "abc123"])
    write({"second/ten.run": run_of("second", [2, 3, 4, 2, 3, 4, 2, 3, 4, 5])})
    assert main(["submit", "tens", "second", "--name", "x", "--fail-if-worse"]) == WORSE
    assert re.search(r"\nten +scored +worse ", capsys.readouterr().out)


def test_the_command_on_the_page_works(as_ben, monkeypatch):
    monkeypatch.delenv("RANKFIELD_URL")
    Path("oven").rename("runs")
    text = as_ben.get("/benchmarks/baking/submit/").content.decode().replace("\\\n", "")
    [words] = re.findall(r"rankfield (submit baking .*?)</pre>", text, re.S)
    assert main(words.split()) == OK
    assert Run.objects.count() == 2


def test_a_program_submits_a_folder_too():
    site = Site()
    version = site.wait_for_version(site.submit_system("baking", "oven", "oven", version="v1"))
    assert version.done and [run.track for run in version.runs] == ["bread", "rolls"]
