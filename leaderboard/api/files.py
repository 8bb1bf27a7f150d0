"""The files of a multipart body: each at most once, and all of them whole."""

from __future__ import annotations

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from leaderboard.api.errors import ApiError, field_error


def only_file(request: HttpRequest, name: str) -> UploadedFile | None:
    """The file sent as `name`; of two with one name nobody knows which is meant."""
    files = request.FILES.getlist(name)
    if len(files) > 1:
        raise field_error(name, f"was sent {len(files)} times; one file is taken")
    return files[0] if files else None


def refuse_truncated_body(request: HttpRequest) -> None:
    """A sender who goes away leaves a body shorter than announced, of which nothing is kept."""
    stream = request._stream
    if stream._pos < stream.limit:
        raise ApiError(400, "E_FIELD", "The body is shorter than Content-Length.")
