"""The files by which systemd runs a site."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands

from leaderboard.management.host_files import UNITS, render_edge


@pytest.fixture
def root(tmp_path: Path) -> Path:
    set_up(tmp_path)
    return tmp_path


def set_up(root: Path) -> None:
    call_command("setup", "--systemd", host="bench.example.org", into=root)


def unit(root: Path, name: str) -> ConfigParser:
    found = ConfigParser(interpolation=None)
    found.optionxform = str
    found.read(root / "etc/systemd/system" / name)
    return found


def test_each_unit_starts_a_command_that_there_is(root):
    for name in ("rankfield-web.service", "rankfield-worker@.service"):
        python, manage, command, *_ = shlex.split(unit(root, name)["Service"]["ExecStart"])
        folder = Path(unit(root, name)["Service"]["WorkingDirectory"])
        assert python == f"{folder}/.venv/bin/python" and (folder / manage).exists()
        assert command in get_commands()


def test_no_unit_runs_as_root_or_writes_elsewhere(root):
    for name in UNITS:
        if "Service" in (said := unit(root, name)):
            assert said["Service"]["User"] == "rankfield"
            assert said["Service"]["ProtectSystem"] == "strict"


def test_the_socket_of_web_is_where_the_edge_asks_for_pages(root):
    """Web finds it open, so requests wait while web starts again."""
    service, socket = (unit(root, f"rankfield-web.{kind}") for kind in ("service", "socket"))
    address = socket["Socket"]["ListenStream"]
    assert service["Service"]["ExecStart"].endswith(f" web --bind {address}")
    assert service["Unit"]["Requires"] == service["Install"]["Also"] == "rankfield-web.socket"
    assert f"http://{address};" in (root / "etc/rankfield/edge.conf").read_text()


def test_secrets_are_made_once_and_for_nobody_else(root):
    environment = root / "etc/rankfield/environment"
    before = environment.read_text()
    set_up(root)
    assert environment.read_text() == before
    assert environment.stat().st_mode & 0o777 == 0o600
    assert "ALLOWED_HOSTS=bench.example.org,127.0.0.1\n" in before


def test_the_edge_can_read_its_configuration(tmp_path):
    before = os.umask(0o077)
    set_up(tmp_path)
    os.umask(before)
    assert (tmp_path / "etc/rankfield").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "etc/rankfield/edge.conf").stat().st_mode & 0o777 == 0o644


def test_an_edge_that_changed_is_noticed():
    with pytest.raises(ValueError, match="listen 8080"):
        render_edge("server {}")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
@pytest.mark.night
def test_systemd_takes_every_unit(root):
    for name in UNITS:
        path = root / "etc/systemd/system" / name
        said = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
