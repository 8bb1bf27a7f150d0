"""The steps of the GitHub Action and of the GitLab job, run by hand against a real site."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders import OTHER_RUN, RUN
from tests.services.conftest import sqlite_site
from tests.services.machines import Site
from tests.services.test_uploads import make_track
from tests.test_house import ROOT

__all__ = ["sqlite_site"]
pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

ACTION = yaml.safe_load((ROOT / "action" / "action.yml").read_text())
GITLAB = yaml.safe_load((ROOT / "action" / "gitlab.yml").read_text())
# Stands for `gh` and `curl`: keeps what it was asked, and knows of no comment before.
RECORDER = """#!/usr/bin/env python3
import json, os, sys
words = [open(word.partition("@")[2]).read() if "body" in word and "@" in word else word
         for word in sys.argv[1:]]
with open(os.environ["ASKED"], "a") as file:
    file.write(json.dumps(words) + "\\n")
if "--jq" in words:
    print(os.environ.get("COMMENT", ""))
"""


@dataclass
class Runner:
    """A folder with the commands that a job has, and what its steps wrote."""

    folder: Path
    outputs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        programs = {"rankfield": f'#!/bin/sh\nexec {sys.executable} -m rankfield "$@"\n'}
        for name, text in (programs | {"gh": RECORDER, "curl": RECORDER}).items():
            path = self.folder / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        (self.folder / "my.run").write_text(RUN)

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        own = {
            "HOME": str(self.folder),
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "ASKED": str(self.folder / "asked"),
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
        }
        words = [shutil.which("bash") or "bash", "-e", "-o", "pipefail", "-c", script]
        return subprocess.run(
            words, cwd=self.folder, env=own | environment, capture_output=True, text=True
        )

    def act(self, github: dict[str, str] | None = None, **given: str) -> list[int]:
        """Run the steps of the action; return how each ended."""
        inputs = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        context = {f"inputs.{name}": value for name, value in inputs.items()} | (github or {})
        statuses = []
        for step in ACTION["runs"]["steps"]:
            stated = {f"steps.submit.outputs.{name}": word for name, word in self.written().items()}
            environment = {
                name: fill(value, context | stated) for name, value in step["env"].items()
            }
            statuses.append(self.run(step["run"], **environment).returncode)
        return statuses

    def written(self, name: str = "output") -> dict[str, str]:
        lines = self.read(name).splitlines()
        return dict(line.split("=", 1) for line in lines)

    def read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def asked(self) -> list[list[str]]:
        return [json.loads(line) for line in self.read("asked").splitlines()]


def fill(value: str, context: dict[str, str]) -> str:
    """Put in what an expression names; what is not set is empty, as on GitHub."""
    return re.sub(r"\${{ ([\w.-]+) }}", lambda found: context.get(found[1], ""), value)


@pytest.fixture(scope="module")
def token(sqlite_site: Site) -> str:
    return make_track(sqlite_site)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


PULL_REQUEST = {"github.repository": "ben/oven", "github.event.pull_request.number": "7"}


def test_the_action_submits_and_comments_the_verdict(sqlite_site, token, runner):
    given = {"url": sqlite_site.url, "token": token, "track": "quinces", "runs": "my.run\n"}
    options = "--description\nk1 = 0.9; b = 0.4\n"
    assert runner.act(PULL_REQUEST, **given, options=options, github_token="x") == [0] * 4
    summary = runner.read("summary.md")
    assert "### Rankfield: quinces" in summary and "| ben-bm25 | scored | 0.6944 |" in summary
    outputs = runner.written()
    assert (outputs["verdict"], outputs["status"]) == ("none", "0")
    assert sqlite_site.ask(f"/runs/{outputs['runs']}", token)["description"] == "k1 = 0.9; b = 0.4"
    listed, posted = runner.asked()
    assert posted[2:5] == ["--method", "POST", "repos/ben/oven/issues/7/comments"]
    assert posted[-1] == f"<!-- rankfield quinces -->\n{summary}"
    assert listed[2] == "repos/ben/oven/issues/7/comments"


def test_a_later_push_updates_the_comment(sqlite_site, token, runner, monkeypatch):
    (runner.folder / "my.run").write_text(OTHER_RUN)
    (runner.folder / "bin" / "gh").write_text(RECORDER.replace('"COMMENT", ""', '"COMMENT", "42"'))
    given = {"url": sqlite_site.url, "token": token, "track": "quinces", "runs": "my.run"}
    runner.act(PULL_REQUEST, **given, github_token="x")
    assert "repos/ben/oven/issues/comments/42" in runner.asked()[-1]
    assert "PATCH" in runner.asked()[-1]


def test_a_rejected_run_fails_the_job_and_lists_its_problems(sqlite_site, token, runner):
    (runner.folder / "bad.run").write_text("1 Q0 d1 1 nan ben\n")
    given = {"url": sqlite_site.url, "token": token, "track": "quinces", "runs": "bad.run"}
    assert runner.act(PULL_REQUEST, **given, github_token="x") == [0, 0, 0, 2]
    assert runner.written()["verdict"] == "rejected"
    assert "Line 1: " in runner.asked()[-1][-1]


def test_without_a_token_runs_are_only_checked(sqlite_site, token, runner):
    given = {"url": sqlite_site.url, "track": "quinces", "runs": "my.run"}
    assert runner.act(**given) == [0] * 4
    assert "Nothing was submitted" in runner.read("summary.md")
    assert runner.asked() == []


def test_a_site_that_is_away_fails_the_job_and_says_so(runner):
    given = {"url": "http://127.0.0.1:9", "token": "rf_x", "track": "bread", "runs": "my.run"}
    (runner.folder / "bin" / "rankfield").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'import sys; from rankfield import connection; "
        "connection.FIRST_PAUSE = 0; from rankfield.__main__ import main; "
        'sys.exit(main(sys.argv[1:]))\' "$@"\n'
    )
    assert runner.act(**given) == [0, 0, 0, 3]
    assert "cannot be reached" in runner.read("summary.md")
    assert runner.written()["verdict"] == "none"


def test_a_comment_that_may_not_be_written_fails_no_job(sqlite_site, token, runner):
    """As on a pull request from a fork, whose token may only read."""
    (runner.folder / "bin" / "gh").write_text("#!/bin/sh\nexit 1\n")
    given = {"url": sqlite_site.url, "track": "quinces", "runs": "my.run", "github_token": "x"}
    assert runner.act(PULL_REQUEST, **given) == [0] * 4


def test_a_value_of_an_input_is_never_run_as_code():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]


def test_the_outputs_and_inputs_of_the_action_are_those_of_its_steps():
    text = (ROOT / "action" / "action.yml").read_text()
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(ACTION["inputs"])
    names = re.findall(r"outputs\.(\w+)", str(ACTION["outputs"]))
    assert set(names) == set(ACTION["outputs"])


def test_the_gitlab_job_submits_and_comments(sqlite_site, token, runner):
    job: dict[str, Any] = GITLAB["rankfield"]
    merge_request = {"CI_MERGE_REQUEST_IID": "7", "CI_PROJECT_ID": "5", "GITLAB_TOKEN": "x"}
    given = job["variables"] | {"RANKFIELD_URL": sqlite_site.url, "TRACK": "quinces"}
    given |= {"RUNS": "my.run", "RANKFIELD_TOKEN": token, "CI_API_V4_URL": "https://gitlab.test"}
    done = runner.run("\n".join([*job["before_script"], *job["script"]]), **given, **merge_request)
    assert done.returncode == 0, done.stderr
    assert "0.6944" in runner.read("rankfield.md")
    assert runner.written("rankfield.env")["verdict"] == "none"
    [noted] = runner.asked()
    assert "### Rankfield: quinces" in noted[-2]
    assert noted[-1] == "https://gitlab.test/projects/5/merge_requests/7/notes"
