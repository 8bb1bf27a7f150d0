"""The wheel, installed outside the repository, scores alone and serves with its extra."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
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
            stdin=subprocess.DEVNULL,
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


def install(wheel: Path, extra: str, folder: Path, unpinned: str = "") -> Installed:
    """Install the wheel with the versions that these tests run with, all but one."""
    pins = folder / "pins.txt"
    found = [each for each in importlib.metadata.distributions() if each.name != unpinned]
    pins.write_text("".join(f"{each.name}=={each.version}\n" for each in found))
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "install", "-q", "-c", pins]
    subprocess.run([*pip, f"rankfield{extra} @ {wheel.as_uri()}"], check=True)
    return Installed(folder / "venv")


@pytest.fixture(scope="module")
def client(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(wheel, "", tmp_path_factory.mktemp("client"))


def test_the_source_builds_the_same_wheel(wheel, tmp_path):
    words = [sys.executable, "-m", "hatchling", "build"]
    subprocess.run([*words, "-t", "sdist", "-d", str(tmp_path)], cwd=ROOT, check=True)
    [source] = tmp_path.glob("*.tar.gz")
    subprocess.run(["tar", "xzf", source.name], cwd=tmp_path, check=True)
    folder = tmp_path / source.name.removesuffix(".tar.gz")
    subprocess.run([*words, "-t", "wheel", "-d", str(tmp_path)], cwd=folder, check=True)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_a_release_is_built_and_checked(tmp_path):
    pytest.importorskip("twine")
    checkout = tmp_path / "rankfield"
    shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".*", "var", "build", "dist"))
    (checkout / ".venv").symlink_to(sys.prefix)
    words = ["make", "-o", ".venv/dev", "release"]
    made = subprocess.run(words, cwd=checkout, capture_output=True, text=True)
    assert (made.returncode, made.stdout.count("PASSED")) == (0, 2), made.stdout + made.stderr
    assert {path.suffix for path in (checkout / "dist").iterdir()} == {".whl", ".gz", ".json", ""}


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


def test_the_extras_of_the_client_bring_no_server(wheel, tmp_path):
    # cffconvert, which tests of the night use, wants an older one than the MCP.
    installed = install(wheel, "[mcp,keyring]", tmp_path, unpinned="jsonschema")
    assert not installed.imports("django")
    assert installed.imports("keyring")
    served = installed.run("rankfield", "mcp", "--url", "http://127.0.0.1:9")
    # Nothing is asked, since its standard input has ended.
    assert (served.returncode, served.stderr) == (0, "")


def test_with_the_extra_it_serves_the_demo(wheel, tmp_path):
    server = install(wheel, "[server]", tmp_path)
    shown = server.run("rankfield", "demo", "--once", "--port", "0")
    assert shown.stdout.count(" OK\n") == 11, shown.stdout + shown.stderr
    home = server.folder / ".local" / "share" / "rankfield"
    assert f"Everything is stored in {home}\n" in shown.stdout
    assert (home / "rankfield.sqlite3").exists()
