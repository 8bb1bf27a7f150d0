"""Downloads that resume: a part of a stored file, as HTTP's byte ranges ask (RFC 9110, 14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from django.db.models.fields.files import FieldFile
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from leaderboard.infrastructure.packed_files import open_unpacked

CHUNK = 2**18
ONE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


@dataclass(frozen=True)
class ByteRange:
    """The bytes from `first` up to and including `last`."""

    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


class RangeError(ValueError):
    """The file has none of the bytes that were asked for."""


def parse_range(asked: str, size: int) -> ByteRange | None:
    """Return the range of a header, or None for the whole file.

    A header with several ranges, or one that is not understood, is ignored, as the standard says.
    Raises RangeError.

    >>> parse_range("bytes=2-", 10), parse_range("bytes=-3", 10), parse_range("bytes=0-0,5-6", 10)
    (ByteRange(first=2, last=9), ByteRange(first=7, last=9), None)
    """
    found = ONE_RANGE.fullmatch(asked.strip())
    if found is None or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if first and last and int(last) < int(first):
        return None
    start = int(first) if first else max(size - int(last), 0)
    end = min(int(last), size - 1) if first and last else size - 1
    if start > end:
        raise RangeError(asked)
    return ByteRange(start, end)


def send_file(request: HttpRequest, stored: FieldFile, name: str, sha256: str) -> HttpResponseBase:
    """Answer with a file as it was uploaded or the asked range of it, always as a download."""
    file = open_unpacked(stored.name)
    size, tag = file.size, f'"{sha256}"' if sha256 else ""
    unchanged = request.headers.get("If-Range", tag) == tag
    asked = request.headers.get("Range", "") if unchanged else ""
    try:
        part = parse_range(asked, size)
    except RangeError:
        file.close()
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    whole = ByteRange(0, size - 1)
    answer = StreamingHttpResponse(
        _read(file, part or whole),
        status=200 if part is None else 206,
        content_type="application/octet-stream",
    )
    answer["Content-Length"] = str((part or whole).length)
    answer["Accept-Ranges"] = "bytes"
    answer["Content-Disposition"] = f'attachment; filename="{_plain_name(name)}"'
    if tag:
        answer["ETag"] = tag
    if part is not None:
        answer["Content-Range"] = f"bytes {part.first}-{part.last}/{size}"
    return answer


def _plain_name(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)


def _read(file: BinaryIO, part: ByteRange) -> Iterator[bytes]:
    with file:
        file.seek(part.first)
        left = part.length
        while left and (piece := file.read(min(CHUNK, left))):
            left -= len(piece)
            yield piece
