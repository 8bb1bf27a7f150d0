"""Gunicorn's worker with threads, where nobody who is slow or many holds the threads of others.

Gunicorn gives each connection to a thread, which waits for the headers however long they take. Here
the loop of the worker waits for them, which costs a few bytes, and a thread gets the request once
its headers are whole. They have a deadline, a body has a least rate, and each address has a bound
of connections and a bound of threads; behind a proxy all have the proxy's address, so there such
bounds are the proxy's.
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

# From the first moment of a connection, or of the next request on it, to the end of the headers.
HEAD_SECONDS = 10.0
# Headers of all kinds together; browsers send some two thousand bytes.
HEAD_BYTES = 64 * 1024
# Of one address, in one process: connections, and the requests among them that have a thread.
CONNECTIONS_EACH = 400
THREADS_EACH = 48
# A client that takes nothing of an answer for so long is given up.
STALL_SECONDS = 60
# So long a body may be awaited; its bytes give seconds back at this rate, never more than these.
BODY_SECONDS = 30
BODY_RATE = 4 * 1024
# And so long in total, however large it is: with 512 MiB that asks for 24 KiB per second.
BODY_HOURS = 6
# After an answer that ends the connection its client has so long to close its side.
LINGER_SECONDS = 2.0
LINGER_BYTES = 64 * 1024
# Each connection is an open file, and so is each upload.
OPEN_FILES = 8192

READ = selectors.EVENT_READ
END = b"Connection: close\r\nContent-Length: 0\r\n\r\n"
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\n" + END
TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + END


def owner_of(peer: Any) -> str:
    """Whose connection it is: an address, or in IPv6 the network that one customer gets.

    >>> owner_of(("192.0.2.1", 4000)), owner_of(("2001:db8::17", 4000, 0, 0))
    ('192.0.2.1', '2001:db8::/64')
    >>> owner_of(("::ffff:192.0.2.1", 4000, 0, 0)), owner_of("")
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

    Only what is waited for is counted: a server that is busy costs its clients nothing.
    """

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.begin()

    def begin(self) -> None:
        """Count anew, for the next body on the same connection."""
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
    """A connection that knows its owner, and keeps what has come of the next headers."""

    def __init__(self, worker: Worker, line: socket.socket, peer: Any, listener: Any) -> None:
        super().__init__(worker.cfg, line, peer, listener)
        self.worker = worker
        self.owner = owner_of(peer)
        self.head = b""
        self.deadline = 0.0
        self.drained = 0
        self.is_counted = True
        worker.open_by[self.owner] += 1

    def has_head(self) -> bool:
        """Whether all headers are here; an empty line before them means nothing."""
        self.head = self.head.lstrip(b"\r\n")
        return b"\r\n\r\n" in self.head

    def hand_on(self) -> None:
        """Let gunicorn parse what has come; it asks for no more of the headers."""
        self.init()
        unreader = self.parser.unreader
        if not isinstance(unreader.sock, PacedBody):
            unreader.sock = PacedBody(unreader.sock)
        unreader.sock.begin()
        unreader.unread(self.head)
        self.head = b""

    def close(self, graceful: bool = False) -> None:
        """Close at once, or after the client has; the loop never waits for it."""
        if graceful and self.worker.linger(self):
            return
        super().close(graceful)
        self.uncount()

    def uncount(self) -> None:
        if self.is_counted:
            self.is_counted = False
            self.worker.open_by[self.owner] -= 1
            if not self.worker.open_by[self.owner]:
                del self.worker.open_by[self.owner]


class Worker(ThreadWorker):
    """Headers in the loop, requests in threads, and no more of either than an address may have."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.open_by: Counter[str] = Counter()
        self.working: Counter[str] = Counter()
        self.queued: defaultdict[str, deque[Connection]] = defaultdict(deque)
        # By their deadlines, the next one first: all have the same time.
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
            line, peer = listener.accept()
        except OSError as error:
            # Another process was faster, or the client has gone; where no file is free, some will
            # be in a moment.
            if error.errno in (errno.EMFILE, errno.ENFILE):
                time.sleep(0.1)
            return
        owner = owner_of(peer)
        if owner and self.open_by[owner] >= CONNECTIONS_EACH:
            util.close(line)
            return
        waits = {socket.SO_RCVTIMEO: BODY_SECONDS, socket.SO_SNDTIMEO: STALL_SECONDS}
        for option, seconds in waits.items():
            line.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", seconds, 0))
        self.nr_conns += 1
        self.enqueue_req(Connection(self, line, peer, listener.getsockname()))

    def enqueue_req(self, conn: Connection) -> None:
        """Wait for headers; gunicorn comes here for each request of a connection."""
        if conn.parser is not None:
            conn.head = conn.parser.unreader.take_buffered()
        conn.sock.setblocking(False)
        conn.deadline = time.monotonic() + HEAD_SECONDS
        self.awaited[conn] = None
        self.poller.register(conn.sock, READ, partial(self.read_head, conn))
        self.read_head(conn, conn.sock)

    def read_head(self, conn: Connection, line: socket.socket) -> None:
        """Take what has come, and pass the request on once its headers are whole."""
        try:
            if not conn.has_head():
                data = line.recv(HEAD_BYTES)
                if not data:
                    self.drop(conn)
                    return
                conn.head += data
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.drop(conn)
            return
        if conn.has_head():
            self.forget(conn)
            self.start(conn)
        elif len(conn.head) > HEAD_BYTES:
            self.drop(conn, TOO_LONG)

    def start(self, conn: Connection) -> None:
        """Give it a thread, or have it wait where its owner has as many as it may."""
        if conn.owner and self.working[conn.owner] >= THREADS_EACH:
            self.queued[conn.owner].append(conn)
            return
        self.working[conn.owner] += 1
        conn.hand_on()
        super().enqueue_req(conn)

    def handle_request(self, req: Any, conn: Connection) -> bool:
        try:
            return super().handle_request(req, conn)
        except BlockingIOError as error:
            raise too_slow() from error

    def finish_request(self, conn: Connection, result: Any) -> None:
        self.working[conn.owner] -= 1
        if not self.working[conn.owner]:
            del self.working[conn.owner]
        super().finish_request(conn, result)
        waiting = self.queued.get(conn.owner)
        if waiting:
            self.start(waiting.popleft())
        else:
            self.queued.pop(conn.owner, None)

    def forget(self, conn: Connection) -> None:
        del self.awaited[conn]
        self.poller.unregister(conn.sock)

    def drop(self, conn: Connection, answer: bytes = b"") -> None:
        """Close a connection whose headers never came."""
        self.forget(conn)
        self.nr_conns -= 1
        with suppress(OSError):
            if answer:
                conn.sock.send(answer)
        conn.close()

    def murder_pending(self) -> None:
        """Close what is late; gunicorn comes here at least once a second."""
        super().murder_pending()
        # While the worker stops, who has sent nothing yet is not waited for.
        now = time.monotonic() + (0 if self.alive else HEAD_SECONDS - LINGER_SECONDS)
        for conn in list(self.awaited):
            if conn.deadline > now:
                break
            self.drop(conn, TOO_SLOW if conn.head else b"")
        for conn, until in list(self.lingering.items()):
            if until > now:
                break
            self.leave(conn)

    def linger(self, conn: Connection) -> bool:
        """Read and forget what still comes after the last answer; False where nothing can.

        A connection that is closed with bytes unread is reset, and its client may lose the answer.
        Gunicorn waits for it in the loop, two seconds in which all others wait too.
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

    def read_rest(self, conn: Connection, line: socket.socket) -> None:
        try:
            data = line.recv(LINGER_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        conn.drained += len(data)
        if not data or conn.drained > LINGER_BYTES:
            self.leave(conn)

    def leave(self, conn: Connection) -> None:
        del self.lingering[conn]
        with suppress(OSError, KeyError, ValueError):
            self.poller.unregister(conn.sock)
        conn.close()
