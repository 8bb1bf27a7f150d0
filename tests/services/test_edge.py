"""The shipped configuration of nginx, run by an nginx of this machine before a real site."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.urls import get_resolver

from leaderboard.actions.upload_limits import UPLOADS
from rankfield import Site as Client
from rankfield.forms import Form, FormFile
from tests.builders import DOCUMENTS, QRELS, RUN, TOPICS
from tests.certificates import make_certificate
from tests.services.machines import ROOT, Site, binary, folder, free_port, until

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

CONFIGURATION = ROOT / "edge" / "nginx.conf"
UPLOAD = "/benchmarks/bread/submit/"
FILE = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
FORM = "multipart/form-data; boundary=x"


@dataclass(frozen=True)
class Edge:
    home: Path
    tls: int
    plain: int

    def opened(self, address: str = "127.0.0.1") -> ssl.SSLSocket:
        line = socket.create_connection(("127.0.0.1", self.tls), 20, (address, 0))
        return self.trusting().wrap_socket(line, server_hostname="localhost")

    def trusting(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.home / "fullchain.pem"))

    def asked(self, path: str) -> tuple[int, bytes]:
        line = http.client.HTTPSConnection("localhost", self.tls, context=self.trusting())
        line.request("GET", path)
        answer = line.getresponse()
        return answer.status, answer.read()

    def kept(self) -> int:
        """Bytes of bodies and answers on the disk."""
        files = [path for name in ("bodies", "answers") for path in (self.home / name).rglob("*")]
        return sum(path.stat().st_size for path in files if path.is_file())


def configured(home: Path, edge: Edge, site: Site) -> Path:
    """The shipped file with other ports and folders, and nothing else."""
    text = CONFIGURATION.read_text()
    for shipped, here in {
        "/tmp/": f"{home}/",
        "/certificates/": f"{home}/",
        "listen 8443 ": f"listen 127.0.0.1:{edge.tls} ",
        "listen 8080 ": f"listen 127.0.0.1:{edge.plain} ",
        "http://web:8000": site.url,
    }.items():
        assert shipped in text
        text = text.replace(shipped, here)
    (home / "nginx.conf").write_text(text)
    return home / "nginx.conf"


def nginx() -> str:
    found = binary("nginx") or "/usr/sbin/nginx"
    if not Path(found).exists():
        pytest.skip("no nginx on this machine: apt-get install nginx-light")
    return found


@contextmanager
def running(home: Path, site: Site) -> Iterator[Edge]:
    make_certificate(home)
    edge = Edge(home, free_port(), free_port())
    words = [nginx(), "-p", str(home), "-c", str(configured(home, edge, site))]
    checked = subprocess.run([*words, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen([*words, "-g", "daemon off;"])
    try:
        until(lambda: answers(edge), "the edge answers", 20)
        yield edge
    finally:
        process.terminate()
        process.wait(20)


def answers(edge: Edge) -> bool:
    try:
        return edge.asked("/healthz")[0] == 200
    except OSError:
        return False


@pytest.fixture(scope="module")
def edge(sqlite_site: Site) -> Iterator[Edge]:
    with ExitStack() as stack:
        yield stack.enter_context(running(stack.enter_context(folder()), sqlite_site))


def test_pages_come_over_tls(edge: Edge):
    status, body = edge.asked("/tracks/")
    assert status in (200, 302) and edge.asked("/")[0] == 200
    assert b"X-Forwarded" not in body


def test_who_asks_without_tls_is_sent_on(edge: Edge):
    line = http.client.HTTPConnection("127.0.0.1", edge.plain, timeout=10)
    line.request("GET", "/account/login/?next=/")
    answer = line.getresponse()
    where = urlsplit(answer.headers["Location"])
    assert (answer.status, where.scheme, where.path) == (308, "https", "/account/login/")


def head(path: str, length: str) -> bytes:
    lines = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{length}\r\nContent-Type: {FORM}\r\n"
    return f"{lines}Origin: https://localhost\r\nCookie: csrftoken={'a' * 32}\r\n\r\n".encode()


@pytest.mark.parametrize("path", ["/account/login/", UPLOAD])
@pytest.mark.parametrize("length", ["Content-Length: 314572800", "Transfer-Encoding: chunked"])
def test_a_strangers_body_is_refused_and_not_kept(edge: Edge, path: str, length: str):
    most, said = 0, b""
    with edge.opened() as line, suppress(ConnectionError):
        line.sendall(head(path, length) + b"%x\r\n%b\r\n" % (len(FILE), FILE))
        for _ in range(256):
            said = said or said_so_far(line)
            if said:
                break
            line.sendall(b"10000\r\n" + b"x" * 2**16 + b"\r\n")
            most = max(most, edge.kept())
    assert (said[:12], most) == (b"HTTP/1.1 413", 0)


def said_so_far(line: ssl.SSLSocket) -> bytes:
    line.settimeout(0.02)
    try:
        return line.recv(100)
    except TimeoutError:
        return b""
    finally:
        line.settimeout(20)


def test_an_upload_reaches_web_while_it_is_sent(edge: Edge):
    """Web refuses it after the head alone, so the edge has not waited for the body."""
    with edge.opened() as line:
        line.sendall(head(UPLOAD, "Content-Length: 104857600"))
        assert line.recv(12) == b"HTTP/1.1 413"


def test_three_hundred_unfinished_headers_hold_up_nobody(edge: Edge):
    with ExitStack() as stack:
        lines = [stack.enter_context(edge.opened("127.0.0.2")) for _ in range(300)]
        for line in lines:
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        began = time.monotonic()
        assert edge.asked("/healthz")[0] == 200 and time.monotonic() - began < 1
        assert ended(lines[0], 15)


def ended(line: ssl.SSLSocket, seconds: float) -> bool:
    """Whether the edge ends a line of which a byte comes now and then."""
    began = time.monotonic()
    line.settimeout(0.5)
    while time.monotonic() - began < seconds:
        try:
            line.sendall(b"x")
            if line.recv(100) == b"":
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def test_the_limits_of_bodies_are_those_of_the_settings(settings):
    limits = re.findall(r"client_max_body_size (\d+)m", CONFIGURATION.read_text())
    run, collection = settings.RUN_UPLOAD_LIMIT, 3 * settings.COLLECTION_UPLOAD_LIMIT
    assert [int(each) * settings.MIB for each in limits] == [
        settings.MIB,
        run + 4 * settings.MIB,
        collection + 4 * settings.MIB,
    ]


# A location with a limit of its own.
LOCATION = re.compile(r"location ~ (\^\S+) \{\s+client_max_body_size (\d+)m;")


def limit_of(path: str) -> int:
    """The mebibytes of a body that the edge passes on for this path; the first location counts."""
    found = LOCATION.findall(CONFIGURATION.read_text())
    return next((int(size) for pattern, size in found if re.search(pattern, path)), 1)


@pytest.mark.parametrize("name", UPLOADS)
def test_a_body_as_large_as_an_address_takes_passes_the_edge(name: str, settings):
    space, _, plain = name.rpartition(":")
    prefix, resolver = get_resolver().namespace_dict[space] if space else ("", get_resolver())
    [(pattern, parameters), *_] = resolver.reverse_dict.getlist(plain)[0][0]
    path = f"/{prefix}{pattern % dict.fromkeys(parameters, 'bread')}"
    assert limit_of(path) * settings.MIB >= UPLOADS[name].limit, path


MIB = 2**20
# Blank lines make it as large as a run of many topics.
LARGE_RUN = RUN.encode() + (b" " * 1023 + b"\n") * 20 * 1024


@pytest.fixture(scope="module")
def client(edge: Edge, sqlite_site: Site) -> Iterator[Client]:
    """Ada's client, who has a track; it trusts the certificate of the edge."""
    token = sqlite_site.manage("create_token", "ada", "--organiser")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(edge.home / "fullchain.pem"))
        made = Client(f"https://localhost:{edge.tls}", token)
        # A document of two megabytes is more than a form may have.
        text = json.dumps({"_id": "long", "text": "The oven is hot. " * 2**17}) + "\n"
        parts = {"topics": TOPICS, "documents": DOCUMENTS + text, "judgments": QRELS}
        answer = made.connection.post(
            "/api/v1/collections",
            Form(
                {"slug": "quiches", "name": "Quiches"},
                [FormFile(name, name, part.encode()) for name, part in parts.items()],
            ),
        )
        assert answer["slug"] == "quiches"
        ready = "/api/v1/collections/quiches"
        until(lambda: made.connection.get(ready)["state"] == "ready", "quiches are ready")
        track = {"slug": "quiches", "name": "Quiches", "collection": "quiches", "judgments": "v1"}
        rules = {"measures": ["AP"], "primary_measure": "AP"}
        made.connection.post_json("/api/v1/tracks", {**track, **rules})
        yield made


def test_a_large_run_passes_the_edge_in_one_request(client: Client, tmp_path: Path):
    (tmp_path / "whole.run").write_bytes(LARGE_RUN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankfield.site.LARGE", 2 * len(LARGE_RUN))
        run = client.submit("quiches", tmp_path / "whole.run")
    assert client.wait(run, timeout=60).state == "scored"


def test_a_run_passes_the_edge_in_pieces_and_continues_after_a_cut(
    client: Client, edge: Edge, tmp_path: Path
):
    content = LARGE_RUN.replace(b" 9.0 ", b" 9.5 ")
    announced = {"name": "cut.run", "size": len(content)}
    announced["sha256"] = hashlib.sha256(content).hexdigest()
    url = client.connection.post_json("/api/v1/tracks/quiches/uploads", announced)["url"]
    lines = (
        f"PATCH {url} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {client.connection.token}",
        "Upload-Offset: 0",
        f"Content-Length: {4 * MIB}",
        "Content-Type: application/octet-stream",
    )
    with edge.opened() as line:
        line.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + content[:3_000_000])
        # Closed with tickets of TLS unread, the line would be reset, and what is in it lost; so it
        # is read to its end, which comes once nginx has all that was sent.
        line.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while line.recv(2**16):
                pass
    received = until(lambda: client.connection.get(url)["received"], "what arrived is kept")
    assert 0 < received <= 3_000_000
    (tmp_path / "cut.run").write_bytes(content)
    run = client.wait(client.submit("quiches", tmp_path / "cut.run"), timeout=60)
    assert run.state == "scored" and client.connection.get(url)["received"] == len(content)
