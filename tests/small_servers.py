"""Servers of a few lines, in a thread of the test."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


@contextmanager
def collecting() -> Iterator[tuple[str, dict[str, bytes]]]:
    """Answer as a collector of errors or traces: its address, and what it was sent, by path."""
    bodies: dict[str, bytes] = {}

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            packed = self.headers.get("Content-Encoding") == "gzip"
            bodies[self.path] = bodies.get(self.path, b"") + (
                gzip.decompress(body) if packed else body
            )
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Collector)) as server:
        yield f"127.0.0.1:{server.server_port}", bodies
