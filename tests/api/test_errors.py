"""Requests that are damaged, and calls that do not exist."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.test import RequestFactory

from leaderboard.models import Run
from tests.builders import RUN

RUNS = "/api/v1/tracks/bread/runs"
PART = b'--b\r\nContent-Disposition: form-data; name="file"; filename="r"\r\n\r\n'
WHOLE = PART + RUN.encode() + b"\r\n--b--\r\n"


def is_an_error(answer, status: int, code: str) -> bool:
    body = answer.json()
    keys = {"code", "message", "problems"}
    return (answer.status_code, body["code"], set(body)) == (status, code, keys)


def test_multipart_without_a_boundary_is_malformed(track, ben_api):
    answer = ben_api.client.post(RUNS, b"x", "multipart/form-data", headers=ben_api.headers)
    assert is_an_error(answer, 400, "E_FIELD")


def test_two_thousand_fields_are_too_many(track, ben_api):
    answer = ben_api.send(RUNS, **{f"field{n}": "x" for n in range(2000)})
    assert is_an_error(answer, 400, "E_FIELD")


def test_fields_of_some_megabytes_are_too_long(track, ben_api):
    answer = ben_api.send(RUNS, description="x" * 3_000_000)
    assert is_an_error(answer, 413, "E_SIZE")


def test_a_body_that_is_not_multipart_has_no_file(track, ben_api):
    assert is_an_error(ben_api.post(RUNS, {"file": RUN}), 422, "E_FIELD")


@pytest.mark.parametrize("body", ["{", "[" * 100_000, '"text"', "[]", "\udcff"])
def test_a_body_that_is_no_json_object_is_refused(ada_api, body):
    answer = ada_api.client.post(
        "/api/v1/tracks",
        body.encode("utf-8", "surrogateescape"),
        "application/json",
        headers=ada_api.headers,
    )
    assert answer.status_code in (400, 422)
    assert answer.json()["code"] == "E_FIELD"


@pytest.mark.parametrize("sent", [WHOLE[:-30], WHOLE])
def test_a_sender_who_goes_away_leaves_no_run(track, ben_api, sent):
    request = RequestFactory(headers=ben_api.headers).post(
        RUNS, b"", "multipart/form-data; boundary=b"
    )
    length = str(len(WHOLE) + 1000)
    environ = request.environ | {"wsgi.input": BytesIO(sent), "CONTENT_LENGTH": length}
    assert ben_api.client.handler(environ).status_code in (400, 422)
    assert not Run.objects.exists()


def test_a_wrong_method_says_which_are_right(track, ada_api):
    answer = ada_api.client.put("/api/v1/tracks/bread", headers=ada_api.headers)
    assert is_an_error(answer, 405, "E_METHOD")
    assert set(answer["Allow"].split(", ")) == {"GET", "PATCH"}


@pytest.mark.parametrize("path", ["", "nothing", "tracks/a/b/c", "runs/%00", "tracks/a%00b", "me/"])
def test_an_address_that_does_not_exist_answers_in_json(ada_api, path):
    assert is_an_error(ada_api.get(f"/api/v1/{path}"), 404, "E_NOT_FOUND")


def test_our_own_fault_is_an_error_without_a_traceback(track, ben_api, monkeypatch, caplog):
    def breaks(*_: object) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr("leaderboard.api.tracks.serialise_track", breaks)
    answer = ben_api.get("/api/v1/tracks/bread")
    assert is_an_error(answer, 500, "E_FAILED")
    assert "the inside" not in answer.content.decode()
    assert "the inside" in caplog.text
