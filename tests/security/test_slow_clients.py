"""T20: who is slow to send keeps nobody else waiting."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.services.conftest import postgres, redis, server_site, site, sqlite_site
from tests.services.machines import ServerSite, Site, until

__all__ = ["postgres", "redis", "server_site", "site", "sqlite_site"]
pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
BODY = (
    b"POST /api/v1/tracks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %b\r\n"
    b"Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"
)


@contextmanager
def slow_clients(site: Site, beginning: bytes, count: int) -> Iterator[list[socket.socket]]:
    """So many that have sent this much and send no more."""
    place = urlsplit(site.url)
    with ExitStack() as stack:
        lines = []
        for _ in range(count):
            line = stack.enter_context(socket.create_connection((place.hostname, place.port)))
            line.sendall(beginning)
            lines.append(line)
        time.sleep(1)
        yield lines


def slowest(site: Site, token: str, times: int = 20) -> float:
    """Of so many readers in turn."""
    took = []
    for _ in range(times):
        began = time.monotonic()
        site.ask("/tracks", token)
        took.append(time.monotonic() - began)
    return max(took)


def test_t20_fifty_slow_clients_hold_up_nobody(site: Site) -> None:
    token = site.manage("create_token", "slow", "--organiser")
    slowest(site, token)
    bodies = BODY % token.encode()
    with slow_clients(site, HEAD, 25), slow_clients(site, bodies, 25) as waiting:
        assert slowest(site, token) < 1.0
        waiting[0].sendall(b" " * 4997 + b"}\n")
        assert waiting[0].recv(100).startswith(b"HTTP/1.1 422")


READERS = 30
READ = b"GET /collections/long/topics.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"
HELD = "select count(*) from pg_stat_activity where backend_type = 'client backend'"


def bring_long_topics(site: Site, token: str) -> None:
    """More than fits between a server and a reader who takes nothing."""
    lines = "".join(f"{number}\t{'bread ' * 800}\n" for number in range(3000))
    topics = SimpleUploadedFile("topics.tsv", lines.encode())
    site.ask("/collections", token, slug="long", name="Long", topics=topics)
    until(lambda: site.ask("/collections/long", token)["state"] == "ready", "it is ready")
    track = {"slug": "long", "name": "Long", "collection": "long", "judgments": None}
    site.ask("/tracks", token, {**track, "measures": ["AP"], "primary_measure": "AP"})


def test_t20_who_reads_a_stream_slowly_holds_no_connection(server_site: ServerSite) -> None:
    bring_long_topics(server_site, server_site.manage("create_token", "slow", "--organiser"))
    before = server_site.rows(HELD)[0][0]
    with slow_clients(server_site, READ, READERS) as readers:
        assert all(reader.recv(12) == b"HTTP/1.1 200" for reader in readers)
        fewer = before + READERS / 2
        until(lambda: server_site.rows(HELD)[0][0] < fewer, "they are given back", 10)
