"""While the database or the disk is away, everybody is told to come back, and when."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys

import pytest
from django.db import OperationalError
from django.test import Client

from leaderboard.actions import submissions
from leaderboard.jobs import queue
from leaderboard.models import ApiToken, Run
from tests.builders import RUN, upload

pytestmark = pytest.mark.long

AWAY = OperationalError("server closed the connection unexpectedly")
FULL = OSError(errno.ENOSPC, "No space left on device")


def break_with(error: Exception):
    def broken(*_: object, **__: object):
        raise error

    return broken


@pytest.fixture
def answering() -> Client:
    """A client that gets the page of an error instead of the error."""
    return Client(raise_request_exception=False)


@pytest.fixture
def token(ben) -> dict[str, str]:
    _, secret = ApiToken.objects.issue(ben, ["read", "submit"])
    return {"HTTP_AUTHORIZATION": f"Bearer {secret}"}


@pytest.mark.parametrize(("error", "status"), [(AWAY, 503), (FULL, 507)], ids=["away", "full"])
def test_a_page_says_when_to_come_back(answering, track, monkeypatch, error, status) -> None:
    monkeypatch.setattr("leaderboard.pages.views.tracks.render", break_with(error))
    answer = answering.get("/")
    assert (answer.status_code, answer["Retry-After"].isdecimal()) == (status, True)
    assert "Try again shortly" in answer.content.decode()


def test_nobody_signs_in_while_tries_cannot_be_counted(answering, ben, settings) -> None:
    nowhere = {"BACKEND": "django.core.cache.backends.redis.RedisCache"}
    settings.CACHES = {"default": {**nowhere, "LOCATION": "redis://127.0.0.1:1/0"}}
    answer = answering.post("/account/login/", {"login": "ben", "password": "a guess"})
    assert (answer.status_code, answer["Retry-After"].isdecimal()) == (503, True)
    assert "Sign-in is temporarily unavailable." in answer.content.decode()


def test_an_error_of_ours_is_no_outage(answering, track, monkeypatch) -> None:
    monkeypatch.setattr("leaderboard.pages.views.tracks.render", break_with(OSError(2, "gone")))
    answer = answering.get("/")
    assert (answer.status_code, "Retry-After" in answer) == (500, False)


@pytest.mark.parametrize(("error", "code"), [(AWAY, "E_AWAY"), (FULL, "E_FULL")])
def test_an_upload_says_when_to_send_it_again(client, track, token, monkeypatch, error, code):
    monkeypatch.setattr(submissions, "hash_file", break_with(error))
    form = {"file": upload("run.txt", RUN)}
    answer = client.post("/api/v1/tracks/bread/runs", form, **token)
    assert (answer.json()["code"], answer["Retry-After"].isdecimal()) == (code, True)
    assert not Run.objects.exists()


def test_a_file_stays_where_nobody_knows_whether_its_row_was_written(
    client, track, token, monkeypatch, settings
) -> None:
    """Where the connection breaks while it commits, the row may be there, and wants its file."""
    monkeypatch.setattr(queue, "enqueue", break_with(AWAY))
    form = {"file": upload("run.txt", RUN)}
    assert client.post("/api/v1/tracks/bread/runs", form, **token).status_code == 503
    assert [path for path in (settings.MEDIA_ROOT / "runs").rglob("*") if path.is_file()]


CONNECT = "from django.db import connection; connection.ensure_connection()"


def test_a_database_that_says_nothing_is_given_up(tmp_path) -> None:
    """By itself a client waits for more than two minutes."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://rankfield@127.0.0.1:{silent.getsockname()[1]}/rankfield"
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "--no-imports", "-c", CONNECT],
            env={**os.environ, "DATABASE_URL": url, "RANKFIELD_HOME": str(tmp_path)},
            capture_output=True,
            timeout=90,
        )
    assert b"OperationalError" in done.stderr
