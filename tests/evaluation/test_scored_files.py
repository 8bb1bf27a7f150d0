"""How many processes score several files, and what happens where one dies."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from evaluation.__main__ import main
from evaluation.commands import scored_files
from evaluation.commands.scored_files import SHARE, count_processes
from tests.test_house import ROOT


@pytest.mark.parametrize(
    ("size", "processes"), [(10, 1), (SHARE, 1), (2 * SHARE, 2), (99 * SHARE, 4)]
)
def test_a_process_is_started_for_enough_bytes_and_a_core(size, processes, tmp_path, monkeypatch):
    monkeypatch.setattr(scored_files, "count_cores", lambda: 4)
    with (tmp_path / "a.run").open("wb") as file:
        file.truncate(size)
    assert count_processes([str(tmp_path / "a.run"), str(tmp_path / "missing.run")]) == processes
    assert count_processes([str(tmp_path / "a.run"), "-"]) == 1


def test_ten_runs_are_shared_by_processes_that_read_the_judgments_once(tmp_path):
    """The standard input can be read once."""
    runs = [str(tmp_path / f"{number}.run") for number in range(10)]
    for number in range(10):
        (tmp_path / f"{number}.run").write_text(f"1 Q0 d1 1 9 run-{number}\n")
    words = [sys.executable, "-m", "evaluation", "score", "-m", "AP", "--processes", "2", "-"]
    done = subprocess.run(
        [*words, *runs], cwd=ROOT, input=b"1 0 d1 1\n", capture_output=True, check=True
    )
    assert done.stdout.count(b"1.0000") == 10


def test_the_runs_of_a_process_that_died_are_scored_all_the_same(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(scored_files.pickle, "dumps", lambda _: os._exit(1))
    (tmp_path / "qrels").write_text("1 0 d1 1\n")
    for name in "ab":
        (tmp_path / name).write_text(f"1 Q0 d1 1 9 {name}\n")
    runs = [str(tmp_path / name) for name in "ab"]
    assert main(["score", "-m", "AP", "--processes", "2", str(tmp_path / "qrels"), *runs]) == 0
    assert capfd.readouterr().out.count("1.0000") == 2
