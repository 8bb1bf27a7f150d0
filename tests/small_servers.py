"""Servers of a few lines, in a thread of the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import TCPServer
from typing import TypeVar

S = TypeVar("S", bound=TCPServer)


@contextmanager
def serving(server: S) -> Iterator[S]:
    """Let a server answer meanwhile; its end is noticed at once and not within half a second."""
    answering = {"poll_interval": 0.01}
    threading.Thread(target=server.serve_forever, kwargs=answering, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
