"""How large the body of a request may be, and bodies that come without a length.

A body that announces more than its limit is refused unread, and one that announces nothing is
counted as it comes, so nothing beyond the limit reaches the disk.
"""

from __future__ import annotations

from io import IOBase
from typing import Any, BinaryIO

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest

SMALL = settings.MIB
# What a multipart body holds beside its files.
ENVELOPE = 4 * settings.MIB


class TooLarge(BadRequest):
    """A body without a length that went over its limit."""


class Pipe(IOBase):
    """A body without a length, counted as it is read; `limit` falls to its length at its end."""

    def __init__(self, body: BinaryIO, limit: int) -> None:
        self.body = body
        self.limit = limit
        self.is_over = False
        self._pos = 0

    def read(self, size: int = -1, /) -> bytes:
        wanted = self._wanted(size)
        data = self.body.read(wanted)
        return self._counted(data, ended=len(data) < wanted)

    def readline(self, size: int = -1, /) -> bytes:
        wanted = self._wanted(size)
        data = self.body.readline(wanted)
        return self._counted(data, ended=not data and wanted > 0)

    def _wanted(self, size: int | None) -> int:
        """One byte beyond the limit tells that there is more."""
        left = self.limit - self._pos + 1
        return left if size is None or size < 0 else min(size, left)

    def _counted(self, data: bytes, ended: bool) -> bytes:
        if self._pos + len(data) > self.limit:
            self.is_over = True
            raise TooLarge("a body without a length is over its limit")
        self._pos += len(data)
        if ended:
            self.limit = self._pos
        return data


def is_pipe(meta: dict[str, Any]) -> bool:
    """Whether a body comes in chunks, without a length."""
    return "chunked" in meta.get("HTTP_TRANSFER_ENCODING", "").lower()


def announced(request: HttpRequest) -> int:
    """The length that a body is said to have."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else 0


def count(request: HttpRequest, limit: int) -> None:
    """Have a body without a length read up to the limit; Django would take it for empty."""
    pipe = Pipe(request.META["wsgi.input"], limit)
    request._stream = pipe  # type: ignore[attr-defined]
    request.META["CONTENT_LENGTH"] = str(limit)


def bound(request: HttpRequest, limit: int) -> bool:
    """Whether the body may still be read; one without a length gets the lower limit."""
    if isinstance(pipe := request._stream, Pipe):  # type: ignore[attr-defined]
        pipe.limit = min(pipe.limit, limit)
        request.META["CONTENT_LENGTH"] = str(pipe.limit)
        return True
    return announced(request) <= limit
