"""Which code made a run: what the CI states, else what git knows of the current folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

# The variables of GitHub, GitLab, Azure, CircleCI, Buildkite, Bitbucket, Travis and Jenkins. Of a
# proposed change, the branch that it comes from is first.
COMMITS = (
    *("GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION", "CIRCLE_SHA1"),
    *("BUILDKITE_COMMIT", "BITBUCKET_COMMIT", "TRAVIS_COMMIT", "GIT_COMMIT"),
)
BRANCHES = (
    *("GITHUB_HEAD_REF", "GITHUB_REF_NAME"),
    *("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"),
    *("SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH", "CIRCLE_BRANCH"),
    *("BUILDKITE_BRANCH", "BITBUCKET_BRANCH"),
    *("TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH", "GIT_BRANCH"),
)
PREFIXES = ("refs/heads/", "origin/")


@dataclass(frozen=True)
class Checkout:
    """A commit and its branch; empty if they are not known."""

    commit: str
    branch: str


def find_checkout() -> Checkout:
    commit = first_set(COMMITS) or ask_git("rev-parse", "HEAD")
    branch = first_set(BRANCHES) or ask_git("branch", "--show-current")
    for prefix in PREFIXES:
        branch = branch.removeprefix(prefix)
    return Checkout(commit, branch)


def first_set(names: Iterable[str]) -> str:
    return next((value for name in names if (value := os.environ.get(name, ""))), "")


def ask_git(*words: str) -> str:
    """Return what git answers; nothing outside a repository or without git."""
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
