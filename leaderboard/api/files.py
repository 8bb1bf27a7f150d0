"""The files of a multipart body, each complete and sent only once."""

from __future__ import annotations

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from leaderboard.api.errors import ApiError, field_error


def only_file(request: HttpRequest, name: str) -> UploadedFile | None:
    """Return the file sent as `name`; refuse two files of one name."""
    files = request.FILES.getlist(name)
    if len(files) > 1:
        raise field_error(name, f"appears {len(files)} times; only one file is accepted")
    return files[0] if files else None


def refuse_truncated_body(request: HttpRequest) -> None:
    """Refuse a body that is shorter than announced, because the sender disconnected."""
    stream = request._stream
    if stream._pos < stream.limit:
        raise ApiError(400, "E_FIELD", "The body is shorter than Content-Length.")
