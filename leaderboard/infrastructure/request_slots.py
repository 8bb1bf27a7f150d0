"""Request slots: the web process works on a few requests at once, despite slow clients.

A thread that waits for the network costs almost nothing; one that works shares the processor
and the database with the others. So there are many threads and few slots. A request that waits
for its body releases its slot and its database connection until the body is here.

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

from django.db import connections
from django.http import HttpRequest
from django.utils import timezone

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

# No header can have this name.
RECEIVED_AT = "rankfield.received_at"
# A body of up to this many bytes is read before its request takes a slot.
READ_AHEAD_BYTES = 2**20
# This much of a stream is built in one slot; less would open connections too often.
STREAM_PIECE_BYTES = 2**18


def received_at(request: HttpRequest) -> datetime:
    """Return when the last byte of a request arrived, or now if that was not noted."""
    return request.META.get(RECEIVED_AT) or timezone.now()


class RequestSlots:
    """A WSGI application that works on at most `count` requests at once.

    A streamed response is built piece by piece, each in a slot, and sent without one, so slow
    readers do not block others either.
    """

    def __init__(self, application: Application, count: int, ahead: int = READ_AHEAD_BYTES) -> None:
        self.application = application
        self.slots = threading.Semaphore(count)
        self.ahead = ahead

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        read_ahead(environ, self.ahead)
        body = SlotReleasingBody(environ, self.slots)
        environ["wsgi.input"] = body
        with self.slots:
            try:
                response = self.application(environ, start_response)
            finally:
                close_connections()
                body.acquire_slot()
        return (
            SlottedStream(response, self.slots)
            if getattr(response, "streaming", False)
            else response
        )


def content_length(environ: Environ) -> int:
    """Return the stated length of the body."""
    length = environ.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdigit() else 0


def count_awaited_bytes(environ: Environ) -> float:
    """Return how many bytes are expected; infinity for a body without a length."""
    is_chunked = "HTTP_TRANSFER_ENCODING" in environ
    return math.inf if is_chunked else content_length(environ)


def read_ahead(environ: Environ, most: int) -> None:
    """Read a small body whole.  A broken connection fails later, when the application reads."""
    length = content_length(environ)
    if 0 < length <= most:
        with suppress(OSError):
            environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(length))
            environ[RECEIVED_AT] = timezone.now()


def close_connections() -> None:
    """Close idle database connections, since a database has fewer than there are threads."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


class SlottedStream:
    """A streamed response that has a slot and a database connection only to build a piece.

    So its generator must not keep a cursor from one piece to the next.
    """

    def __init__(self, response: Any, slots: threading.Semaphore) -> None:
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
            try:
                for piece in pieces:
                    joined += piece
                    if len(joined) >= STREAM_PIECE_BYTES:
                        break
            finally:
                close_connections()
        return bytes(joined)

    def close(self) -> None:
        self.response.close()


class SlotReleasingBody:
    """The body of a request, which has no slot while its body arrives."""

    def __init__(self, environ: Environ, slots: threading.Semaphore) -> None:
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
            close_connections()
            self.has_released_slot = True
            self.slots.release()

    def acquire_slot(self) -> None:
        if self.has_released_slot:
            self.slots.acquire()
            self.has_released_slot = False
