"""T20: who is slow to send keeps nobody else waiting."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest

from tests.services.conftest import postgres, redis, server_site, site, sqlite_site
from tests.services.machines import Site

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
