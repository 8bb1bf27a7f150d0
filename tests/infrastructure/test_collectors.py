"""Errors and traces reach a collector, and nothing of a person does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from leaderboard.environment import require_package
from tests.small_servers import collecting
from tests.test_house import ROOT

# A request with a secret in its path and its query, a job that fails, and an error that names one.
TOLD = """
import logging
from django.test import Client
from leaderboard.infrastructure.logs import NumberFilter
from leaderboard.jobs.running import log_as
from leaderboard.models import Job
Client().get("/healthz?word=crumbs", headers={"Host": "localhost"})
grade = "a secret grade"
with log_as(Job(pk=7, kind="check_run", request="f00d")):
    try:
        raise ValueError("nobody reads rf_0123456789")
    except ValueError:
        logging.getLogger("leaderboard.jobs").exception("job with rf_0123456789 failed")
"""


def test_a_setting_without_its_package_says_how_to_get_it():
    with pytest.raises(ImproperlyConfigured, match=r"SENTRY_DSN needs: pip install 'rankfield\[r"):
        require_package("no_such.package", "SENTRY_DSN", "reports")


def test_without_a_collector_neither_package_is_imported():
    code = "import sys; from leaderboard.jobs import running; from leaderboard import urls"
    found = f"{code}; print([name for name in sys.modules if name[:8] in {'sentry_s', 'opentele'}])"
    words = [sys.executable, "manage.py", "shell", "-v", "0", "-c", found]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of both extras, beside those of the tests."""
    folder = tmp_path_factory.mktemp("packages")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        each for name in ("reports", "traces") for each in extras["optional-dependencies"][name]
    ]
    words = [sys.executable, "-m", "pip", "install", "-q", "--target", folder, *wanted]
    subprocess.run(words, check=True)
    return folder


@pytest.fixture(scope="module")
def received(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a collector has been sent, by address."""
    with collecting() as (address, bodies):
        settings = {
            "RANKFIELD_HOME": str(tmp_path_factory.mktemp("home")),
            "SENTRY_DSN": f"http://key@{address}/1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{address}",
            "PYTHONPATH": str(packages),
        }
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        words = [sys.executable, "manage.py", "shell", "-v", "0", "-c", TOLD]
        done = subprocess.run(words, cwd=ROOT, env=kept | settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return bodies


@pytest.mark.night
def test_an_error_arrives_with_its_numbers_and_without_secrets_or_variables(received):
    *_, line = received["/api/1/envelope/"].decode().strip().splitlines()
    event = json.loads(line)
    [error] = event["exception"]["values"]
    assert (error["type"], error["value"]) == ("ValueError", "nobody reads …")
    assert event["tags"] == {"request": "f00d", "job": "7"}
    assert not event.keys() & {"user", "request", "breadcrumbs", "modules"}
    assert "a secret grade" not in line.replace('grade = \\"a secret grade\\"', "")
    assert "rf_0123456789 failed" not in event["logentry"]["formatted"]


@pytest.mark.night
def test_a_request_and_a_job_arrive_as_spans_without_the_query(received):
    spans = received["/v1/traces"]
    assert b"GET /healthz" in spans and b"job check_run" in spans and b"f00d" in spans
    assert b"crumbs" not in spans
