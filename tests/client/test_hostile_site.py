"""What a site may answer to a program: nothing of it is a traceback, or more than text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rankfield import RejectedError, Site, SiteError, UnreachableError, connection, uploads
from rankfield.__main__ import main
from rankfield.commands.reports import Report
from tests.small_servers import serving

RUN = {"id": "r1", "state": "scored", "done": True, "url": "https://site.example/runs/r1/"}


class Script(BaseHTTPRequestHandler):
    """Answers every request by the same status, headers and bytes."""

    status, headers_, content = 200, {}, b""

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(self.status)
        for name, value in {"Content-Length": str(len(self.content)), **self.headers_}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.content)

    do_GET = do_POST = do_PATCH = answer

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def site(monkeypatch) -> Iterator[Site]:
    monkeypatch.setattr(connection.time, "sleep", lambda _: None)
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0)
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Script)) as server:
        yield Site(f"http://127.0.0.1:{server.server_port}", "rf_token")


def script(monkeypatch, content: Any, status: int = 200, **headers: str) -> None:
    is_text = isinstance(content, bytes)
    monkeypatch.setattr(Script, "content", content if is_text else json.dumps(content).encode())
    monkeypatch.setattr(Script, "status", status)
    monkeypatch.setattr(Script, "headers_", {k.replace("_", "-"): v for k, v in headers.items()})


ODD = [
    *(b"", b"<html>", b"\xff\xfe", b"[" * 100_000, b"null", b"[]", b"3", b'"x"', b"{}"),
    b'{"id": NaN}',
    *(RUN | {"id": 3}, RUN | {"done": "no"}, RUN | {"scores": []}, RUN | {"problems": 1}),
    *(RUN | {"problems": [1]}, RUN | {"verdict": 1}, RUN | {"scores": {"AP": "x"}}),
    RUN | {"main": {"run": []}},
]


@pytest.mark.parametrize("content", ODD, ids=range(len(ODD)))
def test_an_answer_of_another_form_is_not_rankfields(site, monkeypatch, content):
    script(monkeypatch, content)
    with pytest.raises(UnreachableError, match="does not answer as Rankfield does"):
        site.run("r1")


def test_scores_and_problems_of_another_form_are_told(site, monkeypatch):
    script(monkeypatch, {"topics": [{"number": "1", "score": "high"}]})
    for read in (site.topic_scores, site.problems):
        with pytest.raises(UnreachableError):
            read("r1")


@pytest.mark.parametrize("read", ["board", "track", "benchmark", "compare"])
@pytest.mark.parametrize("content", [{}, [], {"standings": 1}, {"topics": [1]}, {"tracks": {}}])
def test_every_read_says_so(site, monkeypatch, read, content):
    script(monkeypatch, content)
    with pytest.raises(UnreachableError):
        getattr(site, read)(*(["bread", "r1", "r2"] if read == "compare" else ["bread"]))


def test_texts_of_a_site_do_nothing_to_a_terminal(site, monkeypatch):
    script(monkeypatch, {"message": "no \x1b[2J\x9b1m \u202e \ud800", "code": "E"}, 422)
    with pytest.raises(RejectedError) as rejected:
        site.run("r1")
    assert str(rejected.value).isprintable() and str(rejected.value).encode()


@pytest.mark.parametrize("pause", ["²", "9" * 5000, "-1", "soon"])
def test_a_pause_that_is_no_number_is_none(site, monkeypatch, pause):
    script(
        monkeypatch,
        {"message": "busy", "code": "E"},
        429,
        Retry_After=pause.encode().decode("latin-1"),
    )
    with pytest.raises(SiteError, match="busy"):
        site.run("r1")


def test_a_long_answer_does_not_fill_the_memory(site, monkeypatch):
    monkeypatch.setattr(connection, "LONGEST_ANSWER", 1000)
    script(monkeypatch, b" " * 2000)
    with pytest.raises(UnreachableError, match="too long"):
        site.run("r1")


def test_no_redirect_takes_the_token_elsewhere(site, monkeypatch):
    script(monkeypatch, b"", 302, Location="http://evil.example/")
    with pytest.raises(UnreachableError, match="redirects to http://evil"):
        site.run("r1")


@pytest.mark.parametrize(
    "upload",
    [
        {"received": 0, "url": "/api/v1/uploads/u", "piece_limit": 100},
        {"received": 0, "url": "/api/v1/uploads/u", "piece_limit": 0},
        {"received": -5, "url": "/api/v1/uploads/u", "piece_limit": 100},
        {"received": 0, "url": "@evil.example/", "piece_limit": 100},
        {"received": 0, "url": "//evil.example/", "piece_limit": 100},
    ],
)
def test_an_upload_that_does_not_go_on_ends(site, monkeypatch, tmp_path, upload):
    monkeypatch.setattr("rankfield.site.LARGE", 10)
    monkeypatch.setattr(uploads.time, "sleep", lambda _: None)
    (tmp_path / "my.run").write_text("1 Q0 d1 1 1.0 x\n" * 10)
    script(monkeypatch, {"id": "u", "size": 10**9, **upload})
    with pytest.raises(UnreachableError):
        site.submit("bread", tmp_path / "my.run")


def test_no_run_is_a_further_output_of_a_job():
    report = Report("bread", runs=["r1\nverdict=better"], pages=["https://x\r\npages=y"])
    assert report.outputs().count("\n") == 3


def test_the_command_prints_a_sentence(site, monkeypatch, capfd):
    script(monkeypatch, [1])
    monkeypatch.setenv("RANKFIELD_URL", site.connection.url)
    monkeypatch.setenv("RANKFIELD_TOKEN", "rf_token")
    assert main(["board", "bread"]) != 0
    assert "does not answer as Rankfield does" in capfd.readouterr().err
