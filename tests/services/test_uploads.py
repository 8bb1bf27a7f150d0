"""A large run arrives in pieces over connections that break, with a real server and worker."""

from __future__ import annotations

import hashlib
import socket
from urllib.parse import urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from rankfield import Site as Client
from tests.builders import DOCUMENTS, QRELS, RUN, TOPICS
from tests.services.conftest import servers_by_day
from tests.services.machines import Site, until

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

MIB = 2**20
# Blank lines make it larger than what a web server reads ahead.
LARGE_RUN = RUN.encode() + b"\n" * 3 * MIB


def make_track(site: Site) -> str:
    """Ada's track of plums; her token."""
    token = site.manage("create_token", "ada", "--organiser")
    parts = {"topics": TOPICS, "documents": DOCUMENTS, "judgments": QRELS}
    files = {name: SimpleUploadedFile(name, text.encode()) for name, text in parts.items()}
    site.ask("/collections", token, slug="quinces", name="Quinces", **files)
    until(lambda: site.ask("/collections/quinces", token)["state"] == "ready", "quinces are ready")
    site.ask(
        "/tracks",
        token,
        {
            **{"slug": "quinces", "name": "Quinces", "collection": "quinces", "judgments": "v1"},
            **{"measures": ["AP"], "primary_measure": "AP"},
        },
    )
    return token


def send_and_hang_up(site: Site, token: str, url: str, length: int, sent: int) -> None:
    """Announce a piece of `length` bytes, send fewer and close the connection."""
    place = urlsplit(site.url)
    head = (
        f"PATCH {url} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Upload-Offset: 0\r\nContent-Length: {length}\r\n"
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    with socket.create_connection((place.hostname, place.port), timeout=20) as line:
        line.sendall(head.encode() + LARGE_RUN[:sent])


@servers_by_day
def test_a_run_continues_after_a_cut_with_what_arrived(site: Site, tmp_path, monkeypatch):
    token = make_track(site)
    announced = {"name": "large.run", "size": len(LARGE_RUN)}
    announced["sha256"] = hashlib.sha256(LARGE_RUN).hexdigest()
    url = site.ask("/tracks/quinces/uploads", token, announced)["url"]
    send_and_hang_up(site, token, url, 2 * MIB, MIB + 12_345)
    path = url.removeprefix("/api/v1")
    until(lambda: site.ask(path, token)["received"], "what arrived is kept")
    assert site.ask(path, token)["received"] <= MIB + 12_345
    monkeypatch.setattr("rankfield.site.LARGE", MIB)
    (tmp_path / "large.run").write_bytes(LARGE_RUN)
    client = Client(site.url, token)
    run = client.wait(client.submit("quinces", tmp_path / "large.run"), timeout=60)
    assert run.state == "scored"
