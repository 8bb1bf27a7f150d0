"""T20: nothing of a body that is too large reaches the disk."""

from __future__ import annotations

import inspect
import select
import socket
import time
from contextlib import suppress
from io import BytesIO
from urllib.parse import urlsplit

import pytest
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from leaderboard.actions.upload_limits import UPLOADS
from leaderboard.infrastructure.request_bodies import BodyTooLargeError, ChunkedBody
from leaderboard.models import ApiToken, Benchmark, Run
from tests.api.conftest import Program
from tests.builders import RUN, make_track, signed_in, upload
from tests.services.conftest import postgres, redis, server_site, site, sqlite_site
from tests.services.machines import Site

__all__ = ["postgres", "redis", "server_site", "site", "sqlite_site"]

MIB = 2**20
SIGN_IN = "/account/login/"
FILE = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'


@pytest.fixture
def kept(monkeypatch) -> list[str]:
    """The names of the files that an upload began to write."""
    names: list[str] = []
    new_file = TemporaryFileUploadHandler.new_file

    def write(self, *args, **named):
        names.append(args[1])
        return new_file(self, *args, **named)

    monkeypatch.setattr(TemporaryFileUploadHandler, "new_file", write)
    return names


def strict(user=None) -> Client:
    """A browser whose forms are checked for being forged, as on a real site."""
    client = Client(enforce_csrf_checks=True)
    if user is not None:
        client.force_login(user)
    return client


def test_t20_a_stranger_writes_no_file_by_the_sign_in_page(db, kept):
    answer = strict().post(SIGN_IN, {"file": upload("a", b"x" * 2 * MIB)})
    assert answer.status_code == 413 and kept == []
    assert "up to 64 KiB" in answer.content.decode()


def test_t20_a_page_reads_no_body_of_a_stranger_that_a_thread_would_wait_for(db):
    assert strict().post(SIGN_IN, {"login": "x" * 70_000}).status_code == 413
    endless = strict().generic("POST", SIGN_IN, "login=x", HTTP_TRANSFER_ENCODING="chunked")
    assert endless.status_code == 413


@pytest.mark.parametrize("path", ["/benchmarks/bread/submit/", "/collections/new/"])
def test_t20_a_stranger_writes_no_file_where_others_upload(track, kept, path):
    answer = strict().post(path, {"file": upload("a", b"x" * 2 * MIB)})
    assert answer.status_code == 413 and kept == []


def test_t20_who_is_signed_in_writes_no_file_where_none_is_taken(ben, kept):
    answer = strict(ben).post("/account/", {"file": upload("a", b"x" * 2 * MIB)})
    assert answer.status_code == 413 and kept == []


PLACES = [
    "/collections/new/",
    "/collections/bread/again/",
    "/collections/bread/judgments/",
    "/collections/bread/judgments/v1/again/",
    "/benchmarks/bread/pools/first/judgments/",
    "/benchmarks/members/submit/",
]


@pytest.mark.parametrize("path", PLACES)
def test_t20_who_may_send_no_file_there_writes_none(track, collection, ben, kept, path):
    make_track(collection, "members", joining="invitation")
    Benchmark.objects.filter(tracks__slug="members").update(invitation="secret")
    answer = strict(ben).post(path, {"file": upload("a", b"x" * 2 * MIB)})
    assert answer.status_code == 413 and kept == []


CALLS = [
    "/collections",
    "/collections/bread/judgments",
    "/collections/bread/judgments/v1/replace",
    "/collections/none/judgments",
    "/tracks/members/runs",
]


@pytest.mark.parametrize("path", CALLS)
def test_t20_a_token_of_who_may_send_no_file_there_writes_none(track, collection, ben, kept, path):
    make_track(collection, "members", joining="invitation")
    Benchmark.objects.filter(tracks__slug="members").update(invitation="secret")
    api = Program(ben)
    answer = api.send(f"/api/v1{path}", file=upload("a", b"x" * 2 * MIB))
    assert answer.status_code == 413 and kept == []


def test_t20_organisers_may_send_judgments_up_to_the_limit(track, ada, kept):
    for path in ("/collections/bread/judgments/", "/collections/new/"):
        signed_in(ada).post(path, {"file": upload("a", b"x" * 2 * MIB)})
    Program(ada).send("/api/v1/collections/bread/judgments", file=upload("a", b"x" * 2 * MIB))
    assert kept == ["a", "a", "a"]


def test_t20_a_run_is_taken_up_to_its_limit(track, ben, kept, as_ben, settings):
    settings.RUN_UPLOAD_LIMIT = 2 * MIB
    as_ben.post("/benchmarks/bread/submit/", {"file": upload("a", b"x" * 2 * MIB)})
    assert kept == ["a"]
    answer = as_ben.post("/benchmarks/bread/submit/", {"file": upload("b", b"x" * 7 * MIB)})
    assert answer.status_code == 413 and kept == ["a"]


def test_t20_a_call_without_a_file_takes_a_mebibyte(track, ada, ben):
    answer = Client().post("/api/v1/tracks", b"x" * 2 * MIB, "application/json")
    assert (answer.status_code, answer.json()["code"]) == (413, "E_SIZE")


def test_t20_a_call_without_a_token_writes_no_file(track, kept):
    answer = Client().post("/api/v1/tracks/bread/runs", {"file": upload("a", b"x" * 2 * MIB)})
    assert answer.status_code == 401 and kept == []


def send_pipe(client: Client, path: str, body: bytes):
    """As gunicorn hands on a body in chunks: without a length."""
    return client.generic(
        "POST",
        path,
        b"",
        CONTENT_TYPE="multipart/form-data; boundary=x",
        HTTP_TRANSFER_ENCODING="chunked",
        **{"wsgi.input": BytesIO(body), "CONTENT_LENGTH": ""},
    )


def test_t20_a_pipe_is_counted(ben, kept):
    client = strict(ben)
    # Without one the form is refused before anybody reads it.
    client.cookies["csrftoken"] = "a" * 32
    answer = send_pipe(client, "/account/", FILE + b"x" * 3 * MIB)
    assert (answer.status_code, kept) == (413, ["a"])


def test_a_run_may_come_through_a_pipe(track, ben, as_ben):
    kind = b'--x\r\nContent-Disposition: form-data; name="kind"\r\n\r\nautomatic\r\n'
    body = kind + FILE + RUN.encode() + b"\r\n--x--\r\n"
    answer = send_pipe(as_ben, "/benchmarks/bread/submit/", body)
    assert answer.status_code == 302 and Run.objects.get().size == len(RUN)


def test_a_call_may_come_through_a_pipe(ada):
    _, secret = ApiToken.objects.issue(ada, ["organise"], "a pipe")
    answer = Client().generic(
        "POST",
        "/api/v1/tracks",
        b"",
        "application/json",
        HTTP_TRANSFER_ENCODING="chunked",
        HTTP_AUTHORIZATION=f"Bearer {secret}",
        **{"wsgi.input": BytesIO(b'{"slug": "rye"}'), "CONTENT_LENGTH": ""},
    )
    assert answer.status_code == 422 and "name" in answer.json()["message"]


def test_t20_a_pipe_of_who_may_send_no_file_there_is_counted(track, ben, kept):
    _, secret = ApiToken.objects.issue(ben, ["organise"], "a pipe")
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    answer = send_pipe(client, "/api/v1/collections", FILE + b"x" * 3 * MIB)
    assert (answer.status_code, answer.json()["code"], kept) == (413, "E_SIZE", ["a"])


def test_a_pipe_gives_what_there_is_and_no_more_than_its_limit():
    pipe = ChunkedBody(BytesIO(b"abcdef"), 6)
    assert (pipe.read(4), pipe.read(), pipe.limit) == (b"abcd", b"ef", 6)
    shorter = ChunkedBody(BytesIO(b"abc"), 6)
    assert (shorter.read(), shorter.limit) == (b"abc", 3)
    with pytest.raises(BodyTooLargeError):
        ChunkedBody(BytesIO(b"abcdefg"), 6).read()


def views(resolver: URLResolver, namespace: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for each in resolver.url_patterns:
        if isinstance(each, URLPattern):
            found[f"{namespace}{each.name}"] = each.callback
        else:
            found |= views(each, f"{each.namespace}:" if each.namespace else namespace)
    return found


def test_every_view_that_takes_a_file_has_its_limit():
    known = views(get_resolver())
    found = {name: inspect.unwrap(view) for name, view in known.items()}
    functions = {name: view for name, view in found.items() if inspect.isfunction(view)}
    pages = {name for name, view in functions.items() if "request.FILES" in inspect.getsource(view)}
    assert pages == {name for name in UPLOADS if ":" not in name}
    assert set(UPLOADS) <= set(known)


@pytest.mark.parametrize("announced", [3 * 2**30, None], ids=["announced", "endless"])
@pytest.mark.services
@pytest.mark.night
@pytest.mark.xdist_group("services")
def test_t20_three_gigabytes_at_the_sign_in_page_stay_outside(
    sqlite_site: Site, announced: int | None
):
    """A real attack, which ends by itself after 16 MiB or 20 seconds."""
    place = urlsplit(sqlite_site.url)
    length = f"Content-Length: {announced}" if announced else "Transfer-Encoding: chunked"
    head = (
        f"POST {SIGN_IN} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n"
        f"Cookie: csrftoken={'a' * 32}\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\n\r\n"
    )
    most, began, answer = 0, time.monotonic(), b""
    with socket.create_connection((place.hostname, place.port), timeout=20) as line:
        line.sendall(head.encode() + piece(FILE, announced))
        for _ in range(256):
            if answers(line):
                answer = line.recv(12)
                break
            line.sendall(piece(b"x" * 2**16, announced))
            most = max(most, kept_by(sqlite_site))
            assert time.monotonic() - began < 20
    assert answer == b"HTTP/1.1 413"
    assert most <= MIB + 2**16 and kept_by(sqlite_site) == 0


def answers(line: socket.socket) -> bool:
    return bool(select.select([line], [], [], 0.02)[0])


def piece(data: bytes, announced: int | None) -> bytes:
    return data if announced else b"%x\r\n%b\r\n" % (len(data), data)


def kept_by(site: Site) -> int:
    total = 0
    for path in (site.home / "uploads").iterdir():
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total
