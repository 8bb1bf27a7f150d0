"""Answers that a browser keeps as a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

Answer = TypeVar("Answer", bound=HttpResponseBase)


def text_file(name: str, text: str, media_type: str = "text/plain") -> HttpResponse:
    return _kept(name, HttpResponse(text, content_type=_utf8(media_type)))


def streamed_text(
    name: str, pieces: Iterable[str] | Iterable[bytes], media_type: str = "text/plain"
) -> StreamingHttpResponse:
    """Sent while it is made, so it takes no memory and no room on the disk."""
    return _kept(name, StreamingHttpResponse(pieces, content_type=_utf8(media_type)))


def streamed_bytes(name: str, pieces: Iterable[bytes], media_type: str) -> StreamingHttpResponse:
    return _kept(name, StreamingHttpResponse(pieces, content_type=media_type))


def _utf8(media_type: str) -> str:
    return f"{media_type}; charset=utf-8"


def _kept(name: str, answer: Answer) -> Answer:
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
