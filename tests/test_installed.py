"""The wheel, installed outside the repository, scores alone and serves with its extra."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from leaderboard import settings
from tests.test_house import ROOT

pytestmark = [pytest.mark.night, pytest.mark.xdist_group("installed")]

SMALL = [str(ROOT / "tests" / "data" / name) for name in ("small.qrels", "small.run")]


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, for a user who has nothing else."""

    folder: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        program, *arguments = words
        return subprocess.run(
            [self.folder / "bin" / program, *arguments],
            cwd=self.folder,
            env={"HOME": str(self.folder), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
        )

    def imports(self, name: str) -> bool:
        return self.run("python", "-c", f"import {name}").returncode == 0


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True)
    [built] = folder.glob("*.whl")
    return built


def install(wheel: Path, extra: str, folder: Path) -> Installed:
    """Install the wheel with the versions that these tests run with."""
    pins = folder / "pins.txt"
    found = importlib.metadata.distributions()
    pins.write_text("".join(f"{each.name}=={each.version}\n" for each in found))
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "install", "-q", "-c", pins]
    subprocess.run([*pip, f"rankfield{extra} @ {wheel.as_uri()}"], check=True)
    return Installed(folder / "venv")


@pytest.fixture(scope="module")
def client(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(wheel, "", tmp_path_factory.mktemp("client"))


def test_the_wheel_has_the_version_of_the_code(wheel):
    assert wheel.name.startswith(f"rankfield-{settings.VERSION}-")


def test_without_the_extra_it_scores_and_compares(client):
    assert not client.imports("django")
    scored = client.run("rankfield", "score", *SMALL, "-m", "AP")
    assert scored.stdout.split() == ["AP", "all", "0.6667"]
    assert client.run("rankfield", "compare", *SMALL, SMALL[1]).returncode == 0
    assert client.run("rankfield", "check", SMALL[1]).returncode == 0


def test_without_the_extra_its_client_is_there(client):
    assert client.imports("rankfield")
    assert client.run("rankfield", "submit", "--help").returncode == 0


def test_without_the_extra_the_server_says_how_to_install_it(client):
    refused = client.run("rankfield", "demo")
    assert refused.returncode == 2
    assert "pip install 'rankfield[server]'" in refused.stderr


def test_with_the_extra_it_serves_the_demo(wheel, tmp_path):
    server = install(wheel, "[server]", tmp_path)
    shown = server.run("rankfield", "demo", "--once", "--port", "0")
    assert shown.stdout.count(" OK\n") == 9, shown.stdout + shown.stderr
    assert (server.folder / ".local" / "share" / "rankfield" / "rankfield.sqlite3").exists()
