"""Size limits of request bodies, with or without a stated length.

A body whose stated length is over the limit is refused unread. A body without a length is counted
while it is read, so nothing beyond the limit reaches the disk.
"""

from __future__ import annotations

from io import IOBase
from typing import Any, BinaryIO

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest

from leaderboard.infrastructure.whole_numbers import read_whole_number

FORM_LIMIT = settings.MIB
# The loop of a web process waits for a body of up to this many bytes; a thread waits for a larger
# one, so the request must first say who sends it.
SMALL_BODY = 64 * 1024
# A multipart body contains this much besides its files.
ENVELOPE = 4 * settings.MIB


class BodyTooLargeError(BadRequest):
    """A body without a length is over its limit."""


class ChunkedBody(IOBase):
    """A body without a length, counted while it is read; at its end `limit` is its length."""

    def __init__(self, body: BinaryIO, limit: int) -> None:
        self.body = body
        self.limit = limit
        self.is_over = False
        # As Django's own streams name it.
        self._pos = 0

    def read(self, size: int = -1, /) -> bytes:
        wanted = self._bytes_to_read(size)
        data = self.body.read(wanted)
        return self._count(data, ended=len(data) < wanted)

    def readline(self, size: int = -1, /) -> bytes:
        wanted = self._bytes_to_read(size)
        data = self.body.readline(wanted)
        return self._count(data, ended=not data and wanted > 0)

    def _bytes_to_read(self, size: int | None) -> int:
        """Return how many bytes to read: one beyond the limit shows that there are more."""
        left = self.limit - self._pos + 1
        return left if size is None or size < 0 else min(size, left)

    def _count(self, data: bytes, ended: bool) -> bytes:
        if self._pos + len(data) > self.limit:
            self.is_over = True
            raise BodyTooLargeError("a body without a length is over its limit")
        self._pos += len(data)
        if ended:
            self.limit = self._pos
        return data


def is_chunked(meta: dict[str, Any]) -> bool:
    """Return whether a body is sent in chunks, without a length."""
    return "chunked" in meta.get("HTTP_TRANSFER_ENCODING", "").lower()


def content_length(meta: dict[str, Any]) -> int:
    """Return the stated length of a body, or 0 without one."""
    return read_whole_number(meta.get("CONTENT_LENGTH") or "") or 0


def limit_chunked_body(request: HttpRequest, limit: int) -> None:
    """Read a body without a length up to the limit; Django would treat it as empty."""
    body = ChunkedBody(request.META["wsgi.input"], limit)
    request._stream = body  # type: ignore[attr-defined]
    request.META["CONTENT_LENGTH"] = str(limit)


def enforce_limit(request: HttpRequest, limit: int) -> bool:
    """Return whether the body may still be read; one without a length gets the lower limit."""
    body = request._stream  # type: ignore[attr-defined]
    if isinstance(body, ChunkedBody):
        body.limit = min(body.limit, limit)
        request.META["CONTENT_LENGTH"] = str(body.limit)
        return True
    return content_length(request.META) <= limit
