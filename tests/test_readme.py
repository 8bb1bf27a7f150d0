"""What the README tells a newcomer to type works."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMANDS = [
    command
    for block in re.findall(r"```sh\n(.+?)```", (ROOT / "README.md").read_text(), re.S)
    for command in block.splitlines()
    if command.strip() != "make test"
]


pytestmark = [pytest.mark.services, pytest.mark.xdist_group("readme")]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that a server has been started in, as the README has it before the other lines."""
    path = tmp_path_factory.mktemp("newcomer")
    environment = {**os.environ, "RANKFIELD_HOME": str(path)}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=environment, check=True
    )
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_works(command: str, home: Path) -> None:
    environment = {**os.environ, "RANKFIELD_HOME": str(home)}
    for name in ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"):
        environment.pop(name, None)
    words = command.replace(".venv/bin/python", sys.executable)
    if command == "make demo":
        words = f"{sys.executable} manage.py demo --once --port 0"
    if words.endswith("manage.py serve"):
        stops_when_asked(f"{words} --port 0", environment)
        return
    done = subprocess.run(words.split(), cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_the_table_of_measures_is_that_of_the_code() -> None:
    words = [sys.executable, "-m", "evaluation", "measures", "--format", "md"]
    printed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert printed.stdout.strip() in (ROOT / "docs/reference/measures.md").read_text()


def stops_when_asked(command: str, environment: dict[str, str]) -> None:
    server = subprocess.Popen(
        command.split(), cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    deadline = time.monotonic() + 60
    while "http://" not in (line := server.stdout.readline()):
        assert line and time.monotonic() < deadline
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=30) == 0
