"""`manage.py serve` keeps a site alive, and leaves nothing when it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.services.machines import ROOT, SqliteSite, command_of, folder, until

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]


@pytest.fixture(scope="module")
def site() -> Iterator[SqliteSite]:
    """A site that these tests may end."""
    with folder() as home:
        served = SqliteSite(home)
        yield served
        served.close()


@pytest.fixture
def served(site: SqliteSite) -> SqliteSite:
    if not site.processes():
        site.open()
    return site


def refused(site: SqliteSite, *words: str) -> str:
    """What `serve` says when it does not start."""
    done = subprocess.run(
        [sys.executable, "manage.py", "serve", *words],
        cwd=ROOT,
        env=site.surroundings(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    return done.stderr


def test_a_second_site_in_the_same_folder_is_refused(served: SqliteSite) -> None:
    said = refused(served, "--port", "0")
    assert (
        f"Rankfield is already running in {served.home}: {served.url} (process {served.web.pid})"
        in said
    )


def test_a_port_in_use_is_said(served: SqliteSite) -> None:
    port = served.url.split(":")[-1]
    with folder() as elsewhere:
        said = refused(SqliteSite(elsewhere), "--port", port)
    assert f"127.0.0.1:{port} cannot be opened: Address already in use" in said


def test_a_web_that_dies_is_started_again(served: SqliteSite) -> None:
    [web] = [pid for pid in served.processes() if leads(served, pid, "gunicorn")]
    os.killpg(web, signal.SIGKILL)
    until(served.answers, "web answers again")
    assert web not in served.processes()


def leads(site: SqliteSite, pid: int, name: str) -> bool:
    """Whether this is the main process of web or of the worker."""
    return name in command_of(pid) and os.getpgid(pid) == pid


def test_a_site_that_is_told_to_stop_leaves_no_process(served: SqliteSite) -> None:
    served.web.send_signal(signal.SIGTERM)
    assert served.web.wait(30) == 0
    until(lambda: not served.processes(), "what was killed with it is gone")


def test_a_site_that_is_killed_leaves_no_process(served: SqliteSite) -> None:
    served.web.kill()
    served.web.wait()
    until(lambda: not served.processes(), "web and worker end")
