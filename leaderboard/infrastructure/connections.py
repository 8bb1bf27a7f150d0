"""Gunicorn's threaded worker, protected from slow clients and from too many connections.

Gunicorn gives each connection to a thread, which waits for the headers without a deadline. Here
the loop of the worker waits for them and for a small body, which costs a few bytes, and a thread
gets the request once they are complete. They have a deadline, a larger body has a least rate, and
each address has a limit of connections and of threads. Behind a proxy all have the proxy's address,
so the proxy sets these limits; the limit of threads that wait for bodies holds there too.
"""

from __future__ import annotations

import errno
import ipaddress
import re
import resource
import selectors
import socket
import struct
import time
from collections import Counter, defaultdict, deque
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone
from gunicorn import util
from gunicorn.workers.gthread import TConn, ThreadWorker

from leaderboard.infrastructure.request_bodies import SMALL_BODY

# From the start of a connection, or of the next request on it, to the end of the headers.
HEAD_SECONDS = 10.0
# All headers together; browsers send about two thousand bytes.
HEAD_BYTES = 64 * 1024
# Per address and process: connections, and the requests that have a thread.
CONNECTIONS_EACH = 400
THREADS_EACH = 48
# Requests with a thread whose body still arrives, of the 64 threads of a process: in all, and of
# one address. The others wait until one of these has ended.
BODY_THREADS = 40
BODY_THREADS_EACH = 16
# A client that accepts nothing of an answer for this long is disconnected.
STALL_SECONDS = 60
# The wait for a body; received bytes give seconds back at this rate, up to these.
BODY_SECONDS = 30
BODY_RATE = 4 * 1024
# The wait in total, for a body of any size: 512 MiB then need 24 KiB per second.
BODY_HOURS = 6
# After the last answer the client may be silent for this long before it closes its side. What it
# still sends of a refused upload is discarded, up to these bytes and for these seconds.
LINGER_SECONDS = 2.0
LINGER_BYTES = 64 * 2**20
DISCARD_SECONDS = 60.0
# Each connection is an open file, and so is each upload.
OPEN_FILES = 8192

READ = selectors.EVENT_READ
END = b"WebConnection: close\r\nContent-Length: 0\r\n\r\n"
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\n" + END
TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + END
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
CHUNKED = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
WANTS_CONTINUE = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*(?=\r\n)", re.IGNORECASE)


def client_of(peer: Any) -> str:
    """Return the client of a connection: its address, or in IPv6 the network of one customer.

    >>> client_of(("192.0.2.1", 4000)), client_of(("2001:db8::17", 4000, 0, 0))
    ('192.0.2.1', '2001:db8::/64')
    >>> client_of(("::ffff:192.0.2.1", 4000, 0, 0)), client_of("")
    ('192.0.2.1', '')
    """
    if settings.BEHIND_PROXY or not isinstance(peer, tuple):
        return ""
    address = ipaddress.ip_address(peer[0].partition("%")[0])
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))


def small_body_bytes(head: bytes) -> int | None:
    r"""Return how long a small body is by the headers; None if it is large or has no length.

    >>> small_body_bytes(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n")
    5
    >>> small_body_bytes(b"GET / HTTP/1.1\r\n\r\n")
    0
    """
    found = LENGTH.search(head)
    length = int(found[1]) if found else 0
    return None if CHUNKED.search(head) or length > SMALL_BODY else length


class PacedBody:
    """The socket of a request's body, which gives up a client that sends too slowly.

    Only waiting time is counted: time that the server needs is not the client's.
    """

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.begin()

    def begin(self) -> None:
        """Start counting for the next body on the same connection."""
        self.left = float(BODY_SECONDS)
        self.waited = 0.0
        self.has_stalled = False

    def end(self) -> None:
        """Wait for nothing more of this body; reading what has not arrived fails."""
        self.has_stalled = True

    def recv(self, size: int) -> bytes:
        if self.has_stalled:
            raise too_slow()
        began = time.monotonic()
        try:
            data = self.line.recv(size)
        except BlockingIOError as error:
            self.has_stalled = True
            raise too_slow() from error
        waited = time.monotonic() - began
        self.waited += waited
        self.left = min(self.left - waited + len(data) / BODY_RATE, BODY_SECONDS)
        if self.left < 0 or self.waited > BODY_HOURS * 3600:
            self.has_stalled = True
            raise too_slow()
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.line, name)


def too_slow() -> ConnectionResetError:
    """No fault of ours, so an error that gunicorn does not log."""
    return ConnectionResetError(errno.ECONNRESET, "too slow")


class WebConnection(TConn):
    """A connection with its client and the bytes of the next headers that have arrived."""

    def __init__(self, worker: WebWorker, sock: socket.socket, peer: Any, listener: Any) -> None:
        super().__init__(worker.cfg, sock, peer, listener)
        self.worker = worker
        self.client_key = client_of(peer)
        self.head = b""
        # How long the headers and a small body are, once the headers are here.
        self.awaited_bytes: int | None = None
        self.waits_for_body = False
        self.has_body_here = False
        self.received_at: datetime | None = None
        self.deadline = 0.0
        self.drained = 0
        self.drained_until = 0.0
        self.is_counted_open = True
        worker.open_by_client[self.client_key] += 1

    def is_complete(self) -> bool:
        """Return whether all headers are here, and a small body; empty lines before are ignored."""
        if self.awaited_bytes is None:
            self.head = self.head.lstrip(b"\r\n")
            end = self.head.find(b"\r\n\r\n") + 4
            if end < 4:
                return False
            body = small_body_bytes(self.head[:end])
            self.has_body_here = body is not None
            self.awaited_bytes = end + (body or 0)
        if len(self.head) < self.awaited_bytes:
            return False
        self.received_at = timezone.now() if self.has_body_here else None
        return True

    def parse_head(self) -> None:
        """Let gunicorn parse the headers, which have all arrived."""
        self.init()
        unreader = self.parser.unreader
        if not isinstance(unreader.sock, PacedBody):
            unreader.sock = PacedBody(unreader.sock)
        unreader.sock.begin()
        unreader.unread(self.head)
        self.head, self.awaited_bytes, self.waits_for_body = b"", None, False

    def wait_for_body(self) -> None:
        """Give a small body its own time, and tell a client that asks to send it now."""
        if not self.waits_for_body:
            self.waits_for_body = True
            self.deadline = time.monotonic() + BODY_SECONDS
            wish = WANTS_CONTINUE.search(self.head)
            if wish is not None and self.awaited_bytes is not None:
                with suppress(OSError):
                    self.sock.send(CONTINUE)
                # Gunicorn would tell it once more.
                self.head = self.head[: wish.start()] + self.head[wish.end() :]
                self.awaited_bytes -= wish.end() - wish.start()

    def close(self, graceful: bool = False) -> None:
        """Close at once, or after the client has closed; the loop never waits for it."""
        if graceful and self.worker.linger(self):
            return
        super().close(graceful)
        self.count_as_closed()

    def count_as_closed(self) -> None:
        if self.is_counted_open:
            self.is_counted_open = False
            count_down(self.worker.open_by_client, self.client_key)


class WebWorker(ThreadWorker):
    """A worker that reads headers in its loop and handles requests in threads, within limits."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.open_by_client: Counter[str] = Counter()
        self.threads_by_client: Counter[str] = Counter()
        self.bodies_by_client: Counter[str] = Counter()
        self.queued_by_client: defaultdict[str, deque[WebConnection]] = defaultdict(deque)
        self.queued_bodies: list[WebConnection] = []
        self.awaited: dict[WebConnection, None] = {}
        self.lingering: dict[WebConnection, float] = {}

    def init_process(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
        super().init_process()

    def accept(self, listener: Any) -> None:
        try:
            sock, peer = listener.accept()
        except OSError as error:
            # Another process was faster, or the client has gone. Without a free file descriptor,
            # wait a moment for one.
            if error.errno in (errno.EMFILE, errno.ENFILE):
                time.sleep(0.1)
            return
        client = client_of(peer)
        if client and self.open_by_client[client] >= CONNECTIONS_EACH:
            util.close(sock)
            return
        waits = {socket.SO_RCVTIMEO: BODY_SECONDS, socket.SO_SNDTIMEO: STALL_SECONDS}
        for option, seconds in waits.items():
            sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", seconds, 0))
        self.nr_conns += 1
        self.enqueue_req(WebConnection(self, sock, peer, listener.getsockname()))

    def enqueue_req(self, conn: WebConnection) -> None:
        """Wait for headers; gunicorn calls this for each request of a connection."""
        if conn.parser is not None:
            conn.head = conn.parser.unreader.take_buffered()
        conn.sock.setblocking(False)
        conn.deadline = time.monotonic() + HEAD_SECONDS
        self.awaited[conn] = None
        self.poller.register(conn.sock, READ, partial(self.read_head, conn))
        self.read_head(conn, conn.sock)

    def read_head(self, conn: WebConnection, sock: socket.socket) -> None:
        """Read what has arrived; start the request once its headers and a small body are here."""
        try:
            if not conn.is_complete():
                data = sock.recv(HEAD_BYTES)
                if not data:
                    self.close_unread(conn)
                    return
                conn.head += data
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close_unread(conn)
            return
        if conn.is_complete():
            self.stop_waiting(conn)
            self.start(conn)
        elif conn.awaited_bytes is not None:
            conn.wait_for_body()
        elif len(conn.head) > HEAD_BYTES:
            self.close_unread(conn, TOO_LONG)

    def start(self, conn: WebConnection) -> None:
        """Give the request a thread, or queue it while its client or all bodies have too many."""
        client = conn.client_key
        if client and self.threads_by_client[client] >= THREADS_EACH:
            self.queued_by_client[client].append(conn)
            return
        if not conn.has_body_here:
            if not self.may_wait_for_body(client):
                self.queued_bodies.append(conn)
                return
            self.bodies_by_client[client] += 1
        self.threads_by_client[client] += 1
        conn.parse_head()
        super().enqueue_req(conn)

    def may_wait_for_body(self, client: str) -> bool:
        """Whether one more thread may wait for a body, of this client."""
        if client and self.bodies_by_client[client] >= BODY_THREADS_EACH:
            return False
        return self.bodies_by_client.total() < BODY_THREADS

    def handle_request(self, req: Any, conn: WebConnection) -> bool:
        req.body.received_at = conn.received_at
        try:
            return super().handle_request(req, conn)
        except BlockingIOError as error:
            # The client stalled, which is not our fault, so nothing is logged.
            raise too_slow() from error

    def _keepalive_after(self, conn: WebConnection, keepalive: bool) -> bool:
        """Whether the connection can be reused: not with a body that was not read to its end.

        A thread does not wait for the rest of it; the loop discards what comes.
        """
        conn.parser.unreader.sock.end()
        return super()._keepalive_after(conn, keepalive)

    def finish_request(self, conn: WebConnection, result: Any) -> None:
        client = conn.client_key
        count_down(self.threads_by_client, client)
        if not conn.has_body_here:
            count_down(self.bodies_by_client, client)
        super().finish_request(conn, result)
        waiting = self.queued_by_client.get(client)
        if waiting:
            self.start(waiting.popleft())
        else:
            self.queued_by_client.pop(client, None)
        for queued in self.queued_bodies:
            if self.may_wait_for_body(queued.client_key):
                self.queued_bodies.remove(queued)
                self.start(queued)
                break

    def stop_waiting(self, conn: WebConnection) -> None:
        del self.awaited[conn]
        self.poller.unregister(conn.sock)

    def close_unread(self, conn: WebConnection, answer: bytes = b"") -> None:
        """Close a connection whose headers never arrived."""
        self.stop_waiting(conn)
        self.nr_conns -= 1
        with suppress(OSError):
            if answer:
                conn.sock.send(answer)
        conn.close()

    def murder_pending(self) -> None:
        """Close late connections; gunicorn calls this at least once a second."""
        super().murder_pending()
        # A stopping worker does not wait for clients that have sent nothing yet.
        now = time.monotonic() + (0 if self.alive else HEAD_SECONDS - LINGER_SECONDS)
        for conn in [conn for conn in self.awaited if conn.deadline <= now]:
            self.close_unread(conn, TOO_SLOW if conn.head else b"")
        for conn in [conn for conn, until in self.lingering.items() if until <= now]:
            self.stop_lingering(conn)

    def linger(self, conn: WebConnection) -> bool:
        """Discard what still arrives after the last answer; return False where nothing can.

        A connection that is closed with bytes unread is reset, and its client may lose the answer.
        Gunicorn would wait in the loop for two seconds, and all other clients with it.
        """
        if not self.alive:
            return False
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.setblocking(False)
            self.poller.register(conn.sock, READ, partial(self.read_rest, conn))
        except (OSError, KeyError, ValueError):
            return False
        now = time.monotonic()
        self.lingering[conn] = now + LINGER_SECONDS
        conn.drained_until = now + DISCARD_SECONDS
        return True

    def read_rest(self, conn: WebConnection, sock: socket.socket) -> None:
        try:
            data = sock.recv(HEAD_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        conn.drained += len(data)
        if not data or conn.drained > LINGER_BYTES:
            self.stop_lingering(conn)
        else:
            until = time.monotonic() + LINGER_SECONDS
            self.lingering[conn] = min(until, conn.drained_until)

    def stop_lingering(self, conn: WebConnection) -> None:
        del self.lingering[conn]
        with suppress(OSError, KeyError, ValueError):
            self.poller.unregister(conn.sock)
        conn.close()


def count_down(counts: Counter[str], key: str) -> None:
    """Take one off, and forget a key that has none left."""
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
