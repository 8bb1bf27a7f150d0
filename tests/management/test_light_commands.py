"""A command and web start without what they do not need."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

import pytest

from leaderboard.management.processes import START_SIGNAL
from leaderboard.management.site_command import SiteCommand
from tests.test_house import ROOT

# Together they take longer to import than all else that a small command does.
HEAVY = {"celery", "evaluation", "kombu", "ninja", "pydantic", "redis", "scipy", "yaml"}
HEAVY |= {"confusable_homoglyphs", "markdown_it"}
SCRIPT = """
import runpy, sys
sys.argv = ["manage.py", *{words}]
try:
    runpy.run_path("manage.py", run_name="__main__")
except SystemExit:
    pass
print(*{{name.split(".")[0] for name in sys.modules}})
"""


def modules_after(*words: str) -> set[str]:
    command = [sys.executable, "-c", SCRIPT.format(words=list(words))]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(answer.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("name", ["create_token", "create_teams", "forget_second_factor", "erase"])
def test_a_small_command_imports_nothing_heavy(name):
    loaded = modules_after(name, "--help")
    assert "leaderboard" in loaded and not loaded & HEAVY


def test_a_token_is_made_without_importing_pages_and_api(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKFIELD_HOME", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    loaded = modules_after("create_token", "ada")
    assert "sqlite3" in loaded and not loaded & HEAVY


def test_web_without_redis_starts_without_broker_and_tests(tmp_path):
    surroundings = {**os.environ, "RANKFIELD_HOME": str(tmp_path), "REDIS_URL": ""}
    script = "import sys, leaderboard.wsgi; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    answer = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, check=True)
    loaded = set(answer.stdout.decode().split())
    assert "ninja" in loaded
    assert not loaded & {"celery", "kombu", "redis", "scipy.special", "scipy.sparse"}


def test_web_waits_until_serve_has_migrated(tmp_path):
    read_end, write_end = os.pipe()
    os.write(write_end, b"go")
    surroundings = {**os.environ, "RANKFIELD_HOME": str(tmp_path), START_SIGNAL: str(read_end)}
    command = [sys.executable, "-c", "import leaderboard.wsgi"]
    subprocess.run(command, cwd=ROOT, env=surroundings, pass_fds=[read_end], check=True)
    assert os.read(read_end, 2) == b"o"
    os.close(read_end)
    os.close(write_end)


def test_every_command_of_the_site_checks_its_settings_first():
    for path in (ROOT / "leaderboard" / "management" / "commands").glob("[a-z]*.py"):
        module = import_module(f"leaderboard.management.commands.{path.stem}")
        assert issubclass(module.Command, SiteCommand)
