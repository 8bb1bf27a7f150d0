"""What the log says, and by which number it is found again."""

from __future__ import annotations

import io
import json
import logging

import pytest
from django.test import Client

from leaderboard.infrastructure.logs import JsonFormatter, NumberFilter, TextFormatter
from leaderboard.models import ApiToken
from leaderboard.scoring import work
from tests.builders import make_run


@pytest.fixture
def told():
    """What a program that gathers logs is told, line by line."""
    out, handler = io.StringIO(), None
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonFormatter())
    handler.addFilter(NumberFilter())
    root, requests = logging.getLogger(), logging.getLogger("leaderboard.requests")
    before = requests.level
    root.addHandler(handler)
    requests.setLevel("INFO")
    yield lambda: [json.loads(line) for line in out.getvalue().splitlines()]
    root.removeHandler(handler)
    requests.setLevel(before)


def test_a_request_has_a_number_in_its_answer_and_in_the_log(told, db, client):
    answer = client.get("/measures/?q=a-word-that-is-not-logged")
    [line] = [each for each in told() if each["logger"] == "leaderboard.requests"]
    assert line["request"] == answer["X-Request-Id"] and len(line["request"]) == 12
    assert (line["message"], line["status"]) == ("GET /measures/", 200)
    assert "not-logged" not in str(told())


def test_two_requests_have_two_numbers(db, client):
    assert client.get("/limits/")["X-Request-Id"] != client.get("/limits/")["X-Request-Id"]


def test_a_header_of_the_sender_is_no_number(db, client):
    forged = client.get("/limits/", headers={"X-Request-Id": "a\nforged line"})
    assert "forged" not in forged["X-Request-Id"]


def test_the_page_of_our_fault_names_the_request_whose_traceback_is_logged(told, db, monkeypatch):
    monkeypatch.setattr("leaderboard.pages.views.site.measure_families", lambda: 1 / 0)
    page = Client(raise_request_exception=False).get("/measures/")
    number = page["X-Request-Id"]
    assert f"<code>{number}</code>" in page.content.decode()
    [broken] = [line for line in told() if "traceback" in line]
    assert broken["request"] == number and "ZeroDivisionError" in broken["traceback"]


def test_the_api_names_the_request_too(told, track, client, monkeypatch):
    monkeypatch.setattr("leaderboard.api.tracks.Track.objects", None)
    answer = client.get("/api/v1/tracks")
    assert answer.status_code == 500 and answer["X-Request-Id"] in answer.json()["message"]


def test_the_lines_of_a_job_carry_its_number(told, track, ben, monkeypatch):
    monkeypatch.setattr(work, "measure_run", lambda *_: 1 / 0)
    make_run(track, ben)
    [broken] = [line for line in told() if "traceback" in line]
    assert broken["job"].isdecimal() and f"job {broken['job']} " in broken["message"]


def test_people_read_a_line_of_text():
    record = logging.LogRecord("leaderboard", logging.WARNING, "", 0, "it %s", ("rains",), None)
    NumberFilter().filter(record)
    assert TextFormatter().format(record).endswith("WARNING leaderboard it rains")


def test_no_traceback_has_a_token():
    error = ValueError("Bearer rf_0123456789 was refused")
    record = logging.LogRecord("", logging.ERROR, "", 0, "", (), (ValueError, error, None))
    NumberFilter().filter(record)
    assert "rf_" not in JsonFormatter().format(record)
    record.exc_text = None
    assert "Bearer … was refused" in TextFormatter().format(record)


def test_the_line_of_a_request_names_user_path_and_method(told, ben, as_ben):
    as_ben.get("/account/")
    [line] = [each for each in told() if each["logger"] == "leaderboard.requests"]
    assert (line["user"], line["method"], line["path"]) == (ben.pk, "GET", "/account/")


def test_the_line_of_a_call_names_the_user_of_its_token(told, ben, client):
    token = ApiToken.objects.issue(ben, ["read"])[1]
    client.get("/api/v1/tracks", headers={"Authorization": f"Bearer {token}"})
    [line] = [each for each in told() if each["logger"] == "leaderboard.requests"]
    assert line["user"] == ben.pk and token not in str(told())


def test_no_line_has_the_key_of_a_link(told, db, client):
    client.get("/account/password/reset/key/3-d6xgqz-0123456789/")
    client.get("/account/password/reset/key/3-d6xgqz-0123456789")
    assert len(told()) >= 2 and "d6xgqz" not in str(told())
