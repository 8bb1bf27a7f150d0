"""With LOG_FORMAT=json, web and worker write nothing but JSON, from their start to their end."""

from __future__ import annotations

import json
import os
import signal
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.builders import RUN, upload
from tests.services.machines import Postgres, Redis, ServerSite, children, folder, until
from tests.services.scene import scored_run

pytestmark = [
    pytest.mark.services,
    pytest.mark.night,
    pytest.mark.xdist_group("services"),
]


@pytest.fixture(scope="module")
def logged(postgres: Postgres, redis: Redis) -> Iterator[ServerSite]:
    """A site whose processes were started for these tests."""
    with folder() as home:
        site = ServerSite(home, postgres, redis)
        site.environment |= {"DATABASE_URL": postgres.with_database("logged")}
        site.environment |= {"LOG_FORMAT": "json"}
        try:
            site.open(workers=1)
            yield site
        finally:
            site.close()


@pytest.fixture(scope="module")
def token(logged: ServerSite) -> str:
    """Of Ada, who has a track with a run."""
    token = logged.manage("create_token", "ada", "--organiser")
    scored_run(logged, token, "logged")
    return token


def lines_of(site: ServerSite, name: str) -> list[dict[str, Any]]:
    """The lines that a process wrote; fails where one is no JSON."""
    return [json.loads(line) for line in site.said(name).splitlines()]


def test_a_request_and_the_job_that_it_asked_for_have_one_number(logged: ServerSite, token: str):
    file = upload("run", RUN.replace("9.0", "9.5"))
    request = logged.request("/tracks/logged/runs", token, file=file)
    with urllib.request.urlopen(request, timeout=60) as answer:
        number, run = answer.headers["X-Request-Id"], json.load(answer)["id"]
    until(lambda: logged.ask(f"/runs/{run}", token)["state"] == "scored", "the run is scored")
    [asked] = [line for line in lines_of(logged, "web") if line.get("request") == number]
    assert (asked["method"], asked["path"]) == ("POST", "/api/v1/tracks/logged/runs")
    until(lambda: str(run) in logged.said("work"), "the worker says what it did")
    [done] = [line for line in lines_of(logged, "work") if line.get("request") == number]
    assert f"(check_run {run}) done" in done["message"] and done["job"].isdecimal()


def test_lines_of_gunicorn_and_celery_are_json_too(logged: ServerSite):
    """Each says that one of its processes was killed, and Celery that it stops."""
    for parent in (logged.web.pid, logged.workers()[0]):
        os.kill(children(parent)[0], signal.SIGKILL)
    for name in ("web", "work"):
        until(lambda name=name: "SIGKILL" in logged.said(name), f"{name} says what was killed")
    for process in [*logged.started, logged.web]:
        process.terminate()
        process.wait(60)
    assert "gunicorn.error" in loggers_of_kills(logged, "web")
    assert "multiprocessing" in loggers_of_kills(logged, "work")
    assert lines_of(logged, "work")[-1]["message"] == "worker: Warm shutdown (MainProcess)"


def loggers_of_kills(site: ServerSite, name: str) -> set[str]:
    return {line["logger"] for line in lines_of(site, name) if "SIGKILL" in line["message"]}
