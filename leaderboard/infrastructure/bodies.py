"""How large the body of a request may be, and bodies that come without a length.

A form is small. A file is taken on a few pages, and there only from whoever is signed in; the API
asks for a token before it reads. A body that announces more is refused unread, and one that
announces nothing is counted as it comes, so nothing beyond the limit reaches the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from io import IOBase
from typing import Any, BinaryIO

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest

SMALL = settings.MIB
# What a multipart body holds beside its files.
ENVELOPE = 4 * settings.MIB
API = "api-1:"


def a_run() -> int:
    return settings.RUN_UPLOAD_LIMIT


def a_file() -> int:
    return settings.COLLECTION_UPLOAD_LIMIT


def three_files() -> int:
    """Topics, documents and judgments may each be as large as a file may be."""
    return 3 * settings.COLLECTION_UPLOAD_LIMIT


# The views that take files, by the names of their addresses.
TAKING: dict[str, Callable[[], int]] = {
    "submit": a_run,
    "new_collection": three_files,
    "check_again": three_files,
    "new_judgments": a_file,
    "check_judgments_again": a_file,
    "judge_pool": a_file,
    "api-1:create_run": a_run,
    "api-1:create_collection": three_files,
    "api-1:create_judgments": a_file,
    "api-1:replace_judgments": a_file,
}


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


def limit_of(request: HttpRequest) -> int:
    """How many bytes the body of this request may have."""
    name = request.resolver_match.view_name if request.resolver_match else ""
    takes = TAKING.get(name)
    if takes is None:
        return SMALL
    # A call asks for its token itself, before it reads.
    if name.startswith(API) or request.user.is_authenticated:
        return takes() + ENVELOPE
    return SMALL


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
