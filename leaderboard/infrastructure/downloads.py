"""Answers that a browser saves as a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from django.db.models.fields.files import FieldFile
from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from leaderboard.infrastructure.packed_files import open_unpacked

Answer = TypeVar("Answer", bound=HttpResponseBase)


def text_file(name: str, text: str, media_type: str = "text/plain") -> HttpResponse:
    return _as_attachment(name, HttpResponse(text, content_type=_with_charset(media_type)))


def streamed_text(
    name: str, pieces: Iterable[str] | Iterable[bytes], media_type: str = "text/plain"
) -> StreamingHttpResponse:
    """Stream a text file as it is made, which takes no memory and no disk space."""
    return _as_attachment(
        name, StreamingHttpResponse(pieces, content_type=_with_charset(media_type))
    )


def streamed_bytes(name: str, pieces: Iterable[bytes], media_type: str) -> StreamingHttpResponse:
    return _as_attachment(name, StreamingHttpResponse(pieces, content_type=media_type))


def stored_file(stored: FieldFile, name: str) -> FileResponse:
    """Return a file as it was uploaded, always as a download."""
    if not stored:
        raise Http404("a rejected file that is no longer kept")
    return FileResponse(
        open_unpacked(stored.name),
        as_attachment=True,
        filename=name,
        content_type="application/octet-stream",
    )


def _with_charset(media_type: str) -> str:
    return f"{media_type}; charset=utf-8"


def _as_attachment(name: str, answer: Answer) -> Answer:
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
