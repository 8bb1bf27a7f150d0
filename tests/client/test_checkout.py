"""Which code made a run."""

from __future__ import annotations

import subprocess

import pytest

from rankfield.checkout import BRANCHES, COMMITS, Checkout, find_checkout


@pytest.fixture(autouse=True)
def no_ci(monkeypatch, tmp_path):
    """Whatever runs these tests, they begin outside a CI and outside a repository."""
    for name in (*COMMITS, *BRANCHES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("variables", "branch"),
    [
        ({"GITHUB_REF_NAME": "main"}, "main"),
        ({"GITHUB_HEAD_REF": "rrf", "GITHUB_REF_NAME": "7/merge"}, "rrf"),
        ({"CI_COMMIT_REF_NAME": "rrf"}, "rrf"),
        ({"GIT_BRANCH": "origin/rrf"}, "rrf"),
        ({"BUILD_SOURCEBRANCH": "refs/heads/feature/rrf"}, "feature/rrf"),
    ],
)
def test_a_ci_states_the_branch(monkeypatch, variables, branch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert find_checkout().branch == branch


def test_git_knows_commit_and_branch():
    words = ["-c", "user.name=Ben", "-c", "user.email=ben@example.org"]
    subprocess.run(["git", "init", "-q", "-b", "rrf"], check=True)
    subprocess.run(["git", *words, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    found = find_checkout()
    assert (len(found.commit), found.branch) == (40, "rrf")


def test_outside_a_repository_nothing_is_known():
    assert find_checkout() == Checkout("", "")
