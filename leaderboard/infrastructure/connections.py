"""Gunicorn's threaded worker, protected from slow clients and from too many connections.

Gunicorn gives each connection to a thread, which waits for the headers without a deadline. Here
the loop of the worker waits for them, which costs a few bytes, and a thread gets the request once
its headers are complete. They have a deadline, a body has a least rate, and each address has a
limit of connections and of threads. Behind a proxy all have the proxy's address, so the proxy sets
these limits.
"""

from __future__ import annotations

import errno
import ipaddress
import resource
import selectors
import socket
import struct
import time
from collections import Counter, defaultdict, deque
from contextlib import suppress
from functools import partial
from typing import Any

from django.conf import settings
from gunicorn import util
from gunicorn.workers.gthread import TConn, ThreadWorker

# From the start of a connection, or of the next request on it, to the end of the headers.
HEAD_SECONDS = 10.0
# All headers together; browsers send about two thousand bytes.
HEAD_BYTES = 64 * 1024
# Per address and process: connections, and the requests that have a thread.
CONNECTIONS_EACH = 400
THREADS_EACH = 48
# A client that accepts nothing of an answer for this long is disconnected.
STALL_SECONDS = 60
# The wait for a body; received bytes give seconds back at this rate, up to these.
BODY_SECONDS = 30
BODY_RATE = 4 * 1024
# The wait in total, for a body of any size: 512 MiB then need 24 KiB per second.
BODY_HOURS = 6
# After the last answer the client has this long to close its side.
LINGER_SECONDS = 2.0
LINGER_BYTES = 64 * 1024
# Each connection is an open file, and so is each upload.
OPEN_FILES = 8192

READ = selectors.EVENT_READ
END = b"Connection: close\r\nContent-Length: 0\r\n\r\n"
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\n" + END
TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + END


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


class Connection(TConn):
    """A connection with its client and the bytes of the next headers that have arrived."""

    def __init__(self, worker: Worker, sock: socket.socket, peer: Any, listener: Any) -> None:
        super().__init__(worker.cfg, sock, peer, listener)
        self.worker = worker
        self.client_key = client_of(peer)
        self.head = b""
        self.deadline = 0.0
        self.drained = 0
        self.is_counted_open = True
        worker.open_by_client[self.client_key] += 1

    def has_head(self) -> bool:
        """Return whether all headers are here; empty lines before them are ignored."""
        self.head = self.head.lstrip(b"\r\n")
        return b"\r\n\r\n" in self.head

    def parse_head(self) -> None:
        """Let gunicorn parse the headers, which have all arrived."""
        self.init()
        unreader = self.parser.unreader
        if not isinstance(unreader.sock, PacedBody):
            unreader.sock = PacedBody(unreader.sock)
        unreader.sock.begin()
        unreader.unread(self.head)
        self.head = b""

    def close(self, graceful: bool = False) -> None:
        """Close at once, or after the client has closed; the loop never waits for it."""
        if graceful and self.worker.linger(self):
            return
        super().close(graceful)
        self.count_as_closed()

    def count_as_closed(self) -> None:
        if self.is_counted_open:
            self.is_counted_open = False
            self.worker.open_by_client[self.client_key] -= 1
            if not self.worker.open_by_client[self.client_key]:
                del self.worker.open_by_client[self.client_key]


class Worker(ThreadWorker):
    """A worker that reads headers in its loop and handles requests in threads, within limits."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.open_by_client: Counter[str] = Counter()
        self.threads_by_client: Counter[str] = Counter()
        self.queued_by_client: defaultdict[str, deque[Connection]] = defaultdict(deque)
        # In the order of their deadlines, because all have the same time.
        self.awaited: dict[Connection, None] = {}
        self.lingering: dict[Connection, float] = {}

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
        self.enqueue_req(Connection(self, sock, peer, listener.getsockname()))

    def enqueue_req(self, conn: Connection) -> None:
        """Wait for headers; gunicorn calls this for each request of a connection."""
        if conn.parser is not None:
            conn.head = conn.parser.unreader.take_buffered()
        conn.sock.setblocking(False)
        conn.deadline = time.monotonic() + HEAD_SECONDS
        self.awaited[conn] = None
        self.poller.register(conn.sock, READ, partial(self.read_head, conn))
        self.read_head(conn, conn.sock)

    def read_head(self, conn: Connection, sock: socket.socket) -> None:
        """Read what has arrived, and start the request once its headers are complete."""
        try:
            if not conn.has_head():
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
        if conn.has_head():
            self.stop_waiting(conn)
            self.start(conn)
        elif len(conn.head) > HEAD_BYTES:
            self.close_unread(conn, TOO_LONG)

    def start(self, conn: Connection) -> None:
        """Give the request a thread, or queue it while its client has too many."""
        if conn.client_key and self.threads_by_client[conn.client_key] >= THREADS_EACH:
            self.queued_by_client[conn.client_key].append(conn)
            return
        self.threads_by_client[conn.client_key] += 1
        conn.parse_head()
        super().enqueue_req(conn)

    def handle_request(self, req: Any, conn: Connection) -> bool:
        try:
            return super().handle_request(req, conn)
        except BlockingIOError as error:
            # The client stalled, which is not our fault, so nothing is logged.
            raise too_slow() from error

    def finish_request(self, conn: Connection, result: Any) -> None:
        self.threads_by_client[conn.client_key] -= 1
        if not self.threads_by_client[conn.client_key]:
            del self.threads_by_client[conn.client_key]
        super().finish_request(conn, result)
        waiting = self.queued_by_client.get(conn.client_key)
        if waiting:
            self.start(waiting.popleft())
        else:
            self.queued_by_client.pop(conn.client_key, None)

    def stop_waiting(self, conn: Connection) -> None:
        del self.awaited[conn]
        self.poller.unregister(conn.sock)

    def close_unread(self, conn: Connection, answer: bytes = b"") -> None:
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
        for conn in list(self.awaited):
            if conn.deadline > now:
                break
            self.close_unread(conn, TOO_SLOW if conn.head else b"")
        for conn, until in list(self.lingering.items()):
            if until > now:
                break
            self.stop_lingering(conn)

    def linger(self, conn: Connection) -> bool:
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
        self.lingering[conn] = time.monotonic() + LINGER_SECONDS
        return True

    def read_rest(self, conn: Connection, sock: socket.socket) -> None:
        try:
            data = sock.recv(LINGER_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        conn.drained += len(data)
        if not data or conn.drained > LINGER_BYTES:
            self.stop_lingering(conn)

    def stop_lingering(self, conn: Connection) -> None:
        del self.lingering[conn]
        with suppress(OSError, KeyError, ValueError):
            self.poller.unregister(conn.sock)
        conn.close()
