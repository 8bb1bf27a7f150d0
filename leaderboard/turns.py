"""Turns: web works on a few requests at once, however many clients are slow to send theirs.

A thread that waits for the network costs next to nothing; one that works shares the processor
and the database with the others. So there are many threads and few turns. A request whose body is
awaited gives its turn back until the body is there, and its connection to the database with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from django.db import connections

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class Turns:
    """A WSGI application that works on so many requests at once.

    An answer that is a stream is sent without a turn, so that slow readers hold up nobody either.
    """

    def __init__(self, application: Application, count: int) -> None:
        self.application = application
        self.free = threading.Semaphore(count)

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH") or "0"
        body = AwaitedBody(environ["wsgi.input"], self.free, int(length) if length.isdigit() else 0)
        environ["wsgi.input"] = body
        with self.free:
            try:
                return self.application(environ, start_response)
            finally:
                hand_back_connections()
                body.take_turn()


def hand_back_connections() -> None:
    """Threads that kept them would keep more than a database has; the next statement opens one."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


class AwaitedBody:
    """The body of a request, whose turn is others' from its first byte to its last."""

    def __init__(self, body: BinaryIO, free: threading.Semaphore, length: int) -> None:
        self.body = body
        self.free = free
        self.left = length
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
