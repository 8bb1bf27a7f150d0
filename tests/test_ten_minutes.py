"""The page that leads from a golden set to a gate, followed step by step."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tutorials" / "gate.md").read_text()
BLOCK = re.compile(r"```(\w+)\n(.+?)```", re.S)
FILE = re.compile(r"the file `(\S+)`:\s*$", re.I)


def blocks() -> Iterator[tuple[str, str, str]]:
    """Yield the language, the name of the file, if it is one, and the text of each block."""
    end = 0
    for found in BLOCK.finditer(PAGE):
        named = FILE.search(PAGE[end : found.start()])
        yield found[1], named[1] if named else "", found[2]
        end = found.end()


def apply(diff: str, folder: Path) -> None:
    before, after = (line[1:] for line in diff.splitlines())
    script = (folder / "search.py").read_text()
    assert script.count(before) == 1
    (folder / "search.py").write_text(script.replace(before, after))


def follow(line: str, folder: Path) -> None:
    """Run a line of a shell, which has to end as the page says."""
    command, _, status = line.partition("  # exit status ")
    command = command.replace("rankfield ", f"{sys.executable} -m rankfield ")
    command = re.sub(r"^python ", f"{sys.executable} ", command)
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == int(status or 0), done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder in which every step has been taken."""
    folder = tmp_path_factory.mktemp("ten-minutes")
    for language, name, text in blocks():
        if name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        elif language == "diff":
            apply(text, folder)
        elif language == "sh":
            for line in text.splitlines():
                follow(line, folder)
    return folder


def test_every_step_of_the_page_ends_as_it_says(folder):
    assert {"main.run", "change.run"} <= {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("name", "find"),
    [
        (".github/workflows/search.yml", lambda file: file["jobs"]["gate"]["steps"][-1]["run"]),
        (".gitlab-ci.yml", lambda file: file["gate"]["script"][-1]),
        (
            ".pre-commit-config.yaml",
            lambda file: file["repos"][0]["hooks"][0]["entry"].partition("&& ")[2].rstrip("'"),
        ),
    ],
)
def test_the_job_refuses_the_change(folder, name, find):
    follow(f"{find(yaml.safe_load((folder / name).read_text()))}  # exit status 1", folder)


def test_the_job_lets_the_reference_pass_by(folder):
    follow("rankfield compare golden.json main.run main.run -m nDCG@10 --margin .05", folder)
