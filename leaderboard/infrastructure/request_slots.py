"""Turns: web works on a few requests at once, however many clients are slow to send theirs.

A thread that waits for the network costs next to nothing; one that works shares the processor
and the database with the others. So there are many threads and few turns. A request whose body is
awaited gives its turn back until the body is there, and its connection to the database with it.

A deadline is not for how busy a server is, so the time is taken when the last byte of a body is
here, before its request waits for a turn.
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
# A body of so many bytes is read before its request asks for a turn.
AHEAD = 2**20
# So much of a stream is made in one turn; less would ask for a connection too often.
PIECE = 2**18


def received_at(request: HttpRequest) -> datetime:
    """When the last byte of a request was here; now, where nobody took the time."""
    return request.META.get(RECEIVED_AT) or timezone.now()


class Turns:
    """A WSGI application that works on so many requests at once.

    A streamed answer is made piece by piece, each in a turn, and sent without one, so that slow
    readers hold up nobody either.
    """

    def __init__(self, application: Application, count: int, ahead: int = AHEAD) -> None:
        self.application = application
        self.free = threading.Semaphore(count)
        self.ahead = ahead

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        read_ahead(environ, self.ahead)
        body = AwaitedBody(environ, self.free)
        environ["wsgi.input"] = body
        with self.free:
            try:
                answer = self.application(environ, start_response)
            finally:
                hand_back_connections()
                body.take_turn()
        return Stream(answer, self.free) if getattr(answer, "streaming", False) else answer


def length_of(environ: Environ) -> int:
    """How long the body is said to be."""
    length = environ.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdigit() else 0


def awaited(environ: Environ) -> float:
    """How many bytes are still to come; of a body without a length nobody knows."""
    is_chunked = "HTTP_TRANSFER_ENCODING" in environ
    return math.inf if is_chunked else length_of(environ)


def read_ahead(environ: Environ, most: int) -> None:
    """Have a small body whole.  Of a line that breaks the application hears when it reads."""
    length = length_of(environ)
    if 0 < length <= most:
        with suppress(OSError):
            environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(length))
            environ[RECEIVED_AT] = timezone.now()


def hand_back_connections() -> None:
    """Threads that kept them would keep more than a database has; the next statement opens one."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


class Stream:
    """A streamed answer: while a piece is sent, turn and connection are others'.

    So what makes it may not keep a cursor from one piece to the next.
    """

    def __init__(self, answer: Any, free: threading.Semaphore) -> None:
        self.answer = answer
        self.free = free

    def __iter__(self) -> Iterator[bytes]:
        pieces = iter(self.answer)
        while piece := self._made_of(pieces):
            yield piece

    def _made_of(self, pieces: Iterator[bytes]) -> bytes:
        """The next pieces in one; none once there are no more."""
        made = bytearray()
        with self.free:
            try:
                for piece in pieces:
                    made += piece
                    if len(made) >= PIECE:
                        break
            finally:
                hand_back_connections()
        return bytes(made)

    def close(self) -> None:
        self.answer.close()


class AwaitedBody:
    """The body of a request, whose turn is others' from its first byte to its last."""

    def __init__(self, environ: Environ, free: threading.Semaphore) -> None:
        self.environ = environ
        self.body: BinaryIO = environ["wsgi.input"]
        self.free = free
        self.left = 0 if RECEIVED_AT in environ else awaited(environ)
        self.gave_turn = False

    def read(self, size: int = -1) -> bytes:
        return self._read(self.body.read, size, whole=True)

    def readline(self, size: int = -1) -> bytes:
        return self._read(self.body.readline, size, whole=False)

    def _read(self, read: Callable[[int], bytes], size: int, whole: bool) -> bytes:
        """`whole`: less than was asked for is all that there is."""
        if self.left > 0:
            self.give_turn()
        try:
            data = read(size)
        except BaseException:
            self.take_turn()
            raise
        self.left -= len(data)
        if self.left <= 0 or (whole and len(data) < size) or (size and not data):
            self.left = 0
            self.environ.setdefault(RECEIVED_AT, timezone.now())
            self.take_turn()
        return data

    def give_turn(self) -> None:
        if not self.gave_turn:
            hand_back_connections()
            self.gave_turn = True
            self.free.release()

    def take_turn(self) -> None:
        if self.gave_turn:
            self.free.acquire()
            self.gave_turn = False
