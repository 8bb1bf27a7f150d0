"""Request slots: the web process works on a few requests at once, despite slow clients.

A thread that waits for the network costs almost nothing; one that works shares the processor
and the database with the others. So there are many threads and few slots. A request that waits
for its body releases its slot and its database connection until the body is here.

The slots are also the pool of connections: each keeps one, and the request in it uses that.  So a
process opens no more connections than it has slots, and few requests wait for a new one.

A busy server must not make a run late, so the time of arrival is the last byte of the body,
before its request waits for a slot.
"""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, BinaryIO

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest
from django.utils import timezone

from leaderboard.infrastructure.request_bodies import SMALL_BODY, content_length

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

# No header can have this name.
RECEIVED_AT = "rankfield.received_at"
# This much of a stream is built in one slot; less would change slots too often.
STREAM_PIECE_BYTES = 2**18


def received_at(request: HttpRequest) -> datetime:
    """Return when the last byte of a request arrived, or now if that was not noted."""
    return request.META.get(RECEIVED_AT) or timezone.now()


class Slots:
    """A number of slots; each keeps its database connection for the next request in it.

    Connections are kept for as long as the settings say, or for `kept_seconds`.
    """

    def __init__(self, count: int, kept_seconds: int | None = None) -> None:
        self.count = count
        self.kept_seconds = kept_seconds
        self._free = threading.Semaphore(count)
        self._connections: list[BaseDatabaseWrapper] = []

    def acquire(self, blocking: bool = True) -> bool:
        """Take a slot and its connection for this thread; return False if none is free."""
        if not self._free.acquire(blocking):
            return False
        if not connections.all(initialized_only=True):
            try:
                connection = self._connections.pop()
                connections[connection.alias] = connection
            except IndexError:
                self._prepare_connection()
        return True

    def _prepare_connection(self) -> None:
        """Let the connection that this thread may open last as long as slots keep it."""
        if self.kept_seconds is not None:
            connection = connections[DEFAULT_DB_ALIAS]
            kept = {"CONN_MAX_AGE": self.kept_seconds}
            connection.settings_dict = {**connection.settings_dict, **kept}

    def release(self) -> None:
        """Give the slot back, and the connection of this thread with it."""
        try:
            for connection in connections.all(initialized_only=True):
                # One in a transaction belongs to a test, or to a request that waits for its body.
                if not connection.in_atomic_block:
                    self._keep(connection)
        finally:
            self._free.release()

    def _keep(self, connection: BaseDatabaseWrapper) -> None:
        """Take a connection from this thread and keep it, unless it is old or broken."""
        if not connection.settings_dict["CONN_MAX_AGE"]:
            connection.close()
            return
        del connections[connection.alias]
        # The next use checks first whether the connection still works.
        connection.close_if_unusable_or_obsolete()
        if not connection.allow_thread_sharing:
            connection.inc_thread_sharing()
        if len(self._connections) < self.count:
            self._connections.append(connection)
        else:
            connection.close()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class RequestSlots:
    """A WSGI application that works on at most `count` requests at once.

    A streamed response is built piece by piece, each in a slot, and sent without one, so slow
    readers do not block others either.
    """

    def __init__(
        self,
        application: Application,
        count: int,
        ahead: int = SMALL_BODY,
        kept_seconds: int | None = None,
    ) -> None:
        self.application = application
        self.slots = Slots(count, kept_seconds)
        self.ahead = ahead

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        read_ahead(environ, self.ahead)
        body = SlotReleasingBody(environ, self.slots)
        environ["wsgi.input"] = body
        with self.slots:
            try:
                response = self.application(environ, start_response)
            finally:
                body.acquire_slot()
        return (
            SlottedStream(response, self.slots)
            if getattr(response, "streaming", False)
            else response
        )


def count_awaited_bytes(environ: Environ) -> float:
    """Return how many bytes are expected; infinity for a body without a length."""
    is_chunked = "HTTP_TRANSFER_ENCODING" in environ
    return math.inf if is_chunked else content_length(environ)


def read_ahead(environ: Environ, most: int) -> None:
    """Read a small body whole.  A broken connection fails later, when the application reads.

    A server that has it already says since when.
    """
    length = content_length(environ)
    if 0 < length <= most:
        body = environ["wsgi.input"]
        with suppress(OSError):
            environ["wsgi.input"] = io.BytesIO(body.read(length))
            environ[RECEIVED_AT] = getattr(body, "received_at", None) or timezone.now()


class SlottedStream:
    """A streamed response that has a slot and a database connection only to build a piece.

    So its generator must not keep a cursor from one piece to the next.
    """

    def __init__(self, response: Any, slots: Slots) -> None:
        self.response = response
        self.slots = slots

    def __iter__(self) -> Iterator[bytes]:
        pieces = iter(self.response)
        while piece := self._next_piece(pieces):
            yield piece

    def _next_piece(self, pieces: Iterator[bytes]) -> bytes:
        """Return the next pieces joined; empty at the end."""
        joined = bytearray()
        with self.slots:
            for piece in pieces:
                joined += piece
                if len(joined) >= STREAM_PIECE_BYTES:
                    break
        return bytes(joined)

    def close(self) -> None:
        self.response.close()


class SlotReleasingBody:
    """The body of a request, which has no slot while its body arrives."""

    def __init__(self, environ: Environ, slots: Slots) -> None:
        self.environ = environ
        self.body: BinaryIO = environ["wsgi.input"]
        self.slots = slots
        self.left = 0 if RECEIVED_AT in environ else count_awaited_bytes(environ)
        self.has_released_slot = False

    def read(self, size: int = -1) -> bytes:
        return self._read(self.body.read, size, whole=True)

    def readline(self, size: int = -1) -> bytes:
        return self._read(self.body.readline, size, whole=False)

    def _read(self, read: Callable[[int], bytes], size: int, whole: bool) -> bytes:
        """Read without a slot; with `whole`, fewer bytes than requested mean the end."""
        if self.left > 0:
            self.release_slot()
        try:
            data = read(size)
        except BaseException:
            self.acquire_slot()
            raise
        self.left -= len(data)
        if self.left <= 0 or (whole and len(data) < size) or (size and not data):
            self.left = 0
            self.environ.setdefault(RECEIVED_AT, timezone.now())
            self.acquire_slot()
        return data

    def release_slot(self) -> None:
        if not self.has_released_slot:
            self.has_released_slot = True
            self.slots.release()

    def acquire_slot(self) -> None:
        if self.has_released_slot:
            self.slots.acquire()
            self.has_released_slot = False
