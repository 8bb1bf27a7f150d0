"""T20: who is slow to send keeps nobody else waiting."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.infrastructure import connections
from leaderboard.infrastructure.connections import (
    BODY_HOURS,
    BODY_RATE,
    BODY_SECONDS,
    CONNECTIONS_EACH,
    PacedBody,
)
from tests.services.conftest import postgres, redis, server_site, site, sqlite_site
from tests.services.machines import ServerSite, Site, until

__all__ = ["postgres", "redis", "server_site", "site", "sqlite_site"]
# Who is slow takes time: by night.
pytestmark = [pytest.mark.services, pytest.mark.night, pytest.mark.xdist_group("services")]

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
BODY = (
    b"POST /api/v1/tracks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %b\r\n"
    b"Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"
)


@contextmanager
def slow_clients(
    site: Site, beginning: bytes, count: int, address: str = "127.0.0.1"
) -> Iterator[list[socket.socket]]:
    """So many that have sent this much and send no more, all from one address."""
    place = urlsplit(site.url)
    with ExitStack() as stack:
        lines = []
        for _ in range(count):
            line = socket.create_connection(
                (place.hostname, place.port), source_address=(address, 0)
            )
            stack.enter_context(line)
            with suppress(ConnectionError):
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


@pytest.mark.parametrize(
    "address", ["127.0.0.2", pytest.param("127.0.0.1", marks=pytest.mark.night)]
)
def test_t20_three_hundred_unfinished_headers_hold_up_nobody(site: Site, address: str) -> None:
    token = site.manage("create_token", f"slow-{address[-1]}", "--organiser")
    slowest(site, token)
    with slow_clients(site, HEAD, 300, address) as waiting:
        assert slowest(site, token) < 1.0
        assert drip(waiting[0]).startswith(b"HTTP/1.1 408")
        assert all(answer_of(each).startswith(b"HTTP/1.1 408") for each in waiting[1:])


def drip(line: socket.socket, most: float = 20.0) -> bytes:
    """The answer to headers of which a byte comes now and then."""
    began = time.monotonic()
    line.settimeout(0.3)
    while time.monotonic() - began < most:
        with suppress(ConnectionError):
            line.sendall(b"x")
        with suppress(TimeoutError):
            return line.recv(100)
    return b""


def answer_of(line: socket.socket) -> bytes:
    line.settimeout(5)
    return line.recv(100)


def test_t20_one_address_has_a_bound_of_connections(site: Site) -> None:
    token = site.manage("create_token", "many", "--organiser")
    slowest(site, token)
    beyond = 2 * CONNECTIONS_EACH + 50
    with slow_clients(site, HEAD, beyond, "127.0.0.2") as lines:
        assert slowest(site, token) < 1.0
        assert sum(is_closed(each) for each in lines) >= 50


def is_closed(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        return line.recv(100) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_t20_one_address_does_not_get_all_threads(site: Site) -> None:
    """Of the two processes each has 64."""
    token = site.manage("create_token", "threads", "--organiser")
    slowest(site, token)
    with slow_clients(site, BODY % token.encode(), 200, "127.0.0.2"):
        assert slowest(site, token) < 1.0


PIECE = (
    b"PATCH /api/v1/uploads/none HTTP/1.1\r\nHost: localhost\r\n%b"
    b"Content-Type: application/octet-stream\r\nContent-Length: 900000\r\n\r\nx"
)
FORM = (
    b"POST /account/login/ HTTP/1.1\r\nHost: localhost\r\nCookie: csrftoken=%b\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\nl"
) % (b"a" * 32)


@pytest.mark.parametrize(
    "beginning",
    [
        pytest.param(PIECE % b"", id="no token"),
        pytest.param(PIECE % b"Authorization: Bearer rf_none\r\n", id="no such token"),
        pytest.param(FORM, id="form"),
    ],
)
def test_t20_strangers_of_two_addresses_hold_no_thread(site: Site, beginning: bytes) -> None:
    token = site.manage("create_token", "two", "--organiser")
    slowest(site, token)
    with ExitStack() as stack:
        for address in ("127.0.0.2", "127.0.0.3"):
            stack.enter_context(slow_clients(site, beginning, 140, address))
        assert slowest(site, token) < 1.0


def test_t20_threads_that_wait_for_bodies_of_members_are_bounded_in_all(site: Site) -> None:
    token = site.manage("create_token", "bounded", "--organiser")
    slowest(site, token)
    beginning = PIECE % b"Authorization: Bearer %b\r\n" % token.encode()
    beginning = beginning.replace(b"PATCH /api/v1/uploads/none", b"POST /api/v1/collections")
    with ExitStack() as stack:
        for number in range(2, 7):
            stack.enter_context(slow_clients(site, beginning, 60, f"127.0.0.{number}"))
        assert slowest(site, token) < 1.0


def test_a_refused_upload_is_taken_to_its_end_so_that_its_sender_reads_why(site: Site) -> None:
    place = urlsplit(site.url)
    head = (PIECE % b"").replace(b"900000", b"3000000")
    with socket.create_connection((place.hostname, place.port), timeout=10) as line:
        line.sendall(head + b"x" * 2_999_999)
        assert line.recv(100).startswith(b"HTTP/1.1 401")


def test_a_small_body_whose_sender_waits_to_be_asked_is_asked_for(sqlite_site: Site) -> None:
    place = urlsplit(sqlite_site.url)
    head = FORM[:-1].replace(b"60000\r\n", b"5\r\nExpect: 100-continue\r\n")
    with socket.create_connection((place.hostname, place.port), timeout=10) as line:
        line.sendall(head)
        assert line.recv(100).startswith(b"HTTP/1.1 100")
        line.sendall(b"login")
        assert b"HTTP/1.1 403" in line.recv(1000)


@pytest.mark.night
def test_t20_a_body_that_drips_is_given_up(sqlite_site: Site) -> None:
    token = sqlite_site.manage("create_token", "drips", "--organiser")
    began = time.monotonic()
    with slow_clients(sqlite_site, BODY % token.encode(), 1) as (line,):
        answer = drip(line, most=60)
        assert answer.startswith(b"HTTP/1.1 408")
        assert BODY_SECONDS - 5 < time.monotonic() - began < BODY_SECONDS + 10


class Clock:
    """A line on which a piece comes each so many seconds, by a clock of its own."""

    def __init__(self, piece: bytes, seconds: float) -> None:
        self.piece, self.seconds, self.now = piece, seconds, 0.0

    def recv(self, size: int) -> bytes:
        self.now += self.seconds
        return self.piece[:size]

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def paced(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes, float], tuple[Clock, PacedBody]]:
    def start(piece: bytes, seconds: float) -> tuple[Clock, PacedBody]:
        clock = Clock(piece, seconds)
        monkeypatch.setattr(connections, "time", clock)
        return clock, PacedBody(clock)  # type: ignore[arg-type]

    return start


def test_t20_a_byte_now_and_then_is_too_slow(paced) -> None:
    clock, body = paced(b"x", 29.0)
    body.recv(100)
    with pytest.raises(ConnectionResetError):
        body.recv(100)
    assert clock.now == 58
    with pytest.raises(ConnectionResetError):
        body.recv(100)
    assert clock.now == 58


def test_t20_many_bytes_earn_no_long_pause(paced) -> None:
    clock, body = paced(b"x" * 2**20, 1.0)
    body.recv(2**20)
    clock.seconds, clock.piece = BODY_SECONDS + 1, b"x"
    with pytest.raises(ConnectionResetError):
        body.recv(100)


def test_a_body_at_the_least_rate_is_taken(paced) -> None:
    _, body = paced(b"x" * BODY_RATE, 1.0)
    assert sum(len(body.recv(2**20)) for _ in range(1000)) == 1000 * BODY_RATE


def test_t20_no_body_takes_longer_than_six_hours(paced) -> None:
    clock, body = paced(b"x" * 2**20, 20.0)
    with pytest.raises(ConnectionResetError):
        for _ in range(2000):
            body.recv(2**20)
    assert clock.now == BODY_HOURS * 3600 + 20


def test_t20_who_keeps_the_line_open_after_an_answer_holds_up_nobody(site: Site) -> None:
    token = site.manage("create_token", "lingers", "--organiser")
    slowest(site, token)
    last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with slow_clients(site, last, 30, "127.0.0.2"):
        assert slowest(site, token) < 1.0


def test_two_requests_in_one_piece_have_two_answers(sqlite_site: Site) -> None:
    place = urlsplit(sqlite_site.url)
    ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection((place.hostname, place.port), timeout=10) as line:
        line.sendall(ask + ask[:20])
        time.sleep(0.3)
        line.sendall(ask[20:])
        said = b""
        while said.count(b"HTTP/1.1 200") < 2:
            said += line.recv(1000)


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
